"""Comparing a document with its specification, written as JSON Schema.

Every violation becomes a deviation with pointer, rule and a way to mend it; the
validator's own messages are not used, since they repeat the document's content.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from registry.formats.reader import MAX_DEVIATIONS, Reader, kind_of
from registry.strict_json import join_pointer

_TYPE_NAMES = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "a whole number",
    "number": "a number",
    "array": "an array",
    "object": "an object",
}


class Specification:
    """A format's rules as far as JSON Schema can say them."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._validator = Draft202012Validator(schema)

    def compare(self, document: Reader) -> None:
        """Note each departure of the document in its ledger."""
        errors: Iterable[ValidationError] = self._validator.iter_errors(document.value)
        for error in islice(errors, MAX_DEVIATIONS):
            _note(document, error)


def _note(document: Reader, error: ValidationError) -> None:
    pointer = document.pointer
    for step in error.absolute_path:
        pointer = join_pointer(pointer, str(step))
    if error.validator == "required":
        _note_missing(document, error, pointer)
        return
    describe = _DESCRIPTIONS.get(str(error.validator))
    detail, fix = (
        describe(error)
        if describe
        else (f"breaks the rule {error.validator}", "See the specification.")
    )
    rule = "value" if error.validator in ("const", "enum") else str(error.validator)
    document.ledger.note(pointer, rule, detail, fix)


def _note_missing(document: Reader, error: ValidationError, pointer: str) -> None:
    for name in error.validator_value:
        if name not in error.instance:
            document.ledger.note(
                join_pointer(pointer, name),
                "required",
                f"{name} is missing",
                f"Add {name}.",
            )


def _describe_type(error: ValidationError) -> tuple[str, str]:
    expected = _TYPE_NAMES.get(str(error.validator_value), "another type")
    return f"{kind_of(error.instance)} where {expected} is specified", (
        f"Make it {expected}."
    )


def _describe_choice(error: ValidationError) -> tuple[str, str]:
    allowed = error.validator_value
    choices = [allowed] if error.validator == "const" else allowed
    spelled = ", ".join(str(choice) for choice in choices)
    return "not one of the specified values", f"Use one of: {spelled}."


def _describe_pattern(error: ValidationError) -> tuple[str, str]:
    return "not of the specified form", f"It must match {error.validator_value}."


def _describe_length(_error: ValidationError) -> tuple[str, str]:
    return "is empty", "Give it content."


def _describe_minimum(error: ValidationError) -> tuple[str, str]:
    return f"below {error.validator_value}", f"Use at least {error.validator_value}."


_DESCRIPTIONS: dict[str, Callable[[ValidationError], tuple[str, str]]] = {
    "type": _describe_type,
    "const": _describe_choice,
    "enum": _describe_choice,
    "pattern": _describe_pattern,
    "minLength": _describe_length,
    "minimum": _describe_minimum,
}
