"""`bench relevance`: the order by relevance alone, judged on retrieval sets."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from rich.table import Table

from registry.bench.kernel.figures import constants_of
from registry.bench.retrieval_set import (
    BenchAction,
    BenchDocument,
    RetrievalSet,
    read_set,
    with_actions,
)
from registry.garbage_collection import collect_less_often
from registry.index.columns.rows import rows_of
from registry.index.query.index_searcher import searcher_of
from registry.index.query.scoring_parameters import Query
from registry.index.segments.levels import make_level
from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.policy import POLICIES, Policy
from registry.ranking.profile import Profile, make_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.relevance import parse_query
from registry.sites.action import Action, Parameter
from registry.sites.site import Site
from registry.terminal.output import console, json_option, print_json

Integers = npt.NDArray[np.int64]
CUT = 10
_JUDGED = (
    *("ndcg_at_10", "recall_at_10", "recall_at_20"),
    *("ndcg_at_10_eligible", "answered"),
)
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
    "--encoder", "chosen", type=click.Choice(list(POLICIES)), default="multilingual"
)
@click.option(
    "--actions",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A set whose ids are SITE::ACTION: the actions of the sites of the others.",
)
@json_option
def relevance(
    folders: tuple[Path, ...], chosen: str, actions: Path | None, *, as_json: bool
) -> None:
    """Rank the documents of each DIR by relevance alone, and judge the order.

    Every document becomes a site with its actions, or with one where it has none of its
    own. The figures are without the eligibility threshold but for
    `ndcg_at_10_eligible` and `answered`, the share of requests with an eligible site;
    `ms_per_query` is CPU time, `read_ms_per_query` the part of it that reads the request
    and finds its vector, and the rest scores every document.
    """
    policy = POLICIES[chosen]
    try:
        encoder = load_encoder(policy)
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error
    read = [read_set(folder) for folder in folders]
    if actions:
        others = read_set(actions)
        read = [with_actions(judged, others) for judged in read]
    sets = [_measure(judged, encoder, policy) for judged in read]
    if as_json:
        print_json({"encoder": policy.encoder, **_means(sets), "sets": sets})
    else:
        console.print(_table([*sets, {"set": "mean", **_means(sets)}]))


def _means(sets: Sequence[dict[str, Any]]) -> dict[str, float]:
    names = [name for name, value in sets[0].items() if isinstance(value, float)]
    return {
        name: round(sum(row[name] for row in sets) / len(sets), 4) for name in names
    }


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    """Make a row for each set, and below it one for each language of its requests."""
    table = Table(box=None)
    names = [name for name in rows[0] if name != "languages"]
    for name in names:
        table.add_column(name, justify="left" if name == "set" else "right")
    for row in rows:
        for part in (row, *row.get("languages", ())):
            shown = {"set": f"  {part.get('lang')}", **part}
            table.add_row(*(str(shown.get(name, "")) for name in names))
    return table


# --- documents as sites --------------------------------------------------------------


def profile_of(
    document: BenchDocument, number: int, encoder: Encoder, policy: Policy
) -> Profile:
    """Make a site; nothing is masked, as the site has no name."""
    own = BenchAction(document.name, document.desc, document.params)
    site = Site(
        category=document.category,
        description=document.desc if document.actions else "",
        actions=tuple(map(_action_of, document.actions or [own])),
    )
    return make_profile(
        site,
        site_id=number,
        publisher=number,
        host=_HOST,
        registrable_domain=_HOST,
        formats=(),
        place=None,
        probes=ProbeFigures(),
        changed_at=_LONG_AGO,
        encoder=encoder,
        policy=policy,
    )


def _action_of(action: BenchAction) -> Action:
    parameter = Parameter(name="", description=action.params)
    return Action(
        name=action.name,
        description=action.desc,
        parameters=(parameter,) if action.params.strip() else (),
    )


# --- judging --------------------------------------------------------------------------


def _measure(judged: RetrievalSet, encoder: Encoder, policy: Policy) -> dict[str, Any]:
    documents = judged.documents
    profiles = [
        profile_of(document, number, encoder, policy)
        for number, document in enumerate(documents, start=1)
    ]
    level = make_level(rows_of(profiles, policy), policy)
    searcher = searcher_of([level.part])
    rows = np.arange(len(documents), dtype=np.uint32)
    ids = [documents[number - 1].id for number in level.rows.site_ids.tolist()]
    # Equals stand in an order that is independent of the judgements.
    ties = np.array(list(map(_tie_key, ids)))
    measures: dict[str, list[dict[str, float]]] = {}
    reading_s = scoring_s = 0.0
    collect_less_often()  # as a process of the service does
    parse_query.cache_clear()  # a request of another set was never seen before
    for question in judged.questions:
        started_s = time.process_time()
        request = parse_query(question.text, encoder, policy)
        read_s = time.process_time()
        constants = constants_of(searcher, len(ids), Query(request=request), policy)
        factors = searcher.score(constants, 0, rows)
        scoring_s += time.process_time() - read_s
        reading_s += read_s - started_s
        order = np.lexsort((ties, -factors["relevance"].astype(np.int64)))
        grades = judged.grades[question.id]
        gains = np.array([grades.get(ids[row], 0) for row in order])
        eligible = factors["eligible"][order] != 0
        eligible &= len(searcher.search(constants.of_answering_sites(), k=1)[0]) > 0
        measures.setdefault(question.lang, []).append(_judge(grades, gains, eligible))
    count = len(judged.questions)
    return {
        "set": judged.name,
        "documents": len(ids),
        "queries": count,
        **_mean([measured for own in measures.values() for measured in own]),
        "ms_per_query": round((reading_s + scoring_s) * 1000 / count, 3),
        "read_ms_per_query": round(reading_s * 1000 / count, 3),
        "languages": [
            {"lang": lang, "queries": len(own), **_mean(own)}
            for lang, own in sorted(measures.items())
            if lang
        ],
    }


def _tie_key(document_id: str) -> int:
    return int.from_bytes(hashlib.sha256(document_id.encode()).digest()[:7])


def _judge(
    grades: Mapping[str, int], gains: Integers, eligible: npt.NDArray[np.bool_]
) -> dict[str, float]:
    """Return the measures of one question. gains, eligible: of all documents, best first."""
    values = (
        ndcg(gains[:CUT].tolist(), grades),
        _recall(gains[:CUT], grades),
        _recall(gains[: 2 * CUT], grades),
        ndcg(gains[eligible][:CUT].tolist(), grades),
        float(eligible.any()),
    )
    return dict(zip(_JUDGED, values, strict=True))


def _mean(measured: Sequence[dict[str, float]]) -> dict[str, float]:
    return {
        name: round(sum(row[name] for row in measured) / len(measured), 4)
        for name in _JUDGED
    }


def ndcg(gains: Sequence[int], grades: Mapping[str, int]) -> float:
    """Compute nDCG of the first CUT gains, as graded (Järvelin & Kekäläinen 2002)."""
    ideal = sorted(grades.values(), reverse=True)[:CUT]
    return _discounted(gains[:CUT]) / _discounted(ideal)


def _discounted(gains: Sequence[int]) -> float:
    return float(sum(gain / np.log2(rank + 2) for rank, gain in enumerate(gains)))


def _recall(gains: Integers, grades: Mapping[str, int]) -> float:
    return int(np.count_nonzero(gains)) / len(grades)
