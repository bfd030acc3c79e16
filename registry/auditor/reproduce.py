"""`audit reproduce`: rankings computed again from what they disclose.

The log is verified first, so that policy, seed and secret are those that stand in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import click
import msgspec

from registry.auditor.command import (
    EXIT_UNPROVEN,
    decode_lines,
    named_registry_option,
    run_audit,
    sole_registry,
)
from registry.auditor.profiles.check_ranking import ProfileChecks
from registry.auditor.proof_check import ProvenEntries
from registry.auditor.prove import has_leaf_hash
from registry.auditor.received_answer import ReceivedAnswer, parse_answer
from registry.auditor.source import LogSource, LogUnreadable
from registry.auditor.trust import TrustOptions, trust_options
from registry.auditor.verify import follow, state_option
from registry.errors import RegistryError
from registry.ranking.rank_score import PageStart
from registry.records.canonical import JsonValue, canonical_json
from registry.records.disclosure import parse_disclosure
from registry.records.packed_scores import DisclosedScore
from registry.records.recomputation import (
    KnownDay,
    Recomputation,
    disclosed_seed,
    parse_request,
    recompute,
)
from registry.records.record import parse_record
from registry.records.record_fields import Members
from registry.records.rules.conduct_state import ConductState
from registry.sites.gazetteer import Gazetteer
from registry.terminal.output import (
    DEFAULT_URL,
    console,
    errors,
    json_option,
    print_json,
    shown,
)

DRAWN = 20
"""Sites that are drawn from all for a ranking, beside those that it returned."""


class Held(msgspec.Struct, rename="camel", kw_only=True):
    """A ranking as `GET /v1/rankings/{id}` gives it to its asker; a line of the file."""

    id: str
    leaf_index: int | None
    openings: tuple[dict[str, Any], ...] | None = None

    @property
    def disclosures(self) -> list[str]:
        return [str(opening.get("disclosure")) for opening in self.openings or ()]


@click.command()
@click.argument("arguments", nargs=-1, metavar="[ID]")
@named_registry_option
@trust_options
@state_option
@click.option(
    "--disclosures",
    type=click.File("rb"),
    help="Answers of GET /v1/rankings/{id}, one a line, instead of ID.",
)
@click.option(
    "--answer",
    type=click.File("rb"),
    help="The answer as you got it, JSON in full, instead of ID and --leaf-hash: its "
    "results are compared with the record.",
)
@click.option("--leaf-hash", help="The answer's leaf hash, to compare with the record.")
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=DRAWN,
    show_default=True,
    help="Number of further sites, drawn at random, to check too.",
)
@click.option("--first", type=int, default=0, help="Leave out rankings before it.")
@click.option("--last", type=int, help="Leave out rankings behind it.")
@json_option
def reproduce(
    arguments: tuple[str, ...],
    named: str | None,
    state: Path | None,
    disclosures: Any,
    *,
    answer: Any,
    leaf_hash: str | None,
    sample: int,
    first: int,
    last: int | None,
    as_json: bool,
    **trust: Any,
) -> None:
    """Compute a ranking again: profiles, factors, eligibility, totals, order, ties.

    ID is the whole id from the answer; its secret half is what opens the disclosures.
    Exit code 1 if a ranking differs, 3 if not all of it could be computed.
    """
    files = [file for file in (answer, disclosures) if file]
    subjects, older = arguments[: not files], arguments[not files :]
    if len(files) + len(subjects) != 1 or not _is_source(*older):
        raise click.UsageError("give one of ID, --answer and --disclosures")
    received = parse_answer(answer.read()) if answer else None
    if received:
        subjects, leaf_hash = (received.ranking.id,), received.ranking.leaf_hash
    url = sole_registry(older[0] if older else None, named) or DEFAULT_URL
    options = TrustOptions(**trust)

    async def work(source: LogSource) -> int:
        log = await follow(source, options, state)
        entries = ProvenEntries(source, log.checkpoint)
        profiles = ProfileChecks(source, Gazetteer.load(), sample)
        again = _Again(entries, log.conduct, profiles, received)
        if disclosures:
            held = _in_range(decode_lines(disclosures, Held), first, last)
        else:
            held = iter([await _fetch_record(source, subjects[0])])
        tally = OutcomeTally()
        for ranking in held:
            result = await again.compute(ranking, leaf_hash)
            tally.add(ranking, result, as_json=as_json)
        return tally.print_outcome(as_json=as_json)

    raise SystemExit(run_audit(url, work, as_json=as_json))


def _is_source(text: str = "", *more: str) -> bool:
    """Return whether it is the address of at most one registry or copy of its log."""
    return not more and (not text or "://" in text or Path(text).exists())


class OutcomeTally:
    """Count the outcomes of many rankings."""

    def __init__(self) -> None:
        self.checked = self.differing = self.impossible = self.incomplete = 0
        self.shown: list[dict[str, Any]] = []

    def add(self, ranking: Held, result: Recomputation, *, as_json: bool) -> None:
        self.checked += result.is_possible
        self.impossible += not result.is_possible
        self.differing += bool(result.differences)
        self.incomplete += bool(result.missing)
        record_id = ranking.id.partition(".")[0]
        if as_json:
            self.shown.append(
                {
                    "id": record_id,
                    "leafIndex": ranking.leaf_index,
                    "checked": result.checked,
                    "differences": result.differences,
                    "notChecked": result.missing,
                }
            )
            return
        word = "[red]differs[/]" if result.differences else "[green]the same[/]"
        word = f"{word}, as far as it was computed" if result.missing else word
        word = word if result.is_possible else "nothing to compute"
        at = "" if ranking.leaf_index is None else f" at {ranking.leaf_index}"
        console.print(f"{shown(record_id)}{at}: {word}")
        console.print(f"  computed: {', '.join(result.checked) or 'nothing'}")
        for line in result.differences:
            console.print_line(f"  [red]difference[/]: {shown(line)}")
        for line in result.missing:
            console.print_line(f"  not computed: {shown(line)}")

    def print_outcome(self, *, as_json: bool) -> int:
        """Print the summary; return the exit code."""
        if as_json:
            numbers = {"checked": self.checked, "mismatches": self.differing}
            left = {"impossible": self.impossible, "incomplete": self.incomplete}
            print_json({**numbers, **left, "rankings": self.shown})
        elif self.checked + self.impossible > 1:
            console.print(
                f"{self.checked} computed again, {self.differing} differ, "
                f"{self.impossible} disclose nothing"
            )
        if self.differing:
            return 1
        is_whole = self.checked and not self.incomplete
        return 0 if is_whole else EXIT_UNPROVEN


async def _fetch_record(source: LogSource, ranking_id: str) -> Held:
    """Raises: LogUnreadable."""
    answer = await source.get_json(f"/v1/rankings/{quote(ranking_id, safe='')}")
    held = msgspec.convert(answer, Held)
    wanted, answered = (text.partition(".")[0] for text in (ranking_id, held.id))
    if answered != wanted:
        raise LogUnreadable(f"{source.name} answers for {answered}, not {wanted}")
    if held.openings is None:
        errors.print(
            "The secret half of the id is missing or wrong: nothing is opened."
        )
    return held


def _in_range(held: Iterator[Held], first: int, last: int | None) -> Iterator[Held]:
    """Yield those without an index too: a registry gives none to be passed over."""
    most = inf if last is None else last
    for ranking in held:
        index = ranking.leaf_index
        if index is None or index < 0 or first <= index <= most:
            yield ranking


@dataclass(slots=True)
class _Again:
    """Computes rankings again. received: the answer, as its asker got it."""

    entries: ProvenEntries
    conduct: ConductState
    profiles: ProfileChecks
    received: ReceivedAnswer | None
    _page_ends: set[tuple[bytes, PageStart]] = field(default_factory=set)

    async def compute(self, ranking: Held, expected_hash: str | None) -> Recomputation:
        """Compute a ranking whose record has that leaf hash, if one is given.

        Raises: LogUnreadable, LogInvalid.
        """
        index = -1 if ranking.leaf_index is None else ranking.leaf_index
        if not 0 <= index < self.entries.head.size:
            return Recomputation(missing=("it is not in the published log yet",))
        entry = await self.entries.at(index)
        if not has_leaf_hash(entry, expected_hash):
            return _differs("leaf hash", f"the record is not {expected_hash}")
        members = parse_record(entry)
        named = ("ranking", ranking.id.partition(".")[0])
        if (members["kind"], members["id"]) != named:
            return _differs("id", f"entry {index} is another record")
        policy = self.conduct.policies[str(members["policy"])]
        text = str(parse_record(await self.entries.at(policy))["text"])
        return await self._recompute(members, ranking.disclosures, text)

    async def _recompute(
        self, members: Members, disclosures: list[str], policy_text: str
    ) -> Recomputation:
        seed = self.conduct.seeds[cast("int", members["seed"])]
        secret = bytes.fromhex(seed.secret) if seed.secret else None
        day = KnownDay(day=seed.day, secret=secret)
        try:
            recomputation = recompute(
                members,
                disclosures,
                policy_text=policy_text,
                day=day,
                find_place=self.profiles.gazetteer.point_of,
            )
        except RegistryError as refused:
            return _differs("digests", f"a disclosure: {refused.problem.detail}")
        if "totals" not in recomputation.checked:
            return recomputation
        opened = [parse_disclosure(text) for text in disclosures]
        values = {disclosure.name: disclosure.value for disclosure in opened}
        tie_seed = disclosed_seed(values, secret, policy_text)
        scores = msgspec.convert(values["scores"], list[DisclosedScore])
        self._hold_page(recomputation, values, scores)
        rebuilt = await self.profiles.check(members, values, tie_seed)
        if self.received:
            answer = cast("Members", values.get("answer", {}))
            record = {"opn": None, **members, **values, **answer}
            differences = self.received.differences(record, scores, self.profiles.hosts)
            recomputation.add("results", differences)
        return Recomputation.joined([recomputation, rebuilt])

    def _hold_page(
        self,
        outcome: Recomputation,
        values: Mapping[str, JsonValue],
        scores: Sequence[DisclosedScore],
    ) -> None:
        """Hold the start of a page against the end of the one before.

        Sites are missed on a first page alone: who calls it a further one hides them.
        """
        if not values.keys() >= {"request", "query", "location", "filters"}:
            return
        request, ends = parse_request(values["request"]), self._page_ends
        query = [values[name] for name in ("query", "location", "filters")]
        moment = [request.id, request.nonce, request.at.isoformat()]
        answer = canonical_json([*query, *moment])
        if not request.after.is_first and (answer, request.after) not in ends:
            outcome.lack("page: a further one, and the one before it is not computed")
        elif scores:
            ends.add((answer, scores[-1].page_start))


def _differs(checked: str, difference: str) -> Recomputation:
    return Recomputation(checked=(checked,), differences=(difference,), missing=())
