"""Tables of data that stand as TOML beside the code that reads them."""

from importlib.resources import files
from typing import TypeVar

import msgspec

Table = TypeVar("Table")


def read_table(package: str, path: str, table: type[Table]) -> Table:
    """Return a file of the package, decoded. path: below the package.

    Raises: ValidationError (msgspec), where the file is no such table.
    """
    return msgspec.toml.decode(files(package).joinpath(path).read_bytes(), type=table)
