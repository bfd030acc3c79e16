"""One layer on made-up weights: the same bits in C and in NumPy, near to fractions."""

import ctypes
import hashlib
import math
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from registry.compiled.library import find_library
from registry.ranking.encoders.transformer_layers import (
    HEAD,
    HEADS,
    INNER,
    INPUT_MOST,
    NORMAL,
    PIECES_MOST,
    POWERS,
    SUM_MOST,
    WIDTH,
    Dense,
    Layer,
    Layers,
    Norm,
    make_dense,
    normal_curve,
)

Floats = npt.NDArray[np.float32]
Fractions = npt.NDArray[np.float64]
ITEM, STEPS = 1 << 15, 512
OF_TWO_LAYERS = "6e54def1bb5e2629"


def spread(seed: int, *shape: int) -> Floats:
    """From -1 to 1, the same on every machine."""
    numbers = np.arange(math.prod(shape), dtype=np.uint64) + np.uint64(seed << 32)
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    top = (mixed >> np.uint64(48)).astype(np.float32)
    return (top / np.float32(1 << 15) - np.float32(1)).reshape(shape)


def dense(seed: int, outputs: int, inputs: int) -> Dense:
    weights = spread(seed, outputs, inputs) / np.float32(16)
    return make_dense(weights, spread(seed + 1, outputs))


def norm(seed: int) -> Norm:
    return Norm(1 + spread(seed, WIDTH) / np.float32(4), spread(seed + 1, WIDTH))


@cache
def layer(seed: int = 0) -> Layer:
    return Layer(
        mixed=dense(seed + 1, 3 * WIDTH, WIDTH),
        attended=dense(seed + 3, WIDTH, WIDTH),
        attended_norm=norm(seed + 5),
        inner=dense(seed + 7, INNER, WIDTH),
        output=dense(seed + 9, WIDTH, INNER),
        output_norm=norm(seed + 11),
    )


@pytest.fixture
def library() -> ctypes.CDLL:
    result = find_library()
    if result is None:
        pytest.skip("not compiled here")
    return result


def with_an_outlier() -> Floats:
    inputs = spread(20, 9, WIDTH)
    inputs[4, 100] = 3e4
    return inputs


ODD_INPUTS = [
    pytest.param(np.zeros((3, WIDTH), np.float32), id="all zero"),
    pytest.param(with_an_outlier(), id="one far beyond the others"),
    pytest.param(spread(21, 7, WIDTH) * np.float32(1e-35), id="next to nothing"),
    pytest.param(spread(22, 7, WIDTH) * np.float32(1e-40), id="below normal numbers"),
]


@pytest.mark.parametrize("instructions", [0, 1, 2])
@pytest.mark.parametrize("pieces", [1, 5, 6, 7, 23, PIECES_MOST])
def test_c_gives_the_bits_of_numpy_with_every_instruction_set(
    library: ctypes.CDLL, pieces: int, instructions: int
) -> None:
    layers = Layers([layer()])
    inputs = 2 * spread(pieces, pieces, WIDTH)
    compiled = layers.pass_compiled(inputs, library, instructions)
    assert compiled.tobytes() == layers.pass_plainly(inputs).tobytes()


@pytest.mark.parametrize("inputs", ODD_INPUTS)
def test_odd_inputs_give_the_same_bits_and_are_finite(
    library: ctypes.CDLL, inputs: Floats
) -> None:
    layers = Layers([layer()])
    plain = layers.pass_plainly(inputs)
    assert np.isfinite(plain).all()
    assert layers.pass_compiled(inputs, library).tobytes() == plain.tobytes()


def test_the_bits_are_those_of_every_other_machine() -> None:
    outputs = Layers([layer(), layer(50)])(spread(3, 24, WIDTH))
    assert hashlib.sha256(outputs.tobytes()).hexdigest()[:16] == OF_TWO_LAYERS


def test_inputs_stay_as_they_were() -> None:
    inputs = spread(3, 4, WIDTH)
    Layers([layer()])(inputs)
    assert (inputs == spread(3, 4, WIDTH)).all()


# --- beside fractions -----------------------------------------------------------------


def test_a_layer_is_near_to_one_of_fractions() -> None:
    inputs = spread(4, 30, WIDTH)
    result = Layers([layer()])(inputs).astype(np.float64)
    wanted = in_fractions(inputs.astype(np.float64), layer())
    assert np.abs(result - wanted).max() < 0.01
    assert np.abs(result - wanted).mean() < 0.001


def in_fractions(inputs: Fractions, item: Layer) -> Fractions:
    queries, keys, values = (
        part.reshape(-1, HEADS, HEAD).transpose(1, 0, 2)
        for part in np.split(multiplied(inputs, item.mixed), 3, axis=1)
    )
    shares = np.exp(queries @ keys.transpose(0, 2, 1) / math.sqrt(HEAD))
    shares /= shares.sum(axis=2, keepdims=True)
    taken = (shares @ values).transpose(1, 0, 2).reshape(-1, WIDTH)
    outputs = normalised(inputs + multiplied(taken, item.attended), item.attended_norm)
    inner = multiplied(outputs, item.inner)
    inner *= np.vectorize(normal_curve)(inner)
    return normalised(outputs + multiplied(inner, item.output), item.output_norm)


def multiplied(inputs: Fractions, dense: Dense) -> Fractions:
    weights = dense.rows * dense.scales[:, None].astype(np.float64)
    return inputs @ weights.T + dense.biases


def normalised(inputs: Fractions, norm: Norm) -> Fractions:
    centred = inputs - inputs.mean(axis=1, keepdims=True)
    return centred / inputs.std(axis=1, keepdims=True) * norm.weights + norm.biases


# --- what the bits rest on ------------------------------------------------------------


@pytest.mark.parametrize(
    "weights",
    [
        pytest.param(spread(5, 32, INNER), id="spread"),
        pytest.param(np.ones((32, INNER), np.float32), id="all alike"),
        pytest.param(np.eye(32, INNER, dtype=np.float32), id="one each"),
        pytest.param(np.zeros((32, INNER), np.float32), id="none"),
        pytest.param(spread(6, 32, INNER) * np.float32(1e-38), id="hardly any"),
    ],
)
def test_no_sum_reaches_what_a_number_holds(weights: Floats) -> None:
    result = make_dense(weights, np.zeros(32, np.float32))
    most = np.abs(result.rows.astype(np.int64)).sum(axis=1).max()
    assert most * INPUT_MOST <= SUM_MOST


def test_weights_are_whole_numbers_next_to_what_they_were() -> None:
    weights = spread(7, 64, WIDTH)
    result = make_dense(weights, np.zeros(64, np.float32))
    back = result.rows * result.scales[:, None]
    assert (np.abs(back - weights) <= result.scales[:, None] * 0.501).all()
    assert np.abs(result.rows).max() > 1 << 9


def test_no_library_of_mathematics_rounds_a_table_otherwise() -> None:
    normal = [normal_curve(at / STEPS) for at in range(-8 * STEPS, 8 * STEPS + 1)]
    powers = [math.exp(-at / STEPS) for at in range(16 * STEPS + 1)]
    exact = np.array([*normal, *powers]) * ITEM
    from_a_half = np.abs(exact - np.floor(exact) - 0.5)
    assert from_a_half.min() > 1e-7
    assert (np.rint(exact) == np.array([*NORMAL * ITEM, *POWERS])).all()
