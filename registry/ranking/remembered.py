"""What was found out of a word, kept for the next time that it comes.

Most words of most texts are the same few thousand. A dictionary that finds out what it
misses is asked without a call of Python's for each word that it has.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

Found = TypeVar("Found")


class Remembered(dict[str, Found], Generic[Found]):
    """To be asked by `[]` alone, from any thread.

    longest: letters of what is kept; a longer run is no word. most: so many are kept,
    and then it begins anew.
    """

    def __init__(
        self, find: Callable[[str], Found], *, longest: int, most: int
    ) -> None:
        super().__init__()
        self._find = find
        self._longest = longest
        self._most = most

    def __missing__(self, word: str) -> Found:
        found = self._find(word)
        if len(word) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[word] = found
        return found
