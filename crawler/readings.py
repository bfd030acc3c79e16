"""What visits read at about the same time is read one after the other.

Reading a document, and understanding what was read, are a millisecond of many small steps
each. In between the requests of other visits they find the processor's caches full of
something else, and take a quarter more.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from crawler.group import Group

AT_ONCE = 32
"""So many milliseconds nothing else is done."""

LINGER_S = 0.25
Result = TypeVar("Result")
Read = Callable[[], Any]


class Readings:
    """Two rows, for what is of one kind is done in a row. One for the process."""

    def __init__(self) -> None:
        group = partial(Group[Read, Read], _carry_out, most=AT_ONCE)
        self._documents = group(linger_s=LINGER_S)
        # Whose documents were read together come together.
        self._visits = group(linger_s=0)

    @contextmanager
    def visit(self) -> Iterator[None]:
        """Around each: who has something to read waits a little for the others."""
        with self._documents.expecting(), self._visits.expecting():
            yield

    async def document(self, read: Callable[[], Result]) -> Result:
        """Raises: what reading raises."""
        return await _do(self._documents, read)

    async def whole_visit(self, read: Callable[[], Result]) -> Result:
        """All that one brought. Raises: what reading raises."""
        return await _do(self._visits, read)


async def _do(group: Group[Read, Read], read: Callable[[], Result]) -> Result:
    tell: Callable[[], Result] = await group.do(read)
    return tell()


async def _carry_out(several: Sequence[Read]) -> list[Read]:
    return [_outcome(read) for read in several]


def _outcome(read: Read) -> Read:
    """It gives, or raises, what reading did: that is its own visit's affair."""
    try:
        found = read()
    except Exception as error:  # noqa: BLE001 - it is told to whose it is
        return partial(_fail, error)
    return lambda: found


def _fail(error: Exception) -> None:
    raise error
