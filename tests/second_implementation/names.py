"""A site's name in other scripts, and in scripts without spaces."""

import re
import unicodedata

from anyascii import anyascii

from tests.second_implementation.words import (
    compared,
    is_digit,
    is_letter_or_number,
    readable,
    script_of,
    stem,
)

SYLLABIC = {"HIRAGANA", "KATAKANA", "HANGUL"}
SYLLABLES = "\u3041-\u3096\u30a1-\u30fa\uac00-\ud7af"
HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
UNSPACED = re.compile(
    f"[{SYLLABLES}{HAN}\u30fc\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)
STRETCH = re.compile(UNSPACED.pattern + "+")
PARTS = re.compile(
    f"[{HAN}]+|[\u3041-\u3096][\u3041-\u3096\u30fc]*|[\u30a1-\u30fc]+|[\uac00-\ud7af]+"
)
ALONE = re.compile(f"[{SYLLABLES}{HAN}]")
BETWEEN = re.compile("[\\s\u200b\\-_.'\u2019\u00b7\u30fb\u30fc]{0,2}")
SPELLINGS = (
    *(("sch", "s"), ("tch", "s"), ("ch", "s"), ("sh", "s"), ("zh", "s"), ("kh", "k")),
    *(("gh", "k"), ("ph", "f"), ("th", "t"), ("dh", "t"), ("x", "ks"), ("ck", "k")),
    *(("ce", "se"), ("ci", "si"), ("cy", "sy"), ("tz", "ts")),
)
CLASSES = {
    letter: kind
    for letters, kind in (
        *(("aeiouyw", "a"), ("bfpv", "B"), ("cgkq", "K"), ("dt", "T")),
        *(("jsz", "S"), ("lr", "R"), ("mn", "N"), (" ", " ")),
    )
    for letter in letters
}
TWO_LETTERS = {
    "GREEK": (("\u03bc\u03c0", "b"), ("\u03bd\u03c4", "d"), ("\u03b3\u03ba", "g")),
    "HEBREW": (("\u05d5", "o"), ("\u05d1", "b")),
}


def letter_by_letter(text):
    return "".join(compared(c) if UNSPACED.match(c) else c for c in readable(text))


def any_of(texts):
    longest = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, longest)) or "(?!)")


def remains(name, trade_words):
    """What is left of a name in scripts without spaces without plain nouns."""
    nouns = any_of(word for word in trade_words if UNSPACED.match(word))
    for stretch in STRETCH.findall(letter_by_letter(name)):
        for piece in nouns.sub(" ", stretch).split():
            for part in (piece, *PARTS.findall(piece)):
                if len(part) > 1:
                    yield part


def is_of_run(character):
    return (
        is_letter_or_number(character)
        and not is_digit(character)
        and not ALONE.match(character)
        and character != "\u30fc"
    )


def units_of(text):
    """Each: start, end, script, whether it begins, letters, folded."""
    units, at = [], 0
    while at < len(text):
        start = at
        if ALONE.match(text[at]):
            at += 2 if text[at + 1 : at + 2] == "\u30fc" else 1
        elif is_of_run(text[at]):
            at += 1
            while at < len(text) and (is_of_run(text[at]) or is_mark(text[at])):
                at += 1
        else:
            at += 1
            continue
        word = text[start:at].casefold()
        script = script_of(word)
        begins = not units or start > units[-1][1] or units[-1][2] != script
        units.append((start, at, script, begins, letters_of(script, word), word))
    return units


def is_mark(character):
    is_near = 0x300 <= ord(character) <= 0x30FF
    return is_near and unicodedata.category(character)[0] == "M"


def letters_of(script, word):
    if len(word) > 64 or word in "\u3063\u30c3":
        return ""
    if script != "LATIN":
        word = stem(compared(word))
    for letters, latin in TWO_LETTERS.get(script, ()):
        word = word.replace(letters, latin)
    latin = anyascii(word).casefold()
    return latin if script in {*SYLLABIC, "CJK"} else f" {latin}"


def sound_of(letters):
    for spelling, plain in SPELLINGS:
        letters = letters.replace(spelling, plain)
    classes = "".join(CLASSES.get(letter, "") for letter in letters)
    return re.sub(r"(.)\1+", r"\1", classes).replace(" ", "")


def keys_of(script, letters, *, whole):
    sound, together = sound_of(letters), letters.replace(" ", "")
    c = sound.replace("a", "")
    if script in {"CJK", "LATIN"} and len(together) >= 4:
        yield together
    if script == "CJK":
        if len(c) >= 5:
            yield c
    elif len(c) >= 3:
        yield c
    elif whole and len(c) == 2 and len(sound) > 3:
        yield sound


class NamesElsewhere:
    """names: as written."""

    def __init__(self, names, is_everyday):
        self.is_everyday = is_everyday
        written = {letter_by_letter(n) for n in names if UNSPACED.search(n)}
        self.written = any_of(name for name in written if len(name) > 1)
        self.scripts = {}
        for name in sorted(names):
            units = units_of(readable(name))
            scripts = {unit[2] for unit in units}
            letters = "".join(unit[4] for unit in units)
            for key in keys_of("", letters, whole="CJK" not in scripts):
                self.scripts[key] = self.scripts.get(key, set()) | scripts
            together = letters.replace(" ", "")
            if len(together) >= 4:
                self.scripts[together] = scripts - {"CJK"}

    def cut(self, text):
        text = readable(text)
        end, parts = 0, []
        for match in self.written.finditer(letter_by_letter(text)):
            parts.append(text[end : match.start()])
            end = match.end()
        text = " ".join([*parts, text[end:]])
        units = units_of(text)
        at, end, parts = 0, 0, []
        while at < len(units):
            length = self.length_at(text, units, at)
            if length:
                parts.append(text[end : units[at][0]])
                end = units[at + length - 1][1]
            at += length or 1
        return " ".join([*parts, text[end:]])

    def length_at(self, text, units, at):
        script, begins, folded = units[at][2], units[at][3], units[at][5]
        if script in SYLLABIC and not begins:
            return 0
        length, letters, last = 0, "", None
        for n, unit in enumerate(units[at : at + 24], 1):
            between = text[units[at + n - 2][1] : unit[0]] if n > 1 else ""
            if unit[2] != script or not BETWEEN.fullmatch(between):
                break
            letters += unit[4]
            behind = units[at + n] if at + n < len(units) else None
            ends = behind is None or behind[3]
            whole = ends if script in SYLLABIC else n == 1
            for key in keys_of(script, letters, whole=whole):
                if key != last and script not in self.scripts.get(key, {script}):
                    length, last = n, key
        return 0 if length == 1 and self.is_everyday(compared(folded)) else length
