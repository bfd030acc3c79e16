"""Fields of each kind of record, and their form, as record_fields.toml has them.

Evolution: a member is only ever added to a kind, as an optional one; none is renamed,
reused or given another form. Readers pass over members that they do not know, so that
an old reader understands a newer log.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Literal, cast, get_args

import msgspec

from registry.errors import Refused
from registry.records import refusals
from registry.records.canonical import JsonValue
from registry.sites.identifier import is_ulid, parse_site_id
from registry.sites.label import CHAIN, PERCENT, Independence, Size
from registry.toml_table import read_table

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
_Fields = dict[Kind, dict[str, str]]


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    """The table of fields. required_2: in version 2. Forms as `_form_of` reads them."""

    patterns: dict[str, str]
    required: _Fields
    required_2: _Fields
    optional: _Fields


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
    _check_form(choice, "site", _form_of("site or null"))
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


def _is_forms(value: JsonValue) -> bool:
    """The digest of each form of a report, by its name."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(map(_is_word, value))
        and all(map(_FORMS["digest"], value.values()))
    )


_TABLE = read_table(__package__, "record_fields.toml", _Table)
_FORMS: dict[str, Form] = {
    "natural": _is_natural,
    "text": _is_text,
    "record id": _is_record_id,
    "site": _is_site_id,
    "forms": _is_forms,
    "moderation act": _choice(*get_args(ModerationAct)),
    "size": _choice(*get_args(Size)),
    "independence": _choice(*get_args(Independence)),
    "chain": _matches(CHAIN),
    "percent": _matches(PERCENT),
    "sd_alg": _choice(SD_ALG),
    **{name: _matches(pattern) for name, pattern in _TABLE.patterns.items()},
}
_is_word = _FORMS["word"]
_WORD = (
    "must be one word, such as phishing: a-z, then also 0-9, _ and -, at most 32 long"
)


def _form_of(spelled: str) -> Form:
    """Return the form of a table's entry: `digest`, `site or null`, `list of site`, `act: a b`."""
    if spelled.startswith("act: "):
        return _choice(*spelled.split()[1:])
    if spelled.startswith("list of "):
        return _list_of(_form_of(spelled.removeprefix("list of ")))
    if spelled.endswith(" or null"):
        return _or_null(_form_of(spelled.removesuffix(" or null")))
    return _FORMS[spelled]


def _forms_in(part: _Fields) -> Mapping[Kind, Mapping[str, Form]]:
    return {
        kind: {name: _form_of(spelled) for name, spelled in members.items()}
        for kind, members in part.items()
    }


_HEAD: Mapping[str, Form] = {"id": _is_record_id, "t": _FORMS["minute"]}
_REQUIRED = _forms_in(_TABLE.required)
_REQUIRED_2 = _forms_in(_TABLE.required_2)
_OPTIONAL = _forms_in(_TABLE.optional)


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
