"""The layers of the transformer encoder, to the same bits on every machine.

Sums of many products are of whole numbers, exact in any order: a layer's weights are
scaled to whole numbers once, what they meet each time, and no sum reaches 2^31. What is
left are single steps of IEEE 754 in a fixed order, none fused with the next, and two
curves as tables of whole numbers. `csrc/transformer.c` does the same, some ten times as
fast; NumPy is its oracle, and does it where nothing is compiled (ADR 0071).
"""

import ctypes
import math
from collections.abc import Iterable, Sequence
from ctypes import c_int, c_int64, c_void_p
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library, pointers_to

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
HEADS, HEAD = 12, 32
WIDTH = HEADS * HEAD
INNER = 4 * WIDTH
PIECES_MOST = 128
INPUT_MOST = (1 << 13) - 1
SUM_MOST = (1 << 31) - 1

_WEIGHT_MOST = (1 << 15) - 1
_LANES = 16  # outputs that stand beside each other in C, their inputs in pairs
_LEAST = np.float32(1e-30)  # that anything is divided by
_STEPS = 512  # of a table, from one whole number to the next
_UNITY = 1 << 15  # a table's entries are such parts of 1
_UNIT = np.float32(1 << 12)  # of what is normalised
_UNITS_MOST = 1 << 21


@dataclass(frozen=True, slots=True)
class Dense:
    """weights: whole numbers, shape (outputs / _LANES, inputs / 2, _LANES, 2).

    scales: what each output is multiplied by.
    """

    weights: npt.NDArray[np.int16]
    scales: Floats
    biases: Floats

    @property
    def rows(self) -> npt.NDArray[np.int16]:
        """Shape (outputs, inputs)."""
        return self.weights.transpose(0, 2, 1, 3).reshape(len(self.scales), -1)


@dataclass(frozen=True, slots=True)
class Norm:
    weights: Floats
    biases: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """mixed: queries, keys and values."""

    mixed: Dense
    attended: Dense
    attended_norm: Norm
    inner: Dense
    output: Dense
    output_norm: Norm


def make_dense(weights: Floats, biases: Floats) -> Dense:
    """weights: shape (outputs, inputs), multiples of 32 and 2.

    An output's weights are as fine as they may be without any sum beyond SUM_MOST.
    """
    outputs, inputs = weights.shape
    largest = np.maximum(np.abs(weights).max(axis=1), _LEAST)
    finest = np.rint(weights * (_WEIGHT_MOST / largest)[:, None])
    totals = np.abs(finest).sum(axis=1, dtype=np.float64)  # of whole numbers: exact
    room = SUM_MOST // INPUT_MOST - inputs  # rounding may add a half to each
    parts = np.floor(_WEIGHT_MOST * room / np.maximum(totals, 1))
    most = np.minimum(_WEIGHT_MOST, parts).astype(np.float32)
    whole = np.rint(weights * (most / largest)[:, None]).astype(np.int16)
    panels = whole.reshape(outputs // _LANES, _LANES, inputs // 2, 2)
    packed = np.ascontiguousarray(panels.transpose(0, 2, 1, 3))
    return Dense(packed, largest / most, biases)


# --- tables ---------------------------------------------------------------------------


def normal_curve(x: float) -> float:
    """Return the share of a normal distribution below x."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


def _entries(curve: Iterable[float]) -> npt.NDArray[np.float64]:
    entries: npt.NDArray[np.float64] = np.rint(np.array([*curve]) * _UNITY)
    return entries


NORMAL: Floats = (
    _entries(normal_curve(at / _STEPS) for at in range(-8 * _STEPS, 8 * _STEPS + 1))
    / _UNITY
).astype(np.float32)
"""From -8 to 8."""
POWERS = _entries(math.exp(-at / _STEPS) for at in range(16 * _STEPS + 1)).astype(
    np.int32
)
"""Of e, from 0 to -16; _ONE stands for 1."""


# --- as C has them --------------------------------------------------------------------


class _Dense(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in ("weights", "scales", "biases")]


class _Norm(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in ("weights", "biases")]


class _Layer(ctypes.Structure):
    _fields_ = [
        *((name, _Dense) for name in ("mixed", "attended")),
        ("attended_norm", _Norm),
        *((name, _Dense) for name in ("inner", "output")),
        ("output_norm", _Norm),
    ]


def _dense_in_c(dense: Dense) -> _Dense:
    return _Dense(*pointers_to(dense.weights, dense.scales, dense.biases))


def _norm_in_c(norm: Norm) -> _Norm:
    return _Norm(*pointers_to(norm.weights, norm.biases))


def _layer_in_c(layer: Layer) -> _Layer:
    return _Layer(
        *map(_dense_in_c, (layer.mixed, layer.attended)),
        _norm_in_c(layer.attended_norm),
        *map(_dense_in_c, (layer.inner, layer.output)),
        _norm_in_c(layer.output_norm),
    )


# --- passing --------------------------------------------------------------------------


class Layers:
    """One after the other; shared and read-only after they are made."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = layers
        self._in_c = (_Layer * len(layers))(*map(_layer_in_c, layers))

    def __call__(self, inputs: Floats) -> Floats:
        """inputs: shape (pieces, WIDTH), at most PIECES_MOST pieces."""
        library = find_library()
        if library is None:
            return self.pass_plainly(inputs)
        return self.pass_compiled(inputs, library)

    def pass_plainly(self, inputs: Floats) -> Floats:
        return reduce(_pass_layer, self._layers, inputs)

    def pass_compiled(
        self, inputs: Floats, library: ctypes.CDLL, instructions: int = 2
    ) -> Floats:
        """instructions: 2 for the newest there are, 1 for AVX2 at most, 0 for none."""
        outputs = inputs.copy()
        room = np.empty(c_int64.in_dll(library, "transformer_room").value, np.uint8)
        library.pass_layers(
            self._in_c,
            c_int64(len(self._layers)),
            *pointers_to(NORMAL, POWERS),
            c_int64(len(outputs)),
            c_int(instructions),
            *pointers_to(room, outputs),
        )
        return outputs


def _pass_layer(inputs: Floats, layer: Layer) -> Floats:
    attended = _multiply(_attend(_multiply(inputs, layer.mixed)), layer.attended)
    outputs = normalise(inputs + attended, layer.attended_norm)
    inner = _gelu(_multiply(outputs, layer.inner))
    return normalise(outputs + _multiply(inner, layer.output), layer.output_norm)


def _multiply(inputs: Floats, dense: Dense) -> Floats:
    """Multiply in 64-bit fractions, where whole numbers below 2^53 are exact."""
    largest = np.maximum(np.abs(inputs).max(axis=1, keepdims=True), _LEAST)
    whole = np.rint(inputs * (np.float32(INPUT_MOST) / largest))
    sums = whole.astype(np.float64) @ dense.rows.astype(np.float64).T
    scales = largest / np.float32(INPUT_MOST)
    outputs: Floats = sums.astype(np.float32) * scales * dense.scales + dense.biases
    return outputs


def _attend(mixed: Floats) -> Floats:
    """mixed: shape (pieces, 3 * WIDTH). Sums go from the first to the last."""
    count = len(mixed)
    apart = mixed.reshape(count, 3, HEADS, HEAD)
    queries, keys, values = apart.transpose(1, 2, 0, 3)  # each (HEADS, count, HEAD)
    alike = np.zeros((HEADS, count, count), np.float32)
    for at in range(HEAD):
        alike += queries[:, :, at, None] * keys[:, None, :, at]
    steps = _round(alike * np.float32(_STEPS / math.sqrt(HEAD)))
    less = steps.max(axis=2, keepdims=True) - steps
    shares = POWERS[np.minimum(less, len(POWERS) - 1)].astype(np.float32)
    attended = np.zeros((HEADS, count, HEAD), np.float32)
    for piece in range(count):
        attended += shares[:, :, piece, None] * values[:, None, piece]
    attended /= shares.sum(axis=2, keepdims=True)  # of whole numbers below 2^24: exact
    return attended.transpose(1, 0, 2).reshape(count, WIDTH)


def normalise(inputs: Floats, norm: Norm) -> Floats:
    """Each row, by sums of whole numbers (Ba, Kiros & Hinton 2016)."""
    units = np.clip(_round(inputs * _UNIT), -_UNITS_MOST, _UNITS_MOST)
    total = units.sum(axis=1, keepdims=True)
    squares = np.square(units).sum(axis=1, keepdims=True)
    spread = WIDTH * squares - total * total + 1
    factors = (1 / np.sqrt(spread.astype(np.float64))).astype(np.float32)
    centred = (WIDTH * units - total).astype(np.float32)
    normal: Floats = centred * factors * norm.weights + norm.biases
    return normal


def _gelu(inputs: Floats) -> Floats:
    """Apply GELU by the normal distribution (Hendrycks & Gimpel 2016)."""
    steps = _round(inputs * np.float32(_STEPS)) + len(NORMAL) // 2
    outputs: Floats = inputs * NORMAL[np.clip(steps, 0, len(NORMAL) - 1)]
    return outputs


def _round(inputs: Floats) -> Integers:
    return np.rint(inputs).astype(np.int64)
