"""The layers of the sentence encoder, to the same bits on every machine.

Universal Sentence Encoder, multilingual (Yang et al. 2020), in the form with
convolutions: pieces are embedded, three convolutions look at two, three and five
neighbours, their sum over the text goes through four dense layers.

The published weights are whole numbers of eight bits with a scale for each matrix. What
they meet is scaled to whole numbers too, as fine as it may be while no sum of products
reaches 2^24; so a product of matrices in 32-bit fractions is exact in any order, by any
library and on any number of threads. What is left are single steps of IEEE 754 in a
fixed order, and the hyperbolic tangent as a table of whole numbers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Weights = Mapping[str, npt.NDArray[np.generic]]
WIDTH = 512
"""Of a piece's embedding, and of the outputs."""
CHUNKS = 17
"""Of the table: piece n is row n // CHUNKS of chunk n % CHUNKS."""
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
        outputs: Floats = np.rint(inputs * (self.most / largest)) @ self.weights
        outputs *= largest / self.most * self.scale
        return outputs


def make_dense(weights: npt.NDArray[np.generic]) -> Dense:
    """weights: whole numbers of eight bits, the largest _BYTE_MOST, times one number.

    Raises: ValueError if they are something else.
    """
    fractions = weights.astype(np.float64)
    scale = np.abs(fractions).max() / _BYTE_MOST
    whole = np.rint(fractions / scale)
    if np.abs(whole * scale - fractions).max() > scale / 64:
        raise ValueError("the weights are no whole numbers of eight bits")
    # Rounding may add a half to each input.
    most = SUM_MOST // np.abs(whole).sum(axis=0).max() - 1
    return Dense(whole.astype(np.float32), np.float32(scale), np.float32(most))


@dataclass(frozen=True, slots=True)
class _Convolution:
    """Convolution over `width` neighbours. before: those that stand before the piece."""

    width: int
    before: int
    projection: Dense
    bias: Floats
    layers: tuple[tuple[Dense, Floats], tuple[Dense, Floats]]


class SentenceLayers:
    """Shared and read-only after it is made."""

    def __init__(self, weights: Weights) -> None:
        """weights: those of the published file, by their names there."""
        self.table = _table(weights)
        self._scale, self._lowest = _floats(weights, "scale", "lo")
        self._convolutions = [
            _convolution(weights, width, before)
            for width, before in _NEIGHBOURS.items()
        ]
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
        pieces = np.fromiter(chain.from_iterable(texts), np.int64)
        lengths = np.array([len(text) for text in texts])
        starts = np.cumsum(lengths) - lengths
        features = self._features(pieces, _windows(starts, lengths))
        # Whole numbers in 64-bit fractions: exact in any order.
        units = np.rint(features * _SUM_UNIT).astype(np.float64)
        summed = (np.add.reduceat(units, starts, axis=0) / _SUM_UNIT).astype(np.float32)
        counts = lengths.astype(np.float32)[:, None]
        inputs = self._dense["cnn_W"](summed) + counts * self._sum_bias
        scaled = (inputs / np.sqrt(counts)).astype(np.float32)
        return self._outputs(scaled)

    def _features(
        self, pieces: npt.NDArray[np.int64], windows: npt.NDArray[np.int64]
    ) -> Floats:
        chunks = pieces % CHUNKS
        embedded = self.table[pieces] * self._scale[chunks, None]
        embedded += self._lowest[chunks, None]
        inner = [
            convolution.projection(embedded) + convolution.bias
            for convolution in self._convolutions
        ]
        normal = _normalise(np.concatenate(inner, axis=1), *self._inner_norm)
        channels = np.split(normal, len(self._convolutions), axis=1)
        convolved = [
            _convolve(inputs, windows, convolution)
            for inputs, convolution in zip(channels, self._convolutions, strict=True)
        ]
        return _normalise(np.concatenate([embedded, *convolved], axis=1), *self._norm)

    def _outputs(self, inputs: Floats) -> npt.NDArray[np.int64]:
        dense = self._dense
        first = dense["p1"](inputs) + dense["d1"](_positive(dense["d0"](inputs)))
        inner = _positive(first)
        last = dense["p3"](inner) + dense["d3"](_positive(dense["d2"](inner)))
        steps = np.rint(last * np.float32(_STEPS)).astype(np.int64) + len(TANH) // 2
        outputs: npt.NDArray[np.int64] = TANH[np.clip(steps, 0, len(TANH) - 1)]
        return outputs


def _convolve(
    inputs: Floats, windows: npt.NDArray[np.int64], convolution: _Convolution
) -> Floats:
    """Add to each piece what its neighbours say, twice."""
    start = _REACH - convolution.before
    neighbours = windows[:, start : start + convolution.width]
    outputs = inputs
    for dense, bias in convolution.layers:
        padded = np.concatenate([outputs, np.zeros((1, _CHANNELS), np.float32)])
        beside = padded[neighbours].reshape(len(inputs), -1)
        outputs = outputs + _positive(dense(beside) + bias)
    return outputs


def _windows(
    starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return each piece's neighbours; what is beyond its text is the row after the last."""
    count = int(lengths.sum())
    beside = np.arange(count)[:, None] + np.arange(-_REACH, _REACH + 1)
    first = np.repeat(starts, lengths)[:, None]
    behind = np.repeat(starts + lengths, lengths)[:, None]
    return np.where((beside >= first) & (beside < behind), beside, count)


def _normalise(inputs: Floats, weights: Floats, biases: Floats) -> Floats:
    """Normalise each row, by sums of whole numbers (Ba, Kiros & Hinton 2016)."""
    width = inputs.shape[1]
    # At most 2^16, so that sums of squares times the width are below 2^53.
    whole = np.rint(inputs * (_NORMAL_MOST / _largest(inputs))).astype(np.float64)
    total = whole.sum(axis=1, keepdims=True)
    squares = np.square(whole).sum(axis=1, keepdims=True)
    spread = width * squares - total * total + 1
    centred = width * whole - total
    normal: Floats = (centred / np.sqrt(spread)).astype(np.float32) * weights + biases
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
    return np.stack(chunks, axis=1).reshape(-1, WIDTH).astype(np.uint8)


def _convolution(weights: Weights, width: int, before: int) -> _Convolution:
    first, second, bias = _floats(
        weights, f"b1_{width}", f"b2_{width}", f"proj_b{width}"
    )
    return _Convolution(
        width,
        before,
        make_dense(weights[f"proj{width}"]),
        bias,
        (
            (make_dense(weights[f"w1_{width}"]), first),
            (make_dense(weights[f"w2_{width}"]), second),
        ),
    )


def _floats(weights: Weights, *names: str) -> list[Floats]:
    return [weights[name].astype(np.float32) for name in names]
