"""Words of a site's texts: its own name is cut out, then words are taken apart.

The order matters, because the name may be written in one word. Most texts lack the name
and consist of known runs of letters, which are looked up run by run instead of word by
word.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from registry.ranking.encoders.encoder import Encoder
from registry.ranking.memo import Memo
from registry.ranking.policy import Policy
from registry.ranking.terms import (
    LONGEST,
    distinct_terms,
    may_be_joined,
    split_words,
    stem,
    stems,
)
from registry.ranking.words.lexicon import Lexicon, lexicon_of
from registry.ranking.words.mask import EverydayWords, Mask, make_mask
from registry.sites.action import Action
from registry.sites.place import Place
from registry.sites.site import Site

_JOINING = " "
"""Stands for the stems of a run whose last word may belong to the next; equals no stem."""


class ActionWords(NamedTuple):
    """An action's content words by field, masked. plain: its name as `plain_name`.

    terms: distinct ones of the three fields, in their order.
    """

    action: Action
    shown: str
    plain: str
    name: Sequence[str]
    description: Sequence[str]
    parameters: Sequence[str]
    terms: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]

    def without_words(self) -> "ActionWords":
        return self._replace(name=(), description=(), parameters=(), terms=((), (), ()))


class _Runs:
    """Memos of runs of ASCII without a space, shared by all sites.

    stems: of a run's words. content: see `Lexicon.content_words`.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self.stems = Memo(_stems_of, longest=LONGEST, most=16_384)
        self.content = Memo(self._content_of, longest=LONGEST, most=16_384)

    def _content_of(self, run: str) -> tuple[str, ...]:
        return tuple(self._lexicon.content_words(split_words(run), limit=len(run)))


def _stems_of(run: str) -> tuple[str, ...]:
    words = split_words(run)
    if words and may_be_joined(words[-1]):
        return (_JOINING,)
    return tuple(stems(words))


@lru_cache(maxsize=2)
def _runs_of(lexicon: Lexicon) -> _Runs:
    return _Runs(lexicon)


class SiteTextReader:
    """Reader of the texts of a site."""

    def __init__(self, mask: Mask, lexicon: Lexicon, policy: Policy) -> None:
        self.mask = mask
        self._lexicon = lexicon
        self._policy = policy
        self._runs = _runs_of(lexicon)
        self._looked_at = mask.first | {_JOINING}

    def about(self, site: Site) -> list[str]:
        text = f"{site.category} \n {site.description}"
        return self._content(text, self._policy.site_words_max)

    def text(self, description: str, name: str) -> str:
        """Return the description, masked but otherwise as written.

        name: what stands for it where it says nothing but the site's own name.
        """
        return self.mask.cut_text(description) or self.mask.cut_text(name)

    def action(self, action: Action) -> ActionWords:
        policy = self._policy
        words = split_words(action.name)
        masked = self.mask.words(action.name)
        plain = " ".join(masked)
        inputs = " \n ".join(
            [f"{p.name} \n {p.description}" for p in action.parameters]
        )
        name = self._lexicon.content_words(masked, limit=policy.name_words_max)
        description = self._content(action.description, policy.description_words_max)
        parameters = self._content(inputs, policy.parameter_words_max)
        return ActionWords(
            action,
            action.name if masked == words else plain,
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
        if text.isascii() and self.mask.transcribed.is_latin:
            runs = dict.fromkeys(text.split())  # what comes again says nothing new
            terms = chain.from_iterable(map(self._runs.stems.__getitem__, runs))
            if self._looked_at.isdisjoint(terms):
                content = chain.from_iterable(map(self._runs.content.__getitem__, runs))
                return list(dict.fromkeys(content))[:limit]
        masked = self.mask.words(text)
        return self._lexicon.content_words(masked, limit=limit)


def site_text_reader(
    name: str,
    host: str,
    registrable_domain: str,
    place: Place | None,
    *,
    encoder: Encoder,
    policy: Policy,
) -> SiteTextReader:
    """Make a reader. host, registrable_domain: lower-case A-labels, for masking only."""
    everyday = EverydayWords(encoder, policy, place_terms(place))
    mask = make_mask(name, host, registrable_domain, everyday)
    return SiteTextReader(mask, lexicon_of(encoder, policy), policy)


def place_terms(place: Place | None) -> frozenset[str]:
    return frozenset(map(stem, split_words(place.name))) if place else frozenset()
