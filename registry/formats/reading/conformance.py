"""Comparison of a document with its specification, a JSON Schema in a file beside its reader.

Every violation becomes a deviation with pointer, rule and fix. Supported are the few
keywords that the formats' schemas use, in one pass that ends at the last deviation stored:
common validators take seconds for the 150,000 violations that fit into 512 KiB. Tests
compare the results with one of them.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeAlias

from registry.formats.reading.name_folding import match_key
from registry.formats.reading.reader import MAX_DEVIATIONS, Reader, kind_of
from registry.strict_json import JsonValue, join_pointer

_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_MAX_SHOWN = 80


def phrase_repair(repaired: JsonValue) -> str:
    """Format the repair as an instruction; "" for None: it would be a guess."""
    if repaired is None:
        return ""
    text = json.dumps(repaired, ensure_ascii=False)
    return f"Write {text}." if len(text) <= _MAX_SHOWN else ""


def choose_spelling(value: str, choices: Sequence[str]) -> str | None:
    """Return the choice that differs in spelling alone, or the only one there is."""
    if len(choices) == 1:
        return choices[0]
    key = match_key(value)
    return next((choice for choice in choices if match_key(choice) == key), None)


def convert_type(value: JsonValue, expected: str) -> JsonValue:
    """Convert the value to the JSON Schema type `expected`, if it is unambiguous."""
    match expected, value:
        case "string", int() | float() if not isinstance(value, bool):
            return json.dumps(value)
        case "boolean", str():
            return {"true": True, "false": False}.get(value.strip().lower())
        case "array", str() | bool() | int() | float():
            return [value]
        case "integer" | "number", str():
            return _number(value)
        case _:
            return None


def _number(text: str) -> JsonValue:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    return float(match[0]) if "." in match[0] else int(match[0])


Schema: TypeAlias = dict[str, Any]
_Path: TypeAlias = tuple["_Path", str] | None
"""Steps of a pointer, innermost last; formatted only for a deviation."""

_TYPE_NAMES = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "a whole number",
    "number": "a number",
    "array": "an array",
    "object": "an object",
}
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int, float),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}


class Specification:
    """A format's rules as far as JSON Schema can express them.

    Raises: ValueError if the schema has an unsupported keyword.
    """

    def __init__(self, schema: Schema) -> None:
        self._rule = _compile(schema)

    def compare(self, document: Reader) -> None:
        """Record the document's departures in its deviation log, the first hundred."""
        _Comparison(document).check(document.value, self._rule, None)


@dataclass(slots=True, kw_only=True)
class _Rule:
    """A compiled schema. example: in JSON. ends_here: only the type is checked."""

    kind: str = ""
    types: tuple[type, ...] = ()
    required: tuple[str, ...] = ()
    properties: "dict[str, _Rule]" = field(default_factory=dict)
    others: "_Rule | None" = None
    items: "_Rule | None" = None
    choices: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    min_length: int = 0
    min_items: int = 0
    minimum: float | None = None
    example: str = ""
    ends_here: bool = False


def _compile(schema: Schema) -> _Rule:
    rest = dict(schema)
    kind = rest.pop("type", "")
    pattern = rest.pop("pattern", None)
    others, items = rest.pop("additionalProperties", None), rest.pop("items", None)
    only = rest.pop("const", None)
    examples = rest.pop("examples", ())
    rule = _Rule(
        kind=kind,
        types=_PYTHON_TYPES.get(kind, ()),
        required=tuple(rest.pop("required", ())),
        properties={
            name: _compile(member)
            for name, member in rest.pop("properties", {}).items()
        },
        others=None if others is None else _compile(others),
        items=None if items is None else _compile(items),
        choices=tuple(rest.pop("enum", ())) or (() if only is None else (only,)),
        pattern=re.compile(pattern) if pattern else None,
        min_length=rest.pop("minLength", 0),
        min_items=rest.pop("minItems", 0),
        minimum=rest.pop("minimum", None),
        example=json.dumps(examples[0], ensure_ascii=False) if examples else "",
    )
    if rest:
        raise ValueError(f"{', '.join(rest)} is not checked")
    if rule.pattern and not rule.example:
        raise ValueError(f"{rule.pattern.pattern} needs an example: no owner reads it")
    bare = _Rule(kind=rule.kind, types=rule.types, example=rule.example)
    rule.ends_here = rule == bare and kind != "integer"
    return rule


def load_schemas(package: str, file: str) -> dict[str, Schema]:
    """Load the schemas of a file of JSON beside a package's modules, by their names."""
    schemas: dict[str, Schema] = json.loads(files(package).joinpath(file).read_text())
    return schemas


def load_specifications(package: str, file: str) -> dict[str, Specification]:
    """Load specifications, as `load_schemas` does. Raises: ValueError as they do."""
    loaded = load_schemas(package, file)
    return {name: Specification(schema) for name, schema in loaded.items()}


class _Comparison:
    """Recursion as deep as the rules, so that no document exhausts the stack."""

    def __init__(self, document: Reader) -> None:
        self._document = document
        self._left = MAX_DEVIATIONS

    def check(self, value: JsonValue, rule: _Rule, path: _Path) -> None:
        # JSON has no subclasses, and a boolean must not pass for a number.
        kind = type(value)
        if rule.types and kind not in rule.types:
            self._note_type(value, rule, path)
        elif rule.ends_here:
            return
        elif isinstance(value, str):
            self._check_text(value, rule, path)
        elif isinstance(value, dict):
            self._check_object(value, rule, path)
        elif isinstance(value, list):
            self._check_array(value, rule, path)
        elif isinstance(value, int | float) and kind is not bool:
            self._check_number(value, rule, path)

    def _check_object(
        self, value: dict[str, JsonValue], rule: _Rule, path: _Path
    ) -> None:
        for name in rule.required:
            if name not in value:
                self._note_missing(name, rule, path)
        for name, member in rule.properties.items():
            if name in value:
                item = value[name]
                if not (member.ends_here and type(item) in member.types):
                    self.check(item, member, (path, name))
        if rule.others is not None:
            for name, other in value.items():
                if self._left <= 0:
                    return
                if name not in rule.properties:
                    self.check(other, rule.others, (path, name))

    def _check_array(self, value: list[JsonValue], rule: _Rule, path: _Path) -> None:
        least = rule.min_items
        if len(value) < least:
            self._note(path, "minItems", "is empty", f"List at least {least}.")
        if rule.items is not None:
            for index, item in enumerate(value):
                if self._left <= 0:
                    return
                self.check(item, rule.items, (path, str(index)))

    def _check_text(self, value: str, rule: _Rule, path: _Path) -> None:
        choices = rule.choices
        if choices and value not in choices:
            fix = (
                phrase_repair(choose_spelling(value, choices))
                or f"Use one of: {', '.join(choices)}."
            )
            self._note(path, "value", "not one of the specified values", fix)
        elif rule.pattern is not None and not rule.pattern.search(value):
            fix = f"Write it like {rule.example}."
            self._note(path, "pattern", "not of the specified form", fix)
        elif len(value) < rule.min_length:
            fix = f"Give it content{_such_as(rule)}."
            self._note(path, "minLength", "is empty", fix)

    def _check_number(self, value: float, rule: _Rule, path: _Path) -> None:
        least = rule.minimum
        if rule.kind == "integer" and value != int(value):
            self._note_type(value, rule, path)
        elif least is not None and value < least:
            self._note(path, "minimum", f"below {least}", f"Use at least {least}.")

    def _note_type(self, value: JsonValue, rule: _Rule, path: _Path) -> None:
        name = _TYPE_NAMES[rule.kind]
        only = rule.choices[0] if len(rule.choices) == 1 else None
        repaired = convert_type(value, rule.kind) if only is None else only
        fix = phrase_repair(repaired) or f"Make it {name}{_such_as(rule)}."
        self._note(path, "type", f"{kind_of(value)} where {name} is specified", fix)

    def _note_missing(self, name: str, rule: _Rule, path: _Path) -> None:
        member = rule.properties.get(name, _Rule())
        fix = f"Add {name}{_such_as(member)}."
        if len(member.choices) == 1:
            fix = f'Add {name}: "{member.choices[0]}".'
        self._note((path, name), "required", f"{name} is missing", fix)

    def _note(self, path: _Path, rule: str, detail: str, fix: str) -> None:
        if self._left > 0:
            self._left -= 1
            pointer = _format_pointer(self._document.pointer, path)
            self._document.log.note(pointer, rule, detail, fix)


def _such_as(rule: _Rule) -> str:
    return f", e.g. {rule.example}" if rule.example else ""


def _format_pointer(pointer: str, path: _Path) -> str:
    if path is None:
        return pointer
    parent, step = path
    return join_pointer(_format_pointer(pointer, parent), step)
