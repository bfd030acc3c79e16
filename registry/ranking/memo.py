"""Memo of values computed from words.

Most words of most texts are the same few thousand. A dictionary that computes missing
entries serves present ones without a Python call.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Memo(dict[str, Value], Generic[Value]):
    """Computes missing values on access by `[]`, from any thread.

    longest: letters of the longest word that is stored. most: entries at which it is
    cleared.
    """

    def __init__(
        self, compute: Callable[[str], Value], *, longest: int, most: int
    ) -> None:
        super().__init__()
        self._compute = compute
        self._longest = longest
        self._most = most

    def __missing__(self, word: str) -> Value:
        value = self._compute(word)
        if len(word) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[word] = value
        return value
