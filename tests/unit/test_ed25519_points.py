"""The refused points are derived here by curve arithmetic, not copied from a list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.ed25519_points import D, L, P
from registry.errors import Refused
from registry.identity.keys.public_keys import PublicKey

Point = tuple[int, int]
IDENTITY: Point = (0, 1)
BASE_Y = 4 * pow(5, -1, P) % P


def add(a: Point, b: Point) -> Point:
    (x1, y1), (x2, y2) = a, b
    product = D * x1 * x2 * y1 * y2
    x3 = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P)
    y3 = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P)
    return x3 % P, y3 % P


def multiply(scalar: int, point: Point) -> Point:
    total = IDENTITY
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point, scalar = add(point, point), scalar >> 1
    return total


def root_of(square: int) -> int | None:
    root = pow(square, (P + 3) // 8, P)
    if root * root % P != square % P:
        root = root * pow(2, (P - 1) // 4, P) % P
    return root if root * root % P == square % P else None


def x_of(y: int) -> int | None:
    return root_of((y * y - 1) * pow(D * y * y + 1, -1, P) % P)


def encode(point: Point) -> bytes:
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def small_order_points() -> list[Point]:
    """Every multiple of a point of order 8, itself L times some point of the curve."""
    for y in range(2, 100):
        x = x_of(y)
        generator = multiply(L, (x, y)) if x is not None else IDENTITY
        if multiply(4, generator) != IDENTITY:
            return [multiply(k, generator) for k in range(8)]
    raise AssertionError


SMALL = small_order_points()
NON_CANONICAL = [
    (y | sign << 255).to_bytes(32, "little")
    for sign in (0, 1)
    for y in range(P, 2**255)
] + [(y | 1 << 255).to_bytes(32, "little") for y in (1, P - 1)]


def code_of(raw: bytes) -> str:
    with pytest.raises(Refused) as caught:
        PublicKey(alg="Ed25519", raw=raw)
    return caught.value.code


def test_there_are_eight_small_order_points() -> None:
    assert len(set(SMALL)) == 8
    assert all(multiply(8, point) == IDENTITY for point in SMALL)


@pytest.mark.parametrize("point", SMALL, ids=range(8))
def test_small_order_keys_are_refused(point: Point) -> None:
    assert code_of(encode(point)) == "key_small_order"


@pytest.mark.parametrize("raw", NON_CANONICAL, ids=bytes.hex)
def test_non_canonical_keys_are_refused(raw: bytes) -> None:
    assert code_of(raw) == "key_not_canonical"


@given(st.integers(0, P - 1), st.integers(0, 1))
def test_a_key_is_accepted_exactly_when_it_is_a_point_of_the_curve(
    y: int, sign: int
) -> None:
    raw = (y | sign << 255).to_bytes(32, "little")
    if y in {point[1] for point in SMALL}:
        assert code_of(raw) in {"key_small_order", "key_not_canonical"}
    elif x_of(y) is None:
        assert code_of(raw) == "key_not_on_curve"
    else:
        assert PublicKey(alg="Ed25519", raw=raw).raw == raw


def test_the_base_point_is_a_sound_key() -> None:
    raw = BASE_Y.to_bytes(32, "little")
    assert PublicKey(alg="Ed25519", raw=raw).raw == raw
