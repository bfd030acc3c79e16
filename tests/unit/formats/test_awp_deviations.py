"""Every departure from AWP 0.2 that is tolerated, by the section that asks for more."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.awp.contracts import find_cycle
from registry.formats.document import Document
from tests.unit.formats.awp_documents import GONE, WHOLE, changed, whole

Read = Callable[..., Document]

FIND, BOOK, PAY, SKY = (f"/actions/{index}" for index in range(4))
SCHEMA = {"type": "object", "properties": {"day": {"type": "string"}}}
CONFORMING = {
    "the earlier version": ("/awp_version", "0.1"),
    "an unknown minor version": ("/awp_version", "0.17"),
    "a protocol of the site's own": ("/protocols/x-own", {"version": "1", "more": [7]}),
    "polling": (f"{BOOK}/poll_endpoint", "/api/jobs/{job}"),
    "an output as an object": (f"{FIND}/outputs", {"a": {"type": "string"}}),
    "an array of choices": (f"{FIND}/outputs", {"a": "array[enum[x, y]]"}),
    "an array of arrays": (f"{FIND}/outputs", {"a": "array[array[evening]]"}),
    "an entity's bare name": (f"{FIND}/outputs", {"a": "evening"}),
    "choices within the type": (f"{FIND}/inputs", {"a": {"type": "enum[x, y]"}}),
    "an input called type": (f"{FIND}/inputs", {"type": {"type": "string"}}),
    "a list that is not whole": ("/auth/required_for", ["book"]),
    "no type of authentication": ("/auth/type", GONE),
    "no dependency": ("/dependencies", {}),
    "destructive and for good": (f"{BOOK}/reversible", False),
    "a declared native source": ("/source", "native"),
    "the confidence of a native document": ("/confidence", 7),
    "a member of the site's own": ("/x-own", []),
}
# Place, value put there, rule broken at that place.
AT_ITS_PLACE: dict[str, tuple[str, Any, str]] = {
    # 4, 5: the document
    "version 1.0": ("/awp_version", "1.0", "version"),
    "version 2": ("/awp_version", "2", "version"),
    "version of three parts": ("/awp_version", "0.8.0", "version"),
    "version v0.2": ("/awp_version", "v0.2", "version"),
    "an empty version": ("/awp_version", "", "version"),
    "the version as a number": ("/awp_version", 0.2, "type"),
    "the version as a list": ("/awp_version", [], "type"),
    "the version null": ("/awp_version", None, "type"),
    "the version true": ("/awp_version", True, "type"),
    "an empty intent": ("/intent", "", "minLength"),
    "hints as a text": ("/agent_hints", "hurry", "type"),
    "a hint that is no text": ("/agent_hints/weather", 5, "type"),
    # 5.5: protocols
    "a protocol without version": ("/protocols/mcp/version", GONE, "required"),
    "a version as a number": ("/protocols/payment/version", 1, "type"),
    "a transport without endpoint": ("/protocols/a2a/endpoint", GONE, "required"),
    "an endpoint in the clear": (
        "/protocols/mcp/endpoint",
        "http://m.example",
        "target",
    ),
    "an endpoint as a number": ("/protocols/mcp/endpoint", 7, "type"),
    "a card that is a script": ("/protocols/a2a/agent_card", "javascript:x", "target"),
    "a protocol as its address": ("/protocols/mcp", "https://mcp.example/", "type"),
    "a protocol in capitals": ("/protocols/Star Map", {"version": "1"}, "identifier"),
    "an undeclared protocol": (f"{SKY}/via", "grpc", "via"),
    "via a number": (f"{SKY}/via", 7, "type"),
    "an operation without via": (f"{FIND}/operation", "find", "via"),
    # 6: capabilities
    "streaming in words": ("/capabilities/streaming", "yes", "type"),
    "batches in words": ("/capabilities/batch_actions", "yes", "type"),
    "webhooks in words": ("/capabilities/webhooks", ["yes"], "type"),
    "idempotency in words": ("/capabilities/idempotency", "yes", "type"),
    "an unknown pagination": ("/capabilities/pagination", "scroll", "value"),
    "pagination as a flag": ("/capabilities/pagination", True, "type"),
    # 7: auth
    "an unknown type of authentication": ("/auth/type", "basic", "value"),
    "authentication none": ("/auth/type", "none", "contradiction"),
    "authentication as a text": ("/auth", "oauth2", "type"),
    "an expiry in seconds": ("/auth/token_expiry", 60, "type"),
    "a refresh endpoint as an object": ("/auth/refresh_endpoint", {}, "type"),
    "authentication for an unknown action": (
        "/auth/required_for/1",
        "x",
        "unknown_action",
    ),
    "authentication for a nameless one": ("/auth/optional_for/1", "", "unknown_action"),
    "authentication for a number": ("/auth/required_for/0", 3, "type"),
    "authentication for a text": ("/auth/required_for", "book", "type"),
    "required in one place alone": (f"{BOOK}/auth_required", False, "contradiction"),
    "optional in one place alone": (f"{FIND}/auth_required", True, "contradiction"),
    # 8: entities
    "an entity as a list": ("/entities/evening", [], "type"),
    "fields as a list": ("/entities/evening/fields", ["starts"], "type"),
    "a field as an object": ("/entities/evening/fields/dome", {"type": "x"}, "type"),
    "an array of no entity": (f"{FIND}/outputs/evenings", "array[night]", "entity"),
    "a nested entity missing": (
        "/entities/booking/fields/evening",
        "array[object[night]]",
        "entity",
    ),
    "an undeclared input": (f"{BOOK}/inputs/x", {"type": "object[night]"}, "entity"),
    # 9: actions
    "no description": (f"{FIND}/description", GONE, "required"),
    "an empty description": (f"{FIND}/description", "", "minLength"),
    "a described list": (f"{FIND}/description", ["Find"], "type"),
    "no auth_required": (f"{FIND}/auth_required", GONE, "required"),
    "auth_required in words": (f"{FIND}/auth_required", "no", "type"),
    "no inputs": (f"{FIND}/inputs", GONE, "required"),
    "no outputs": (f"{FIND}/outputs", GONE, "required"),
    "outputs as a text": (f"{FIND}/outputs", "evenings", "type"),
    "no endpoint": (f"{FIND}/endpoint", GONE, "required"),
    "an empty endpoint": (f"{FIND}/endpoint", "", "minLength"),
    "an endpoint that is a script": (f"{FIND}/endpoint", "javascript:x", "target"),
    "no method": (f"{FIND}/method", GONE, "required"),
    "a method in small letters": (f"{FIND}/method", "get", "value"),
    "a rate limit as a number": (f"{FIND}/rate_limit", 30, "type"),
    "idempotency as a flag": (f"{FIND}/idempotency", True, "type"),
    "supported in words": (f"{FIND}/idempotency/supported", "yes", "type"),
    "an idempotency key as a number": (f"{FIND}/idempotency/key_field", 1, "type"),
    "an unknown execution model": (f"{FIND}/execution_model", "queued", "value"),
    "a poll endpoint as an object": (f"{BOOK}/poll_endpoint", {"url": "/x"}, "type"),
    "an unknown sensitivity": (f"{FIND}/sensitivity", "high", "value"),
    "irreversible and reversible": (f"{PAY}/reversible", True, "contradiction"),
    "reversible in words": (f"{FIND}/reversible", "yes", "type"),
    "irreversible and unconfirmed": (
        f"{PAY}/requires_human_confirmation",
        False,
        "contradiction",
    ),
    "confirmation in words": (f"{PAY}/requires_human_confirmation", "yes", "type"),
    "an action as its name": ("/actions/4", "cancel", "type"),
    "an input as a text": (f"{FIND}/inputs/day", "ISO8601", "type"),
    "an input type as a list": (f"{FIND}/inputs/day/type", ["string"], "type"),
    "an input without type": (f"{FIND}/inputs/day/type", GONE, "required"),
    "an input required in words": (f"{FIND}/inputs/day/required", "yes", "type"),
    "an input described by a list": (f"{FIND}/inputs/day/description", ["x"], "type"),
    "options as a text": (f"{FIND}/inputs/telescope/options", "small, large", "type"),
    "an enum without options": (f"{FIND}/inputs/telescope/options", GONE, "required"),
    "an enum of no options": (f"{FIND}/inputs/telescope/options", [], "required"),
    "inputs as a JSON Schema": (f"{FIND}/inputs", SCHEMA, "schema"),
    "inputs as a list": (f"{FIND}/inputs", [{"name": "day", "type": "x"}], "type"),
    # 10: errors
    "an error as a text": ("/errors/TAKEN", "wait", "type"),
    "an error without recovery": ("/errors/TAKEN/recovery", GONE, "required"),
    "an empty recovery": ("/errors/TAKEN/recovery", "", "minLength"),
    # 11: dependencies
    "a dependency of no action": ("/dependencies/cancel", ["book"], "unknown_action"),
    "a dependency on no action": ("/dependencies/pay/0", "cancel", "unknown_action"),
    "an action that waits for itself": ("/dependencies/sky", ["sky"], "cycle"),
    "a dependency as a text": ("/dependencies/book", "find", "type"),
    "dependencies as a list": ("/dependencies", ["book"], "type"),
    # 13: status
    "operational in words": ("/agent_status/operational", "yes", "type"),
    "no action degraded": ("/agent_status/degraded_actions/0", "x", "unknown_action"),
    # 14: source
    "an unknown source": ("/source", "scraped", "value"),
    "a source as an object": ("/source", {"by": "us"}, "type"),
}
# Place, value put there, pointer of the deviation, rule broken.
ELSEWHERE: dict[str, tuple[str, Any, str, str]] = {
    "an action via a protocol without endpoint": (
        *(f"{SKY}/via", "star-chart"),
        *("/protocols/star-chart/endpoint", "required"),
    ),
    "an action in both lists": (
        *("/auth/optional_for/0", "pay"),
        *("/auth/optional_for", "contradiction"),
    ),
    "a protocol on the telephone": (
        *("/protocols/star-chart", {"version": "2", "endpoint": "tel:1"}),
        *("/protocols/star-chart/endpoint", "target"),
    ),
    "an entity of an input": (
        *(f"{BOOK}/inputs/evening/type", "array[night]"),
        *(f"{BOOK}/inputs/evening", "entity"),
    ),
    "actions that wait for each other": (
        *("/dependencies/find", ["pay"]),
        *("/dependencies/book", "cycle"),
    ),
}
SYNTHETIC = {
    "source": "synthetic",
    "generated_by": "some-generator",
    "confidence": 0.87,
    "last_verified": "2026-03-15T10:00:00Z",
}
PROVENANCE: dict[str, tuple[str, Any, str]] = {
    "in capitals": ("source", "Synthetic", "value"),
    "nobody": ("generated_by", None, "required"),
    "several": ("generated_by", ["x", "y"], "type"),
    "unsure": ("confidence", None, "required"),
    "percent": ("confidence", 87, "range"),
    "negative": ("confidence", -0.1, "range"),
    "a number in words": ("confidence", "0.87", "type"),
    "never": ("last_verified", None, "required"),
    "a day": ("last_verified", "2026-03-15", "date_time"),
    "local time": ("last_verified", "2026-03-15T10:00:00", "date_time"),
    "no such day": ("last_verified", "2026-02-31T10:00:00Z", "date_time"),
    "no such hour": ("last_verified", "2026-03-15T25:00:00Z", "date_time"),
    "other digits": ("last_verified", "\u0662026-03-15T10:00:00Z", "date_time"),
    "in prose": ("last_verified", "yesterday", "date_time"),
}


def _rules(document: Document) -> set[tuple[str, str]]:
    return {(deviation.pointer, deviation.rule) for deviation in document.deviations}


def test_a_document_of_all_sections_is_strict(read: Read) -> None:
    document = read(whole())
    assert document.deviations == ()
    assert document.conformance == "strict"


@pytest.mark.parametrize(("place", "value"), CONFORMING.values(), ids=CONFORMING)
def test_what_the_specification_allows_stays_strict(
    read: Read, place: str, value: Any
) -> None:
    assert read(changed(place, value)).deviations == ()


def test_types_of_the_sites_own_need_no_declaration(read: Read) -> None:
    document = changed("/entities", GONE)
    for action in document["actions"]:
        action["inputs"], action["outputs"] = {}, {"all": "array[dome_code]"}
    assert read(document).deviations == ()


@pytest.mark.parametrize(
    ("place", "value", "pointer", "rule"),
    [
        *((place, value, place, rule) for place, value, rule in AT_ITS_PLACE.values()),
        *ELSEWHERE.values(),
    ],
    ids=[*AT_ITS_PLACE, *ELSEWHERE],
)
def test_a_deviation_is_named_once_and_where_it_is(
    read: Read, place: str, value: Any, pointer: str, rule: str
) -> None:
    document = read(changed(place, value))
    assert _rules(document) == {(pointer, rule)}
    (deviation,) = document.deviations
    assert deviation.detail
    assert deviation.fix
    assert document.conformance == "tolerated"
    assert len(document.site.actions) == 4


def test_a_number_of_another_major_version_deviates_twice(read: Read) -> None:
    assert _rules(read(whole(awp_version=1.3))) == {
        ("/awp_version", "type"),
        ("/awp_version", "version"),
    }


def test_a_text_where_actions_are_listed_is_one_action(read: Read) -> None:
    document = read(changed("/auth/optional_for", "cancel"))
    assert _rules(document) == {
        ("/auth/optional_for", "type"),
        ("/auth/optional_for", "unknown_action"),
    }


def test_a_protocol_as_a_text_that_is_no_address_has_no_endpoint(read: Read) -> None:
    document = read(changed("/protocols/mcp", "javascript:x"))
    assert _rules(document) == {
        ("/protocols/mcp", "type"),
        ("/protocols/mcp/endpoint", "target"),
    }
    assert document.site.actions[3].calls == ()


def test_deviations_are_bounded(read: Read) -> None:
    document = whole()
    document["actions"][0]["inputs"] = {f"x{number}": 7 for number in range(90)}
    document["actions"][1]["inputs"] = {f"x{number}": 7 for number in range(90)}
    document["actions"][3]["inputs"] = {"x": 7}
    document["dependencies"] = {"book": [f"x{number}" for number in range(90)]}
    result = read(document)
    assert len(result.deviations) == 100
    assert len(result.site.actions[1].parameters) == 90


def test_a_cycle_is_named_shortly(read: Read) -> None:
    ids = [f"{'long' * 30}{number}" for number in range(9)]
    document = whole(
        actions=[WHOLE["actions"][3] | {"id": name} for name in ids],
        dependencies={name: [ids[index - 1]] for index, name in enumerate(ids)},
    )
    del document["auth"], document["agent_status"]
    (deviation,) = read(document).deviations
    assert deviation.rule == "cycle"
    assert " -> longlong" in deviation.detail
    assert len(deviation.detail) < 120


@pytest.mark.parametrize(
    ("member", "value", "rule"), PROVENANCE.values(), ids=PROVENANCE
)
def test_a_deviating_provenance_is_reported(
    read: Read, member: str, value: Any, rule: str
) -> None:
    document = read(whole(**SYNTHETIC | {member: value}))
    assert _rules(document) == {(f"/{member}", rule)}
    assert document.provenance.source == document.dialect == "synthetic"
    assert getattr(document.provenance, member) in ("synthetic", "", None)


@pytest.mark.parametrize(
    "instant", ["2026-03-15T10:00:00Z", "2026-03-15 10:00:00.25+01:00"]
)
def test_a_synthetic_document_says_so(read: Read, instant: str) -> None:
    document = read(whole(**SYNTHETIC | {"last_verified": instant}))
    assert document.conformance == "strict"
    assert (document.provenance.source, document.provenance.generated_by) == (
        "synthetic",
        "some-generator",
    )
    assert (document.provenance.confidence, document.provenance.last_verified) == (
        0.87,
        instant,
    )


def test_a_document_without_a_source_is_native(read: Read) -> None:
    document = read(whole(generated_by="a plugin", confidence=0.5))
    assert (document.provenance.source, document.provenance.generated_by) == (
        "native",
        "",
    )
    assert (document.provenance.confidence, document.provenance.last_verified) == (
        None,
        "",
    )


def test_of_two_actions_with_one_id_the_first_counts(read: Read) -> None:
    twin = WHOLE["actions"][0] | {"description": "Another"}
    document = read(changed("/actions/4", twin))
    assert _rules(document) == {("/actions/4", "duplicate")}
    assert document.site.actions[0].description == "Find free evenings"


def test_a_nameless_action_is_left_out_and_reported(read: Read) -> None:
    document = read(changed("/actions/4", WHOLE["actions"][3] | {"id": 4}))
    assert ("/actions/4/id", "type") in _rules(document)
    assert len(document.site.actions) == 4


def test_foreign_text_is_cut_in_every_detail(read: Read) -> None:
    long = "x" * 3_000
    document = whole(
        awp_version=long,
        source=long,
        dependencies={long: [long], "book": [long]},
        agent_status={"degraded_actions": [long]},
        auth={"type": "none", "required_for": [long], "optional_for": [long]},
    )
    document["actions"][0] |= {
        "via": long,
        "outputs": {"a": f"object[{long}]"},
        "endpoint": f"javascript:{long}",
    }
    deviations = read(document).deviations
    assert {"version", "value", "unknown_action", "cycle", "via", "entity"} <= {
        item.rule for item in deviations
    }
    assert all(len(notice.detail + notice.fix) < 300 for notice in deviations)


# --- circles of dependencies ----------------------------------------------------------

_names = st.sampled_from("abcdef")
_graphs = st.dictionaries(_names, st.lists(_names, max_size=4).map(tuple), max_size=6)


def _waits_for(graph: Mapping[str, Sequence[str]], name: str) -> set[str]:
    """All that an action waits for, itself only through another."""
    reached: set[str] = set()
    pending = [item for item in graph.get(name, ()) if item != name]
    while pending:
        element = pending.pop()
        if element not in reached:
            reached.add(element)
            pending += [
                further for further in graph.get(element, ()) if further != element
            ]
    return reached


@given(_graphs)
def test_a_circle_is_found_where_an_action_waits_for_itself(
    graph: dict[str, tuple[str, ...]],
) -> None:
    cycle = find_cycle(graph)
    circular = {name for name in graph if name in _waits_for(graph, name)}
    assert bool(cycle) is bool(circular)
    if cycle:
        assert cycle[0] == cycle[-1]
        assert set(cycle) <= circular
        assert all(needed in graph[name] for name, needed in pairwise(cycle))


def test_a_long_chain_exhausts_no_stack() -> None:
    chain: dict[str, Sequence[str]] = {
        str(number): (str(number + 1),) for number in range(20_000)
    }
    assert find_cycle(chain) == ()
    assert len(find_cycle({**chain, "20000": ("0",)})) == 20_002
