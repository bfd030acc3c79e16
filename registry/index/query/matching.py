"""Which terms of a request a site says, and which of its actions says most of it.

Asked of the sites of an answer, for the explanation. Compiled, encoded profiles are
walked as they are; else they are parsed. Both come to the same.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from ctypes import POINTER, c_char, c_char_p, c_int64
from itertools import accumulate

from registry.compiled.library import find_library
from registry.ranking.explain import Matching, parse_said, what_matches
from registry.ranking.policy import Policy

Match = Callable[[Sequence[bytes]], list[Matching]]
"""Of encoded profiles. Raises: ValueError if one is none."""


def matching_of(term_weights: Mapping[str, int], policy: Policy) -> Match:
    """term_weights: of the request, in the index that is searched."""
    library = find_library()
    if library is None:
        return match_plainly(term_weights, policy)
    return match_compiled(term_weights, policy, library)


def match_plainly(term_weights: Mapping[str, int], policy: Policy) -> Match:
    return lambda bodies: [
        what_matches(parse_said(body), term_weights, policy) for body in bodies
    ]


class _Wanted(ctypes.Structure):
    _fields_ = [
        ("bytes", c_char_p),
        *((name, POINTER(c_int64)) for name in ("ends", "weights")),
        ("terms", c_int64),
        ("field_weights", c_int64 * 3),
    ]


class _Found(ctypes.Structure):
    _fields_ = [(name, c_int64) for name in ("best_at", "best_length", "actions")]


def match_compiled(
    term_weights: Mapping[str, int], policy: Policy, library: ctypes.CDLL
) -> Match:
    spelled = [term.encode() for term in term_weights]
    numbers = c_int64 * len(spelled)
    wanted = _Wanted(
        b"".join(spelled),
        numbers(*accumulate(map(len, spelled))),
        numbers(*term_weights.values()),
        len(spelled),
        (
            policy.action_name_weight_milli,
            policy.description_weight_milli,
            policy.parameter_weight_milli,
        ),
    )

    def match(bodies: Sequence[bytes]) -> list[Matching]:
        count, terms = len(bodies), len(spelled)
        said, found = (c_char * (count * terms))(), (_Found * count)()
        ended = library.match_profiles(
            (c_char_p * count)(*bodies),
            (c_int64 * count)(*map(len, bodies)),
            c_int64(count),
            ctypes.byref(wanted),
            found,
            said,
        )
        if ended:
            raise ValueError("no encoded profile")
        told = said.raw
        return [
            Matching(
                _best(body, one.best_at, one.best_length),
                told[number * terms : (number + 1) * terms],
                one.actions,
            )
            for number, (body, one) in enumerate(zip(bodies, found, strict=True))
        ]

    return match


def _best(body: bytes, start: int, length: int) -> str | None:
    return body[start : start + length].decode() if start >= 0 else None
