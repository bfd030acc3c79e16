"""The query string of a search, read by its one definition."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar.exceptions import ValidationException

from registry.errors import Refused
from registry.index.columns.filters import FILTERS
from registry.interfaces.http.query_string import (
    max_lengths,
    read_query,
    reading_query,
    required_parameters,
)
from registry.interfaces.web.pages import FORM
from registry.interfaces.web.rendering import render
from registry.usecases.search.search_query import FIELD_OF_FACET, SearchQuery

NAMES = [field.encode_name for field in msgspec.structs.fields(SearchQuery)]


def read(**values: str) -> SearchQuery:
    return read_query({"q": "a table", **values}, SearchQuery)


def test_parameters_become_members_of_their_types() -> None:
    query = read(lat="-31.95", lon="35", limit="20", requiresAuth="false")
    assert (query.q, query.lat, query.lon) == ("a table", -31.95, 35.0)
    assert (query.limit, query.requires_auth) == (20, False)
    assert read(facets=" country , requiresAuth").facets == ("country", "requiresAuth")


def test_a_text_stays_a_text() -> None:
    query = read(q="null", city="12", nonce="true")
    assert (query.q, query.city, query.nonce) == ("null", "12", "true")


TEXTS = st.text(min_size=1, max_size=50)
QUERIES = st.fixed_dictionaries(
    {"q": TEXTS},
    optional={
        "lat": st.floats(-90, 90),
        "limit": st.integers(1, 100),
        "city": TEXTS,
        "requiresAuth": st.booleans(),
        "facets": st.lists(st.sampled_from([*FIELD_OF_FACET]), min_size=1, max_size=8),
        **dict.fromkeys(["category", "country", "action", "language", "nonce"], TEXTS),
    },
)


def spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list) else str(value)


@given(QUERIES)
def test_query_string_and_body_are_one_query(members: dict[str, Any]) -> None:
    values = {name: spelled(value) for name, value in members.items()}
    assert read_query(values, SearchQuery) == msgspec.convert(members, SearchQuery)


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        pytest.param({"q": ""}, ["q"], id="empty words"),
        pytest.param({"q": "a" * 1_001}, ["q"], id="too long"),
        pytest.param({"limit": "0", "lat": "91"}, ["lat", "limit"], id="all are named"),
        pytest.param({"limit": "1.5"}, ["limit"], id="no whole number"),
        pytest.param({"lat": "nan"}, ["lat"], id="not a number"),
        pytest.param({"requiresAuth": "1"}, ["requiresAuth"], id="no boolean"),
        pytest.param({"requiresAuth": "null"}, ["requiresAuth"], id="null"),
        pytest.param({"format": "f" * 51}, ["format"], id="long format"),
        pytest.param({"facets": "x" * 201}, ["facets"], id="long list"),
    ],
)
def test_values_of_another_shape_are_refused_together(
    values: dict[str, str], keys: list[str]
) -> None:
    with pytest.raises(ValidationException) as refused:
        read(**values)
    extra = refused.value.extra
    assert isinstance(extra, list)
    assert [problem["key"] for problem in extra] == keys


@pytest.mark.parametrize(
    ("name", "value"), [("requiresAuth", "true\n"), ("facets", "country,colour")]
)
def test_a_value_that_is_no_choice_is_refused(name: str, value: str) -> None:
    with pytest.raises(Refused) as refused:
        read(**{name: value})
    assert refused.value.problem.pointer == name


def test_openapi_names_and_describes_each_parameter_once() -> None:
    parameters = reading_query(SearchQuery)().to_schema()["parameters"]
    assert sorted(row["name"] for row in parameters) == sorted(NAMES)
    assert all(row["description"] for row in parameters)
    assert [row["name"] for row in parameters if row["required"]] == ["q"]
    assert required_parameters(SearchQuery) == {name: name == "q" for name in NAMES}


def test_each_filter_is_a_parameter_and_a_facet() -> None:
    assert set(FIELD_OF_FACET) <= set(NAMES)
    assert tuple(FIELD_OF_FACET.values()) == tuple(FILTERS)


def test_the_form_has_the_limits_of_the_query() -> None:
    limits = max_lengths(SearchQuery)
    assert (limits["q"], limits["city"], limits["format"]) == (1_000, 200, 50)
    blank = dict.fromkeys(["q", "city", "country"], "")
    form = render("search.html", **FORM, given=blank)
    for name in blank:
        start = form.index(f'id="{name}"')
        assert f'maxlength="{limits[name]}"' in form[start : form.index(">", start)]
