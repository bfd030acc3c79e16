"""The word lists of the default policy and of its lexicon.

Part of the policy's hash: changing a word changes the ranking. They stand in files beside
this one: `lists.toml`, and `trade_words.txt`, plain nouns of trades in other scripts than
Latin, written by hand in the form in which words are compared.
"""

from importlib.resources import files

from registry.toml_table import read_table


def listed(text: str) -> tuple[str, ...]:
    """Sort the distinct words, so that the policy has one form."""
    return tuple(sorted(set(text.casefold().split())))


def _in_file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


_LISTS = {
    **read_table(__package__, "lists.toml", dict[str, str]),
    "trade_words": _in_file("trade_words.txt"),
}


def words_in(*names: str) -> tuple[str, ...]:
    """Return the words of some lists. Raises: KeyError."""
    return listed(" ".join(map(_LISTS.__getitem__, names)))


SPLIT_WORDS = words_in("split_words")
