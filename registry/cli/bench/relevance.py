"""`bench relevance`: how well relevance alone finds the right site, on retrieval sets."""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# One core is what a request may have: more threads of BLAS would spin beside each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click
import numpy as np
import numpy.typing as npt
from rich.table import Table

from registry.cli.bench.corpus import corpus_of
from registry.cli.bench.retrieval_set import Document, RetrievalSet, read_set
from registry.cli.output import console, json_option, print_json
from registry.process import calm_collector
from registry.ranking.encoder import Encoder, load_encoder
from registry.ranking.policy import POLICIES, Policy
from registry.ranking.profile import Profile, make_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.relevance import Matches, parse_request
from registry.sites.action import Action, Parameter
from registry.sites.site import Site

Integers = npt.NDArray[np.int64]
CUT = 10
_HOST = "site.example"
_LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@click.command()
@click.argument(
    "folders",
    metavar="DIR...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
@click.option(
    "--encoder", "chosen", type=click.Choice(list(POLICIES)), default="static"
)
@json_option
def relevance(folders: tuple[Path, ...], chosen: str, *, as_json: bool) -> None:
    """Rank the documents of each DIR by relevance alone, and judge the order.

    Every document becomes a site with one action. The figures are without the
    eligibility threshold but for `ndcg_at_10_eligible`; `ms_per_query` is CPU time,
    `read_ms_per_query` the part of it that reads the request and finds its vector, and
    the rest scores every document.
    """
    policy = POLICIES[chosen]
    try:
        encoder = load_encoder(policy)
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error
    sets = [_measure(read_set(folder), encoder, policy) for folder in folders]
    found = {"encoder": policy.encoder, **_means(sets), "sets": sets}
    if as_json:
        print_json(found)
    else:
        console.print(_table([*sets, {"set": "mean", **_means(sets)}]))


def _means(sets: Sequence[dict[str, Any]]) -> dict[str, float]:
    names = [name for name, value in sets[0].items() if isinstance(value, float)]
    return {
        name: round(sum(each[name] for each in sets) / len(sets), 4) for name in names
    }


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None)
    for name in rows[0]:
        table.add_column(name, justify="left" if name == "set" else "right")
    for row in rows:
        table.add_row(*(str(row.get(name, "")) for name in rows[0]))
    return table


# --- documents as sites --------------------------------------------------------------


def profile_of(document: Document, encoder: Encoder, policy: Policy) -> Profile:
    """The name is an action's, and masked nowhere: no site here has a name."""
    said = Parameter(name="", description=document.params)
    action = Action(
        name=document.name,
        description=document.desc,
        parameters=(said,) if document.params.strip() else (),
    )
    return make_profile(
        Site(category=document.category, actions=(action,)),
        site_id=0,
        publisher=0,
        host=_HOST,
        registrable_domain=_HOST,
        formats=(),
        place=None,
        probes=ProbeFigures(),
        changed_at=_LONG_AGO,
        encoder=encoder,
        policy=policy,
    )


# --- judging --------------------------------------------------------------------------


def _measure(found: RetrievalSet, encoder: Encoder, policy: Policy) -> dict[str, Any]:
    profiles = [profile_of(each, encoder, policy) for each in found.documents]
    corpus = corpus_of(profiles, policy)
    ids = [each.id for each in found.documents]
    # Equals stand in an order that knows nothing of what is right.
    lots = np.array([_lot(one) for one in ids])
    sums = dict.fromkeys(("ndcg_at_10", "recall_at_10", "recall_at_20"), 0.0)
    sums["ndcg_at_10_eligible"] = 0.0
    reading_s = scoring_s = 0.0
    calm_collector()  # as a process of the service does
    for question in found.questions:
        started_s = time.process_time()
        request = parse_request(question.text, encoder, policy)
        read_s = time.process_time()
        matches = corpus.match(request, policy)
        scoring_s += time.process_time() - read_s
        reading_s += read_s - started_s
        _judge(found.grades[question.id], ids, lots, matches, sums)
    count = len(found.questions)
    return {
        "set": found.name,
        "documents": len(ids),
        "queries": count,
        **{name: round(value / count, 4) for name, value in sums.items()},
        "ms_per_query": round((reading_s + scoring_s) * 1000 / count, 3),
        "read_ms_per_query": round(reading_s * 1000 / count, 3),
    }


def _lot(document_id: str) -> int:
    return int.from_bytes(hashlib.sha256(document_id.encode()).digest()[:7])


def _judge(
    grades: Mapping[str, int],
    ids: Sequence[str],
    lots: Integers,
    matches: Matches,
    sums: dict[str, float],
) -> None:
    order = np.lexsort((lots, -matches.relevance))
    eligible = order[matches.eligible[order]]
    gained = [grades.get(ids[row], 0) for row in order[: 2 * CUT]]
    sums["ndcg_at_10"] += ndcg(gained[:CUT], grades)
    sums["recall_at_10"] += _recall(gained[:CUT], grades)
    sums["recall_at_20"] += _recall(gained, grades)
    shown = [grades.get(ids[row], 0) for row in eligible[:CUT]]
    sums["ndcg_at_10_eligible"] += ndcg(shown, grades)


def ndcg(gained: Sequence[int], grades: Mapping[str, int]) -> float:
    """Järvelin & Kekäläinen 2002, gains as graded, over the first CUT places.

    gained: the grades in the order that was found, best first.
    """
    ideal = sorted(grades.values(), reverse=True)[:CUT]
    return _discounted(gained[:CUT]) / _discounted(ideal)


def _discounted(gains: Sequence[int]) -> float:
    return float(sum(gain / np.log2(at + 2) for at, gain in enumerate(gains)))


def _recall(gained: Sequence[int], grades: Mapping[str, int]) -> float:
    return sum(1 for gain in gained if gain) / len(grades)
