"""Fields of each kind of record, and their form.

Evolution: a member is only ever added to a kind, as an optional one; none is renamed,
reused or given another form. Readers pass over members that they do not know, so that
an old reader understands a newer log.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Literal, cast, get_args

from registry.errors import Refused
from registry.records import refusals
from registry.records.canonical import JsonValue
from registry.sites.identifier import is_ulid, parse_site_id
from registry.sites.label import CHAIN, PERCENT, Independence, Size

VERSION, VERSION_2 = 1, 2
VERSIONS: Mapping[str, tuple[int, ...]] = {
    "ranking": (VERSION, VERSION_2),
    "selection": (VERSION, VERSION_2),
}
"""Versions of a kind, where it has others than VERSION; the last is written now.

In version 2 what an answer held and what was chosen from it are disclosures.
"""
SD_ALG = "sha-256"

Kind = Literal[
    "ranking",
    "selection",
    "registration",
    "rotation",
    "revocation",
    "withdrawal",
    "policy",
    "seed",
    "moderation",
    "erase",
    "rescore",
    "report",
    "label",
    "trials",
]
ModerationAct = Literal[
    "quarantine", "release", "delist", "appeal-upheld", "appeal-denied"
]
RegistrationAct = Literal["register", "update", "rotate", "revoke", "withdraw"]

KIND_OF_ACT: Mapping[RegistrationAct, Kind] = {
    "register": "registration",
    "update": "registration",
    "rotate": "rotation",
    "revoke": "revocation",
    "withdraw": "withdrawal",
}

Members = Mapping[str, JsonValue]
Form = Callable[[JsonValue], bool]


def check_members(members: Members) -> Kind:
    """The record's kind. Raises: Refused with a pointer to the member at fault."""
    version = members.get("v")
    if type(version) is not int or version not in {VERSION, VERSION_2}:
        raise Refused(refusals.RECORD_VERSION_UNKNOWN, pointer="/v")
    kind = _kind_of(members)
    if version not in VERSIONS.get(kind, (VERSION,)):
        raise Refused(refusals.RECORD_VERSION_UNKNOWN, pointer="/v")
    required = _REQUIRED[kind] if version == VERSION else _REQUIRED_2[kind]
    for name, form in {**_HEAD, **required}.items():
        if name not in members:
            raise _fault(name, f"a {kind} record has a member {name}")
        _check_form(members, name, form)
    for name, form in _OPTIONAL.get(kind, {}).items():
        if name in members:
            _check_form(members, name, form)
    if kind in _RELATIONS:
        _RELATIONS[kind](members)
    return kind


def check_choice(choice: Members) -> None:
    """Check what a selection discloses. Raises: Refused."""
    _check_form(choice, "site", _or_null(_is_site_id))
    if "outcome" in choice:
        _check_form(choice, "outcome", _is_word)


def _kind_of(members: Members) -> Kind:
    for kind in _REQUIRED:
        if members.get("kind") == kind:
            return kind
    raise Refused(refusals.RECORD_KIND_UNKNOWN, pointer="/kind")


def _check_form(members: Members, name: str, form: Form) -> None:
    if not form(members[name]):
        raise _fault(
            name, f"{name} {_WORD if form is _is_word else 'has the wrong form'}"
        )


def _fault(name: str, detail: str) -> Refused:
    return Refused(refusals.RECORD_FIELD_INVALID, detail, pointer=f"/{name}")


def _matches(pattern: str) -> Form:
    compiled = re.compile(pattern, re.ASCII)
    return lambda value: isinstance(value, str) and bool(compiled.fullmatch(value))


def _choice(*values: str) -> Form:
    return lambda value: isinstance(value, str) and value in values


def _list_of(form: Form) -> Form:
    return lambda value: (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(map(form, value))
    )


def _or_null(form: Form) -> Form:
    return lambda value: value is None or form(value)


def _is_natural(value: JsonValue) -> bool:
    return type(value) is int and value >= 0


def _is_record_id(value: JsonValue) -> bool:
    return isinstance(value, str) and is_ulid(value)


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str)


def _is_site_id(value: JsonValue) -> bool:
    if not isinstance(value, str):
        return False
    try:
        parse_site_id(value)
    except ValueError:
        return False
    return True


_is_minute = _matches(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]Z")
_is_day = _matches(r"[0-9]{4}-[01][0-9]-[0-3][0-9]")
_is_token = _matches(r"[!-~]{1,256}")
# What an agent or a moderator may say in a log that nobody can erase: one word.
_is_word = _matches(r"[a-z][a-z0-9_-]{0,31}")
_WORD = (
    "must be one word, such as phishing: a-z, then also 0-9, _ and -, at most 32 long"
)
_is_digest = _matches(r"sha256:[0-9a-f]{64}")
_is_hex_32 = _matches(r"[0-9a-f]{64}")
_is_sd_digest = _matches(r"[A-Za-z0-9_-]{43}")
_is_signature = _matches(r"[A-Za-z0-9_-]{86}")


def _is_forms(value: JsonValue) -> bool:
    """The digest of each form of a report, by its name."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(map(_is_word, value))
        and all(map(_is_digest, value.values()))
    )


_HEAD: Mapping[str, Form] = {"id": _is_record_id, "t": _is_minute}


def _signed_by_site(*acts: RegistrationAct) -> Mapping[str, Form]:
    return {
        "site": _is_site_id,
        "act": _choice(*acts),
        "seq": _is_natural,
        "kid": _is_token,
        "jws": _is_digest,
    }


_REQUIRED: Mapping[Kind, Mapping[str, Form]] = {
    "ranking": {
        "op": _is_token,
        "policy": _is_digest,
        "snap": _is_token,
        "seed": _is_natural,
        "n": _is_natural,
        "k": _is_natural,
        "order": _list_of(_is_site_id),
        "_sd_alg": _choice(SD_ALG),
        "_sd": _list_of(_is_sd_digest),
    },
    "selection": {
        "op": _is_token,
        "ranking": _is_record_id,
        "site": _or_null(_is_site_id),
    },
    "registration": _signed_by_site("register", "update"),
    "rotation": _signed_by_site("rotate"),
    "revocation": _signed_by_site("revoke"),
    "withdrawal": _signed_by_site("withdraw"),
    "policy": {"policy": _is_digest, "text": _is_text, "code": _is_digest},
    "seed": {"day": _is_day},
    "moderation": {
        "site": _is_site_id,
        "act": _choice(*get_args(ModerationAct)),
        "reason": _is_word,
    },
    "erase": {"index": _is_natural, "fields": _list_of(_is_sd_digest)},
    "rescore": {
        "auditor": _is_token,
        "first": _is_natural,
        "last": _is_natural,
        "n": _is_natural,
        "mismatches": _is_natural,
        "sig": _is_signature,
    },
    "report": {"from": _is_minute, "to": _is_minute, "forms": _is_forms},
    "label": {
        "auditor": _is_token,
        "site": _is_site_id,
        "size": _or_null(_choice(*get_args(Size))),
        "independence": _or_null(_choice(*get_args(Independence))),
        "chain": _or_null(_matches(CHAIN)),
        "commission": _or_null(_matches(PERCENT)),
        "observed": _is_day,
        "source": _is_digest,
        "iat": _is_natural,
        "sig": _is_signature,
    },
    "trials": {"day": _is_day},
}

_COMMITTED: Mapping[str, Form] = {
    "_sd_alg": _choice(SD_ALG),
    "_sd": _list_of(_is_sd_digest),
}
_REQUIRED_2: Mapping[Kind, Mapping[str, Form]] = {
    "ranking": {
        "op": _is_token,
        "policy": _is_digest,
        "snap": _is_token,
        "seed": _is_natural,
        **_COMMITTED,
    },
    "selection": {"op": _is_token, "ranking": _is_record_id, **_COMMITTED},
}

_OPTIONAL: Mapping[Kind, Mapping[str, Form]] = {
    "ranking": {"opn": _is_natural},
    "selection": {"outcome": _is_word},
    "erase": {"last": _is_natural},
    "seed": {"commitment": _is_hex_32, "secret": _is_hex_32},
    "trials": {
        "commitment": _is_hex_32,
        "material": _is_digest,
        "secret": _is_hex_32,
        "snap": _is_token,
        "n": _is_natural,
        "violations": _is_natural,
        "tallies": _is_digest,
        "swaps": _is_digest,
    },
    "rescore": {"report": _is_digest, "aud": _is_token},
    "label": {"aud": _is_token},
    "policy": {"page": _is_digest},
}


# What holds between members; their forms have been checked, hence the casts.


def _check_ranking(members: Members) -> None:
    if members["v"] != VERSION:
        return
    order = cast("Sequence[str]", members["order"])
    if members["k"] != len(order):
        raise _fault("k", "k is the number of sites in order")
    if cast("int", members["n"]) < len(order):
        raise _fault("n", "no more sites are returned than are eligible")
    if len(set(order)) != len(order):
        raise _fault("order", "a site stands in order once")


def _check_policy(members: Members) -> None:
    digest = sha256(str(members["text"]).encode()).hexdigest()
    if members["policy"] != f"sha256:{digest}":
        raise _fault("policy", "a policy is named by the hash of its text")


def _check_erase(members: Members) -> None:
    if cast("int", members.get("last", members["index"])) < cast(
        "int", members["index"]
    ):
        raise _fault("last", "a range ends where it begins, or later")


def _check_rescore(members: Members) -> None:
    first, last, n, mismatches = (
        cast("int", members[name]) for name in ("first", "last", "n", "mismatches")
    )
    if not mismatches <= n <= last - first + 1:
        raise _fault("n", "no such number of rankings lies between first and last")


def _check_report(members: Members) -> None:
    """Minutes of one form stand in the order of their texts."""
    start, end, made_at = (str(members[name]) for name in ("from", "to", "t"))
    if not start < end <= made_at:
        raise _fault("to", "a report is made once its window has ended")


def _check_label(members: Members) -> None:
    if members["chain"] is not None and members["independence"] != "chain":
        raise _fault("chain", "a site that belongs to a chain is labelled chain")


def _check_seed(members: Members) -> None:
    if ("commitment" in members) == ("secret" in members):
        raise _fault("commitment", "a seed record commits or reveals, never both")


def _check_trials(members: Members) -> None:
    results = {"secret", "snap", "n", "violations", "tallies"} & members.keys()
    if len(results) != (0 if "commitment" in members else 5):
        raise _fault(
            "commitment", "a record of trials has the commitment or all results"
        )
    if "material" in members and results:
        raise _fault("material", "it is committed to before")
    if "swaps" in members and not results:
        raise _fault("swaps", "swaps go with the results")


_RELATIONS: Mapping[Kind, Callable[[Members], None]] = {
    "ranking": _check_ranking,
    "policy": _check_policy,
    "erase": _check_erase,
    "seed": _check_seed,
    "rescore": _check_rescore,
    "report": _check_report,
    "label": _check_label,
    "trials": _check_trials,
}
