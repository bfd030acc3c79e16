"""Rows of a binary COPY, however they are cut into pieces."""

from hypothesis import given
from hypothesis import strategies as st

from registry.db.engine.copied_rows import HEADER_BYTES, CopiedRows

Columns = st.lists(st.binary(max_size=40), max_size=12)


def copied(columns: list[bytes]) -> bytes:
    rows = (b"\0\1" + len(column).to_bytes(4) + column for column in columns)
    return bytes(HEADER_BYTES) + b"".join(rows) + b"\xff\xff"


@given(columns=Columns, piece=st.integers(1, 60), pages=st.integers(0, 5))
def test_every_row_comes_once_and_in_order(
    columns: list[bytes], piece: int, pages: int
) -> None:
    rows, whole, result = CopiedRows(), copied(columns), []

    def take() -> None:
        page = rows.page()
        for start, length in zip(page.starts, page.lengths, strict=True):
            result.append(page.content[start : start + length].tobytes())

    for number, start in enumerate(range(0, len(whole), piece)):
        rows.add(whole[start : start + piece])
        if pages and number % pages == 0:
            take()
    take()
    assert result == columns
