"""Report as JSON: its published figures.

Members of objects are named as /v1 names them; those of cells in lists keep the names of
their fields, which readers of `fairness-report` know.
"""

from typing import Any

import msgspec

from registry.reports.model import FairnessReport
from registry.reports.row_types import camel

MEDIA_TYPE = "application/json"


def format_json(report: FairnessReport) -> bytes:
    """Return the same bytes for the same report."""
    return msgspec.json.encode(_camel(msgspec.to_builtins(report.members())))


def _camel(value: Any) -> Any:
    """Rename members, but not in lists: `to_builtins` leaves them tuples."""
    if isinstance(value, dict):
        return {camel(name): _camel(member) for name, member in value.items()}
    return value
