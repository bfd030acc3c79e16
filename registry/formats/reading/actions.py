"""Gathering a document's actions under the limits all formats share."""

from collections.abc import Iterable

from registry.formats.document import MAX_ACTIONS
from registry.formats.reading.reader import Reader
from registry.sites.action import Action, Sensitivity

_SEVERITY: tuple[Sensitivity, ...] = ("read", "write", "destructive", "irreversible")


def gather(found: Iterable[tuple[Reader, Action]]) -> tuple[Action, ...]:
    """The actions with a name, the first of each name, at most MAX_ACTIONS."""
    kept: dict[str, Action] = {}
    for declared, action in found:
        if not action.name:
            declared.note("required", "an action has no name", "Name it.")
        elif action.name in kept:
            declared.note(
                "duplicate",
                f"{action.name[:80]} stands twice; the first counts",
                "Give each action a name of its own.",
            )
        elif len(kept) < MAX_ACTIONS:
            kept[action.name] = action
    return tuple(kept.values())


def severest(*declared: Sensitivity | None) -> Sensitivity | None:
    """The gravest of several declarations; None if none is made."""
    made = [each for each in declared if each is not None]
    return max(made, key=_SEVERITY.index, default=None)


def hinted_sensitivity(hints: Reader, *read_only: str) -> Sensitivity | None:
    """Of MCP's annotations. read_only: names of the hint that nothing is changed."""
    return severest(
        read_only_sensitivity(hints, *read_only),
        "destructive" if hints.boolean("destructiveHint") else None,
    )


def read_only_sensitivity(action: Reader, *names: str) -> Sensitivity | None:
    """`readOnly` and its spellings: true reads, false writes, absent says nothing."""
    read_only = action.boolean(*names)
    if read_only is None:
        return None
    return "read" if read_only else "write"
