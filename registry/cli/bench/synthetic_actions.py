"""The actions of made-up sites, written in bulk, each form as the service writes it.

A text is a run of fragments, most of them words; which stand in it and in what order is
found for all sites of a chunk at once. To build the objects and encode them takes twenty
times as long.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import numpy as np

from registry.cli.bench.synthetic import Chunk
from registry.cli.bench.synthetic_texts import DESCRIPTIONS, NAMES, PARAMETERS
from registry.cli.bench.synthetic_words import Integers
from registry.index.columns.runs import Runs, starts_of
from registry.ranking.profile import ActionProfile
from registry.sites.action import Action, Parameter

NAMELESS = b"open"
_ACTIONS_MAX, _POSITIONS = 16, 64
_LENGTHS = 256
# What an action is made of, in this order.
_OPEN, _NAME, *_TERMS = range(9)
_SLOTS = 16


@dataclass(frozen=True, slots=True)
class Spelled:
    """Each word of a language: as sites write it, and as it is compared."""

    words: list[bytes]
    stems: list[bytes]


class _Arena:
    """Fragments by their numbers."""

    def __init__(self) -> None:
        self._fragments: list[bytes] = []

    def add(self, fragments: Iterable[bytes]) -> int:
        """The number of the first."""
        first = len(self._fragments)
        self._fragments.extend(fragments)
        return first

    def runs(self) -> Runs[np.uint8]:
        lengths = np.fromiter(map(len, self._fragments), np.int64)
        content = np.frombuffer(b"".join(self._fragments), np.uint8)
        return Runs.of(starts_of(lengths), content)


class _Tokens:
    """What the actions of a chunk say: parallel arrays for each field.

    of: the action, counted as _ACTIONS_MAX a site. position: within its field there.
    """

    def __init__(self, chunk: Chunk) -> None:
        actions = chunk.sites.actions
        self.sites = len(actions)
        numbers = np.arange(self.sites * _ACTIONS_MAX)
        self.actions = numbers[
            numbers % _ACTIONS_MAX < np.repeat(actions, _ACTIONS_MAX)
        ]
        site, term, field = chunk.said.spoken
        self.of: dict[int, Integers] = {}
        self.term: dict[int, Integers] = {}
        self.position: dict[int, Integers] = {}
        for each in (NAMES, DESCRIPTIONS, PARAMETERS):
            own, self.term[each] = site[field == each], term[field == each]
            rank = np.arange(len(own)) - np.searchsorted(own, own)
            # Dealt out, one after the other.
            self.of[each] = own * _ACTIONS_MAX + rank % actions[own]
            self.position[each] = rank // actions[own]

    def counts(self, field: int) -> Integers:
        """Tokens of each action."""
        size = self.sites * _ACTIONS_MAX
        return np.bincount(self.of[field], minlength=size)[self.actions]


class _Text:
    """Fragments with their places, to be put in order."""

    def __init__(self, tokens: _Tokens, arena: Runs[np.uint8]) -> None:
        self._tokens, self._arena = tokens, arena
        self._keys: list[Integers] = []
        self._fragments: list[Integers] = []

    def add(
        self, slot: int, fragments: Integers | int, of: Integers, at: Integers | int = 0
    ) -> None:
        """of: actions. at: positions within the slot."""
        self._keys.append((of * _SLOTS + slot) * _POSITIONS + at)
        self._fragments.append(np.broadcast_to(np.int64(fragments), of.shape))

    def add_terms(
        self, slot: int, field: int, spell: Callable[[Integers, Integers], Integers]
    ) -> None:
        """spell: fragments of terms at positions."""
        tokens = self._tokens
        term, position = tokens.term[field], tokens.position[field]
        self.add(slot, spell(term, position), tokens.of[field], position)

    def of_sites(self) -> list[bytes]:
        keys = np.concatenate(self._keys)
        order = np.argsort(keys)
        runs = self._arena.take(np.concatenate(self._fragments)[order])
        site = keys[order] // (_POSITIONS * _SLOTS * _ACTIONS_MAX)
        ends = starts_of(runs.lengths)[
            np.searchsorted(site, np.arange(self._tokens.sites + 1))
        ].tolist()
        whole = runs.packed().tobytes()
        return [whole[a:b] for a, b in pairwise(ends)]


class ActionWriter:
    """Of the sites of one language."""

    def __init__(self, spelled: Spelled) -> None:
        self._profiles = _ProfileFragments(spelled)
        self._entries = _EntryFragments(spelled)
        self._lengths = np.array([len(word) for word in spelled.words])

    def write(self, chunk: Chunk) -> tuple[list[bytes], list[bytes]]:
        """Of each site its actions as a profile and as an entry holds them."""
        tokens = _Tokens(chunk)
        return (
            self._profiles.write(tokens, self._name_bytes(tokens)),
            self._entries.write(tokens),
        )

    def _name_bytes(self, tokens: _Tokens) -> Integers:
        """How long each action's name is."""
        size = tokens.sites * _ACTIONS_MAX
        lengths = self._lengths[tokens.term[NAMES]]
        found = np.bincount(tokens.of[NAMES], lengths, size).astype(np.int64)
        own = found[tokens.actions]
        return np.where(own == 0, len(NAMELESS), own)


class _ProfileFragments:
    """MessagePack. numbers: of the first fragment of each kind."""

    _FIELDS = (NAMES, DESCRIPTIONS, PARAMETERS)

    def __init__(self, spelled: Spelled) -> None:
        opening, *keys = _profile_keys()
        arena = _Arena()
        self._open = arena.add(opening + _head_of_text(n) for n in range(_LENGTHS))
        self._nameless = arena.add([NAMELESS])
        self._words = arena.add(spelled.words)
        self._capitalised = arena.add(map(bytes.capitalize, spelled.words))
        self._keys = [
            arena.add(key + head_of_array(n) for n in range(_POSITIONS)) for key in keys
        ]
        self._stems = arena.add(_head_of_text(len(one)) + one for one in spelled.stems)
        self._runs = arena.runs()

    def write(self, tokens: _Tokens, name_bytes: Integers) -> list[bytes]:
        text = _Text(tokens, self._runs)
        text.add(_OPEN, self._open + name_bytes, tokens.actions)
        _add_names(text, tokens, self._words, self._capitalised, self._nameless)
        for slot, field, key in zip(
            _TERMS[::2], self._FIELDS, self._keys, strict=False
        ):
            text.add(slot, key + tokens.counts(field), tokens.actions)
            text.add_terms(slot + 1, field, lambda term, _: self._stems + term)
        return text.of_sites()


class _EntryFragments:
    """JSON. numbers: of the first fragment of each kind."""

    def __init__(self, spelled: Spelled) -> None:
        opening, describing, listing, closing = _entry_keys()
        arena = _Arena()
        self._open = arena.add([opening, b"," + opening])
        self._nameless = arena.add([NAMELESS])
        self._words = arena.add(spelled.words)
        self._spaced = arena.add(b" " + word for word in spelled.words)
        self._capitalised = arena.add(map(bytes.capitalize, spelled.words))
        parameters = [_parameter(word) for word in spelled.words]
        self._parameters = arena.add(parameters)
        self._next_parameters = arena.add(b"," + one for one in parameters)
        self._keys = arena.add([describing, listing, closing])
        self._runs = arena.runs()

    def write(self, tokens: _Tokens) -> list[bytes]:
        text = _Text(tokens, self._runs)
        is_next = tokens.actions % _ACTIONS_MAX > 0
        text.add(_OPEN, self._open + is_next, tokens.actions)
        _add_names(text, tokens, self._words, self._capitalised, self._nameless)
        kinds = (
            (DESCRIPTIONS, self._words, self._spaced),
            (PARAMETERS, self._parameters, self._next_parameters),
        )
        for number, (field, first, later) in enumerate(kinds):
            slot = _TERMS[2 * number]
            text.add(slot, self._keys + number, tokens.actions)
            text.add_terms(slot + 1, field, _first_or_later(first, later))
        text.add(_TERMS[4], self._keys + 2, tokens.actions)
        return text.of_sites()


def _add_names(
    text: _Text, tokens: _Tokens, words: int, capitalised: int, nameless: int
) -> None:
    """As camelCase."""
    text.add_terms(_NAME, NAMES, _first_or_later(words, capitalised))
    text.add(_NAME, nameless, tokens.actions[tokens.counts(NAMES) == 0])


def _first_or_later(first: int, later: int) -> Callable[[Integers, Integers], Integers]:
    return lambda term, position: term + np.where(position > 0, later, first)


# ---- what stands between words, taken from what the service's own encoders write ----


def _profile_keys() -> list[bytes]:
    """Up to the name, and up to the terms of each field."""
    none = ActionProfile(
        name="", name_terms=(), description_terms=(), parameter_terms=()
    )
    encoded = msgspec.msgpack.encode(none)
    before, _, after = encoded.partition(_head_of_text(0))
    return [before, *after.split(head_of_array(0))[:-1]]


def _entry_keys() -> list[bytes]:
    """Up to the name, the description, the parameters, and what follows them."""
    parameter = Parameter(name="parameter", type="string")
    action = Action(name="name-", description="description-", parameters=(parameter,))
    encoded = msgspec.json.encode(action)
    opening, _, rest = encoded.partition(b"name-")
    describing, _, rest = rest.partition(b"description-")
    return [opening, describing, *rest.split(_parameter(b"parameter"))]


def _parameter(name: bytes) -> bytes:
    return msgspec.json.encode(Parameter(name=name.decode(), type="string"))


def _head_of_text(length: int) -> bytes:
    """length: below 256."""
    return bytes([0xA0 | length]) if length < 32 else bytes([0xD9, length])


def head_of_array(length: int) -> bytes:
    """length: below 256."""
    return bytes([0x90 | length]) if length < 16 else bytes([0xDC, 0, length])
