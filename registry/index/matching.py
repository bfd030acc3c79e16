"""Which terms of a request a site says, and which of its actions says most of it.

Asked of each site of an answer, for the explanation. Compiled, the encoded profile is
walked as it is; else it is parsed. Both come to the same.
"""

import ctypes
from collections.abc import Callable, Mapping
from ctypes import POINTER, c_char_p, c_int64, c_void_p
from itertools import accumulate, compress

from registry.index.library import find_library
from registry.ranking.explain import Matching, parse_said, what_matches
from registry.ranking.policy import Policy

Match = Callable[[bytes], Matching]
"""Of an encoded profile. Raises: ValueError if it is none."""


def matching_of(term_weights: Mapping[str, int], policy: Policy) -> Match:
    """term_weights: of the request, in the index that is searched."""
    library = find_library()
    if library is None:
        return match_plainly(term_weights, policy)
    return match_compiled(term_weights, policy, library)


def match_plainly(term_weights: Mapping[str, int], policy: Policy) -> Match:
    return lambda body: what_matches(parse_said(body), term_weights, policy)


class _Wanted(ctypes.Structure):
    _fields_ = [
        ("bytes", c_char_p),
        *((name, POINTER(c_int64)) for name in ("ends", "weights")),
        ("terms", c_int64),
        ("field_weights", c_int64 * 3),
    ]


class _Found(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in ("best_at", "best_length", "actions")),
        ("said", c_void_p),
    ]


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

    def match(body: bytes) -> Matching:
        said = ctypes.create_string_buffer(len(spelled))
        found = _Found(said=ctypes.addressof(said))
        ended = library.match_profile(
            c_char_p(body),
            c_int64(len(body)),
            ctypes.byref(wanted),
            ctypes.byref(found),
        )
        if ended:
            raise ValueError("no encoded profile")
        best = None
        if found.best_at >= 0:
            best = body[found.best_at : found.best_at + found.best_length].decode()
        return Matching(best, set(compress(term_weights, said.raw)), found.actions)

    return match
