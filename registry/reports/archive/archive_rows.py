"""A row of the archive: a ranking as the log has it, and what it disclosed.

What was disclosed stands as JSON beside its salt, so that anybody can spell it again as
it was hashed: base64url of `["salt","name",value]` (RFC 9901), whose SHA-256 in base64url
is one of `_sd` of the record. Scores stand in columns, if they can be spelled from them.
"""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from registry.identity import base64url
from registry.records.disclosure import join_disclosure
from registry.records.packing import encode_answer
from registry.records.ranking_columns import RankingColumns, query_key, unpack_sites
from registry.reports.archive.duck import column_types
from registry.reports.archive.scores import ArchivedScores, join_scores, split_scores
from registry.sites.identifier import format_site_id, parse_site_id

OPENED = ("query", "location", "filters", "scores")
"""The disclosures that a report reads beside the answer."""

STATED = (*OPENED, "request")
"""Disclosures with columns of their own; by the request the sample is drawn again."""

LATER = (
    *("tiers", "probes", "answer_salt", "choice", "choice_salt", "places"),
    *("request", "request_salt", "sample_logged"),
)
"""Columns that older files lack."""


class ArchivedRanking(msgspec.Struct, kw_only=True):
    """Ranking as archived. minute: as in the record. returned: site ids, sampled too; the first by rank.

    selection_index: the leaf of the report of a choice, None without one. chosen: the
    site, or None for no site. answer_salt: of eligible and returned, None where they are
    erased, or stand in the log (version 1); then they are 0 and empty. choice: JSON, with
    its salt, as the selection disclosed it. query_key, category, located: what a report takes from
    the query, the filters and the place. query, location, filters: JSON, as disclosed; with their salts None where erased.
    scores: JSON too, where they are of another form than the six columns can hold.
    sample_logged: the answer that was logged names the sampled sites.
    """

    leaf_index: int
    id: str
    minute: str
    operator: str
    policy: str
    eligible: int
    returned: list[int]
    sampled: list[int]
    answer_salt: str | None = None
    selection_index: int | None = None
    chosen: int | None = None
    choice: str | None = None
    choice_salt: str | None = None
    query_key: int = 0
    category: str = ""
    located: bool = False
    query: str | None = None
    query_salt: str | None = None
    location: str | None = None
    location_salt: str | None = None
    filters: str | None = None
    filters_salt: str | None = None
    scores: str | None = None
    scores_salt: str | None = None
    factors: list[int] | None = None
    totals: list[int] | None = None
    ties: list[int] | None = None
    tiers: list[int] | None = None
    probes: list[int | None] | None = None
    places: list[int] | None = None
    request: str | None = None
    request_salt: str | None = None
    sample_logged: bool | None = None

    @property
    def unopened(self) -> list[str]:
        """Disclosures that are not here."""
        return [name for name in OPENED if getattr(self, f"{name}_salt") is None]

    def disclosures(self) -> dict[str, str]:
        """Return disclosures by name, as they were hashed. Raises: ValueError where scores do not fit."""
        return {
            name: join_disclosure(salt.encode(), name, self._value(name)).decode()
            for name in (*STATED, "answer")
            if (salt := getattr(self, f"{name}_salt")) is not None
        }

    def chosen_disclosure(self) -> str | None:
        """Return the disclosure of the selection, None where there is none."""
        if self.choice is None or self.choice_salt is None:
            return None
        salt, value = self.choice_salt.encode(), self.choice.encode()
        return join_disclosure(salt, "choice", value).decode()

    def _value(self, name: str) -> bytes:
        if name == "answer":
            order, sample = (
                list(map(format_site_id, ids)) for ids in (self.returned, self.sampled)
            )
            return encode_answer(
                self.eligible, order, sample if self.sample_logged else None
            )
        if name == "scores" and self.scores is None:
            columns = [getattr(self, name) or () for name in ArchivedScores._fields]
            return join_scores(ArchivedScores(*columns), self.returned)
        return str(getattr(self, name)).encode()


TYPES = column_types(
    ArchivedRanking,
    returned="BIGINT[]",
    sampled="BIGINT[]",
    query_key="UBIGINT",
    factors="SMALLINT[]",
    totals="INTEGER[]",
    ties="UBIGINT[]",
    tiers="SMALLINT[]",
    probes="INTEGER[]",
    places="INTEGER[]",
)
"""Columns of a file of rankings, as DuckDB names their types."""


class LoggedRanking(msgspec.Struct):
    """The members of a ranking record that a row repeats; n and order of version 1."""

    id: str
    t: str
    op: str
    policy: str
    sd: list[str] = msgspec.field(name="_sd")
    n: int | None = None
    order: list[str] | None = None

    @property
    def sites(self) -> list[int] | None:
        """Return the order of a record of version 1."""
        return None if self.order is None else list(map(parse_site_id, self.order))


read_logged = msgspec.json.Decoder(LoggedRanking).decode


class Derived(NamedTuple):
    """Members that a report takes from disclosures."""

    query_key: int
    category: str
    located: bool


def archive_ranking(
    leaf_index: int,
    body: bytes,
    columns: RankingColumns,
    openings: Mapping[str, str],
    selection: tuple[int, int | None, str | None] | None,
) -> ArchivedRanking:
    """Return the row of a ranking.

    body: of the record. openings: disclosures by name. selection: its leaf, the site and
    its disclosure.
    """
    logged = read_logged(body)
    selection_index, chosen, choice = selection or (None, None, None)
    key = columns.query_key
    row = ArchivedRanking(
        leaf_index=leaf_index,
        id=logged.id,
        minute=logged.t,
        operator=columns.operator,
        policy=logged.policy,
        eligible=columns.eligible,
        returned=list(columns.order),
        sampled=list(unpack_sites(columns.sampled)),
        selection_index=selection_index,
        chosen=chosen,
        query_key=int.from_bytes(key) if key else query_key("", logged.id),
        category=columns.category or "",
        located=bool(columns.located),
    )
    for name in STATED:
        if name in openings:
            _put(row, name, openings[name])
    if "answer" in openings:
        row.answer_salt, _, answer = _split(base64url.decode(openings["answer"]))
        row.sample_logged = b'"sample":' in bytes(answer)
    if choice is not None:
        row.choice_salt, _, value = _split(base64url.decode(choice))
        row.choice = bytes(value).decode()
    return row


def derive(row: ArchivedRanking) -> Derived:
    """Compute the ranking's stored columns again. Raises: msgspec.MsgspecError."""
    query = str(_read(row.query)) if row.query_salt is not None else ""
    filters = _read(row.filters)
    category = filters.get("category", "") if isinstance(filters, dict) else ""
    return Derived(
        query_key=query_key(query, "" if query else row.id),
        category=str(category),
        located=_read(row.location) is not None,
    )


def _put(row: ArchivedRanking, name: str, disclosure: str) -> None:
    salt, _, value = _split(base64url.decode(disclosure))
    setattr(row, f"{name}_salt", salt)
    columns = split_scores(bytes(value), row.returned) if name == "scores" else None
    if columns:
        for column, values in columns._asdict().items():
            setattr(row, column, values)
    else:
        setattr(row, name, bytes(value).decode())


_split = msgspec.json.Decoder(tuple[str, str, msgspec.Raw]).decode


def _read(value: str | None) -> object:
    return None if value is None else msgspec.json.decode(value)
