"""Records and disclosures in fewer bytes than they are served in.

Both are written for others to check: hex, base64 and JSON. What is kept is shorter and
gives the same bytes back, to the last one. A form that is in use never changes, nor does
its dictionary: a better one gets a number of its own.

    0  the bytes as they are
    1  the text deflated (RFC 1951) beginning from DICTIONARY, a control character in the
       place of each run; its length before it in two bytes; the runs decoded after it
    2  a disclosure: its salt (16 bytes), then its value in form 0 or 1
    3  a disclosure: its salt, then its value by `packed_scores`
    4  the disclosure of an answer: its salt; its value stands in columns of the ranking
    5  as 1, from DICTIONARY_2
    6  as 4, of an answer that tells which eligible sites were sampled

A run is a string, or the end of one after `sha256:`, that spells a number of fixed
length. JSON holds no control characters, so none is taken for one.
"""

import re
import zlib
from base64 import b32encode
from binascii import a2b_base64, a2b_hex
from collections.abc import Mapping, Sequence

import msgspec

from registry.identity import base64url
from registry.records.disclosure import join_disclosure
from registry.records.packed_scores import (
    Factors,
    Score,
    parse_scores,
    unpack_factors,
    unpack_scores,
)
from registry.records.ranking_columns import unpack_sites
from registry.sites.identifier import format_site_id

PLAIN, TEXT, DISCLOSED, SCORES, ANSWER, TEXT_2, SAMPLED = range(7)
_PLAIN, _TEXT, _DISCLOSED, _SCORES, _, _TEXT_2, _SAMPLED = (
    bytes([form]) for form in range(7)
)
_SALT_BYTES, _SALT_LENGTH = 16, 22
SALTED = 1 + _SALT_BYTES
"""Bytes before the value of a packed disclosure: its form and its salt."""

_SHORT = 32  # where nothing is gained
WINDOW, _MEMORY = -12, 4  # 4 KiB, without a header; the smaller, the sooner begun

DICTIONARY = (
    b'{"act":"register","jws":"sha256:\x04","kid":"registration","seq":"selection"'
    b'"outcome":"booked","ranking":"\x02","site":"\x03","commitment":"secret":"day":'
    b'"category":"format":"language":{"country":"'
    b'{"after":["-1000000000","0","0","0"],"at":"2026-11-22T18:00:00.000000+00:00",'
    b'"id":"\x02","nonce":""}'
    b'{"_sd":["\x01","\x01","\x01","\x01","\x01","\x01","\x01","\x01"],"_sd_alg":"sha-256"'
    b',"id":"\x02","k":20,"kind":"ranking","n":1,"op":"anon","order":["\x03","\x03","\x03"'
    b',"\x03","\x03","\x03","\x03","\x03","\x03","\x03","\x03","\x03","\x03","\x03"'
    b',"\x03","\x03","\x03","\x03","\x03","\x03"],"policy":"sha256:\x04","seed":1'
    b',"snap":"sha256:\x04","t":"2026-11-22T18:00Z","v":1}'
)

DICTIONARY_2 = (
    b'{"act":"register","jws":"sha256:\x04","kid":"registration","seq":'
    b'"outcome":"booked","site":"\x03","commitment":"secret":"day":'
    b'"category":"format":"language":{"country":"'
    b'{"after":["-1000000000","0","0","0"],"at":"2026-11-22T18:00:00.000000+00:00",'
    b'"id":"\x02","nonce":""}'
    b'{"_sd":["\x01"],"_sd_alg":"sha-256","id":"\x02","kind":"selection","op":"anon"'
    b',"ranking":"\x02","t":"2026-11-22T18:00Z","v":2}'
    b'{"_sd":["\x01","\x01","\x01","\x01","\x01","\x01","\x01"],"_sd_alg":"sha-256"'
    b',"id":"\x02","kind":"ranking","op":"anon","policy":"sha256:\x04","seed":1'
    b',"snap":"sha256:\x04","t":"2026-11-22T18:00Z","v":2}'
)
_DICTIONARIES = {TEXT: DICTIONARY, TEXT_2: DICTIONARY_2}

_CROCKFORD = b"[0-9A-HJKMNP-TV-Z]"
_RUNS = {
    43: (1, re.compile(b"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]").fullmatch),
    26: (2, re.compile(b"[0-7]" + _CROCKFORD + b"{25}").fullmatch),
    13: (3, re.compile(b"[0-9A-F]" + _CROCKFORD + b"{12}").fullmatch),
    71: (4, re.compile(b"sha256:[0-9a-f]{64}").fullmatch),
}
"""Marks of runs, by the length of the string that may be one, and its test."""
_BEFORE_DIGEST = b"sha256:"
_AS_MARKED = {mark: bytes([mark]) for mark in (1, 2, 3)} | {4: _BEFORE_DIGEST + b"\4"}
_MARKS = b"\1\2\3\4"
_MARK = re.compile(b"[\1-\4]")
_BYTES = (0, 32, 16, 8, 32)  # of a run, by its mark
_RFC_4648 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_CROCKFORD_DIGITS = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TO_INT = bytes.maketrans(_CROCKFORD_DIGITS, b"0123456789abcdefghijklmnopqrstuv")
_FROM_RFC = bytes.maketrans(_RFC_4648, _CROCKFORD_DIGITS)
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")


# Begun with once: to copy it is a fifth of what it takes to begin.
_BEGUN = zlib.compressobj(6, zlib.DEFLATED, WINDOW, _MEMORY, zdict=DICTIONARY_2)


def pack(data: bytes) -> bytes:
    if len(data) < _SHORT or len(data.translate(None, _MARKS)) < len(data):
        return _PLAIN + data
    text, runs = _take_runs(data)
    deflate = _BEGUN.copy()
    deflated = deflate.compress(text) + deflate.flush()
    if len(deflated) >= 2**16:
        return _PLAIN + data
    packed = b"".join((_TEXT_2, len(deflated).to_bytes(2, "big"), deflated, *runs))
    return packed if len(packed) <= len(data) else _PLAIN + data


def _take_runs(data: bytes) -> tuple[bytes, list[bytes]]:
    """The text with marks in their places, and what was there."""
    # Cut at the quotes: to look for runs from each character takes twice as long.
    pieces, runs = data.split(b'"'), []
    last = len(pieces) - 1
    for number, length in enumerate(map(len, pieces)):
        if length in _RUNS and 0 < number < last:
            mark, is_run = _RUNS[length]
            if is_run(pieces[number]):
                runs.append(_decode(mark, pieces[number]))
                pieces[number] = _AS_MARKED[mark]
    return (b'"'.join(pieces) if runs else data), runs


def unpack(packed: bytes) -> bytes:
    """Raises: ValueError, zlib.error on anything that `pack` has not made."""
    if packed[0] == PLAIN:
        return packed[1:]
    if packed[0] not in _DICTIONARIES:
        raise ValueError(f"form {packed[0]} is not known here")
    position = 3 + int.from_bytes(packed[1:3], "big")
    inflate = zlib.decompressobj(WINDOW, zdict=_DICTIONARIES[packed[0]])
    text = inflate.decompress(packed[3:position])

    def give(match: re.Match[bytes]) -> bytes:
        nonlocal position
        mark = match[0][0]
        position += _BYTES[mark]
        return _encode(mark, packed[position - _BYTES[mark] : position])

    return _MARK.sub(give, text)


def _decode(mark: int, run: bytes) -> bytes:
    """run: spelled as `_encode` spells it; the pattern finds no other."""
    if mark == 1:
        return _read(run)
    if mark == 4:
        return a2b_hex(run[len(_BEFORE_DIGEST) :])
    return int(run.translate(_TO_INT), 32).to_bytes(_BYTES[mark], "big")


def _encode(mark: int, value: bytes) -> bytes:
    if mark == 1:
        return base64url.encode_to_bytes(value)
    if mark == 4:
        return value.hex().encode()
    length = 26 if mark == 2 else 13
    return b32encode(value.rjust(20, b"\0")).translate(_FROM_RFC)[-length:]


def pack_disclosure(name: str, disclosure: str) -> bytes:
    """Pack any disclosure but one of scores or of an answer."""
    salt, value = _split(name, disclosure)
    if _join(name, salt, value) != disclosure:
        return pack(disclosure.encode())
    return pack_value(salt, value)


def pack_value(salt: bytes, value: bytes, scores: bytes | None = None) -> bytes:
    """scores: of `packed_scores`, to be kept in the place of the value."""
    return _SCORES + salt + scores if scores else _DISCLOSED + salt + pack(value)


def pack_answer(salt: bytes) -> bytes:
    """Pack the disclosure of an answer, whose value stands in the ranking's columns."""
    return _SAMPLED + salt


def encode_answer(
    eligible: int, order: Sequence[str], sample: Sequence[str] | None = None
) -> bytes:
    """Encode the value of the disclosure `answer` as canonical JSON.

    sample: of the eligible sites; None in older answers, which lack it.
    """
    sampled = "" if sample is None else f',"sample":[{_quoted(sample)}]'
    return f'{{"eligible":{eligible},"order":[{_quoted(order)}]{sampled}}}'.encode()


def _quoted(sites: Sequence[str]) -> str:
    return '"' + '","'.join(sites) + '"' if sites else ""


def unpack_openings(
    packed: Mapping[str, bytes | None], eligible: int, returned: bytes, sampled: bytes
) -> dict[str, str]:
    """Return the disclosures that are there by name, character by character.

    The others are columns of the ranking, by which those of its answer is spelled.
    """
    order = list(map(format_site_id, unpack_sites(returned)))
    return {
        name: _unpack_answer(value, eligible, order, sampled)
        if name == "answer"
        else unpack_disclosure(name, value, order)
        for name, value in packed.items()
        if value is not None
    }


def _unpack_answer(
    packed: bytes, eligible: int, order: Sequence[str], sampled: bytes
) -> str:
    sample = None
    if packed[0] == SAMPLED:
        sample = list(map(format_site_id, unpack_sites(sampled)))
    return _join("answer", packed[1:SALTED], encode_answer(eligible, order, sample))


def unpack_disclosure(name: str, packed: bytes, order: Sequence[str] = ()) -> str:
    """The disclosure, character by character."""
    form, salt, rest = packed[0], packed[1:SALTED], packed[SALTED:]
    if form == DISCLOSED:
        return _join(name, salt, unpack(rest))
    if form == SCORES:
        return _join(name, salt, unpack_scores(rest, order))
    return unpack(packed).decode()


_decode_disclosure = msgspec.json.Decoder(tuple[str, str, list[Score]]).decode


def factors_of(packed: bytes) -> tuple[list[Factors], Sequence[int]]:
    """Return the factors and tiers of the sites. packed: of `pack_disclosure`, the scores.

    The tiers are empty where the record does not state them.
    """
    form, rest = packed[0], packed[SALTED:]
    if form == SCORES:
        return unpack_factors(rest)
    if form == DISCLOSED:
        scores = parse_scores(unpack(rest))
    else:
        _, _, scores = _decode_disclosure(_read(unpack(packed)))
    tiers = [score.tier for score in scores if score.tier is not None]
    return [score.factors for score in scores], tiers


def _split(name: str, disclosure: str) -> tuple[bytes, bytes]:
    """Salt and value if it is written as ours are, else anything: `_join` shows it."""
    try:
        decoded = _read(disclosure.encode())
        salt = _read(decoded[2 : 2 + _SALT_LENGTH])
    except ValueError:
        return b"", b""
    return salt[:_SALT_BYTES], decoded[2 + _SALT_LENGTH + len(name.encode()) + 5 : -1]


def _join(name: str, salt: bytes, value: bytes) -> str:
    return join_disclosure(base64url.encode_to_bytes(salt), name, value).decode()


def _read(spelled: bytes) -> bytes:
    """Decode base64url; anything else gives anything, or ValueError."""
    return a2b_base64(spelled.translate(_TO_STANDARD) + b"==")
