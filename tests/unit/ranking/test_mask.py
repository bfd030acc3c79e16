import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.terms import split_words
from registry.ranking.words.mask import EverydayWords, Mask, make_mask


def mask_of(
    name: str = "", *, domain: str = "xq.test", host: str = "", place: str = ""
) -> Mask:
    everyday = EverydayWords(load_encoder(), DEFAULT_POLICY, frozenset({place}))
    return make_mask(name, host or domain, domain, everyday)


def cut(text: str, name: str = "", **site: str) -> str:
    return " ".join(mask_of(name, **site).cut(split_words(text)))


@pytest.mark.parametrize(
    "expected", ["Green Bowl", "greenBowl", "greenbowl", "GREEN-BOWL", "Green Bowl's"]
)
def test_own_name_is_cut_however_it_is_written(expected: str) -> None:
    assert cut(f"Order at {expected} today", "Green Bowl") == "order at today"


def test_own_domain_is_cut_with_and_without_its_suffix() -> None:
    text = "Nimbus tickets, www.nimbus.example or nimbus.example"
    assert cut(text, domain="nimbus.example", host="www.nimbus.example") == "tickets or"


def test_own_domain_is_cut_as_its_owner_spells_it() -> None:
    text = "Tickets from M\u00fcllerix or xn--mllerix-n2a"
    assert cut(text, domain="xn--mllerix-n2a.example") == "tickets from or"


@pytest.mark.parametrize("expected", ["M\u00fcllerix", "Muellerix", "MUELLERIX"])
@pytest.mark.parametrize(
    "name", ["M\u00fcllerix", "M\u00fcllerix Shop", "Muellerix Shop"]
)
def test_own_name_is_cut_with_its_umlauts_spelled_out_or_not(
    name: str, expected: str
) -> None:
    assert cut(f"Tickets from {expected}", name) == "tickets from"


def test_parts_of_a_slogan_are_names_too() -> None:
    assert cut("zorba sells fish", "Zorba | Fresh from the sea") == "sells fish"


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        ("Nike Store", "order nike shoes in the store", "order shoes in the store"),
        ("Nike Store", "nikeSearch", "search"),
        ("Zorblax & Sons Bakery", "Zorblax bakes bread", "bakes bread"),
        ("Khubz Street Bakery", "a bakery in the street", "a bakery in the street"),
        ("Knot and Pile Carpets", "wash carpets", "wash carpets"),
        ("Librairie Mercier", "une librairie", "une librairie"),
    ],
)
def test_marks_are_cut_one_by_one_and_everyday_words_stay(
    name: str, text: str, left: str
) -> None:
    assert cut(text, name) == left


def test_marks_of_the_host_are_cut_but_not_its_suffix() -> None:
    text = "zorblax kvikk test example"
    domain = {"domain": "kvikk.example", "host": "zorblax.kvikk.example"}
    assert cut(text, **domain) == "test example"


def test_the_place_where_a_site_is_is_no_mark() -> None:
    assert cut("a taxi in amman", "Amman Taxi", place="amman") == "a taxi in amman"
    assert cut("a taxi in amman", "Amman Taxi", place="zarqa") == "a taxi in"


@pytest.mark.parametrize(
    "name",
    [
        "\u0642\u0647\u0648\u0629 \u0639\u0645\u0627\u0646",
        "\u0420\u0435\u0441\u0442\u043e\u0440\u0430\u043d \u0412\u043e\u043b\u0433\u0430",
    ],
)
def test_names_in_other_scripts_are_cut_whole_only(name: str) -> None:
    first = split_words(name)[0]
    assert cut(f"{name} {first}", name) == first


def test_a_plain_noun_is_nobodys_name() -> None:
    assert cut("order pizza", "Pizza", domain="pizza.example") == "order pizza"


def test_an_everyday_word_alone_is_still_a_name() -> None:
    assert cut("shop at target", "Target") == "shop at"
    assert cut("open a window", "Window", domain="window.example") == "open a"


def test_a_site_without_a_name_keeps_its_text() -> None:
    assert cut("order food") == "order food"


@given(
    st.lists(
        st.sampled_from(
            ["bakery", "table", "book", "street", "the", "dental", "fresh", "two"]
        )
    ),
    st.sampled_from(["Zorblax Street Bakery", "Fresh Table", "Book", "The Two"]),
)
def test_only_whole_names_cost_everyday_words(words: list[str], name: str) -> None:
    mask = mask_of(name)
    whole = Mask(mask.phrases, mask.joined, frozenset(), mask.everyday)
    assert mask.cut(words) == whole.cut(words)
