"""Parsing of documents in batches, one after the other.

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


class BatchParser:
    """A parser of documents and sites in batches of one kind; one a process."""

    def __init__(self) -> None:
        group = partial(Group[_Steps, Read], _carry_out, most=AT_ONCE)
        self._documents = group(linger_s=LINGER_S)
        # Whose documents were read together come together.
        self._visits = group(linger_s=0)

    @contextmanager
    def visit(self) -> Iterator[None]:
        """Mark a visit under way: documents wait a little for those of others."""
        with self._documents.expecting(), self._visits.expecting():
            yield

    async def document(
        self, opened: Callable[[], Opened], read: Callable[[Opened], Result]
    ) -> Result:
        """Parse a document; all are opened before the first is parsed. Raises: as either does."""
        result: Result = await _do(self._documents, _Steps(opened, read))
        return result

    async def whole_visit(self, read: Callable[[], Result]) -> Result:
        """Parse all that one visit brought. Raises: what parsing raises."""
        result: Result = await _do(self._visits, _Steps(read, _same))
        return result


class _Steps(NamedTuple):
    """then: of what the first gives."""

    first: Read
    then: Callable[[Any], Any]


def _same(result: Result) -> Result:
    return result


async def _do(group: "Group[_Steps, Read]", steps: _Steps) -> Any:
    read = await group.do(steps)
    return read()


async def _carry_out(batch: Sequence[_Steps]) -> list[Read]:
    begun = [_outcome(steps.first) for steps in batch]
    return [
        _outcome(partial(_go_on, read, steps.then))
        for steps, read in zip(batch, begun, strict=True)
    ]


def _go_on(read: Read, then: Callable[[Any], Any]) -> Any:
    return then(read())


def _outcome(read: Read) -> Read:
    """Return a function that gives, or raises, what reading did, for its own visit."""
    try:
        parsed = read()
    except Exception as error:  # noqa: BLE001 - it is told to whose it is
        return partial(_fail, error)
    return lambda: parsed


def _fail(error: Exception) -> None:
    raise error
