"""Forms in which a report is handed out and kept: each a file, the same every time."""

from collections.abc import Callable, Mapping
from typing import Literal

from registry.reports.model import FairnessReport
from registry.reports.render import comma_separated, json_object, page, parquet

Form = Literal["json", "csv", "parquet", "html"]

MEDIA_TYPES: Mapping[Form, str] = {
    "json": json_object.MEDIA_TYPE,
    "csv": comma_separated.MEDIA_TYPE,
    "parquet": parquet.MEDIA_TYPE,
    "html": page.MEDIA_TYPE,
}

FORMAT: Mapping[Form, Callable[[FairnessReport], bytes]] = {
    "json": json_object.format_json,
    "csv": comma_separated.format_csv,
    "parquet": parquet.format_parquet,
    "html": page.format_page,
}
