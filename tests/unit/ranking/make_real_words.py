"""Make `registry/ranking/word_lists/real_words.txt`: python -m tests.unit.ranking.make_real_words

Wants pyspellchecker, whose word lists of seven languages (MIT; from subtitles by
FrequencyWords) are read and not kept. What stays is each of their words that would be
taken for a slip of a listed word, by either policy.
"""

import gzip
import json
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.letters import fold
from registry.ranking.policy import POLICIES
from registry.ranking.word_lists import vocabulary
from registry.ranking.words.lexicon import Lexicon

OCCURRENCES_MIN = 100
"""Many of the rarer ones are slips themselves."""
LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pt")


def _words() -> Iterator[str]:
    spec = find_spec("spellchecker")
    if spec is None or spec.origin is None:
        raise SystemExit("pyspellchecker is not installed")
    for language in LANGUAGES:
        path = Path(spec.origin).parent / "resources" / f"{language}.json.gz"
        counts = json.loads(gzip.decompress(path.read_bytes()))
        yield from (word for word, count in counts.items() if count >= OCCURRENCES_MIN)


def _main() -> None:
    words = sorted({fold(word.casefold()) for word in _words() if word} - {""})
    near: set[str] = set()
    for policy in POLICIES.values():
        bare = replace(policy, real_words=())
        lexicon = Lexicon(load_encoder(policy).word_pieces(), bare)
        near.update(word for word in words if lexicon.correction_of(word))
    path = Path(vocabulary.__file__).with_name("real_words.txt")
    path.write_text(f"{textwrap.fill(' '.join(sorted(near)), 88)}\n")


if __name__ == "__main__":
    _main()
