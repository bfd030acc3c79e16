"""Visits read in a row, and what reading raises is told to its own visit alone."""

import asyncio
from collections.abc import Callable

import pytest

from crawler.discovery import batch_parser as module
from crawler.discovery.batch_parser import BatchParser
from registry.errors import Refused
from registry.usecases.refusals import DOCUMENT_MISSING
from tests.waiting import PATIENCE_S


@pytest.fixture(autouse=True)
def _long_linger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here may wait for it to end, and a busy machine does not end it."""
    monkeypatch.setattr(module, "LINGER_S", 2 * PATIENCE_S)


class Page:
    """Notes in a common book that it was read."""

    def __init__(self, number: int, book: list[int]) -> None:
        self._number = number
        self._book = book

    def read(self) -> int:
        self._book.append(self._number)
        return 2 * self._number


def refuse() -> int:
    raise Refused(DOCUMENT_MISSING, "nothing is there")


async def fetch_and_read(
    batch_parser: BatchParser, pages: int, read: Callable[[], int]
) -> int:
    """A visit whose document comes after some rounds of the loop."""
    with batch_parser.visits:
        for _ in range(pages):
            await asyncio.sleep(0)
        return await batch_parser.document(read)


async def test_documents_that_come_one_by_one_are_read_in_a_row() -> None:
    batch_parser, book = BatchParser(), list[int]()
    seen: list[int] = []

    async def look() -> None:
        while len(book) < 3:
            seen.append(len(book))
            await asyncio.sleep(0)

    visits = [fetch_and_read(batch_parser, 1 + n, Page(n, book).read) for n in range(3)]
    *result, _ = await asyncio.gather(*visits, look())
    assert result == [0, 2, 4]
    assert set(seen) == {0}  # nobody else ran between the first and the last


async def test_what_reading_raises_is_told_to_its_own_visit() -> None:
    batch_parser, book = BatchParser(), list[int]()
    good = [fetch_and_read(batch_parser, 0, Page(n, book).read) for n in (1, 2)]
    outcomes = await asyncio.gather(
        *good, fetch_and_read(batch_parser, 0, refuse), return_exceptions=True
    )
    assert outcomes[:2] == [2, 4]
    assert isinstance(outcomes[2], Refused)
    assert book == [1, 2]  # each was read once, whatever became of another


async def test_a_visit_alone_waits_for_nobody() -> None:
    batch_parser, book = BatchParser(), list[int]()
    with batch_parser.visits:
        async with asyncio.timeout(PATIENCE_S):
            assert await batch_parser.document(Page(1, book).read) == 2
            assert await batch_parser.whole_visit(Page(2, book).read) == 4
    with pytest.raises(Refused):
        await batch_parser.whole_visit(refuse)
