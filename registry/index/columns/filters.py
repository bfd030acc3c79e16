"""The filters: one row each, which is all that a further one needs.

A site has keywords, each the value of a field; a filter lets pass the sites that have the
keyword asked for, and a facet counts the keywords of eligible sites. The search's reader,
its description, the index and the record of a ranking read this table.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Annotated, Any, get_args

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from registry.formats.document import FORMATS
from registry.ranking.profile import Profile, plain_name, primary_language
from registry.sites import entry

MAX_RADIUS_KM = 500
MAX_VALUE_LENGTH = 200
"""Letters; longer values of a site count as unknown, as no request may be as long."""

UNKNOWN = ""
"""The value of a field of which a site tells nothing."""

_NO_VALUE = "\0"
"""Value that no site has: an empty filter finds nothing, not sites of unknown value."""

_FIELD_BITS = 31


def _folded(text: str) -> str:
    return text.strip().casefold()


def format_boolean(value: bool) -> str:
    return "true" if value else "false"


@dataclass(frozen=True, slots=True)
class Filter:
    """A field of sites that can be filtered by and counted.

    values: the values that a site has, as they are compared. compared: the form of a
    request's value in which it is compared. choices: all values that a site can have;
    none if they are without number. folded: the record holds the value as compared.
    """

    values: Callable[[Profile], Iterable[str]]
    compared: Callable[[Any], str]
    choices: tuple[str, ...] = ()
    folded: bool = False


def _open_to(profile: Profile) -> tuple[str]:
    return ("members" if True in profile.requires_auth else "anyone",)


def _single(name: str) -> Callable[[Profile], Iterable[str]]:
    value = attrgetter(name)
    return lambda profile: (value(profile),)


def _described(description: str, max_length: int = MAX_VALUE_LENGTH) -> Meta:
    return Meta(max_length=max_length, description=description)


class Filters(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """The value asked for of each field; None lets all sites pass.

    The number of a field in this order is part of its keywords' hashes: a further one
    comes behind the others, and there are at most sixteen. within_km has no keywords: how
    far a site is, depends on who asks.
    """

    category: (
        Annotated[
            str,
            _described("only sites of this category"),
            Filter(_single("category"), _folded, folded=True),
        ]
        | None
    ) = None
    country: (
        Annotated[
            str,
            _described("of the city; alone: only sites of this country"),
            Filter(_single("country"), str.upper),
        ]
        | None
    ) = None
    format: (
        Annotated[
            str,
            _described(
                "only sites with a document of this format: " + ", ".join(FORMATS),
                max_length=50,
            ),
            Filter(attrgetter("formats"), _folded, FORMATS, folded=True),
        ]
        | None
    ) = None
    conformance: (
        Annotated[
            str,
            _described(
                "strict: only sites whose documents all keep to their format; "
                "tolerated: only the others"
            ),
            Filter(
                _single("conformance"),
                _folded,
                get_args(entry.Conformance),
                folded=True,
            ),
        ]
        | None
    ) = None
    permission: (
        Annotated[
            str,
            _described("only sites that grant this permission, such as readContent"),
            Filter(attrgetter("permissions"), plain_name),
        ]
        | None
    ) = None
    requires_auth: (
        Annotated[
            bool,
            Meta(
                description="only sites with an action that declares that it needs "
                "authentication (true), or none (false)"
            ),
            Filter(
                lambda profile: map(format_boolean, profile.requires_auth),
                format_boolean,
            ),
        ]
        | None
    ) = None
    action: (
        Annotated[
            str,
            _described(
                "only sites with an action of this name; addToCart is add-to-cart too"
            ),
            Filter(attrgetter("action_names"), plain_name),
        ]
        | None
    ) = None
    language: (
        Annotated[
            str,
            _described("only sites in this language, such as de; de-AT is taken as de"),
            Filter(attrgetter("languages"), primary_language),
        ]
        | None
    ) = None
    open_to: (
        Annotated[
            str,
            _described(
                "anyone: only sites of which no action is declared to need a login; "
                "members: only the others"
            ),
            Filter(_open_to, _folded, ("anyone", "members"), folded=True),
        ]
        | None
    ) = None
    within_km: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=MAX_RADIUS_KM,
                description="only sites with a place less than so many kilometres from "
                "the middle of the user's cell; with lat and lon, or a city",
            ),
        ]
        | None
    ) = None

    @classmethod
    def from_record(cls, values: Any) -> "Filters":
        """Parse the filters of a record, which names them by field.

        Raises: msgspec.ValidationError.
        """
        names = {row.name: row.encode_name for row in msgspec.structs.fields(cls)}
        by_name = msgspec.convert(values, dict[str, Any])
        renamed = {names.get(name, name): value for name, value in by_name.items()}
        return msgspec.convert(renamed, cls)

    def given(self) -> dict[str, Any]:
        """Return the values asked for, by field."""
        values = ((name, getattr(self, name)) for name in FILTER_NAMES)
        return {name: value for name, value in values if value is not None}

    def keywords(self) -> tuple[int, ...]:
        """Return the hash of each keyword that a site must have."""
        return tuple(
            hash_keyword(name, FILTERS[name].compared(value) or _NO_VALUE)
            for name, value in self.given().items()
            if name in FILTERS
        )


def _read_table() -> Iterator[tuple[str, Filter]]:
    for field in msgspec.structs.fields(Filters):
        annotated, _ = get_args(field.type)
        for row in annotated.__metadata__:
            if isinstance(row, Filter):
                yield field.name, row


FILTER_NAMES = tuple(field.name for field in msgspec.structs.fields(Filters))
FILTERS: Mapping[str, Filter] = dict(_read_table())
"""The rows of `Filters` that have keywords, by field."""

_NUMBER_OF = {name: number for number, name in enumerate(FILTERS)}


def keywords_of(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield field and value; UNKNOWN for each field without another."""
    for name, row in FILTERS.items():
        values = row.values(profile)
        known = [value for value in values if value and len(value) <= MAX_VALUE_LENGTH]
        for value in known or [UNKNOWN]:
            yield name, value


@lru_cache(maxsize=4_096)
def hash_keyword(field: str, value: str) -> int:
    """Return the odd hash of a keyword.

    field: one of FILTERS. value: as it is compared.
    """
    digest = blake2b(f"{field}\0{value}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) & ~_FIELD_BITS | _mark(field)


def is_keyword_of(field: str, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    marked: npt.NDArray[np.bool_] = hashes & np.uint64(_FIELD_BITS) == _mark(field)
    return marked


def _mark(field: str) -> int:
    """Return the last five bits of a field's keywords."""
    return _NUMBER_OF[field] << 1 | 1
