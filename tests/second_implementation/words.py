# ruff: noqa: RUF001  letters of other scripts are what this is about
"""Words of a text, their compared forms and stems."""

import json
import re
import unicodedata
from functools import cache

import Stemmer

from tests.second_implementation.constants import ROOT

PAGE = (ROOT / "docs" / "policy.md").read_text()
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200d-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
STEMMED = {
    "LATIN": "english",
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARMENIAN": "armenian",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
}


def table_of_page(name):
    """The JSON that the page has in that block."""
    block = PAGE.split(f"<!-- make docs: {name} -->")[1].split("<!-- end -->")[0]
    return json.loads(re.search(r"`*(\{.*\})`*", block, re.DOTALL)[1])


FORMS = str.maketrans(table_of_page("letters"))
ENDINGS = table_of_page("endings")
STEMMERS = {script: Stemmer.Stemmer(name, 0) for script, name in STEMMED.items()}


def is_letter_or_number(character):
    return unicodedata.category(character)[0] in "LN"


def is_digit(character):
    return unicodedata.category(character) == "Nd"


def is_accent(character):
    return unicodedata.combining(character) != 0


def script_of(word):
    return unicodedata.name(word[0], "").split(" ")[0]


def readable(text):
    if text.isascii():
        return text
    text = INVISIBLE.sub("", text)
    arabic = [0x600 <= ord(c) <= 0x6FF for c in text]
    text = "".join(
        c
        for i, c in enumerate(text)
        if c != "\u200c" or (0 < i < len(text) - 1 and arabic[i - 1] and arabic[i + 1])
    )
    cut, piled = "", 0
    for c in text:
        piled = piled + 1 if 0x300 <= ord(c) < 0x1E950 and is_accent(c) else 0
        if piled <= 16:
            cut += c
    return re.sub(
        "(?<=[\u0400-\u052f])['\u2019\u02bc](?=[\u0400-\u052f])",
        "",
        unicodedata.normalize("NFKC", cut),
    )


def without_endings(text):
    out, i = "", 0
    while i < len(text):
        if text[i] in "'\u2019" and i and is_letter_or_number(text[i - 1]):
            ending = re.match("(?:s|t|d|m|ll|re|ve)", text[i + 1 :], re.IGNORECASE)
            if ending:
                behind = text[i + 1 + ending.end() : i + 2 + ending.end()]
                if not behind or not (is_letter_or_number(behind) or behind == "_"):
                    i += 1 + ending.end()
                    continue
        out += text[i]
        i += 1
    return out


def is_lower(c):
    return ord(c) < 0x530 and c.islower() and c.isalpha()


def is_upper(c):
    return ord(c) < 0x530 and c.isupper()


def is_word(four):
    """A letter or number that is no digit, and three lower-case letters."""
    if len(four) != 4 or not is_letter_or_number(four[0]) or is_digit(four[0]):
        return False
    return all(map(is_lower, four[1:]))


def is_capital(four):
    return len(four) == 4 and all(map(is_upper, four))


def meets(text, i):
    """Whether two words of an identifier meet between i - 1 and i."""
    before, here = text[i - 1], text[i]
    if is_lower(before) and is_upper(here):
        return True
    if re.match("[A-Z][A-Z][a-z]", text[i - 1 : i + 2]):
        return True
    if is_digit(here):
        return is_word(text[max(0, i - 4) : i]) or is_capital(text[max(0, i - 4) : i])
    return is_digit(before) and is_word(text[i : i + 4])


def identifiers_apart(text):
    text = without_endings(readable(text))
    return "".join(
        ("_" if i and meets(text, i) else "") + c for i, c in enumerate(text)
    )


def runs(text):
    """Each as written, and whether it is hyphenated."""
    text = identifiers_apart(text)
    out, i, end = [], 0, None
    while i < len(text):
        if not is_letter_or_number(text[i]):
            i += 1
            continue
        start = i
        while i < len(text) and (
            is_letter_or_number(text[i])
            or (
                0x300 <= ord(text[i]) <= 0x30FF
                and unicodedata.category(text[i])[0] == "M"
            )
        ):
            i += 1
        hyphenated = end is not None and start == end + 1 and text[end] in "_-\u2010"
        out.append((text[start:i], hyphenated))
        end = i
    return out


UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"
    "|[\u3040-\u309f][\u3040-\u309f\u30fc]*|[\u30a0-\u30ff]+|[\uac00-\ud7af]+"
    "|[\u3005\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]+"
)


def cut_up(word):
    at = 0
    for stretch in UNSPACED.finditer(word):
        yield word[at : stretch.start()]
        size = 3 if stretch[1] else 2
        for start in range(max(1, len(stretch[0]) - size + 1)):
            yield stretch[0][start : start + size]
        at = stretch.end()
    yield word[at:]


def compared(word):
    if word.isascii() or len(word) > 64:
        return word
    script = script_of(word)
    if script in {"LATIN", "GREEK"}:
        split = unicodedata.normalize("NFKD", word)
        word = "".join(c for c in split if not is_accent(c))
    word = word.translate(FORMS)
    if script == "DEVANAGARI":
        nasal = "[\u0919\u091e\u0923\u0928\u092e]\u094d(?=[\u0915-\u092d])"
        word = re.sub(nasal, "\u0902", word)
    return word


@cache
def words_of_run(run):
    """Each as typed, and in its compared form."""
    run = run.casefold()
    if run.isascii():
        return ((run, run),)
    parts = filter(None, cut_up(unicodedata.normalize("NFC", run)))
    pairs = [(part, compared(part)) for part in parts]
    return tuple(pair for pair in pairs if pair[1])


def typed_words(text, pairs):
    """Each as typed, and as compared. pairs: `split_words`."""
    out = []
    for run, hyphenated in runs(text):
        for typed, word in words_of_run(run):
            before = out[-1][1] if out else None
            if f"{before}+{word}" in pairs or (
                hyphenated and f"{before}-{word}" in pairs
            ):
                together = before + word
            else:
                out.append((typed, word))
                continue
            out[-1] = (together, together)
    return out


def words(text, pairs):
    return [word for _, word in typed_words(text, pairs)]


def plain_form(written):
    """written: runs as they are written."""
    of = {}
    for run in written:
        of[tuple(word for _, word in words_of_run(run))] = run
    return " ".join(of.values())


@cache
def stem(word):
    if len(word) > 64:
        return word
    script = "LATIN" if word.isascii() else script_of(word)
    if script == "ARABIC":
        return arabic_stem(word)
    if script not in STEMMERS:
        return word
    if script == "LATIN":
        for ending in sorted(ENDINGS, key=len, reverse=True):
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word = word[: -len(ending)] + ENDINGS[ending]
                break
    return STEMMERS[script].stemWord(word)


def arabic_stem(word):
    if word.startswith("\u0648") and len(word) > 3:
        word = word[1:]
    word = re.sub("^(?:[\u0628\u0643\u0641]?\u0627\u0644|\u0644\u0644)(?=..)", "", word)
    for ending in ("ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي"):
        if word.endswith(ending) and len(word) >= len(ending) + 2:
            word = word[: -len(ending)]
    return word
