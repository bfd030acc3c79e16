"""The layers of the sentence encoder, to the same bits on every machine.

Universal Sentence Encoder, multilingual (Yang et al. 2020), in the form with
convolutions: pieces are embedded, three convolutions look at two, three and five
neighbours, their sum over the text goes through four dense layers.

The published weights are whole numbers of eight bits with a scale for each matrix. What
they meet is scaled to whole numbers too, as fine as it may be while no sum of products
reaches 2^24; so a product of matrices in 32-bit fractions is exact in any order, by any
library and on any number of threads. What is left are single steps of IEEE 754 in a
fixed order, and the hyperbolic tangent as a table of whole numbers.

What a piece says to its neighbours in the first of two convolutions depends on the piece
alone. It is looked up, as most requests consist of the same few hundred pieces.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]
"""Fractions of sixteen bits: what pieces say is rounded to them, stored or not."""
Weights = Mapping[str, npt.NDArray[np.generic]]
WIDTH = 512
"""Dimensions of a piece's embedding, and of the outputs."""
CHUNKS = 17
"""Parts of the table: piece n is row n // CHUNKS of chunk n % CHUNKS."""
UNITY = 1 << 15
"""An output's numbers are such parts of 1."""
SUM_MOST = 1 << 24

_CHANNELS = 256
_NEIGHBOURS = {2: 0, 3: 1, 5: 2}
"""Pieces that a convolution looks at, and how many of them stand before its own."""
_REACH = 2  # pieces before and behind
_BYTE_MOST = 127
_LEAST = np.float32(1e-30)  # that anything is divided by
_NORMAL_MOST = np.float32(1 << 16)  # of what is normalised
_SUM_UNIT = np.float32(1 << 12)  # of what is summed
_STEPS = 512  # of the table, from one whole number to the next
_TANH_END = 8
_STORED_MOST = 6144
"""Pieces, of 6.7 KB each."""
_SILENCE = -1
"""Number of what is before, between and behind texts."""
_HALVES_UNIT = np.float32(2.0**112)  # 2^(127 - 15), between the biases of exponents


def _tanh_table() -> npt.NDArray[np.int64]:
    steps = range(-_TANH_END * _STEPS, _TANH_END * _STEPS + 1)
    return np.array([round(math.tanh(at / _STEPS) * UNITY) for at in steps])


TANH = _tanh_table()


@dataclass(frozen=True, slots=True)
class Dense:
    """weights: whole numbers, shape (inputs, outputs). scale: what they are multiplied by.

    most: the largest whole number that an input may become.
    """

    weights: Floats
    scale: np.float32
    most: np.float32

    def __call__(self, inputs: Floats) -> Floats:
        """inputs: shape (n, inputs)."""
        largest = _largest(inputs)
        scaled = inputs * (self.most / largest)
        outputs: Floats = np.rint(scaled, out=scaled) @ self.weights
        outputs *= largest / self.most * self.scale
        return outputs

    def by_neighbour(self, width: int) -> "Dense":
        """Return it for one neighbour at a time; outputs: of each neighbour in turn."""
        blocks = self.weights.reshape(width, -1, self.weights.shape[1])
        weights = np.ascontiguousarray(np.concatenate(blocks, axis=1))
        return Dense(weights, self.scale, _most(weights))


def make_dense(weights: npt.NDArray[np.generic]) -> Dense:
    """weights: whole numbers of eight bits, the largest _BYTE_MOST, times one number.

    Raises: ValueError if they are something else.
    """
    scale = float(np.abs(weights).max()) / _BYTE_MOST
    fractions = weights.astype(np.float32) / np.float32(scale)
    whole = np.rint(fractions)
    fractions -= whole
    if np.abs(fractions, out=fractions).max() > 1 / 64:
        raise ValueError("the weights are no whole numbers of eight bits")
    return Dense(whole, np.float32(scale), _most(whole))


def _most(whole: Floats) -> np.float32:
    # Rounding may add a half to each input. Sums of bytes are exact in 32-bit fractions.
    return np.float32(SUM_MOST // np.abs(whole).sum(axis=0).max() - 1)


@dataclass(frozen=True, slots=True)
class _Convolution:
    """Convolution over `width` neighbours. before: those that stand before the piece.

    first: by neighbour, see `Dense`. second: of all neighbours side by side.
    """

    width: int
    before: int
    projection: Dense
    bias: Floats
    first: tuple[Dense, Floats]
    second: tuple[Dense, Floats]


class SentenceLayers:
    """Shared by threads, and read-only but for its memo of pieces."""

    def __init__(self, weights: Weights) -> None:
        """weights: those of the published file, by their names there."""
        self.table = _table(weights)
        self._scale, self._lowest = _floats(weights, "scale", "lo")
        self._convolutions = [
            _convolution(weights, width, before)
            for width, before in _NEIGHBOURS.items()
        ]
        *self._borders, blocks = accumulate(width + 1 for width in _NEIGHBOURS)
        self._stored: dict[int, Halves] = {}
        self._silent = np.zeros(blocks * _CHANNELS, np.float16)
        self._inner_norm = (
            np.concatenate([*_floats(weights, *(f"ln_g{n}" for n in _NEIGHBOURS))]),
            np.concatenate([*_floats(weights, *(f"ln_b{n}" for n in _NEIGHBOURS))]),
        )
        self._norm = tuple(_floats(weights, "ln_g", "ln_b"))
        self._sum_bias = _floats(weights, "cnn_b")[0]
        self._dense = {
            name: make_dense(weights[name])
            for name in ("cnn_W", "d0", "d1", "d2", "d3", "p1", "p3")
        }

    def __call__(self, texts: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
        """Return shape (texts, WIDTH), in parts of UNITY.

        texts: the numbers of their pieces, at least one a text.
        """
        lengths = np.array(list(map(len, texts)))
        # Whole numbers in 64-bit fractions: exact in any order.
        units = self._features(texts)
        units *= _SUM_UNIT
        by_text = np.split(np.rint(units, out=units), np.cumsum(lengths)[:-1])
        sums = np.array([text.sum(axis=0, dtype=np.float64) for text in by_text])
        summed = (sums / _SUM_UNIT).astype(np.float32)
        counts = lengths.astype(np.float32)[:, None]
        inputs = self._dense["cnn_W"](summed) + counts * self._sum_bias
        scaled = (inputs / np.sqrt(counts)).astype(np.float32)
        return self._outputs(scaled)

    def _features(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Return shape (pieces of all texts, channels)."""
        gap = [_SILENCE] * _REACH
        pieces = [*gap, *chain.from_iterable([*text, *gap] for text in texts)]
        effects = self._effects_of(pieces)
        row_of = {piece: row for row, piece in enumerate(effects)}
        rows = np.array(list(map(row_of.__getitem__, pieces)))
        speaking = np.flatnonzero(rows)
        widened = _widened(np.array(list(effects.values())))
        parts = np.split(
            widened.reshape(len(effects), -1, _CHANNELS), self._borders, axis=1
        )
        embedded = self._embed(np.array(pieces)[speaking])
        convolved = [
            _convolve(part, rows, speaking, convolution)
            for part, convolution in zip(parts, self._convolutions, strict=True)
        ]
        return _normalise(np.concatenate([embedded, *convolved], axis=1), *self._norm)

    def _effects_of(self, pieces: list[int]) -> dict[int, Halves]:
        """Return of each piece, by convolution: its inputs, what it says to neighbours.

        Silence comes first.
        """
        stored = self._stored
        rows = {_SILENCE: self._silent}
        for piece in pieces:
            if (row := stored.get(piece)) is not None:
                rows[piece] = row
        if new := [piece for piece in dict.fromkeys(pieces) if piece not in rows]:
            rows.update(zip(new, self._compute_effects(np.array(new)), strict=True))
        for piece, row in rows.items():  # the last ones last
            stored.pop(piece, None)
            stored[piece] = row
        if len(stored) > _STORED_MOST:
            for piece in list(stored)[:-_STORED_MOST]:
                stored.pop(piece, None)
        return rows

    def _compute_effects(self, pieces: npt.NDArray[np.int64]) -> Halves:
        embedded = self._embed(pieces)
        inner = [
            convolution.projection(embedded) + convolution.bias
            for convolution in self._convolutions
        ]
        normal = _normalise(np.concatenate(inner, axis=1), *self._inner_norm)
        channels = np.split(normal, len(self._convolutions), axis=1)
        both = [
            (inputs, convolution.first[0](inputs))
            for inputs, convolution in zip(channels, self._convolutions, strict=True)
        ]
        return np.concatenate([*chain.from_iterable(both)], axis=1).astype(np.float16)

    def _embed(self, pieces: npt.NDArray[np.int64]) -> Floats:
        chunks = pieces % CHUNKS
        embedded: Floats = self.table[pieces] * self._scale[chunks, None]
        embedded += self._lowest[chunks, None]
        return embedded

    def _outputs(self, inputs: Floats) -> npt.NDArray[np.int64]:
        dense = self._dense
        first = dense["p1"](inputs) + dense["d1"](_positive(dense["d0"](inputs)))
        inner = _positive(first)
        last = dense["p3"](inner) + dense["d3"](_positive(dense["d2"](inner)))
        steps = np.rint(last * np.float32(_STEPS)).astype(np.int64) + len(TANH) // 2
        outputs: npt.NDArray[np.int64] = TANH[np.clip(steps, 0, len(TANH) - 1)]
        return outputs


def _convolve(
    effects: Floats,
    rows: npt.NDArray[np.int64],
    speaking: npt.NDArray[np.int64],
    convolution: _Convolution,
) -> Floats:
    """Add to each piece what its neighbours say, twice; shape (speaking, channels).

    effects: of each distinct piece its inputs, then what it says to each neighbour; zero
    for silence. rows: of all pieces, those in effects. speaking: which are no silence.
    """
    width, start = convolution.width, speaking - convolution.before
    total = np.repeat(convolution.first[1][None], len(speaking), axis=0)
    for neighbour in range(width):  # in this order: sums of fractions
        total += effects[rows[start + neighbour], neighbour + 1]
    own: Floats = effects[rows[speaking], 0]
    own += _positive(total)
    outputs = np.zeros((len(rows), _CHANNELS), np.float32)
    outputs[speaking] = own
    windows = outputs[start[:, None] + np.arange(width)]
    dense, bias = convolution.second
    own += _positive(dense(windows.reshape(len(speaking), -1)) + bias)
    return own


def _widened(halves: Halves) -> Floats:
    """Return the same fractions in 32 bits, in a seventh of the time of `astype`."""
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= ~0x70000000  # the exponent's two lowest bits are where the sign was spread
    fractions = bits.view(np.float32)
    fractions *= _HALVES_UNIT
    return fractions


def _normalise(inputs: Floats, weights: Floats, biases: Floats) -> Floats:
    """Normalise each row, by sums of whole numbers (Ba, Kiros & Hinton 2016)."""
    width = inputs.shape[1]
    # At most 2^16, so that sums of squares times the width are below 2^53.
    whole = np.rint(inputs * (_NORMAL_MOST / _largest(inputs))).astype(np.float64)
    total = whole.sum(axis=1, keepdims=True)
    squares = np.vecdot(whole, whole)[:, None]
    whole *= width
    whole -= total
    whole /= np.sqrt(width * squares - total * total + 1)
    normal = whole.astype(np.float32)
    normal *= weights
    normal += biases
    return normal


def _largest(inputs: Floats) -> Floats:
    """Return what each row is scaled by, shape (n, 1)."""
    largest: Floats = np.maximum(np.abs(inputs).max(axis=1, keepdims=True), _LEAST)
    return largest


def _positive(inputs: Floats) -> Floats:
    return np.maximum(inputs, np.float32(0))


# --- reading --------------------------------------------------------------------------


def _table(weights: Weights) -> npt.NDArray[np.uint8]:
    chunks = [weights[f"q{number}"] for number in range(1, CHUNKS + 1)]
    table = np.stack(chunks, axis=1).reshape(-1, WIDTH)
    return table.astype(np.uint8, copy=False)


def _convolution(weights: Weights, width: int, before: int) -> _Convolution:
    first, second, bias = _floats(
        weights, f"b1_{width}", f"b2_{width}", f"proj_b{width}"
    )
    return _Convolution(
        width,
        before,
        make_dense(weights[f"proj{width}"]),
        bias,
        (make_dense(weights[f"w1_{width}"]).by_neighbour(width), first),
        (make_dense(weights[f"w2_{width}"]), second),
    )


def _floats(weights: Weights, *names: str) -> list[Floats]:
    return [weights[name].astype(np.float32) for name in names]
