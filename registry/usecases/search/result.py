"""A result of a search: in full, in brief, and some members of either."""

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from registry.ranking.explain import Advantage, Explanation
from registry.sites.summary import SiteSummary
from registry.usecases.search.brief import BriefResult


class Result(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """score: 0..100000000, the sum of the contributions.

    ahead: null for the last of all. behind: ids of near-duplicates of the same publisher
    that share this rank; at its last rank of the answer, of all its further sites too.
    """

    rank: int
    score: int
    site: SiteSummary
    factors: Explanation
    ahead: Advantage | None
    behind: tuple[str, ...]


def members_of(form: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the members of a result by their names in answers, which are single words."""
    return form.__struct_fields__


MEMBERS = {"full": members_of(Result), "brief": members_of(BriefResult)}
"""The members of a result by detail."""

if TYPE_CHECKING:
    MemberName: TypeAlias = str
else:
    MemberName = Literal[tuple(dict.fromkeys([*MEMBERS["full"], *MEMBERS["brief"]]))]


def _picked(form: type[msgspec.Struct]) -> Any:
    rows = msgspec.structs.fields(form)
    return msgspec.defstruct(
        f"Picked{form.__name__}",
        [(row.name, row.type | msgspec.UnsetType, msgspec.UNSET) for row in rows],
        kw_only=True,
        frozen=True,
    )


PickedResult: Any = _picked(Result)
PickedBriefResult: Any = _picked(BriefResult)
"""Members of a result that the request picked."""
