"""The semantic hash: what freshness and change detection go by."""

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from registry.formats.detect import parse_document
from registry.formats.document import Parsed
from registry.formats.semantic import semantic_hash
from registry.formats.writing.as_wab import as_wab
from registry.sites.site import Site
from tests.unit.formats.strategies import SITE_URL, SITES

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.json"))
# Objects whose members are names of the document's own choosing: one more says more.
OPEN_MAPS = frozenset(
    {"permissions", "agent_permissions", "commands", "inputs", "properties", "params"}
    | {"mcpServers", "parameters", "protocols", "dependencies", "entities", "tools"}
)


def _hash(
    document: Any, *, indent: int | None = None, ascii_only: bool = True
) -> bytes:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    result = parse_document(text.encode(), url=f"{SITE_URL}a.json")
    assert isinstance(result, Parsed), result
    return semantic_hash(result.document.site)


def _shuffled(value: Any, random: Random) -> Any:
    """The same members in another order; lists keep theirs."""
    if isinstance(value, list):
        return [_shuffled(item, random) for item in value]
    if isinstance(value, dict):
        names = list(value)
        random.shuffle(names)
        return {name: _shuffled(value[name], random) for name in names}
    return value


def _with_unknown(value: Any, *, inside: str = "") -> Any:
    """With a member that nobody knows in every object that is no open map."""
    if isinstance(value, list):
        return [_with_unknown(item) for item in value]
    if not isinstance(value, dict):
        return value
    known = {name: _with_unknown(item, inside=name) for name, item in value.items()}
    return known if inside in OPEN_MAPS else {**known, "zzUnknown": 1}


@given(SITES, st.randoms(use_true_random=False), st.sampled_from([None, 1, 4]))
def test_order_and_formatting_change_nothing(
    site: Site, random: Random, indent: int | None
) -> None:
    document: Any = as_wab(site, host="shop.example")
    shuffled = _shuffled(document, random)
    random.shuffle(shuffled["capabilities"]["commands"])
    assert _hash(shuffled, indent=indent, ascii_only=False) == _hash(document)


@given(SITES)
def test_unknown_members_change_nothing(site: Site) -> None:
    document = as_wab(site, host="shop.example")
    assert _hash(_with_unknown(document)) == _hash(document)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_no_format_minds_order_formatting_or_unknown_members(path: Path) -> None:
    document = json.loads(path.read_bytes())
    expected = _hash(document)
    assert _hash(_shuffled(document, Random(1)), indent=2) == expected
    assert _hash(_with_unknown(document)) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"generated_at": "2031-01-01T00:00:00Z"},
        {"updated": 1_900_000_000, "etag": "x"},
        {"trust_signatures": ["sha256:abc"]},
        {"fairness_metrics": {"direct_benefit": "The baker is paid"}},
    ],
)
def test_timestamps_and_signatures_change_nothing(changes: dict[str, Any]) -> None:
    document = as_wab(Site(name="S"), host="shop.example")
    assert _hash({**document, **changes}) == _hash(document)


def spell_plainly(value: Any) -> str:
    """The canonical form by the standard encoder: lists by what their entries spell."""
    if isinstance(value, dict):
        members = (f"{json.dumps(k)}:{spell_plainly(value[k])}" for k in sorted(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(sorted(map(spell_plainly, value))) + "]"
    return json.dumps(value)


@given(SITES)
def test_the_hash_is_of_the_form_that_a_plain_encoder_spells(site: Site) -> None:
    members = to_builtins(site)
    del members["direct_benefit"], members["trust_signatures"]
    plain = spell_plainly(members).encode()
    expected = hashlib.sha256(b"fair-registry/site/v1\n" + plain).digest()
    assert semantic_hash(site) == expected


@given(SITES, SITES)
def test_sites_that_say_other_things_have_other_hashes(site: Site, other: Site) -> None:
    """The order of a list says nothing: such sites are the same."""
    same = spell_plainly(to_builtins(site)) == spell_plainly(to_builtins(other))
    assert (semantic_hash(site) == semantic_hash(other)) == same


def test_the_order_of_a_list_says_nothing() -> None:
    site = Site(permissions=(("click", False), ("scroll", False)))
    other = Site(permissions=(("scroll", False), ("click", False)))
    assert site != other
    assert semantic_hash(site) == semantic_hash(other)
