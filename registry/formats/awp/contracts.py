"""References of an AWP document to actions and entities that it declares elsewhere.

Sections 7, 8, 11 and 13. A name without its declaration is a deviation, and so are two
members that contradict each other; the stricter of the two is taken.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from registry.formats.document import MAX_ACTIONS
from registry.formats.reading.parameters import type_name
from registry.formats.reading.reader import MAX_DEVIATIONS, Reader, clean_text
from registry.strict_json import JsonObject, JsonValue, join_pointer

# `array[flight]`, `object[cart]`, also one within the other.
_TYPED = re.compile(r"((?>(?:array\[|object\[)+))([^\[\]]++)")


@dataclass(frozen=True, slots=True)
class AuthContract:
    """Actions listed in section 7, which their own flags may contradict."""

    required: frozenset[str]
    optional: frozenset[str]

    def settle(self, action: Reader, name: str) -> bool | None:
        """Return whether the contract or the action's own flag requires authentication."""
        declared = action.members.get("auth_required")
        if name in self.required:
            if declared is False:
                _contradicts(action.child("auth_required"), "required_for")
            return True
        if name in self.optional:
            if declared is True:
                _contradicts(action.child("auth_required"), "optional_for")
            return declared is True
        return declared if isinstance(declared, bool) else None


def _contradicts(declared: Reader, named_in: str) -> None:
    declared.deviate("auth_names_action", named_in=named_in)


def action_ids(actions: Reader) -> frozenset[str]:
    listed = actions.value if isinstance(actions.value, list) else []
    ids = (item.get("id") for item in listed if isinstance(item, dict))
    return frozenset(clean_text(item) for item in ids if isinstance(item, str) and item)


def read_auth(document: Reader, ids: Collection[str]) -> AuthContract:
    auth = document.child("auth")
    required, optional = (
        auth.child(f"{kind}_for") for kind in ("required", "optional")
    )
    for named in (required, optional):
        _check_ids(named, ids)
    contract = AuthContract(
        required=frozenset(_texts(required.value)),
        optional=frozenset(_texts(optional.value)),
    )
    if both := sorted(contract.required & contract.optional):
        optional.deviate("optional_and_required", name=both[0][:80])
    _check_auth_type(document, auth, contract)
    return contract


def _check_auth_type(document: Reader, auth: Reader, contract: AuthContract) -> None:
    if auth.members.get("type") != "none":
        return
    needy = min(contract.required, default="") or next(_needy(document), "")
    if needy:
        auth.child("type").deviate("auth_type_contradicted", needy=needy[:80])


def _needy(document: Reader) -> Iterator[str]:
    """The actions that say themselves that they require authentication."""
    for item in _listed(document.members.get("actions")):
        if isinstance(item, dict) and item.get("auth_required") is True:
            name = item.get("id")
            yield clean_text(name) if isinstance(name, str) else "an action"


def check_status(document: Reader, ids: Collection[str]) -> None:
    _check_ids(document.child("agent_status").child("degraded_actions"), ids)


def check_dependencies(document: Reader, ids: Collection[str]) -> None:
    """Section 11: both sides are actions, and none waits for itself."""
    graph: dict[str, Sequence[str]] = {}
    dependencies = document.child("dependencies")
    if not dependencies.members:
        return
    for declared, needed in dependencies.entries(MAX_ACTIONS):
        name = clean_text(declared)
        if name not in ids:
            _note_unknown(needed, name)
        _check_ids(needed, ids)
        graph[name] = _texts(needed.value)
        if name in graph[name]:
            _note_cycle(needed, (name, name))
    cycle = find_cycle(graph)
    if cycle:
        _note_cycle(dependencies.child(cycle[0]), cycle)


def find_cycle(graph: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A chain of prerequisites that ends where it began; () if there is none.

    graph: the prerequisites of each action. One that waits for itself alone is no chain.
    """
    done: set[str] = set()
    for start in graph:
        path: dict[str, Iterator[str]] = {}
        if start not in done:
            path[start] = iter(graph[start])
        while path:
            name, pending = next(reversed(path.items()))
            needed = next(pending, None)
            if needed is None:
                done.add(path.popitem()[0])
            elif needed in path and needed != name:
                chain = tuple(path)
                return (*chain[chain.index(needed) :], needed)
            elif needed in graph and needed not in done and needed not in path:
                path[needed] = iter(graph[needed])
    return ()


def _note_cycle(declared: Reader, cycle: Sequence[str]) -> None:
    chain = " -> ".join(name[:40] for name in cycle[:4])
    rest = " -> …" if len(cycle) > 4 else ""
    declared.deviate("cycle", chain=chain[:80], rest=rest)


def _check_ids(named: Reader, ids: Collection[str]) -> None:
    """Check that every text in an array is the id of an action."""
    if named.log.is_full or all(name in ids for name in _texts(named.value)):
        return
    if isinstance(named.value, str):
        _note_unknown(named, named.as_text())
        return
    for item in named.elements():
        if isinstance(item.value, str) and clean_text(item.value) not in ids:
            _note_unknown(item, item.as_text())


def _note_unknown(declared: Reader, name: str) -> None:
    declared.deviate("unknown_action", name=name[:80])


def _texts(value: JsonValue) -> tuple[str, ...]:
    """Return the texts in an array; a single text counts as an array of one."""
    if isinstance(value, str):
        return (clean_text(value),)
    return tuple(clean_text(item) for item in _listed(value) if isinstance(item, str))


def _listed(value: JsonValue) -> list[JsonValue]:
    return value[:MAX_ACTIONS] if isinstance(value, list) else []


def check_types(document: Reader) -> None:
    """Check that `object[x]` and `array[x]` name an entity (section 8).

    Types of a site's own, such as `airport_code`, need no declaration, and
    `array[airport_code]` is no entity where the document declares none at all.
    """
    declared = document.members.get("entities")
    entities = declared if isinstance(declared, dict) else {}
    for pointer, name in islice(_undeclared(document, entities), MAX_DEVIATIONS):
        document.log.deviate(pointer, "unknown_entity", name=name[:80])


def _undeclared(document: Reader, entities: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield the pointer of a field and the name of the entity that is missing."""
    for pointer, fields in _typed_fields(document, entities):
        for name, value in fields.items():
            declared = value.get("type") if isinstance(value, dict) else value
            if isinstance(declared, str) and "[" in declared:
                entity = _named_entity(declared, declares_any=bool(entities))
                if entity and entity not in entities:
                    yield join_pointer(pointer, name), entity


def _typed_fields(
    document: Reader, entities: JsonObject
) -> Iterator[tuple[str, JsonObject]]:
    for name, entity in entities.items():
        fields = entity.get("fields") if isinstance(entity, dict) else None
        if isinstance(fields, dict):
            yield f"{join_pointer('/entities', name)}/fields", fields
    for index, action in enumerate(_listed(document.members.get("actions"))):
        for name in ("inputs", "outputs"):
            fields = action.get(name) if isinstance(action, dict) else None
            if isinstance(fields, dict):
                yield f"/actions/{index}/{name}", fields


def _named_entity(declared: str, *, declares_any: bool) -> str:
    """Return the entity that a type refers to; "" if it refers to none.

    declares_any: the document has entities, so an array of no known type is of one.
    """
    match = _TYPED.match(declared)
    if not match:
        return ""
    name = match[2].strip()
    is_entity = declares_any or match[1].endswith("object[")
    return name if is_entity and type_name(name) == "unknown" else ""
