import pytest

from registry.sites.label import Label, format_percent, parse_chain, parse_percent


@pytest.mark.parametrize(
    "text", ["0%", "5%", "12.5%", "0.05%", "99.99%", "100%", "7.25%"]
)
def test_a_percentage_is_spelled_in_one_way_only(text: str) -> None:
    assert format_percent(parse_percent(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("5", "05%", "5.0%", "5.10%", "5.125%", "100.5%", "101%", "-1%", "", "%"),
        *("\u0665%", "5%\n", " 5%", "1e2%"),
    ],
)
def test_other_spellings_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        parse_percent(text)


@pytest.mark.parametrize("text", ["a", "q38076", "alder-bakeries.example", "a" * 64])
def test_a_chain_is_an_identifier(text: str) -> None:
    assert parse_chain(text) == text


@pytest.mark.parametrize(
    "text",
    ["", "A", "-a", "a-", "a b", "a" * 65, "Jane Doe", "a\n", "é", "a@b.example"],
)
def test_what_may_name_a_person_is_no_chain(text: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        parse_chain(text)


def test_an_independent_site_belongs_to_no_chain() -> None:
    with pytest.raises(ValueError, match="chain"):
        Label(independence="independent", chain="alder.example")
    with pytest.raises(ValueError, match="chain"):
        Label(chain="alder.example")
