# ruff: noqa: RUF001  letters of other scripts are what this is about
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.ranking.letters import readable
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.terms import (
    distinct_terms,
    runs_of,
    split_words,
    typed_words,
)
from registry.ranking.words.lexicon import Lexicon


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bookTable", ["book", "table"]),
        ("search_flights-v2", ["search", "flights", "v2"]),
        ("parseHTTPRequest", ["parse", "http", "request"]),
        ("MP3 B2B 4K 5g H264", ["mp3", "b2b", "4k", "5g", "h264"]),
        ("parseMP3File getB2BLeads", ["parse", "mp3", "file", "get", "b2b", "leads"]),
        ("getTop10Results", ["get", "top10", "results"]),
        ("covid19 24hours HTTP2", ["covid", "19", "24", "hours", "http", "2"]),
        ("ＡＢＣ ﬁle", ["abc", "file"]),
        ("the café's menu, don't", ["the", "cafe", "menu", "don"]),
        ("l'été à São Paulo", ["l", "ete", "a", "sao", "paulo"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("东京塔", ["东京", "京塔"]),
        ("茶 tea", ["茶", "tea"]),
        ("iPhone手机", ["i", "phone", "手机"]),
        ("حجز طاولة", ["حجز", "طاوله"]),
        ("हिन्दी में", ["हिंदी", "में"]),
        ("จองโต๊ะ", ["จอง", "องโ", "งโต", "โต๊", "ต๊ะ"]),
        ("예약하기", ["예약", "약하", "하기"]),
        ("お花の配達", ["お", "花", "の", "配達"]),
        ("らーめん屋", ["らー", "ーめ", "めん", "屋"]),
        ("4Kテレビ", ["4k", "テレ", "レビ"]),
        ("siparişEkle", ["siparis", "ekle"]),
        ("купитьБилет", ["купить", "билет"]),
        ("book2go", ["book", "2go"]),
        ("example.com/a_b-c", ["example", "com", "a", "b", "c"]),
        ("", []),
        ("!!! \x00 🙂 __", []),
    ],
)
def test_text_is_split_into_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


FORMS_OF_ONE_WORD = [
    pytest.param("booking bookings", id="english plural"),
    pytest.param("flights flight", id="another"),
    pytest.param("Z\u00fcrich Zurich Zu\u0308rich", id="umlaut, composed or not"),
    pytest.param("Straße STRASSE strasse", id="sharp s"),
    pytest.param("Reservierung Reservierungen", id="german plural"),
    pytest.param("mogelijkheden mogelijkheid", id="dutch plural"),
    pytest.param("reservación reservaciones Reservacion", id="spanish plural"),
    pytest.param("reserva reservas", id="spanish and portuguese plural"),
    pytest.param("reservação reservações reservacao", id="portuguese plural"),
    pytest.param("prenotazione prenotazioni", id="italian plural"),
    pytest.param("gâteau gateaux", id="french plural"),
    pytest.param("İSTANBUL ISTANBUL istanbul", id="dotted capital i"),
    pytest.param("ılık ILIK ilik", id="dotless i"),
    pytest.param("Łódź lodz", id="polish strokes"),
    pytest.param("smørrebrød smorrebrod", id="danish strokes"),
    pytest.param("рестораны ресторан", id="russian plural"),
    pytest.param("ёлка елка ЁЛКА", id="yo"),
    pytest.param("за\u0301мок замок", id="stress mark"),
    pytest.param("об'єкт об\u2019єкт", id="ukrainian apostrophe"),
    pytest.param("δρόμος ΔΡΟΜΟΣ δρομοσ", id="greek accents and final sigma"),
    pytest.param("مطعم المطعم بالمطعم للمطعم والمطعم", id="arabic article"),
    pytest.param("مَطْعَم مطـــعم مطعم", id="arabic vowel signs and tatweel"),
    pytest.param("أحمد احمد إحمد ٱحمد", id="forms of alef"),
    pytest.param("طاولة طاوله الطاولات", id="ta marbuta and plural"),
    pytest.param("مستشفى مستشفي مستشفی", id="forms of ya"),
    pytest.param("کتاب كتاب", id="persian kaf"),
    pytest.param("ہوٹل هوٹل", id="urdu he"),
    pytest.param("מִסְעָדָה מסעדה", id="hebrew vowel signs"),
    pytest.param("क़लम कलम", id="nukta"),
    pytest.param("हिन्दी हिंदी", id="nasal before a consonant"),
    pytest.param("餐廳預訂 餐厅预订", id="traditional and simplified"),
    pytest.param("ＡＢＣ abc", id="full width"),
    pytest.param("カフェ ｶﾌｪ", id="half width"),
    pytest.param("Re\u00adser\u200dvie\u2060rung Reservierung", id="invisible"),
    pytest.param("\u202ehotel\u202c hotel", id="direction"),
    pytest.param("क्\u200dष क्ष", id="joiner"),
    pytest.param("email e-mail eMail E-Mail e_mail E-MAIL", id="email"),
    pytest.param("wifi wi-fi WiFi Wi-Fi", id="wifi"),
    pytest.param("checkin check-in checkIn check_in CHECK-IN", id="check-in"),
    pytest.param("checkout check-out checkOut check_out", id="check-out"),
]


@pytest.mark.parametrize("forms", FORMS_OF_ONE_WORD)
def test_forms_of_a_word_are_one_term(forms: str) -> None:
    assert len({distinct_terms(split_words(form)) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("item", "other"),
    [
        pytest.param("й", "и", id="a breve makes a letter"),
        pytest.param("が", "か", id="a voiced syllable"),
        pytest.param("universe", "universidad", id="stems of two languages"),
        pytest.param("garden", "guard", id="english"),
        pytest.param("check out the film", "checkout film", id="loose words"),
        pytest.param("水", "木", id="ideographs"),
        pytest.param("שר", "שד", id="hebrew letters"),
        pytest.param("بنت", "بيت", id="arabic letters"),
        pytest.param("poet", "pot", id="no umlaut in english"),
    ],
)
def test_different_words_stay_different(item: str, other: str) -> None:
    assert set(distinct_terms(split_words(item))) != set(
        distinct_terms(split_words(other))
    )


def test_words_in_two_are_reported_as_one() -> None:
    assert list(typed_words("Check in by E-Mail")) == [
        ("checkin", "checkin"),
        ("by", "by"),
        ("email", "email"),
    ]


def test_stop_words_stand_in_the_form_in_which_words_are_compared() -> None:
    for word in DEFAULT_POLICY.stop_words:
        assert split_words(word) == [word]


@pytest.mark.parametrize(
    "text",
    [
        "Ich suche einen Tisch",
        "je cherche une table",
        "quiero una mesa",
        "ben bir masa istiyorum",
        "я хочу найти стол",
        "أريد أن أجد طاولة",
        "मुझे मेज़ चाहिए",
        "θέλω ένα τραπέζι",
    ],
)
def test_grammar_of_the_main_languages_says_nothing(
    text: str, lexicon: Lexicon
) -> None:
    assert len(lexicon.content_words(split_words(text), limit=9)) == 1


@pytest.mark.parametrize(
    ("text", "most"),
    [
        pytest.param("a" + "\u0301\u0316" * 50_000, 1, id="marks out of order"),
        pytest.param(("z" + "\u0310\u0321\u0333" * 30) * 1000, 1, id="zalgo"),
        pytest.param("a\u200d" * 50_000, 1, id="joiners"),
        pytest.param("\u202ea\u202c" * 30_000, 1, id="directions"),
        pytest.param("👩\u200d👩\u200d👧" * 20_000, 0, id="emoji sequences"),
        pytest.param("aя漢ع" * 25_000, 50_001, id="mixed scripts"),
        pytest.param("漢" * 100_000, 99_999, id="one run of han"),
        pytest.param("x" * 100_000, 1, id="one word"),
        pytest.param("aB" * 50_000, 50_001, id="changes of case"),
        pytest.param("e-" * 50_000, 50_000, id="hyphens"),
        pytest.param("_" * 100_000, 0, id="underscores"),
    ],
)
def test_hostile_texts_are_read(text: str, most: int, lexicon: Lexicon) -> None:
    words = split_words(text)
    assert len(words) <= most
    assert len(lexicon.content_words(words, limit=9)) <= 9


def test_marks_are_cut_before_they_are_sorted() -> None:
    assert len(readable("a" + "\u0301\u0316" * 50_000)) < 40


def test_only_words_that_say_something_are_kept(lexicon: Lexicon) -> None:
    words = split_words("Please find me the best 80,000 deals: " + "x" * 41)
    assert lexicon.content_words(words, limit=9) == ["deals"]


def test_words_count_once_and_up_to_the_limit(lexicon: Lexicon) -> None:
    words = ["pizza"] * 1000 + ["pasta", "wine"]
    assert lexicon.content_words(words, limit=2) == ["pizza", "pasta"]


@given(st.text(max_size=80))
def test_any_text_gives_words_without_separators(text: str) -> None:
    for word in split_words(text):
        assert word
        assert not any(character.isspace() or character == "_" for character in word)


@given(st.text(max_size=80))
def test_reading_what_was_read_changes_nothing(text: str) -> None:
    once = [word for word in split_words(text) if word.isascii()]
    apart = [split_words(word) for word in once]
    assert [word for words in apart for word in words] == once


@given(st.text("abEZ01 _-'\t\n.!", max_size=60) | st.from_regex(r"(?s)[ -~]{0,60}"))
def test_plain_text_gives_the_same_words_by_the_short_way(text: str) -> None:
    assert split_words(text) == [word for _, word in typed_words(text)]
    assert runs_of(text) == runs_of(f"{text} \u4e00")[:-1]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("e-mail or e mail", id="hangs-on"),
        pytest.param("please check in", id="across-a-space"),
        pytest.param("a" * 200, id="longer-than-a-word"),
    ],
)
def test_words_written_in_two_are_joined_by_the_short_way_too(text: str) -> None:
    assert split_words(text) == [word for _, word in typed_words(text)]
