"""How the texts of a site are read: its own name cut out, then words taken apart.

In this order, because the name may be written in one word. Most texts say nothing of the
name, and consist of runs of letters that were met before: these are looked up run by
run, without taking each of their words in hand.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from registry.ranking.encoder import Encoder
from registry.ranking.mask import Everyday, Mask, make_mask
from registry.ranking.policy import Policy
from registry.ranking.remembered import Remembered
from registry.ranking.spelling import Lexicon, lexicon_of
from registry.ranking.text import (
    LONGEST,
    distinct_terms,
    may_be_joined,
    split_words,
    stem,
    stems,
)
from registry.sites.action import Action
from registry.sites.place import Place
from registry.sites.site import Site

_JOINING = " "
"""In place of the stems of a run whose last word may belong to the next; no stem is it."""


class ActionWords(NamedTuple):
    """An action's content words a field, masked. plain: its name as `plain_name`.

    terms: distinct ones of the three fields, in their order.
    """

    action: Action
    shown: str
    plain: str
    name: Sequence[str]
    description: Sequence[str]
    parameters: Sequence[str]
    terms: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


class _Runs:
    """Of runs of ASCII without a space, whatever the site.

    stems: of its words. saying: see `Lexicon.saying`.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self.stems = Remembered(_stems_of, longest=LONGEST, most=16_384)
        self.saying = Remembered(self._saying_of, longest=LONGEST, most=16_384)

    def _saying_of(self, run: str) -> tuple[str, ...]:
        return tuple(self._lexicon.saying(split_words(run), limit=len(run)))


def _stems_of(run: str) -> tuple[str, ...]:
    words = split_words(run)
    if words and may_be_joined(words[-1]):
        return (_JOINING,)
    return tuple(stems(words))


@lru_cache(maxsize=2)
def _runs_of(lexicon: Lexicon) -> _Runs:
    return _Runs(lexicon)


class Reading:
    """Of the texts of one site."""

    def __init__(self, mask: Mask, lexicon: Lexicon, policy: Policy) -> None:
        self.mask = mask
        self._lexicon = lexicon
        self._policy = policy
        self._runs = _runs_of(lexicon)
        self._looked_at = mask.first | {_JOINING}

    def about(self, site: Site) -> list[str]:
        said = f"{site.category} \n {site.description}"
        return self._content(said, self._policy.site_words_max)

    def action(self, action: Action) -> ActionWords:
        policy = self._policy
        words = split_words(action.name)
        kept = self.mask.cut(words)
        plain = " ".join(kept)
        said = " \n ".join(
            [f"{each.name} \n {each.description}" for each in action.parameters]
        )
        name = self._lexicon.saying(kept, limit=policy.name_words_max)
        description = self._content(action.description, policy.description_words_max)
        parameters = self._content(said, policy.parameter_words_max)
        return ActionWords(
            action,
            action.name if kept == words else plain,
            plain,
            name,
            description,
            parameters,
            (
                distinct_terms(name),
                distinct_terms(description),
                distinct_terms(parameters),
            ),
        )

    def _content(self, text: str, limit: int) -> list[str]:
        if text.isascii():
            runs = text.split()
            found = chain.from_iterable(map(self._runs.stems.__getitem__, runs))
            if self._looked_at.isdisjoint(found):
                said = chain.from_iterable(map(self._runs.saying.__getitem__, runs))
                return list(dict.fromkeys(said))[:limit]
        kept = self.mask.cut(split_words(text))
        return self._lexicon.saying(kept, limit=limit)


def reading_of(
    name: str,
    host: str,
    registrable_domain: str,
    place: Place | None,
    *,
    encoder: Encoder,
    policy: Policy,
) -> Reading:
    """host, registrable_domain: lower-case A-labels, used for masking only."""
    everyday = Everyday(encoder, policy, place_terms(place))
    mask = make_mask(name, host, registrable_domain, everyday)
    return Reading(mask, lexicon_of(encoder, policy), policy)


def place_terms(place: Place | None) -> frozenset[str]:
    return frozenset(map(stem, split_words(place.name))) if place else frozenset()
