from collections.abc import Callable
from typing import Any

import pytest

from registry.formats.document import Document
from registry.sites.action import Call
from registry.sites.site import LocationClaim

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]


def _rules(document: Document) -> set[tuple[str, str]]:
    return {(deviation.pointer, deviation.rule) for deviation in document.deviations}


def test_a_conforming_document_is_read_whole(sample: Sample, read: Read) -> None:
    document = read(sample("wab-spec-1.0"))
    site = document.site
    assert (document.conformance, document.version) == ("strict", "1.0")
    assert (site.name, site.category) == ("Lindenhof Bakery", "bakery")
    assert site.url == "https://lindenhof.example"
    assert site.location == LocationClaim(city="Graz", country="AT")
    assert site.permissions[0] == ("readContent", True)
    assert (site.commission_percent, site.is_independent) == (2.5, True)
    listing, reserve = site.actions
    assert (listing.auth_required, reserve.auth_required) == (False, True)
    assert listing.calls == (
        Call(
            format="wab",
            transport="http",
            method="api",
            target="https://site.example/bridge/execute",
        ),
    )
    bread, pieces = reserve.parameters
    assert (bread.required, bread.enum) == (True, ("rye", "spelt"))
    assert (pieces.type, pieces.required) == ("number", False)


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        ("transport", {}, "transport"),
        ("transport", {"http": {"enabled": False}}, "transport"),
        ("provider.url", "lindenhof", "url"),
        ("provider.url", "javascript:alert(1)", "url"),
        ("provider.url", None, "type"),
        ("provider.location.country", "at", "country"),
        ("provider.name", "", "minLength"),
        ("wab_version", "1.1", "value"),
        ("capabilities.tier", "gold", "value"),
        ("capabilities.permissions", [], "type"),
        ("security.max_rate", 0, "minimum"),
        ("fairness_metrics.commission_rate", 3, "type"),
        ("trust_signatures", "sha256:0", "type"),
    ],
)
def test_what_breaks_appendix_a_or_slips_through_it_is_tolerated_and_reported(
    sample: Sample, read: Read, path: str, value: Any, rule: str
) -> None:
    document = sample("wab-spec-1.0")
    *holders, name = path.split(".")
    target = document
    for holder in holders:
        target = target[holder]
    target[name] = value
    result = read(document)
    assert result.conformance == "tolerated"
    assert ("/" + path.replace(".", "/"), rule) in _rules(result)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"name": "two words"}, "pattern"),
        ({"name": "trailing\n"}, "pattern"),
        ({"trigger": "hover"}, "value"),
        ({"params": {}}, "type"),
        ({"requiresAuth": "no"}, "type"),
    ],
)
def test_a_malformed_command_is_reported_with_its_pointer(
    sample: Sample, read: Read, change: dict[str, Any], rule: str
) -> None:
    document = sample("wab-spec-1.0")
    document["capabilities"]["commands"][1] |= change
    (member,) = change
    pointer = f"/capabilities/commands/1/{member}"
    assert (pointer, rule) in _rules(read(document))


def test_a_missing_member_is_pointed_at_where_it_should_be(
    sample: Sample, read: Read
) -> None:
    document = sample("wab-spec-1.0")
    del document["capabilities"]["commands"][0]["trigger"]
    assert ("/capabilities/commands/0/trigger", "required") in _rules(read(document))


def test_of_two_commands_with_one_name_the_first_counts(
    sample: Sample, read: Read
) -> None:
    document = sample("wab-spec-1.0")
    commands = document["capabilities"]["commands"]
    commands.append(commands[0] | {"description": "Another"})
    result = read(document)
    assert [action.name for action in result.site.actions] == [
        "listBreads",
        "reserveLoaf",
    ]
    assert ("/capabilities/commands/2", "duplicate") in _rules(result)
    assert result.conformance == "tolerated"


def test_actions_beside_commands_are_said_twice_not_done_twice(
    sample: Sample, read: Read
) -> None:
    document = sample("wab-spec-1.0")
    document["actions"] = [*document["capabilities"]["commands"], {"name": "callUs"}]
    result = read(document)
    names = [action.name for action in result.site.actions]
    assert names == ["listBreads", "reserveLoaf", "callUs"]


@pytest.mark.parametrize(
    ("rate", "percent"),
    [
        ("0%", 0),
        ("12.5 %", 12.5),
        ("7", 7),
        (0, 0),
        (99.5, 99.5),
        ("100%", 100),
        ("-1%", None),
        (-1, None),
        ("101%", None),
        (101, None),
        ("a tenth", None),
        ("1e1%", None),
        (True, None),
        ([], None),
        ("", None),
    ],
)
def test_a_commission_is_a_percentage_or_unknown(
    sample: Sample, read: Read, rate: Any, percent: float | None
) -> None:
    document = sample("wab-spec-1.0")
    document["fairness_metrics"]["commission_rate"] = rate
    assert read(document).site.commission_percent == percent


def test_names_of_permissions_are_no_actions(sample: Sample, read: Read) -> None:
    site = read(sample("wab-server-1.3")).site
    assert [action.name for action in site.actions] == ["rentBike"]
    assert site.permissions == (("readContent", True), ("click", True))
    assert site.url == "https://fernweh.example"
    assert site.actions[0].calls[0].off_origin


def test_generic_verbs_give_way_to_described_actions(
    sample: Sample, read: Read
) -> None:
    site = read(sample("wab-site-1.2")).site
    assert [action.name for action in site.actions] == ["searchTeas", "orderTea"]
    assert site.languages == ("de-AT",)
    assert site.commission_percent == 7
    assert site.actions[0].calls[0].target == "https://site.example/wab/run"


def test_commands_keyed_by_name_keep_their_paths(sample: Sample, read: Read) -> None:
    book, listing = read(sample("wab-edge-3.2")).site.actions
    assert (book.name, book.auth_required) == ("bookCrane", True)
    assert book.calls[0].target == "https://site.example/api/wab/book"
    assert listing.calls[0].method == "GET"


def test_sensitivity_comes_from_declarations_alone(sample: Sample, read: Read) -> None:
    find, drop = read(sample("wab-manifest-1.3")).site.actions
    assert (find.name, find.description) == ("find_map", "Find a map")
    assert (find.sensitivity, drop.sensitivity) == ("read", "destructive")
    assert find.auth_required is None
    assert find.calls[0].off_origin
    assert not drop.calls[0].off_origin


def test_parameters_as_a_map_are_read(sample: Sample, read: Read) -> None:
    (lesson,) = read(sample("wab-php-bridge")).site.actions
    assert [(p.name, p.type, p.required) for p in lesson.parameters] == [
        ("day", "string", True),
        ("children", "integer", False),
    ]
    assert lesson.auth_required is True


def test_dangerous_targets_are_dropped_and_reported(sample: Sample, read: Read) -> None:
    document = sample("wab-php-bridge")
    document["actions"][0]["endpoint"] = "javascript:steal()"
    result = read(document)
    assert result.site.actions[0].calls == ()
    assert ("/actions/0/endpoint", "target") in _rules(result)


def test_a_trust_envelope_is_called_at_its_endpoint(sample: Sample, read: Read) -> None:
    document = read(sample("wab-trust-envelope"))
    (seal,) = document.site.actions
    assert seal.calls[0].target == "https://siegel.example/api/wab"
    assert document.version == "wab1"
    assert document.raw is not None
    assert "signature" in document.raw


@pytest.mark.parametrize(
    ("base", "target"),
    [
        ("/", "https://site.example/execute"),
        ("https://api.example/wab/", "https://api.example/wab/execute"),
        ("http://plain.example/wab", None),
    ],
)
def test_commands_are_executed_below_the_base(
    sample: Sample, read: Read, base: str, target: str | None
) -> None:
    document = sample("wab-spec-1.0")
    document["transport"]["http"]["base_url"] = base
    calls = read(document).site.actions[0].calls
    assert [call.target for call in calls] == ([target] if target else [])


def test_a_document_of_a_generator_needs_no_version(
    read: Read,
) -> None:
    document = read(
        {
            "version": "1.0",
            "site": "Hof",
            "url": "https://hof.example",
            "generator": "@wab/next",
            "actions": [
                {"name": "open", "urlTemplate": "https://hof.example/p/{id}"},
            ],
        }
    )
    assert (document.format, document.dialect) == ("wab", "generated_1_0")
    assert document.site.name == "Hof"
    (action,) = document.site.actions
    assert action.calls[0].target == "https://hof.example/p/{id}"
    fixes = {deviation.pointer: deviation.fix for deviation in document.deviations}
    assert fixes["/wab_version"] == 'Rename version to wab_version, and write "1.0".'


def test_a_permission_listed_again_as_a_command_is_no_action(
    read: Read, sample: Sample
) -> None:
    raw = sample("wab-spec-1.0")
    count = len(read(raw).site.actions)
    raw["capabilities"]["commands"] += [
        {"name": "click", "trigger": "click"},
        {"name": "scroll", "description": "Scroll to the map", "trigger": "scroll"},
    ]
    names = [action.name for action in read(raw).site.actions]
    assert len(names) == count + 1
    assert names[-1] == "scroll"


def test_an_address_that_holds_the_action_s_name_is_filled_in(
    read: Read,
) -> None:
    document = read(
        {
            "wab_version": "1.3.0",
            "provider": {"name": "Hof"},
            "capabilities": {
                "commands": [{"name": "buy eggs", "description": "Buy eggs"}],
                "transport": ["http"],
            },
            "endpoints": {"execute": "https://hof.example/do/{actionName}"},
        }
    )
    (action,) = document.site.actions
    assert [call.target for call in action.calls] == [
        "https://hof.example/do/buy%20eggs"
    ]


def test_fairness_is_read_under_either_name(read: Read) -> None:
    for name in ("fairness", "fairness_metrics"):
        raw = {"wab_version": "1.2.0", "site": {"name": "Hof"}, "actions": []}
        raw[name] = {"commission_rate": 5, "is_independent": True}
        site = read(raw).site
        assert (site.commission_percent, site.is_independent) == (5.0, True)


@pytest.mark.parametrize(
    ("changes", "pointer", "fix"),
    [
        ({"wab_version": 1.0}, "/wab_version", 'Write "1.0".'),
        (
            {"site": {}},
            "/provider",
            "Rename site to provider; give it name, category and url.",
        ),
        (
            {"commands": {}},
            "/capabilities",
            "Move commands to capabilities.commands, as a list of objects.",
        ),
    ],
)
def test_a_deviation_comes_with_the_repaired_value(
    read: Read, changes: dict[str, Any], pointer: str, fix: str
) -> None:
    raw = {"wab_version": "1.0", "commands": {}, **changes}
    members = {deviation.pointer: deviation.fix for deviation in read(raw).deviations}
    assert members[pointer] == fix
