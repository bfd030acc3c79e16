"""The word lists of the default policy and of its lexicon.

Part of the policy's hash: changing a word changes the ranking. They stand in files beside
this one: `lists.toml`, and `trade_words.txt`, plain nouns of trades in other scripts than
Latin, written by hand in the form in which words are compared.
"""

from importlib.resources import files

import msgspec


def listed(text: str) -> tuple[str, ...]:
    """Sort the distinct words, so that the policy has one form."""
    return tuple(sorted(set(text.casefold().split())))


def _in_file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


_LISTS = msgspec.toml.decode(_in_file("lists.toml"), type=dict[str, str])


def _in_lists(*names: str) -> tuple[str, ...]:
    return listed(" ".join(map(_LISTS.__getitem__, names)))


ASKING_WORDS = _in_lists("asking")
ASKING_SPEAKERS = _in_lists("asking_speakers")
ANSWERING_SPEAKERS = _in_lists("answering_speakers")
STOP_WORDS = _in_lists(
    *("grammar", "asking", "praise", "grammar_elsewhere"),
    *("grammar_in_other_scripts", "grammar_without_spaces"),
)
ACT_WORDS = _in_lists("act_words")
GENERIC_WORDS = _in_lists("generic_words")
EVERYDAY_WORDS = _in_lists("trades", "things", "trades_elsewhere")
NON_LOCAL_CATEGORIES = _in_lists("non_local_categories")
TRADE_WORDS = listed(_in_file("trade_words.txt"))

# Words that are joined or taken apart.
SPLIT_WORDS = _in_lists("split_words")
SPELLED_WORDS = _in_lists("spelled_words")
NAME_PARTS = _in_lists("name_parts")
LINKING_PARTS = _in_lists("linking_parts")
COMPOUND_PARTS = _in_lists("compound_parts")
CLOSED_WORDS = _in_lists("closed_words")
