"""Names in other scripts than they are written in, and in scripts without spaces.

A name is cut from a text where it occurs letter by letter, or where the text says it in
another script. Both are brought to Latin letters by a fixed table (anyascii), and of
those the consonants are compared in classes that no script keeps apart: vowels are left
out in Arabic and Hebrew and put in between in kana. Han is compared by the whole of its
pinyin, as syllables have too few consonants to tell names apart.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from anyascii import anyascii

from registry.ranking.letters import fold, readable, script_of
from registry.ranking.terms import LONGEST, MARKS, stem

_SYLLABIC = frozenset({"HIRAGANA", "KATAKANA", "HANGUL"})
_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_SYLLABLES = "\u3041-\u3096\u30a1-\u30fa\uac00-\ud7af"
_LETTER = rf"[^\W\d_\u30fc{_HAN}{_SYLLABLES}]"
_UNIT = re.compile(rf"[{_HAN}{_SYLLABLES}]\u30fc?|{_LETTER}(?:{_LETTER}|[{MARKS}])*")
_UNSPACED = re.compile(
    rf"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u30fc{_HAN}{_SYLLABLES}]+"
)
_RUN = re.compile(
    rf"[{_HAN}]+|[\u3041-\u3096][\u3041-\u3096\u30fc]*|[\u30a1-\u30fc]+|[\uac00-\ud7af]+"
)
_NEVER = re.compile("(?!)")
_JOINT = re.compile("[\\s\u200b\\-_.'\u2019\u00b7\u30fb\u30fc]{0,2}")
_UNITS_MOST = 24
_CLASSES_MIN, _HAN_CLASSES_MIN, _LETTERS_MIN = 3, 5, 4
_SILENT = frozenset("\u3063\u30c3")  # small tsu
_TWO_LETTERS = {
    "GREEK": (("\u03bc\u03c0", "b"), ("\u03bd\u03c4", "d"), ("\u03b3\u03ba", "g")),
    "HEBREW": (("\u05d5", "o"), ("\u05d1", "b")),
}
_SPELLINGS = (
    *(("sch", "s"), ("tch", "s"), ("ch", "s"), ("sh", "s"), ("zh", "s"), ("kh", "k")),
    *(("gh", "k"), ("ph", "f"), ("th", "t"), ("dh", "t"), ("x", "ks"), ("ck", "k")),
    *(("ce", "se"), ("ci", "si"), ("cy", "sy"), ("tz", "ts")),
)
_CLASSES = str.maketrans(
    dict.fromkeys("aeiouyw", "a")
    | dict.fromkeys("bfpv", "B")
    | dict.fromkeys("cgkq", "K")
    | dict.fromkeys("dt", "T")
    | dict.fromkeys("jsz", "S")
    | dict.fromkeys("lr", "R")
    | dict.fromkeys("mn", "N")
)
_OTHERS = re.compile("[^aBKTSRN ]+")
_REPEATED = re.compile(r"(.)\1+")


class _Unit(NamedTuple):
    """A word, or a syllable of a script without spaces. first: no syllable is before it."""

    start: int
    end: int
    script: str
    first: bool
    letters: str
    text: str


@dataclass(frozen=True)
class TranscribedNames:
    """names: as written, and the words of them that are marks.

    is_everyday: of a word that sounds like a name; such a word stays. Most texts and
    names are ASCII, and need none of what is cached here.
    """

    names: frozenset[str]
    is_everyday: Callable[[str], bool] = field(repr=False, compare=False)

    @cached_property
    def is_latin(self) -> bool:
        if all(map(str.isascii, self.names)):
            return True
        scripts = frozenset[str]().union(*self._scripts_of.values())
        return scripts <= {"LATIN"} and not any(map(_UNSPACED.search, self.names))

    @cached_property
    def _written(self) -> re.Pattern[str] | None:
        unspaced = {_folded(name) for name in self.names if _UNSPACED.search(name)}
        return _any_of(name for name in unspaced if len(name) > 1)

    @cached_property
    def _scripts_of(self) -> Mapping[str, frozenset[str]]:
        """Return, by key, the scripts in which a name of that key is written."""
        scripts_of: dict[str, frozenset[str]] = {}
        for name in sorted(self.names):  # of one key the last decides
            units = _units(readable(name))
            scripts = frozenset(unit.script for unit in units)
            letters = "".join(unit.letters for unit in units)
            for key in _keys("", letters, is_whole="CJK" not in scripts):
                scripts_of[key] = scripts_of.get(key, frozenset()) | scripts
            # Han of the same sound is the name in other characters.
            scripts_of.update(dict.fromkeys(_pinyin(letters), scripts - {"CJK"}))
        return scripts_of

    def cut(self, text: str) -> str:
        """Return the text with a space for each name in it that words would not show."""
        if self.is_latin and text.isascii():
            return text
        whole = readable(text)
        if self._written:
            whole = _replaced(whole, self._written.finditer(_folded(whole)))
        return self._without_transcribed(whole)

    def _without_transcribed(self, text: str) -> str:
        units = _units(text)
        parts = []
        position = end = 0
        while position < len(units):
            length = self._length_at(text, units, position) if self._scripts_of else 0
            if length:
                parts.append(text[end : units[position].start])
                end = units[position + length - 1].end
            position += length or 1
        return " ".join([*parts, text[end:]])

    def _length_at(self, text: str, units: Sequence[_Unit], position: int) -> int:
        """Return the units of the longest name from this position on, 0 without one."""
        first = units[position]
        if first.script in _SYLLABIC and not first.first:
            return 0
        longest, letters, name = 0, "", ""
        for length, unit in enumerate(_together(text, units, position), 1):
            letters += unit.letters
            following = units[position + length : position + length + 1]
            is_whole = (
                all(u.first for u in following)
                if first.script in _SYLLABIC
                else length == 1
            )
            for key in _keys(first.script, letters, is_whole=is_whole):
                if key != name and self._is_name(key, first.script):
                    longest, name = length, key
        return 0 if longest == 1 and self.is_everyday(fold(first.text)) else longest

    def _is_name(self, key: str, script: str) -> bool:
        return script not in self._scripts_of.get(key, {script})


def _together(text: str, units: Sequence[_Unit], position: int) -> Iterator[_Unit]:
    """Yield the units of one script that nothing but joints parts, from a position on."""
    end = units[position].start
    for unit in units[position : position + _UNITS_MOST]:
        joined = _JOINT.fullmatch(text, end, unit.start)
        if unit.script != units[position].script or not joined:
            return
        yield unit
        end = unit.end


def unspaced_marks(name: str, nouns: tuple[str, ...]) -> Iterator[str]:
    """Yield what is left of a name in scripts without spaces after plain nouns.

    Whole, and in parts where the script changes.
    """
    pattern = _nouns(nouns)
    for run in _UNSPACED.finditer(_folded(name)):
        for rest in pattern.sub(" ", run.group()).split():
            yield from (mark for mark in {rest, *_RUN.findall(rest)} if len(mark) > 1)


@lru_cache(maxsize=2)
def _nouns(nouns: tuple[str, ...]) -> re.Pattern[str]:
    return _any_of(filter(_UNSPACED.match, nouns)) or _NEVER


def _any_of(names: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    pattern = "|".join(map(re.escape, longest_first))
    return re.compile(pattern) if pattern else None


def _replaced(text: str, matches: Iterable[re.Match[str]]) -> str:
    end = 0
    parts = []
    for match in matches:
        parts.append(text[end : match.start()])
        end = match.end()
    return " ".join([*parts, text[end:]])


def _folded(text: str) -> str:
    """Fold each letter of a script without spaces by itself, so that positions stay."""
    if not _UNSPACED.search(text):
        return text
    return "".join(
        fold(letter) if _UNSPACED.match(letter) else letter for letter in readable(text)
    )


def _keys(script: str, letters: str, *, is_whole: bool) -> Iterator[str]:
    """Yield what tells a name: consonants, of short whole ones vowels too, or pinyin."""
    sound = _sound(letters)
    consonants = sound.replace("a", "")
    if script in {"CJK", "LATIN"}:
        yield from _pinyin(letters)
    if script == "CJK":
        if len(consonants) >= _HAN_CLASSES_MIN:
            yield consonants
    elif len(consonants) >= _CLASSES_MIN:
        yield consonants
    elif is_whole and len(consonants) == _CLASSES_MIN - 1 and len(sound) > _CLASSES_MIN:
        yield sound


def _pinyin(letters: str) -> Iterator[str]:
    syllables = letters.replace(" ", "")
    if len(syllables) >= _LETTERS_MIN:
        yield syllables


def _units(text: str) -> list[_Unit]:
    units: list[_Unit] = []
    end = -1
    for match in _UNIT.finditer(text):
        word = match.group().casefold()
        script = script_of(word)
        first = match.start() > end or units[-1].script != script
        letters = _letters(script, word)
        units.append(_Unit(*match.span(), script, first, letters, word))
        end = match.end()
    return units


@lru_cache(maxsize=16_384)
def _letters(script: str, word: str) -> str:
    """Return a word's stem, behind a space, or a syllable, in Latin letters."""
    if len(word) > LONGEST or word in _SILENT:
        return ""
    if script != "LATIN":
        word = stem(fold(word))
    for letters, latin in _TWO_LETTERS.get(script, ()):
        word = word.replace(letters, latin)
    latin = anyascii(word).casefold()
    return latin if script in _SYLLABIC or script == "CJK" else f" {latin}"


@lru_cache(maxsize=16_384)
def _sound(letters: str) -> str:
    """Return classes of consonants, none twice in a row in a word, with `a` for vowels."""
    for spelling, plain in _SPELLINGS:
        letters = letters.replace(spelling, plain)
    classes = _OTHERS.sub("", letters.translate(_CLASSES))
    return _REPEATED.sub(r"\1", classes).replace(" ", "")
