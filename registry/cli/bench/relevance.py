"""`bench relevance`: how well relevance alone finds the right site, on retrieval sets."""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# One core is what a request may have: more threads of BLAS would spin beside each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click
import numpy as np
import numpy.typing as npt
from rich.table import Table

from registry.cli.bench.retrieval_set import Document, RetrievalSet, read_set
from registry.cli.output import console, json_option, print_json
from registry.ranking.encoder import Encoder, load_encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL, TRANSFORMER_POLICY, Policy
from registry.ranking.profile import Profile, make_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.relevance import (
    Matches,
    idf_milli,
    impacts,
    match_sites,
    parse_request,
)
from registry.ranking.vectors import SITE_BYTES, reciprocals, unpack_sites
from registry.sites.action import Action, Parameter
from registry.sites.site import Site

Integers = npt.NDArray[np.int64]
POLICIES = {"static": DEFAULT_POLICY, "minilm": TRANSFORMER_POLICY}
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
    eligibility threshold but for `ndcg_at_10_eligible`; `ms_per_query` is CPU time.
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


# --- ranking --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Posting:
    """Of a term: the rows that say it, and how much it counts in each."""

    rows: Integers
    counts: npt.NDArray[np.float64]
    idf: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Corpus:
    """unknown: of a term that no row says."""

    postings: Mapping[str, _Posting]
    vectors: npt.NDArray[np.float32]
    reciprocals: Integers
    unknown: _Posting

    def __len__(self) -> int:
        return len(self.vectors)

    def match(self, text: str, encoder: Encoder, policy: Policy) -> Matches:
        request = parse_request(text, encoder, policy)
        found = [self.postings.get(term, self.unknown) for term in request.weights_bp]
        shares = request.weights_bp.values()
        weights = [
            each.idf * share // FULL for each, share in zip(found, shares, strict=True)
        ]
        # All are whole numbers below 2^24, or 2^53 in the sums, so exact in any order.
        vector = np.frombuffer(request.vector, np.int8).astype(np.float32)
        products = (self.vectors @ vector).astype(np.int64)
        matched = self._matched(found, weights)
        return match_sites(
            matched, products, self.reciprocals, request, weights, policy=policy
        )

    def _matched(self, found: Sequence[_Posting], weights: Sequence[int]) -> Integers:
        """Of each row, the sum over the terms that it says of weight times impact."""
        rows = np.concatenate([self.unknown.rows, *(each.rows for each in found)])
        counts = np.concatenate([self.unknown.counts, *(each.counts for each in found)])
        counts *= np.repeat([0, *weights], [0, *(len(each.rows) for each in found)])
        return np.bincount(rows, counts, len(self)).astype(np.int64)


def _corpus(documents: Sequence[Document], encoder: Encoder, policy: Policy) -> _Corpus:
    profiles = [_profile(each, encoder, policy) for each in documents]
    said: dict[str, list[tuple[int, int]]] = {}
    for row, profile in enumerate(profiles):
        for term, impact in impacts(profile, policy).items():
            said.setdefault(term, []).append((row, impact))
    packed = np.frombuffer(b"".join(each.embedding for each in profiles), np.uint8)
    vectors = unpack_sites(packed.reshape(-1, SITE_BYTES))
    return _Corpus(
        postings={
            term: _Posting(
                rows=np.array([row for row, _ in pairs], np.int64),
                counts=np.array([impact for _, impact in pairs], np.float64),
                idf=idf_milli(len(profiles), len(pairs)),
            )
            for term, pairs in said.items()
        },
        vectors=vectors.astype(np.float32),
        reciprocals=reciprocals(vectors).astype(np.int64),
        unknown=_Posting(
            rows=np.empty(0, np.int64),
            counts=np.empty(0),
            idf=idf_milli(len(profiles), 0),
        ),
    )


def _profile(document: Document, encoder: Encoder, policy: Policy) -> Profile:
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
    corpus = _corpus(found.documents, encoder, policy)
    ids = [each.id for each in found.documents]
    # Equals stand in an order that knows nothing of what is right.
    lots = np.array([_lot(one) for one in ids])
    sums = dict.fromkeys(("ndcg_at_10", "recall_at_10", "recall_at_20"), 0.0)
    sums["ndcg_at_10_eligible"] = 0.0
    seconds = 0.0
    for question in found.questions:
        started = time.process_time()
        matches = corpus.match(question.text, encoder, policy)
        seconds += time.process_time() - started
        _judge(found.grades[question.id], ids, lots, matches, sums)
    count = len(found.questions)
    return {
        "set": found.name,
        "documents": len(ids),
        "queries": count,
        **{name: round(value / count, 4) for name, value in sums.items()},
        "ms_per_query": round(seconds * 1000 / count, 3),
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
