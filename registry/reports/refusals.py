"""Problems that a file about reports can be refused for."""

from registry.errors import ProblemType

EXPOSURE_TABLE_INVALID = ProblemType(
    "exposure_table_invalid",
    "No table of exposure as registries make it",
    "Fetch GET /v1/exposure/{day} anew and keep its bytes as they are.",
)
EXPOSURE_TABLE_UNLOGGED = ProblemType(
    "exposure_table_unlogged",
    "The table of exposure is not the one that the log names",
    "Keep the table, its signature and the entry: the registry has told two things.",
)
