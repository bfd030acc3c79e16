"""Definitions: what each figure of a report means; carried in the report itself.

The words stand in definitions.toml.
"""

from registry.reports.inference.bootstrap import CLUSTERS_MAX
from registry.reports.inference.permutation import EXACT_MAX
from registry.reports.metrics import breakdowns
from registry.reports.metrics.table import FURTHER, ITEMS
from registry.reports.model import Definition
from registry.reports.window.aggregate import PERSISTENCE
from registry.reports.window.columns import SAMPLED_MAX
from registry.toml_table import read_table

_TEXTS = read_table(__package__, "definitions.toml", dict[str, dict[str, str]])
_CONSTANTS = {
    "CLUSTERS_MAX": CLUSTERS_MAX,
    "EXACT_MAX": EXACT_MAX,
    "PERSISTENCE": PERSISTENCE,
    "SAMPLED_MAX": SAMPLED_MAX,
}


def _texts(part: str) -> dict[str, str]:
    return {
        figure: meaning.format_map(_CONSTANTS)
        for figure, meaning in _TEXTS[part].items()
    }


DEFINITIONS = tuple(
    Definition(figure=figure, meaning=meaning)
    for meanings in (
        _texts("shared"),
        breakdowns.DEFINITIONS,
        *(metric.definitions for metric in (*FURTHER, *ITEMS)),
        _texts("last"),
    )
    for figure, meaning in meanings.items()
)
