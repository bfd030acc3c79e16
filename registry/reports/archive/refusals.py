"""Problems that an archive can be refused for."""

from registry.errors import ProblemType

ARCHIVE_WINDOW_INVALID = ProblemType(
    "archive_window_invalid",
    "The window of the archive is none",
    "Give whole minutes in UTC, from before to, at most 400 days apart and ended: "
    "the log tells no finer times.",
)
ARCHIVE_NEEDS_DUCKDB = ProblemType(
    "archive_needs_duckdb",
    "DuckDB, which reads and writes archives, is not installed",
    "Install it: `make archive` in a checkout, else "
    "`pip install 'fair-registry[archive]'`.",
)
ARCHIVE_NOT_COVERED = ProblemType(
    "archive_not_covered",
    "The log does not hold all rankings of the window yet",
    "Try again in a few seconds; the publisher has to run.",
)
ARCHIVE_EXISTS = ProblemType(
    "archive_exists",
    "The folder is not empty",
    "Name a folder that is empty or not there yet.",
)
ARCHIVE_DAMAGED = ProblemType(
    "archive_damaged",
    "The folder does not hold an archive as its manifest tells",
    "Take the archive again from where it was made, all files of it.",
)
REPORT_NOT_REPRODUCIBLE = ProblemType(
    "report_not_reproducible",
    "The report can't be computed again with what is at hand",
    "Give the report as JSON, the archive of its very window, and use the release of "
    "this software that made it.",
)
