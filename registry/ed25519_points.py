"""Validation of Ed25519 public keys (RFC 8032 §5.1.3).

OpenSSL, and so `cryptography`, loads any 32 bytes. Under a key of small order anyone can
forge: with the identity point as key, R = identity and S = 0 verify on every message.
"""

from typing import Literal

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P

_Y_OF_ORDER_8 = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    "little",
)
# y = 1 has order 1, y = -1 order 2, y = 0 order 4; signs of x make them eight points.
SMALL_ORDER_Y = frozenset({0, 1, P - 1, _Y_OF_ORDER_8, P - _Y_OF_ORDER_8})


def point_fault(
    raw: bytes,
) -> Literal["not canonical", "of small order", "not on the curve"] | None:
    """Return what is wrong with a public key, None if it is sound. raw: 32 bytes."""
    number = int.from_bytes(raw, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= P or (sign and y in {1, P - 1}):
        return "not canonical"
    if y in SMALL_ORDER_Y:
        return "of small order"
    return None if _is_on_curve(y) else "not on the curve"


def _is_on_curve(y: int) -> bool:
    """Return whether x² = (y² - 1) / (d·y² + 1) has a root; y not 1 or -1."""
    x_squared = (y * y - 1) * pow(D * y * y + 1, -1, P)
    return pow(x_squared, (P - 1) // 2, P) == 1
