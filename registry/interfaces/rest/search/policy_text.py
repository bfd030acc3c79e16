"""The policy in plain language, in the order of EU 2019/1150, article 5.

What is weighed and why so much, what is left out and what sees to that, how ties are
drawn, what manipulation meets. The words stand in policy_text.toml.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple


class Weighed(NamedTuple):
    """meaning: of a factor. reason: why it weighs as much as it does."""

    meaning: str
    reason: str


class Exclusion(NamedTuple):
    """A fact, what, that is no input; enforced: the means that keep it out."""

    what: str
    enforced: str


class Rule(NamedTuple):
    """attempt: to be ranked higher than one is worth. answer: why it brings nothing."""

    attempt: str
    answer: str


_TEXT = tomllib.loads(files(__package__).joinpath("policy_text.toml").read_text())
WEIGHED = {name: Weighed(**row) for name, row in _TEXT["weighed"].items()}
ORIGIN: str = _TEXT["origin"]
EXCLUSIONS = tuple(Exclusion(**row) for row in _TEXT["exclusions"])
RULES = tuple(Rule(**row) for row in _TEXT["rules"])
STATEMENTS: Mapping[str, str] = _TEXT["statements"]
