"""A site's own name, cut out of its texts."""

import re
import unicodedata

import idna

from tests.second_implementation.lexicon import with_plain_vowels
from tests.second_implementation.names import NamesElsewhere, remains
from tests.second_implementation.words import (
    plain_form,
    runs,
    script_of,
    stem,
    words,
    words_of_run,
)

BETWEEN = re.compile(r"[|:,()\u00b7\u2022\u2013\u2014]|\s-\s")
JUDGED = {"LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI"}
UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)


def decoded(host):
    return ".".join(map(decoded_label, host.split(".")))


def decoded_label(label):
    try:
        return idna.ulabel(label) if label.startswith("xn--") else label
    except idna.IDNAError:
        return label


def with_umlauts_written(text):
    return unicodedata.normalize("NFC", text).translate(UMLAUTS)


class Mask:
    """city: the name of the site's city as the gazetteer has it, or ""."""

    def __init__(self, name, host, domain, city, *, policy, vocabularies):
        self.pairs = set(policy.split_words)
        self.policy = policy
        self.vocabularies = vocabularies
        self.place = set(map(stem, self.words(city)))
        self.generic = set(map(stem, policy.generic_words))
        listed = (
            *(policy.generic_words, policy.everyday_words),
            *(policy.act_words, policy.trade_words),
        )
        self.everyday_stems = {stem(word) for words_ in listed for word in words_}
        label, _, suffix = domain.partition(".")
        parts = {name, *BETWEEN.split(name)}
        for own in (host, domain, label):
            parts |= {own, decoded(own)}
        parts |= {with_umlauts_written(part) for part in parts}
        names = {part for part in parts if not self._is_plain_noun(part)}
        phrases = [own for own in map(self.words, names) if own]
        self.phrases = sorted(
            {tuple(map(stem, own)) for own in phrases}, key=lambda own: (-len(own), own)
        )
        self.joined = {stem("".join(own)) for own in phrases}
        labels = host.removesuffix(f".{suffix}")
        single = self._single([name, labels, decoded(labels)])
        marks = {word for word in single if not self.is_everyday(word)}
        self.marks = set(map(stem, marks))
        elsewhere = {*names, *marks, *remains(name, policy.trade_words)}
        self.elsewhere = NamesElsewhere(elsewhere, self.is_everyday)

    def _is_plain_noun(self, part):
        own = self.words(part)
        is_generic = len(own) == 1 and stem(own[0]) in self.generic
        return is_generic or part.strip() in self.policy.trade_words

    def words(self, text):
        return words(text, self.pairs)

    def _single(self, texts):
        for text in texts:
            own = self.words(text)
            yield from own
            yield from map(with_plain_vowels, own)
            if not text.isascii():
                yield from self.words(with_umlauts_written(text))

    def is_everyday(self, word):
        return (
            word.isdecimal()
            or script_of(word) not in JUDGED
            or word in self.policy.stop_words
            or stem(word) in self.everyday_stems
            or any(
                word in pieces or stem(word) in pieces for pieces in self.vocabularies
            )
            or stem(word) in self.place
        )

    def left(self, of):
        """Positions of the words that are not cut."""
        stems = tuple(map(stem, of))
        out, at = [], 0
        while at < len(of):
            length = next(
                (len(p) for p in self.phrases if stems[at : at + len(p)] == p), 0
            )
            if not length and not self.is_cut_alone(of[at]):
                out.append(at)
            at += length or 1
        return out

    def is_cut_alone(self, word):
        if stem(word) in self.joined:
            return True
        return stem(word) in self.marks and not self.is_everyday(word)

    def cut(self, of):
        return [of[at] for at in self.left(of)]

    def words_left(self, text):
        """The words of a text without the name."""
        return self.cut(self.words(self.elsewhere.cut(text)))

    def cut_text(self, text):
        written = [run for run, _ in runs(self.elsewhere.cut(text))]
        owners, of = [], []
        for number, run in enumerate(written):
            for _, word in words_of_run(run):
                owners.append(number)
                of.append(word)
        left = set(self.left(of))
        cut = {owners[at] for at in range(len(of)) if at not in left}
        return plain_form(run for n, run in enumerate(written) if n not in cut)
