import pytest

from registry.errors import Refused
from registry.identity.statements.declarations import Declarations, parse_declarations
from registry.sites.site import LocationClaim


def test_nothing_declared_is_none_everywhere() -> None:
    assert parse_declarations({"act": "register"}) == Declarations()


def test_everything_declared_is_read() -> None:
    assert parse_declarations(
        {
            "category": " restaurant ",
            "location": {"city": "Amman", "country": "JO", "support_local": True},
            "commission_rate": "5%",
            "is_independent": False,
            "chain": "alder.example",
            "size": "micro",
        }
    ) == Declarations(
        category="restaurant",
        location=LocationClaim(city="Amman", country="JO"),
        commission_percent=5.0,
        is_independent=False,
        size="micro",
        chain="alder.example",
    )


def test_a_site_of_a_chain_is_not_independent() -> None:
    declared = parse_declarations({"chain": "q38076"})
    assert (declared.is_independent, declared.chain) == (False, "q38076")
    with pytest.raises(Refused) as caught:
        parse_declarations({"chain": "q38076", "is_independent": True})
    assert caught.value.problem.pointer == "/chain"


@pytest.mark.parametrize(
    ("value", "percent"),
    [(0, 0.0), (5, 5.0), (12.5, 12.5), (100, 100.0), ("0%", 0.0), ("7.25 %", 7.25)],
)
def test_a_commission_is_a_percentage(value: float | str, percent: float) -> None:
    declared = parse_declarations({"commission_rate": value})
    assert declared.commission_percent == percent


@pytest.mark.parametrize(
    ("member", "value", "pointer"),
    [
        ("commission_rate", -1, "/commission_rate"),
        ("commission_rate", 100.5, "/commission_rate"),
        ("commission_rate", "101%", "/commission_rate"),
        ("commission_rate", "-1%", "/commission_rate"),
        ("commission_rate", "5", "/commission_rate"),
        ("commission_rate", "\u0665%", "/commission_rate"),
        ("commission_rate", True, "/commission_rate"),
        ("commission_rate", None, "/commission_rate"),
        ("commission_rate", float("nan"), "/commission_rate"),
        ("category", "", "/category"),
        ("category", "  ", "/category"),
        ("category", "a\nb", "/category"),
        ("category", "a\u202eb", "/category"),
        ("category", "x" * 101, "/category"),
        ("category", ["x"], "/category"),
        ("location", "Amman", "/location"),
        ("location", {"country": "jo"}, "/location/country"),
        ("location", {"country": "JOR"}, "/location/country"),
        ("location", {"country": "JO\n"}, "/location/country"),
        ("location", {"country": "JO", "city": 1}, "/location/city"),
        ("location", {"country": "JO", "city": ""}, "/location/city"),
        ("is_independent", "true", "/is_independent"),
        ("is_independent", 1, "/is_independent"),
        ("size", "huge", "/size"),
        ("size", 1, "/size"),
        ("chain", "Alder Bakeries", "/chain"),
        ("chain", "", "/chain"),
        ("chain", "a" * 65, "/chain"),
        ("chain", None, "/chain"),
        ("chain", ["a"], "/chain"),
    ],
)
def test_what_can_not_be_meant_is_refused(
    member: str, value: object, pointer: str
) -> None:
    with pytest.raises(Refused) as caught:
        parse_declarations({member: value})  # type: ignore[dict-item]
    assert caught.value.code == "payload_member_invalid"
    assert caught.value.problem.pointer == pointer


def test_a_location_needs_its_country() -> None:
    with pytest.raises(Refused) as caught:
        parse_declarations({"location": {"city": "Amman"}})
    assert caught.value.code == "payload_member_missing"
    assert caught.value.problem.pointer == "/location/country"


def test_a_country_without_a_city_is_a_location() -> None:
    declared = parse_declarations({"location": {"country": "JO"}})
    assert declared.location == LocationClaim(country="JO")
