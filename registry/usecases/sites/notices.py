"""Notices for the owner of a site: once when a condition begins, once when it is over. Pure.

What is wrong at a visit is a condition. Those that stood at the visit before are kept
with the task ("standing"), so that a site that is down for a week is one notice, and one
more when it is back. What could not be looked at stands as it stood.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import msgspec

from registry.db.sites.listed_sites import StoredKey
from registry.db.sites.notices import Notice
from registry.formats.document import StoredDocument
from registry.identity.keys.key_trust import KeyState
from registry.sites.entry import SiteEntry
from registry.sites.place import counts_from
from registry.sites.refusals import CITY_UNKNOWN
from registry.sites.site import LocationClaim
from registry.toml_table import read_table

MAX_STANDING = 20
MAX_DETAIL = 500
MAX_SHOWN = 3
MAX_REASONS = 5
"""Number of reasons in notices of a condition while it lasts."""

Topic = Literal[
    "robots", "unreachable", "missing", "expired", "refused", "unread", "bridge"
]
Conditions = Mapping[str, Mapping[str, Any]]
"""Conditions by key: {"since": RFC 3339, "seen": visits, "told": reasons in notices so far}."""

MISSING = "missing  "
"""The key of the condition that a site has no document that counts."""

# XML 1.0, 2.2: an Atom feed can't hold them, escaped or not; nor PostgreSQL the first.
_NO_TEXT = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)


class _Tables(msgspec.Struct, frozen=True):
    """conditions: the codes of begin and end. keys: code and fix for each state."""

    kinds: Mapping[str, str]
    conditions: Mapping[str, tuple[str, str]]
    keys: Mapping[KeyState, tuple[str, str]]


_TABLES = read_table(__package__, "notices.toml", _Tables)
KINDS = _TABLES.kinds
"""Every code, with its title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition that is wrong. url: which document or call, where it is about one.

    about: where it shows, of a condition of the whole site. cause: which of the causes
    that one problem may have.
    """

    topic: Topic
    detail: str
    fix: str
    problem: str = ""
    url: str = ""
    about: str = ""
    cause: str = ""

    @property
    def key(self) -> str:
        problem = self.problem if self.topic == "refused" else ""
        return f"{self.topic} {problem} {self.url}"

    @property
    def reason(self) -> str:
        """Return the problem with its cause; of several problems each is reported once."""
        return f"{self.problem} {self.cause}".strip()

    @property
    def notice(self) -> Notice:
        code, _ = _TABLES.conditions[self.topic]
        url = self.url or self.about
        return make_notice(
            code, self.detail, fix=self.fix, url=url, problem=self.problem
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionChanges:
    """standing: what is to be remembered. notices: those to be sent."""

    standing: Mapping[str, Any]
    notices: tuple[Notice, ...]


def topic_of(key: str) -> str:
    return key.partition(" ")[0]


def make_notice(
    code: str, detail: str, *, fix: str = "", url: str = "", problem: str = ""
) -> Notice:
    """code: of KINDS. The texts may come from a site: they are cut and cleaned."""
    return Notice(
        code=code,
        detail=clean_text(detail) or KINDS[code],
        fix=clean_text(fix),
        url=clean_text(url) or None,
        problem=problem or None,
    )


def compare(
    before: Conditions,
    conditions: Iterable[Condition],
    now: datetime,
    *,
    unseen: Collection[str] = (),
) -> ConditionChanges:
    """unseen: keys of earlier conditions that this visit could not check."""
    by_key = {condition.key: condition for condition in conditions}
    keys = sorted(by_key)[:MAX_STANDING]
    standing: dict[str, Mapping[str, Any]] = {
        key: _once_more(before.get(key), by_key[key].reason, now) for key in keys
    }
    standing |= {key: before[key] for key in unseen if key not in standing}
    begun = [
        by_key[key].notice
        for key in keys
        if key not in before or _is_news(before[key], by_key[key].reason)
    ]
    ended = [key for key in before if key not in standing]
    still = {_subject_of(key) for key in standing}
    over = [_over(key) for key in ended if _subject_of(key) not in still]
    return ConditionChanges(standing=standing, notices=(*over, *begun))


def compare_probe(
    before: Mapping[str, Any], outcome: str, *, url: str, detail: str
) -> ConditionChanges:
    """Compare a probe; an outcome is noted once seen twice in a row.

    before: {"told"?: that of the last notice, "last"?: another, seen once}. A site that is
    alive from the first gets no notice.
    """
    known = {"told": before["told"]} if "told" in before else {}
    first_alive = not known and outcome == "alive"
    if first_alive or outcome == known.get("told"):
        return ConditionChanges(standing={"told": outcome}, notices=())
    if outcome != before.get("last"):
        return ConditionChanges(standing={**known, "last": outcome}, notices=())
    since = f"before that {known['told']}" if known else "and never alive before"
    changed = f"Twice in a row it was {outcome}, {since}."
    notice = make_notice(
        "probe_changed", f"{changed} {detail}".strip(), url=url, fix=_OF_PROBES
    )
    return ConditionChanges(standing={"told": outcome}, notices=(notice,))


_OF_PROBES = "GET /v1/sites/HOST/quality has the single probes and what they met."


def key_notices(
    before: Sequence[StoredKey], after: Sequence[StoredKey]
) -> list[Notice]:
    """Note the keys whose state changed, of a site that had keys before."""
    known = {stored.known.reference: stored.known.state for stored in before}
    notices = []
    for stored in after if before else ():
        reference, state = stored.known.reference, stored.known.state
        was: KeyState = known.get(reference, "absent")
        if state != was:
            code, fix = _TABLES.keys[state]
            detail = f"The key {reference.kid}."
            notices.append(make_notice(code, detail, fix=fix, url=reference.source_url))
    return notices


def place_notices(
    before: SiteEntry, entry: SiteEntry, cooling_days: int
) -> list[Notice]:
    """Note a city that nobody knows, and a move that begins to wait or waits no more."""
    move, place = entry.place_move, entry.place
    claim = entry.site.location or LocationClaim()
    declared = f"{claim.city} {claim.country}".rstrip()
    unknown = f"{declared} is no city of the gazetteer"
    city = f"{place.name} {place.country}" if place else "No city"
    counting = f"{city} counts in the ranking."
    if move is None and before.place_move is not None:
        return [make_notice("place_counting", counting)]
    if move is None and claim.city and not place and claim != before.site.location:
        detail = f"{unknown}. {counting}"
        return [make_notice("place_unknown", detail, fix=CITY_UNKNOWN.fix)]
    if move is None or move == before.place_move:
        return []
    start = f"from {counts_from(move, cooling_days):%Y-%m-%d %H:%M} UTC on"
    waiting = f"{declared} counts {start}."
    fix = "Do not change it until then: each change starts the wait again."
    if not move.geonames_id:
        cause = unknown if claim.city else "No city is declared"
        waiting, fix = f"{cause}: {start} none counts.", CITY_UNKNOWN.fix
    return [make_notice("place_waiting", f"{counting} {waiting}", fix=fix)]


def document_notices(
    before: Mapping[str, StoredDocument],
    after: Sequence[StoredDocument],
    *,
    refused: Collection[str],
) -> list[Notice]:
    """Note new, gone and deviating documents.

    before: by URL. refused: URLs that a condition is about already.
    """
    present = {document.url for document in after}
    gone = sorted(before.keys() - present - set(refused))
    notices = [
        make_notice("document_gone", f"{url} is not there.", url=url) for url in gone
    ]
    for document in after:
        known = before.get(document.url)
        if known is None and before:
            detail = f"It is read as {document.format}, {document.conformance}."
            notices.append(make_notice("document_new", detail, url=document.url))
        notices += _deviating(known, document)
    return notices


def _deviating(known: StoredDocument | None, document: StoredDocument) -> list[Notice]:
    old = {_spot(deviation) for deviation in known.deviations} if known else set()
    new = [own for own in document.deviations if _spot(own) not in old]
    if not new:
        return []
    shown = "; ".join(
        f"{deviation['pointer'] or '/'}: {deviation['detail']}"
        for deviation in new[:MAX_SHOWN]
    )
    more = f"; and {len(new) - MAX_SHOWN} more" if len(new) > MAX_SHOWN else ""
    fix = new[0].get("fix", "")
    return [make_notice("deviations_new", shown + more, fix=fix, url=document.url)]


def _spot(deviation: Mapping[str, Any]) -> tuple[str, str]:
    return deviation["pointer"], deviation["rule"]


def _once_more(
    known: Mapping[str, Any] | None, reason: str, now: datetime
) -> Mapping[str, Any]:
    if known is None:
        return {"since": now.isoformat(), "seen": 1, "told": [reason]}
    reasons = known.get("told", [])
    if reason not in reasons and len(reasons) < MAX_REASONS:
        reasons = [*reasons, reason]
    return {"since": known["since"], "seen": known["seen"] + 1, "told": reasons}


def _is_news(known: Mapping[str, Any], reason: str) -> bool:
    """Return whether the reason is new; of a server that fails in turns a few are reported."""
    reasons = known.get("told")  # not kept of what began before an upgrade
    return reasons is not None and reason not in reasons and len(reasons) < MAX_REASONS


def _subject_of(key: str) -> tuple[str, str]:
    """Return the subject of a condition's end: a document or a topic."""
    topic, _, url = key.split(" ", 2)
    return _TABLES.conditions[topic][1], url


def _over(key: str) -> Notice:
    code, url = _subject_of(key)
    return make_notice(code, KINDS[code] + ".", url=url)


def clean_text(text: str) -> str:
    """Return what a feed and PostgreSQL can hold of a text of a site."""
    return _NO_TEXT.sub("\ufffd", text)[:MAX_DETAIL]
