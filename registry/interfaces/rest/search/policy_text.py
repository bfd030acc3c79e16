"""The policy in plain language, in the order of EU 2019/1150, article 5.

What is weighed and why so much, what is left out and what sees to that, how ties are
drawn, what manipulation meets. The words stand in policy_text.toml.
"""

import msgspec

from registry.toml_table import read_table


class Weighed(msgspec.Struct, frozen=True):
    """meaning: of a factor. reason: why it weighs as much as it does."""

    meaning: str
    reason: str


class Exclusion(msgspec.Struct, frozen=True):
    """A fact that is no input of ranking, and the means that keep it out."""

    what: str
    enforced: str


class Rule(msgspec.Struct, frozen=True):
    """An attempt to be ranked higher, and why it brings nothing."""

    attempt: str
    answer: str


class _PolicyText(msgspec.Struct, frozen=True):
    weighed: dict[str, Weighed]
    origin: str
    exclusions: tuple[Exclusion, ...]
    rules: tuple[Rule, ...]
    statements: dict[str, str]


_TEXT = read_table(__package__, "policy_text.toml", _PolicyText)
WEIGHED, ORIGIN, STATEMENTS = _TEXT.weighed, _TEXT.origin, _TEXT.statements
EXCLUSIONS, RULES = _TEXT.exclusions, _TEXT.rules
