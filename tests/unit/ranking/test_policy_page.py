"""docs/policy.md: its numbers are the code's, and whoever follows it ranks as the code does."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from registry.index.building.builder import Builder
from registry.sites.gazetteer import Gazetteer
from tests.second_implementation import factors, order, places
from tests.second_implementation import words as page_words
from tests.second_implementation.mask import Mask
from tests.second_implementation.ranking import (
    Registry,
    cosine_of,
    idf,
    is_eligible,
    lexical_of,
    relevance_of,
)
from tests.unit.ranking import make_policy_vectors as made
from tests.unit.ranking.ranked_town import profiles_of, town
from tests.unit.ranking.town_queries import NONSENSE, OFF_TOPIC, RIGHT_HOSTS
from tests.unit.understanding.request_sets import read_sets

RANKINGS = 400


@pytest.fixture(scope="module")
def vectors() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(made.VECTORS.read_text())
    return content


@pytest.fixture(scope="module")
def page(vectors: dict[str, Any]) -> Registry:
    """The second implementation, which knows what the vectors say."""
    return Registry(vectors["policyText"], vectors["town"])


def test_page_and_vectors_are_those_of_the_code() -> None:
    """Repaired by `make docs`."""
    content = json.loads(json.dumps(made.vectors()))
    text = made.PAGE.read_text()
    assert made.VECTORS.read_text() == made.encode(content)
    assert text == made.page(content, text)


def test_the_second_implementation_imports_nothing_of_ours() -> None:
    folder = Path(order.__file__).parent
    for file in folder.glob("*.py"):
        source = file.read_text()
        assert "import registry" not in source
        assert "from registry" not in source


class Steps:
    """Each step of the vectors by the second implementation."""

    def __init__(self, page: Registry) -> None:
        self.page, self.policy = page, page.policy

    def cells(self, given: Any) -> Any:
        cell = places.cell_of(*map(float, given))
        return {"cell": cell, "centre": list(places.centre_of(cell))}

    def places(self, given: Any) -> Any:
        row = places.find_city(*given)
        return int(row[0]) if row else None

    def proximity(self, given: Any) -> Any:
        point, cell, category = given
        local = places.is_local(category, self.policy)
        counts = local and cell is not None
        return {
            "local": local,
            "km": places.kilometres(point, cell) if counts else None,
            "proximity": places.proximity(point, cell, self.policy, local=local),
        }

    def freshness(self, given: Any) -> Any:
        changed, now = map(datetime.fromisoformat, given)
        days = max(0, (now - changed).days)
        value = factors.freshness(changed, now, self.policy)
        return {"days": days, "freshness": value}

    def changes(self, given: Any) -> Any:
        before, after, *instants = given
        changed, now = map(datetime.fromisoformat, instants)
        last = factors.last_change(before, after, changed, now, self.policy)
        return last.isoformat()

    def probes(self, given: Any) -> Any:
        return factors.figures_of(given)

    def quality(self, given: Any) -> Any:
        return factors.quality(given, self.policy)

    def richness(self, given: Any) -> Any:
        return factors.richness(*given, self.policy)

    def depth(self, given: Any) -> Any:
        return factors.depth([(set(t), rich) for t, rich in given], self.policy)

    def words(self, given: Any) -> Any:
        words = page_words.words(given, set(self.policy.split_words))
        return {
            "words": words,
            "stems": list(map(page_words.stem, words)),
            "plain": page_words.plain_form(run for run, _ in page_words.runs(given)),
        }

    def lexicon(self, given: Any) -> Any:
        lexicon = self.page.lexicon
        content = lexicon.content([given], 9)
        corrections = lexicon.corrections(lexicon.parts(given), [given])
        return {
            "parts": lexicon.parts(given),
            "content": content,
            "corrections": list(map(corrections.get, content)),
        }

    def masks(self, given: Any) -> Any:
        mask = Mask(
            *(given[name] for name in ("name", "host", "registrableDomain", "city")),
            policy=self.policy,
            vocabularies=self.page.meaning.vocabularies,
        )
        text = given["text"]
        return {"words": mask.words_left(text), "text": mask.cut_text(text)}

    def sites(self, given: Any) -> Any:
        site = self.page.read(given)
        impacts = site.impacts
        return {
            "siteTerms": [term for term in impacts if term in site.field_terms[0]],
            "actionTerms": site.action_terms,
            "impacts": impacts,
            "depth": site.depth,
            "quality": site.quality,
            "tier": site.tier,
            "local": site.local,
            "vector": site.vector,
            "signature": site.signature.hex(),
        }

    def requests(self, given: Any) -> Any:
        request = self.page.request(given)
        return {
            "terms": request.terms,
            "shares": request.shares,
            "corrected": request.corrected,
            "confidence": request.confidence,
            "vector": request.vector,
        }

    def idf(self, given: Any) -> Any:
        return idf(*given)

    def relevance(self, given: Any) -> Any:
        policy, matched = self.policy, given["matched"]
        lexical = lexical_of(matched, given["weights"], policy)
        cosine = cosine_of(given["site"], given["request"], given["confidence"])
        relevance, floor = relevance_of(lexical, cosine, given["terms"], policy)
        return {
            "lexical": lexical,
            "cosine": cosine,
            "relevance": relevance,
            "floor": floor,
            "eligible": is_eligible(
                matched, cosine, relevance, floor, given["terms"], policy=policy
            ),
        }

    def ties(self, given: Any) -> Any:
        seed = _seed(given, bytes.fromhex(given["secret"]))
        key = order.tie_key(seed, given["site"])
        public = order.public_id(given["site"])
        return {"id": public, "seed": seed.hex(), "key": f"{key:016x}"}

    def order(self, given: Any) -> Any:
        def key(name: str) -> Any:
            *values, commission = given[name]
            return order.order_of(*values, int(commission != 0), self.page.policy)

        return sorted(given, key=key)

    def rankings(self, given: Any) -> Any:
        ranked, _ = self.page.rank(
            given["query"],
            given["location"],
            given["filters"],
            now=datetime.fromisoformat(given["at"]),
            seed=_seed(given, made.SECRET),
            places=given["places"],
        )
        return [
            {
                "site": site,
                "score": score,
                "factors": list(factors_),
                "behind": list(behind),
            }
            for site, score, factors_, behind in ranked
        ]


def _seed(given: Mapping[str, Any], secret: bytes) -> bytes:
    return order.tie_seed(
        secret,
        given["query"],
        given["location"],
        given["filters"],
        at=datetime.fromisoformat(given["at"]),
        nonce=given["nonce"],
    )


def test_the_second_implementation_reaches_every_vector(
    vectors: dict[str, Any], page: Registry
) -> None:
    steps = Steps(page)
    assert len(vectors["steps"]) >= 18
    for name, cases in vectors["steps"].items():
        step: Callable[[Any], Any] = getattr(steps, name)
        for case in cases:
            expected, result = case["expected"], step(case["input"])
            if name == "sites":  # the order of terms tells nothing
                for terms in (expected["siteTerms"], result["siteTerms"]):
                    terms.sort()
            assert result == expected, (name, case["input"])


@pytest.mark.slow
def test_hundreds_of_rankings_of_a_town_are_the_same(page: Registry) -> None:
    gazetteer = Gazetteer.load()
    sites = town()
    profiles = profiles_of(sites, gazetteer)
    index = Builder.build(profiles, made.P).index
    texts = [*RIGHT_HOSTS, *NONSENSE, *OFF_TOPIC]
    texts += [text for requests in read_sets().values() for text in requests]
    steps = Steps(page)
    answered = behind = 0
    for request in made.ranked_requests(RANKINGS, profiles, sorted(set(texts))[::4]):
        ranked = made.rank(index, request)
        assert steps.rankings(request) == ranked, request
        answered += bool(ranked)
        behind += any(row["behind"] for row in ranked)
    assert answered > RANKINGS / 3
    assert behind > RANKINGS / 20
