"""A brief answer in as many words as a model should spend on it, spent from the top.

Each result has its site, score and reason. Then each gets a way to call its action, then
what that does, then a second action, while there is room; the rest is left to `get_site`.
Room goes by rank alone, so that no site gains any by many words.
"""

from collections.abc import Iterator, Sequence

import msgspec

from registry.formats.invocations import Invocation, Means
from registry.formats.untrusted_text import NOTICE, neutralise_all
from registry.interfaces.rest.search.search_answer import BriefAnswer
from registry.interfaces.rest.wire_model import WireModel
from registry.usecases.search.brief import BriefResult

BYTES_OF_RESULT = 265
"""Bytes by `_size` of at most 120 tokens of LLaMA 2's vocabulary, fewer of later ones."""

FORMS = 4

LEAST_RESULTS = 10
"""An answer of fewer may be as long as one of ten."""


class CompactAction(WireModel, kw_only=True, omit_defaults=True):
    """call: a signature; ? marks what may be left out, … that there is more.

    by, method, url, operation, needsLogin: as in a brief answer of /v1.
    """

    call: str
    about: str = ""
    by: Means | None = None
    method: str = ""
    url: str = ""
    operation: str = ""
    needs_login: bool = False


class CompactResult(WireModel, kw_only=True, omit_defaults=True):
    """contributions: of relevance, proximity, capability depth, quality and freshness.

    They are whole points, each rounded; `explain_ranking` has them as they are.
    """

    site: str
    city: str = ""
    score: float
    contributions: tuple[int, ...]
    why: str
    actions: tuple[CompactAction, ...] = ()


class CompactAnswer(BriefAnswer, kw_only=True, omit_defaults=True):
    """notice: whose words they are."""

    notice: str
    results: tuple[CompactResult, ...]  # type: ignore[assignment] # in fewer words


def compact(answer: BriefAnswer) -> dict[str, object]:
    """Return the answer as JSON members, each text of it neutral."""
    members = neutralise_all(msgspec.to_builtins(answer))
    head = {name: value for name, value in members.items() if name != "results"}
    head = {"notice": NOTICE, **head}
    most = BYTES_OF_RESULT * max(LEAST_RESULTS, len(answer.results))
    room = most - _size(head)
    return {**head, "results": list(_fitting(answer.results, room))}


def _fitting(results: Sequence[BriefResult], room: int) -> Iterator[object]:
    """Yield each result in a form, all together in the room if their shortest are.

    A longer form is given to all, from the top, before the next longer to any.
    """
    forms = [
        [neutralise_all(msgspec.to_builtins(form)) for form in _forms(result)]
        for result in results
    ]
    sizes = [[_size(form) + 1 for form in row] for row in forms]
    chosen = [0] * len(forms)
    left = room - sum(row[0] for row in sizes)
    for longer in range(1, FORMS):
        for number, row in enumerate(sizes):
            cost = row[longer] - row[chosen[number]]
            if cost <= left:
                chosen[number] = longer
                left -= cost
    return (row[number] for row, number in zip(forms, chosen, strict=True))


def _size(members: object) -> int:
    """Return bytes of JSON; those of letters beyond ASCII, which cost more tokens, count twice."""
    encoded = msgspec.json.encode(members)
    beyond = len(encoded) - len(encoded.decode("ascii", "ignore"))
    return len(encoded) + beyond


def _forms(result: BriefResult) -> Iterator[CompactResult]:
    """Yield the forms of a result, the shortest first."""
    actions = tuple(
        CompactAction.of(row, call=signature(row)) for row in result.actions
    )
    whole = CompactResult.of(result, actions=actions)
    first = whole.actions[:1]
    short = tuple(msgspec.structs.replace(row, about="") for row in first)
    for shown in ((), short, first, whole.actions):
        yield msgspec.structs.replace(whole, actions=shown)


def signature(row: Invocation) -> str:
    """Return an action as a line: book(date, guests: number, room=single|double, note?)."""
    required = row.parameters.get("required", ())
    properties = row.parameters.get("properties", {})
    parts = [
        _parameter(name, schema) + ("" if name in required else "?")
        for name, schema in properties.items()
    ]
    return f"{row.action}({', '.join([*parts, '…'] if row.omitted else parts)})"


def _parameter(name: str, schema: dict[str, object]) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list):
        return f"{name}={'|'.join(map(str, choices))}"
    kind = schema.get("type", "string")
    return name if kind == "string" else f"{name}: {kind}"
