"""A result in brief stays within its tokens, whatever a site says."""

import importlib.util
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tokenizers import Tokenizer

from registry.formats.invocations import invocations_of
from registry.index.query.search import RankedSite
from registry.ranking.explain import (
    DepthFacts,
    FactorFacts,
    FreshnessFacts,
    ProximityFacts,
    RelevanceFacts,
    explain,
    explain_quality,
)
from registry.ranking.policy import DEFAULT_POLICY as P
from registry.ranking.quality import ProbeFigures
from registry.ranking.score import Factors
from registry.ranking.ties import OrderKey
from registry.sites.action import Action, Call, Parameter
from registry.sites.summary import SiteSummary
from registry.usecases.search.brief import MOST_TOKENS, brief_result, estimate_tokens

HOST = "table-du-fuseau.test"
BRIDGE = Call(format="wab", transport="http", target=f"https://{HOST}/api/wab/execute")
TERMS = ("book", "table")


def summary(host: str = HOST) -> SiteSummary:
    return msgspec.convert(
        {
            "id": "4K4WQNBB8B7HN",
            "host": host,
            "url": f"https://{host}",
            "provider": {"name": "Fuseau", "category": "restaurant"},
            "location": {"city": "Lyon", "country": "FR"},
            "capabilitiesSummary": [],
            "fairnessMetrics": {
                "commissionRate": 0.0,
                "isIndependent": True,
                "directBenefit": None,
            },
            "trustSignatures": [],
            "trustLevel": "verified",
        },
        SiteSummary,
    )


def ranked(best: str) -> RankedSite:
    factors = Factors(
        relevance=9999,
        proximity=9999,
        capability_depth=9999,
        quality=9999,
        freshness=9999,
    )
    now = datetime(2026, 11, 24, tzinfo=UTC)
    facts = FactorFacts(
        RelevanceFacts(matched_terms=TERMS, best_action=best, lexical=1, semantic=1),
        ProximityFacts(distance_band="2500 km or more", local=True),
        DepthFacts(action_count=1),
        explain_quality(ProbeFigures(), P),
        FreshnessFacts(days_since_change=1, changed_at=now),
    )
    return RankedSite(
        order_key=OrderKey(-1, 1, 1),
        score=factors.score(P),
        commission_tier=0,
        factors=factors,
        explanation=explain(factors, facts, P),
        sharing=(),
        ahead=None,
    )


def brief(*actions: Action, host: str = HOST) -> dict[str, Any]:
    result = brief_result(
        ranked(actions[0].name), summary(host), invocations_of(actions)
    )
    return msgspec.json.decode(msgspec.json.encode(result))


def texts(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name=name, type="string", required=True) for name in names)


PLAIN = Action(
    name="bookTable",
    description="Book a table for lunch",
    parameters=(
        Parameter(name="guests", type="integer", required=True),
        *texts("date"),
    ),
    calls=(BRIDGE,),
)


def test_it_tells_how_to_call_the_action_that_matches() -> None:
    assert brief(PLAIN) == {
        "site": HOST,
        "city": "Lyon",
        "score": 100.0,
        "contributions": [40, 20, 15, 15, 10],
        "why": "says book, table; 2500 km or more away",
        "actions": [
            {
                "action": "bookTable",
                "about": "Book a table for lunch",
                "parameters": {
                    "properties": {"guests": {"type": "integer"}},
                    "required": ["guests", "date"],
                },
                "by": "wab",
                "url": "/api/wab/execute",
            }
        ],
    }


@pytest.mark.parametrize(
    "url",
    [
        f"https://{HOST}:8443/x",
        f"https://{HOST}.evil.example/x",
        f"http://{HOST}/x",
        f"https://{HOST}",
        "https://elsewhere.example/x",
    ],
)
def test_only_addresses_of_the_sites_own_origin_are_cut(url: str) -> None:
    call = Call(format="awp", transport="http", method="GET", target=url)
    action = Action(name="see", calls=(call,))
    assert brief(action)["actions"][0]["url"] == url


LONG = "Reserve a table for lunch or dinner at the restaurant with a view of the river "


@pytest.mark.parametrize(
    "actions",
    [
        pytest.param(
            [
                Action(
                    name=name,
                    description=LONG * 4,
                    parameters=texts(
                        "date", "time", "guests", "name", "email", "phone"
                    ),
                    calls=(BRIDGE,),
                )
                for name in ("bookTable", "bookTableTonightPlease", "bookTwo")
            ],
            id="several long ones",
        ),
        pytest.param(
            [
                Action(
                    name="fill",
                    parameters=tuple(
                        Parameter(name=f"choice{n}", enum=("x" * 30,) * 8)
                        for n in range(90)
                    ),
                )
            ],
            id="choices",
        ),
        pytest.param(
            [Action(name="kitap", description="預訂餐廳的桌子" * 30, calls=(BRIDGE,))],
            id="letters of three bytes",
        ),
        pytest.param(
            [Action(name="حجز", description="احجز طاولة في المطعم " * 9)],
            id="letters of two bytes",
        ),
    ],
)
def test_whatever_a_site_says_a_result_is_brief(actions: list[Action]) -> None:
    result = brief(*actions)
    assert result["actions"][0]["action"] == actions[0].name
    assert (
        estimate_tokens(result) <= MOST_TOKENS + 4
    )  # the name and brackets of the list


def test_an_action_is_told_by_its_name_where_all_else_is_too_long() -> None:
    path = "/long" * 200
    call = Call(format="wab", transport="http", target=f"https://{HOST}{path}")
    first, second = (
        Action(name=name, description=LONG, parameters=texts("a", "b"), calls=(call,))
        for name in ("bookTable", "two")
    )
    (action,) = brief(first, second)["actions"]
    assert action["url"] == path
    assert action["omitted"] == 2
    assert "parameters" not in action


def harsh_tokenizer() -> Tokenizer:
    """LLaMA 2's, which splits numbers into digits: others need fewer tokens."""
    spec = importlib.util.find_spec("wordllama")
    assert spec
    assert spec.origin
    file = (
        Path(spec.origin).with_name("tokenizers") / "l2_supercat_tokenizer_config.json"
    )
    return Tokenizer.from_file(str(file))


def test_the_estimate_is_near_that_of_a_tokenizer_of_short_pieces() -> None:
    tokenizer = harsh_tokenizer()
    for actions in ([PLAIN], [Action(name="حجز", description="احجز طاولة في المطعم")]):
        result = brief(*actions)
        counted = len(tokenizer.encode(msgspec.json.encode(result).decode()).ids)
        assert counted <= 130
        assert estimate_tokens(result) >= 0.75 * counted
