"""The static half of a vector: rows of single words' pieces, added up."""

import numpy as np
from safetensors import safe_open
from tokenizers import Tokenizer

from tests.second_implementation.constants import ROOT, package_folder

START = "\u2581"


class StaticHalf:
    def __init__(self, policy):
        folder = package_folder("wordllama")
        name = "l2_supercat_tokenizer_config.json"
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / name))
        file = folder / "weights" / "l2_supercat_256.safetensors"
        with safe_open(str(file), framework="np") as weights:
            self.tensor = weights.get_tensor("embedding.weight")
        encoders = ROOT / "registry" / "ranking" / "encoders"
        self.projection = np.load(encoders / "projection.npy").astype(np.int64)
        vocabulary = self.tokenizer.get_vocab()
        self.whole = {p[1:]: n for p, n in vocabulary.items() if p.startswith(START)}
        self.policy = policy
        self.act, self.asking = set(policy.act_words), set(policy.asking_words)
        self._sums = {}

    def row(self, number):
        numbers = np.rint(self.tensor[number].astype(np.float64) * 2048).astype(
            np.int64
        )
        return numbers @ self.projection >> 9

    def word_sum(self, word):
        if word not in self._sums:
            if word in self.whole:
                rows = [self.row(self.whole[word])]
            else:
                pieces = self.tokenizer.model.tokenize(START + word)
                texts = [(piece.id, piece.value.strip(START)) for piece in pieces]
                rows = [self.row(n) for n, t in texts if t and not t.startswith("<0x")]
            weight = (
                self.policy.embedding_act_weight
                if word in self.act
                else self.policy.embedding_word_weight
            )
            self._sums[word] = weight * sum(rows, np.zeros(128, np.int64))
        return self._sums[word]

    def site_sum(self, site, names, descriptions, parameters):
        """Each: a field's content words, of all actions."""
        policy = self.policy
        total = np.zeros(128, np.int64)
        for field, weight in (
            (site, policy.embedding_site_weight),
            (names, policy.embedding_name_weight),
            (descriptions, policy.embedding_description_weight),
            (parameters, policy.embedding_parameter_weight),
        ):
            for word in set(field):
                total += weight * self.word_sum(word)
        return total

    def request_sum(self, content, sentence):
        words = set(content) | (self.asking & set(sentence))
        return sum(map(self.word_sum, words), np.zeros(128, np.int64))
