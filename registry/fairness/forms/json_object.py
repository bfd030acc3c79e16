"""The report as JSON: its published figures, named as /v1 names members."""

from typing import Any

import msgspec

from registry.fairness.report.figures import FairnessReport

MEDIA_TYPE = "application/json"


def format_json(report: FairnessReport) -> bytes:
    """The same report gives the same bytes."""
    return msgspec.json.encode(_camel(msgspec.to_builtins(report)))


def camel(name: str) -> str:
    """snake_case: snakeCase."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {camel(name): _camel(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_camel(member) for member in value]
    return value
