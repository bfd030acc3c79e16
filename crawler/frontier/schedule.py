"""Schedule of visits. Pure: now and a source of randomness come from outside.

`draw` gives a number of [0, 1), as `random.random` does.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Literal

Draw = Callable[[], float]

MIN_BACKOFF = timedelta(minutes=1)
MAX_BACKOFF = timedelta(hours=24)
MIN_RETRY_AFTER = timedelta(seconds=60)
MAX_RETRY_AFTER = timedelta(hours=24)
REPROOF_INTERVAL = timedelta(days=7)
REPROOF_RETRY = timedelta(days=1)
REPROOF_STRIKES = 3
MISSING_VISITS = 3
MISSING_FOR = timedelta(days=3)
"""Time until a site without a document is unlisted: as many strikes as a proof has,
and long enough for a weekend; a deployment that went wrong costs nobody his listing."""
RECRAWL_SPREAD = 0.1
_UNCONDITIONAL_SHARE = 0.1
_SECONDS = re.compile(r"[0-9]{1,9}")


def next_retry_at(
    now: datetime, *, failures: int, draw: Draw, retry_after: timedelta | None = None
) -> datetime:
    """Return the time of a retry: exponential back-off with full jitter, 1 min to 24 h.

    failures: in a row, this one included. retry_after: what the server asked for; we
    never come before it.
    """
    ceiling = min(MAX_BACKOFF, MIN_BACKOFF * (1 << min(failures, 16)))
    delay: timedelta = MIN_BACKOFF + (ceiling - MIN_BACKOFF) * draw()
    return now + max(delay, retry_after or delay)


def parse_retry_after(text: str, now: datetime) -> timedelta | None:
    """Seconds or an HTTP date (RFC 9110, 10.2.3), clamped to [60 s, 24 h].

    None where it is absent or neither.
    """
    text = text.strip()
    if _SECONDS.fullmatch(text):
        wanted = timedelta(seconds=int(text))
    else:
        try:
            wanted = parsedate_to_datetime(text).replace(tzinfo=UTC) - now
        except (ValueError, OverflowError):
            return None
    return min(max(wanted, MIN_RETRY_AFTER), MAX_RETRY_AFTER)


def next_crawl_at(now: datetime, *, interval: timedelta, draw: Draw) -> datetime:
    """Return the time of the next crawl after a success. interval: as `allocation` gives it.

    Spread by a tenth, so that sites registered together do not stay together.
    """
    return now + interval * (1 + RECRAWL_SPREAD * (2 * draw() - 1))


def decide_unconditional(draw: Draw) -> bool:
    """Draw one fetch in ten, so that a validator that never changes hides nothing."""
    return draw() < _UNCONDITIONAL_SHARE


def first_probe_at(now: datetime, *, interval: timedelta, draw: Draw) -> datetime:
    """A random phase, kept from then on."""
    return now + interval * draw()


def next_probe_at(due_at: datetime, now: datetime, *, interval: timedelta) -> datetime:
    """The next beat of the same phase; beats missed are not made up for."""
    missed = max((now - due_at) // interval, 0)
    return due_at + interval * (missed + 1)


def decide_missing(now: datetime, *, since: datetime, visits: int) -> bool:
    """Return whether a site is to be unlisted at which nothing counts.

    since: the first visit that found nothing. visits: in a row, with this one.
    """
    return visits >= MISSING_VISITS and now - since >= MISSING_FOR


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproof:
    """Consequence of a proof of control, or of its failure, for a registered site.

    strikes: failures in a row. trust: "unverified" from the third on.
    """

    strikes: int
    trust: Literal["verified", "unverified"]
    next_at: datetime


def decide_reproof(now: datetime, *, proved: bool, strikes: int) -> Reproof:
    """strikes: failures in a row before this one."""
    if proved:
        return Reproof(strikes=0, trust="verified", next_at=now + REPROOF_INTERVAL)
    strikes += 1
    trust: Literal["verified", "unverified"] = (
        "unverified" if strikes >= REPROOF_STRIKES else "verified"
    )
    return Reproof(strikes=strikes, trust=trust, next_at=now + REPROOF_RETRY)
