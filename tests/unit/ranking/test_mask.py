import pytest

from registry.ranking.mask import make_mask
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.text import split_words


def cut(text: str, *, name: str = "", domain: str = "xq.test", host: str = "") -> str:
    mask = make_mask(name, host or domain, domain, DEFAULT_POLICY)
    return " ".join(mask.cut(split_words(text)))


@pytest.mark.parametrize(
    "said", ["Green Bowl", "greenBowl", "greenbowl", "GREEN-BOWL", "Green Bowl's"]
)
def test_own_name_is_cut_however_it_is_written(said: str) -> None:
    assert cut(f"Order at {said} today", name="Green Bowl") == "order at today"


def test_own_domain_is_cut_with_and_without_its_suffix() -> None:
    text = "Nimbus tickets, www.nimbus.example or nimbus.example"
    assert cut(text, domain="nimbus.example", host="www.nimbus.example") == "tickets or"


def test_parts_of_a_slogan_are_names_too() -> None:
    assert cut("zorba sells fish", name="Zorba | Fresh from the sea") == "sells fish"


def test_words_of_the_name_stay_where_they_are_used_as_words() -> None:
    assert cut("a taxi in amman", name="Amman Taxi") == "a taxi in amman"


def test_a_plain_noun_is_nobodys_name() -> None:
    assert cut("order pizza", domain="pizza.example", name="Pizza") == "order pizza"


def test_a_site_without_a_name_keeps_its_text() -> None:
    assert cut("order food") == "order food"
