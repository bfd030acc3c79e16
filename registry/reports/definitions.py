"""Definitions: what each figure of a report means; carried in the report itself.

The words stand in definitions.toml, in the order of the report.
"""

from importlib.resources import files

import msgspec

from registry.reports.inference.bootstrap import CLUSTERS_MAX
from registry.reports.inference.permutation import EXACT_MAX
from registry.reports.model import Definition
from registry.reports.window.aggregate import PERSISTENCE
from registry.reports.window.columns import SAMPLED_MAX, SCORED_MAX

_TEXTS = msgspec.toml.decode(
    files(__package__).joinpath("definitions.toml").read_bytes(),
    type=dict[str, dict[str, str]],
)
_CONSTANTS = {
    "CLUSTERS_MAX": CLUSTERS_MAX,
    "EXACT_MAX": EXACT_MAX,
    "PERSISTENCE": PERSISTENCE,
    "SAMPLED_MAX": SAMPLED_MAX,
    "SCORED_MAX": SCORED_MAX,
}
DEFINITIONS = tuple(
    Definition(figure=figure, meaning=meaning.format_map(_CONSTANTS))
    for meanings in _TEXTS.values()
    for figure, meaning in meanings.items()
)
