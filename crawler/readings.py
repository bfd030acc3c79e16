"""What visits read at about the same time is read one after the other.

Reading a document, and understanding what was read, are a millisecond of many small steps
each. In between the requests of other visits they find the processor's caches full of
something else, and take a quarter more; and so do the two halves of reading.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from crawler.group import Group

AT_ONCE = 32
"""So many milliseconds nothing else is done."""

LINGER_S = 0.25
Opened = TypeVar("Opened")
Result = TypeVar("Result")
Read = Callable[[], Any]


class Readings:
    """Two rows, for what is of one kind is done in a row. One for the process."""

    def __init__(self) -> None:
        group = partial(Group[_Steps, Read], _carry_out, most=AT_ONCE)
        self._documents = group(linger_s=LINGER_S)
        # Whose documents were read together come together.
        self._visits = group(linger_s=0)

    @contextmanager
    def visit(self) -> Iterator[None]:
        """Around each: who has something to read waits a little for the others."""
        with self._documents.expecting(), self._visits.expecting():
            yield

    async def document(
        self, opened: Callable[[], Opened], read: Callable[[Opened], Result]
    ) -> Result:
        """All are opened before the first is read. Raises: what either raises."""
        found: Result = await _do(self._documents, _Steps(opened, read))
        return found

    async def whole_visit(self, read: Callable[[], Result]) -> Result:
        """All that one brought. Raises: what reading raises."""
        found: Result = await _do(self._visits, _Steps(read, _same))
        return found


class _Steps(NamedTuple):
    """then: of what the first gives."""

    first: Read
    then: Callable[[Any], Any]


def _same(found: Result) -> Result:
    return found


async def _do(group: "Group[_Steps, Read]", steps: _Steps) -> Any:
    tell = await group.do(steps)
    return tell()


async def _carry_out(several: Sequence[_Steps]) -> list[Read]:
    begun = [_outcome(one.first) for one in several]
    return [
        _outcome(partial(_go_on, tell, one.then))
        for one, tell in zip(several, begun, strict=True)
    ]


def _go_on(tell: Read, then: Callable[[Any], Any]) -> Any:
    return then(tell())


def _outcome(read: Read) -> Read:
    """It gives, or raises, what reading did: that is its own visit's affair."""
    try:
        found = read()
    except Exception as error:  # noqa: BLE001 - it is told to whose it is
        return partial(_fail, error)
    return lambda: found


def _fail(error: Exception) -> None:
    raise error
