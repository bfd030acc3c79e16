# ruff: noqa: RUF001  letters of other scripts are what this is about
from dataclasses import replace

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
    return " ".join(mask_of(name, **site).words(text))


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
    ("name", "text", "left"),
    [
        pytest.param("Ресторан Волга", "столик, Волга", "столик", id="cyrillic"),
        pytest.param(
            "Ресторан Волга", "ресторан в Волге", "ресторан в", id="inflected"
        ),
        pytest.param("مطعم زوربلا", "مطعم زوربلا مطعم", "مطعم", id="arabic"),
        pytest.param("Ταβέρνα Ζορμπλάξ", "ταβέρνα Ζορμπλάξ", "", id="greek, whole"),
        pytest.param("Ταβέρνα Ζορμπλάξ", "ψάρι, Ζορμπλάξ", "ψαρι", id="greek"),
        pytest.param("מסעדה זורבלקס", "מסעדה, זורבלקס", "", id="hebrew, whole"),
        pytest.param("मरम्मत ज़ोरब्लक्स", "साइकिल ज़ोरब्लक्स", "साइकिल", id="devanagari"),
        pytest.param("墨香斋书法", "墨香斋的书法", "的书 书法", id="han, inside words"),
        pytest.param("寿司太郎", "東京の寿司太郎で寿司", "东京 の で 寿司", id="kanji"),
        pytest.param("寿司太郎", "太郎の寿司", "の 寿司", id="kanji, its mark alone"),
        pytest.param("墨香齋", "墨香斋 课程", "课程", id="traditional"),
        pytest.param("つむぎ小箱", "着物、つむぎ", "着物", id="hiragana"),
        pytest.param("햇살 사진관", "햇살에서 사진", "에서 사진", id="hangul"),
        pytest.param("บ้านช้างดอย", "ที่บ้านช้างดอย", "ที่", id="thai"),
    ],
)
def test_names_in_other_scripts_are_cut_word_by_word(
    name: str, text: str, left: str
) -> None:
    assert cut(text, name) == left


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        pytest.param("Zorblax", "билеты Зорблакс", "билеты", id="cyrillic"),
        pytest.param("Zorblax", "билеты с Зорблаксом", "билеты с", id="inflected"),
        pytest.param("Zorblax", "εισιτήρια Ζορμπλάξ", "εισιτηρια", id="greek"),
        pytest.param("Zorblax", "تذاكر زوربلاكس", "تذاكر", id="arabic"),
        pytest.param("Zorblax", "כרטיסים זורבלקס", "כרטיסים", id="hebrew"),
        pytest.param("Zorblax", "ゾルブラクスの本", "の 本", id="katakana"),
        pytest.param("Zorblax", "ぞるぶらくす", "", id="hiragana"),
        pytest.param("Zorblax", "ｿﾞﾙﾌﾞﾗｸｽ", "", id="half width"),
        pytest.param("Zorblax", "佐尔布拉克斯的票", "的票", id="han"),
        pytest.param("Zorblax", "조르블락스 예약", "예약", id="hangul"),
        pytest.param(
            "Zorblax", "З\u200bо\u00adрблакс билеты", "билеты", id="invisible"
        ),
        pytest.param("Green Bowl", "суп от Грин Боул", "суп от", id="two words"),
        pytest.param("Green Bowl", "суп, гринбоул", "суп", id="two words in one"),
        pytest.param("Target", "скидки в Таргет", "скидки в", id="an everyday word"),
        pytest.param("Sony", "ソニーのカメラ", "の カメ メラ", id="short"),
        pytest.param("Зорблакс", "tickets at zorblaks", "tickets at", id="to latin"),
        pytest.param("Зорблакс", "ゾルブラクス", "", id="cyrillic to kana"),
        pytest.param("墨香斋书法", "Mo Xiang Zhai courses", "courses", id="pinyin"),
        pytest.param("墨香斋书法", "moxiangzhai courses", "courses", id="in one"),
        pytest.param("つむぎ小箱", "kimono by tsumugi", "kimono by", id="romaji"),
        pytest.param("Mo Xiang Zhai", "墨香斋课程", "课程", id="from pinyin"),
        pytest.param("Pizza", "вкусная пицца", "вкусная пицца", id="a plain noun"),
        pytest.param("Park Taxi", "Такси в парк", "такси в парк", id="plain nouns"),
        pytest.param("Волга", "park your car", "park your car", id="sounds alike"),
    ],
)
def test_names_are_cut_in_other_scripts_than_their_own(
    name: str, text: str, left: str
) -> None:
    assert cut(text, name) == left
    assert split_words(mask_of(name).cut_text(text)) == left.split()


def test_the_domain_is_cut_in_other_scripts_too() -> None:
    assert cut("билеты Зорблакс", domain="zorblax.example") == "билеты"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ゾ" * 20_000, id="one run of kana"),
        pytest.param("佐" * 20_000, id="one run of han"),
        pytest.param("Зорблак " * 3_000, id="nearly the name"),
        pytest.param("ー" * 20_000, id="long vowels"),
        pytest.param("\u202eЗор\u202cблакс" * 2_000, id="directions"),
        pytest.param("aя漢ع" * 5_000, id="mixed scripts"),
    ],
)
def test_hostile_texts_are_masked(text: str) -> None:
    mask_of("Zorblax 佐佐 ゾゾ").words(text)


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
    whole = replace(mask, marks=frozenset())
    assert mask.cut(words) == whole.cut(words)
