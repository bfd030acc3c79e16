"""Collection of a document's actions under the limits that all formats share."""

from collections.abc import Iterable

from registry.formats.document import MAX_ACTIONS
from registry.formats.reading.reader import Reader
from registry.sites.action import Action, Sensitivity

_SEVERITY: tuple[Sensitivity, ...] = ("read", "write", "destructive", "irreversible")


def gather(declarations: Iterable[tuple[Reader, Action]]) -> tuple[Action, ...]:
    """Return the named actions, the first of each name, at most MAX_ACTIONS."""
    actions: dict[str, Action] = {}
    for declared, action in declarations:
        if not action.name:
            declared.deviate("action_without_name")
        elif action.name in actions:
            declared.deviate("action_listed_twice", name=action.name[:80])
        elif len(actions) < MAX_ACTIONS:
            actions[action.name] = action
    return tuple(actions.values())


def severest(*declared: Sensitivity | None) -> Sensitivity | None:
    """Return the gravest of several declarations; None if there is none."""
    levels = [level for level in declared if level is not None]
    return max(levels, key=_SEVERITY.index, default=None)


def hinted_sensitivity(hints: Reader, *read_only: str) -> Sensitivity | None:
    """Read MCP's annotations. read_only: names of the hint that nothing is changed."""
    return severest(
        read_only_sensitivity(hints, *read_only),
        "destructive" if hints.boolean("destructiveHint") else None,
    )


def read_only_sensitivity(action: Reader, *names: str) -> Sensitivity | None:
    """Read `readOnly` and its synonyms: true reads, false writes, absent is unknown."""
    read_only = action.boolean(*names)
    if read_only is None:
        return None
    return "read" if read_only else "write"
