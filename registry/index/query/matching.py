"""Match of the sites of an answer with its request, for the explanation.

Compiled, encoded profiles are walked as they are: parsing them in Python took a tenth
of an answer. Both ways give the same.
"""

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import POINTER, c_char, c_char_p, c_int64
from itertools import accumulate

from registry.compiled.library import find_library
from registry.ranking.explain import Matching, parse_profile_terms, what_matches
from registry.ranking.policy import Policy


def match_profiles(
    bodies: Sequence[bytes], term_weights: Mapping[str, int], policy: Policy
) -> list[Matching]:
    """Match encoded profiles. term_weights: of the request, in the index searched.

    Raises: ValueError if one is no profile.
    """
    library = find_library()
    if library is None:
        return match_parsed(bodies, term_weights, policy)
    return match_compiled(bodies, term_weights, policy, library)


def match_parsed(
    bodies: Sequence[bytes], term_weights: Mapping[str, int], policy: Policy
) -> list[Matching]:
    return [
        what_matches(parse_profile_terms(body), term_weights, policy) for body in bodies
    ]


class _Request(ctypes.Structure):
    _fields_ = [
        ("bytes", c_char_p),
        *((name, POINTER(c_int64)) for name in ("ends", "weights")),
        ("terms", c_int64),
        ("field_weights", c_int64 * 3),
    ]


class _Matching(ctypes.Structure):
    _fields_ = [(name, c_int64) for name in ("best_at", "best_length", "actions")]


def match_compiled(
    bodies: Sequence[bytes],
    term_weights: Mapping[str, int],
    policy: Policy,
    library: ctypes.CDLL,
) -> list[Matching]:
    """See `csrc/matching.c`. Raises: ValueError if a body is no profile."""
    terms = [term.encode() for term in term_weights]
    numbers, count = c_int64 * len(terms), len(bodies)
    field_weights = (
        policy.action_name_weight_milli,
        policy.description_weight_milli,
        policy.parameter_weight_milli,
    )
    request = _Request(
        b"".join(terms),
        numbers(*accumulate(map(len, terms))),
        numbers(*term_weights.values()),
        len(terms),
        field_weights,
    )
    marks, matchings = (c_char * (count * len(terms)))(), (_Matching * count)()
    malformed = library.match_profiles(
        (c_char_p * count)(*bodies),
        (c_int64 * count)(*map(len, bodies)),
        c_int64(count),
        ctypes.byref(request),
        matchings,
        marks,
    )
    if malformed:
        raise ValueError("no encoded profile")
    matched = marks.raw
    return [
        Matching(
            _best(body, matching),
            matched[number * len(terms) : (number + 1) * len(terms)],
            matching.actions,
        )
        for number, (body, matching) in enumerate(zip(bodies, matchings, strict=True))
    ]


def _best(body: bytes, matching: _Matching) -> str | None:
    start = matching.best_at
    return body[start : start + matching.best_length].decode() if start >= 0 else None
