"""The policies of the log, and what changed from each to the next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec

from registry.db.log.policies import LoggedPolicy

Constants = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A constant that differs. added, removed: of a list of words.

    All is empty where a list has another order only.
    """

    constant: str
    before: Any = None
    after: Any = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyEpoch:
    """code_digest: of the ranking code at that time. changes: from the one before."""

    policy: LoggedPolicy
    name: str
    code_digest: str
    changes: tuple[Change, ...]


def trace_policies(policies: Sequence[LoggedPolicy]) -> list[PolicyEpoch]:
    """policies: in the order of the log. The newest comes first."""
    constants: list[Constants] = [
        msgspec.json.decode(logged.body) for logged in policies
    ]
    changes = [(), *(find_changes(*pair) for pair in pairwise(constants))]
    epochs = [
        PolicyEpoch(
            policy=logged,
            name=str(values.get("name", "")),
            code_digest=str(msgspec.json.decode(logged.record)["code"]),
            changes=changed,
        )
        for logged, values, changed in zip(policies, constants, changes, strict=False)
    ]
    return epochs[::-1]


def find_changes(before: Constants, after: Constants) -> tuple[Change, ...]:
    """Compare constants, in the order of their names; None stands for a missing one."""
    names = sorted(before.keys() | after.keys())
    return tuple(
        _change(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    )


def _change(name: str, before: Any, after: Any) -> Change:
    if isinstance(before, list) and isinstance(after, list):
        return Change(
            constant=name,
            added=tuple(value for value in after if value not in set(before)),
            removed=tuple(value for value in before if value not in set(after)),
        )
    return Change(constant=name, before=before, after=after)
