"""Report as JSON: its published figures.

Members of objects are named as /v1 names them; those of cells in lists keep the names of
their fields, which readers of `fairness-report` know.
"""

import re
from typing import Any, get_type_hints

import msgspec

from registry.reports.metrics.table import METRICS
from registry.reports.model import FairnessReport
from registry.reports.row_types import camel

MEDIA_TYPE = "application/json"
_CAPITAL = re.compile("[A-Z]")


def format_json(report: FairnessReport) -> bytes:
    """Return the same bytes for the same report."""
    return msgspec.json.encode(_camel(msgspec.to_builtins(report.members())))


def parse_json(body: bytes) -> FairnessReport | None:
    """Return the report of which these are the bytes; None if this release makes none."""
    types = get_type_hints(FairnessReport)
    types |= {m.name: m.of or get_type_hints(m.measure)["return"] for m in METRICS}
    try:
        named = snake_members(msgspec.json.decode(body)).items()
        members = {name: msgspec.convert(value, types[name]) for name, value in named}
        values = {metric.name: members.pop(metric.name) for metric in METRICS}
        report = FairnessReport(values=values, **members)
    except (
        msgspec.MsgspecError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
    ):
        return None
    return report if format_json(report) == body else None


def _camel(value: Any) -> Any:
    """Rename members, but not in lists: `to_builtins` leaves them tuples."""
    if isinstance(value, dict):
        return {camel(name): _camel(member) for name, member in value.items()}
    return value


def snake_members(value: Any) -> Any:
    """Undo `_camel`."""
    if isinstance(value, dict):
        return {
            _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name): snake_members(
                member
            )
            for name, member in value.items()
        }
    return value
