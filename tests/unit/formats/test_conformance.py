import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from registry.formats.document import Deviation
from registry.formats.reading.conformance import Specification
from registry.formats.reading.reader import MAX_DEVIATIONS, DeviationLog, Reader
from registry.formats.wab.wab_schema import APPENDIX_A
from registry.formats.writing.as_wab import as_wab
from registry.sites.site import Site
from tests.unit.formats.strategies import SITES
from tests.unit.work import assert_linear

ORACLE = Draft202012Validator(APPENDIX_A)
SPECIFICATION = Specification(APPENDIX_A)
SCALARS = st.none() | st.booleans() | st.integers(-2, 70) | st.text(max_size=3)
ANYTHING = st.recursive(
    SCALARS | st.floats(-2, 70),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=4,
)


def _departures(value: Any) -> tuple[Deviation, ...]:
    log = DeviationLog(url="https://shop.example/")
    SPECIFICATION.compare(Reader(value, "", log))
    return log.deviations


def _members_of(value: Any) -> list[tuple[Any, Any]]:
    """Each container within and each of its keys or indices."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    nested = [place for key in keys for place in _members_of(value[key])]
    return [(value, key) for key in keys] + nested


@given(SITES, st.data())
def test_the_verdict_is_that_of_a_full_validator(site: Site, data: Any) -> None:
    document = json.loads(json.dumps(as_wab(site, host="shop.example")))
    container, key = data.draw(st.sampled_from(_members_of(document)))
    if data.draw(st.booleans()):
        container[key] = data.draw(ANYTHING)
    else:
        del container[key]
    assert bool(_departures(document)) == (not ORACLE.is_valid(document))


@given(ANYTHING)
def test_nothing_that_json_can_say_makes_it_fail(value: Any) -> None:
    assert bool(_departures(value)) == (not ORACLE.is_valid(value))


def _wab(**changes: Any) -> dict[str, Any]:
    return {**as_wab(Site(name="S"), host="shop.example"), **changes}


@pytest.mark.parametrize(
    ("changes", "pointer", "rule"),
    [
        ({"wab_version": "1.1"}, "/wab_version", "value"),
        ({"wab_version": 1.0}, "/wab_version", "type"),
        ({"security": {"session_ttl": 59}}, "/security/session_ttl", "minimum"),
        ({"security": {"session_ttl": 60.5}}, "/security/session_ttl", "type"),
        ({"trust_signatures": ["a", 1]}, "/trust_signatures/1", "type"),
        (
            {"agent_access": {"selectors": {"a/b": 1}}},
            "/agent_access/selectors/a~1b",
            "type",
        ),
        (
            {"provider": {"name": "", "category": "c", "url": "u"}},
            "/provider/name",
            "minLength",
        ),
        ({"provider": []}, "/provider", "type"),
        ({"provider": {}}, "/provider/name", "required"),
    ],
)
def test_a_departure_tells_place_rule_and_repair(
    changes: dict[str, Any], pointer: str, rule: str
) -> None:
    first = _departures(_wab(**changes))[0]
    assert (first.pointer, first.rule) == (pointer, rule)
    assert first.detail
    assert first.fix


def test_a_whole_number_may_be_written_as_a_fraction() -> None:
    assert _departures(_wab(security={"session_ttl": 60.0})) == ()


def test_only_the_first_hundred_departures_are_reported() -> None:
    commands = [{}] * 5_000
    result = _departures(_wab(capabilities={"commands": commands, "permissions": {}}))
    assert len(result) == MAX_DEVIATIONS


def test_the_work_ends_with_the_last_departure_told() -> None:
    def compare(count: int) -> None:
        _departures(_wab(trust_signatures=[1] * count))

    assert_linear(compare, 500)


def test_a_pattern_without_an_example_is_refused() -> None:
    with pytest.raises(ValueError, match="needs an example"):
        Specification({"type": "string", "pattern": "^a"})


def test_a_keyword_that_would_not_be_checked_is_refused() -> None:
    with pytest.raises(ValueError, match="maxLength is not checked"):
        Specification({"properties": {"a": {"items": {"maxLength": 1}}}})
