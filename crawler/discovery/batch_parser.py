"""Parsing of documents in batches, one after the other.

Reading a document, and understanding what was read, are a millisecond of many small steps
each. In between the requests of other visits they find the processor's caches full of
something else, and take a quarter more.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from crawler.group import Group, JobsUnderWay

AT_ONCE = 32
"""So many milliseconds nothing else is done."""

LINGER_S = 0.25
Result = TypeVar("Result")
Read = Callable[[], Any]


class BatchParser:
    """A parser of documents and sites in batches of one kind; one a process.

    visits: documents wait a little for those of others under way.
    """

    def __init__(self) -> None:
        self.visits = JobsUnderWay()
        group = partial(Group[Read, Read], _carry_out, most=AT_ONCE, jobs=self.visits)
        self._documents = group(linger_s=LINGER_S)
        # Whose documents were read together come together.
        self._whole_visits = group(linger_s=0)

    async def document(self, read: Callable[[], Result]) -> Result:
        """Parse a document. Raises: what parsing raises."""
        parsed: Result = (await self._documents.do(read))()
        return parsed

    async def whole_visit(self, read: Callable[[], Result]) -> Result:
        """Parse all that one visit brought. Raises: what parsing raises."""
        parsed: Result = (await self._whole_visits.do(read))()
        return parsed


async def _carry_out(batch: Sequence[Read]) -> list[Read]:
    return list(map(_outcome, batch))


def _outcome(read: Read) -> Read:
    """Return a function that gives, or raises, what reading did, for its own visit."""
    try:
        parsed = read()
    except Exception as error:  # noqa: BLE001 - it is told to whose it is
        return partial(_fail, error)
    return lambda: parsed


def _fail(error: Exception) -> None:
    raise error
