"""Layout of a Parquet file as its footer claims it, before a value is decoded.

Let through is what `duck.write_parquet` writes. What a footer lies about, DuckDB finds
out while it decodes, within its memory; `duck.parquet_source` bounds what it hands out.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from registry.reports.archive.duck import ROW_GROUP

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck

MAX_FOOTER_BYTES = 16 * 1024 * 1024  # of sixty million rankings a day
MIN_ROW_BYTES = 4  # of a file: ids and salts are random
_CLAIMS = """
    SELECT any_value(num_rows), any_value((SELECT list((column_name, column_type))
            FROM (DESCRIBE SELECT * FROM read_parquet($1, hive_partitioning = false)))),
        count(DISTINCT row_group_id), coalesce(bool_and(compression = 'ZSTD'
            AND num_values <= row_group_num_rows * 512), true) -- an answer has 100 sites
    FROM parquet_file_metadata($1) LEFT JOIN parquet_metadata($1) ON true
"""


def verify_layout(
    duck: "Duck",
    path: Path,
    types: Mapping[str, str],
    later: Collection[str],
    rows: int,
) -> None:
    """Raises: ValueError, OSError.

    types: of columns. later: those that may lack. rows: as the manifest counts them.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        footer_bytes = int.from_bytes(file.read(4), "little")
    if footer_bytes > MAX_FOOTER_BYTES or rows * MIN_ROW_BYTES > size:
        raise ValueError(f"{rows} rows or a footer of {footer_bytes} bytes in {size}")
    ((counted, columns, groups, is_written),) = duck.execute(
        _CLAIMS, [str(path)]
    ).fetchall()
    lacking = set(later) - {name for name, _ in columns}
    if columns != [column for column in types.items() if column[0] not in lacking]:
        raise ValueError("it has other columns")
    if counted != rows or groups > rows // ROW_GROUP + 1 or not is_written:
        raise ValueError(f"{counted} rows in {groups} groups are not as written")
