import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.identity.requests.structured_fields import (
    InnerList,
    Item,
    parse_bytes,
    parse_dictionary,
    parse_list,
    serialize_bytes,
    serialize_list,
    serialize_string,
)

printable = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20)
keys = st.from_regex(r"[a-z*][a-z0-9_.*-]{0,8}", fullmatch=True)
integers = st.integers(-(10**15) + 1, 10**15 - 1)
parameters = st.dictionaries(keys, printable | integers | st.just(True), max_size=4)
items = st.builds(Item, printable, parameters)
lists = st.builds(InnerList, st.lists(items, max_size=4).map(tuple), parameters)


@given(lists)
def test_a_list_is_read_as_it_was_written(inner: InnerList) -> None:
    read = parse_list(serialize_list(inner))
    assert read == inner
    assert list(read.parameters) == list(inner.parameters)


@given(st.dictionaries(keys, lists | printable | st.binary(max_size=40), min_size=1))
def test_a_dictionary_gives_each_member_as_it_is_written(
    members: dict[str, InnerList | str | bytes],
) -> None:
    written = {key: _written(value) for key, value in members.items()}
    text = ", ".join(f"{key}={member}" for key, member in written.items())
    assert parse_dictionary(text) == written


def _written(value: InnerList | str | bytes) -> str:
    if isinstance(value, bytes):
        return serialize_bytes(value)
    return serialize_string(value) if isinstance(value, str) else serialize_list(value)


@given(st.binary(max_size=80))
def test_bytes_are_read_as_they_were_written(raw: bytes) -> None:
    assert parse_bytes(serialize_bytes(raw)) == raw


@given(st.text(st.sampled_from('a1=";:() ,\\*\n?é'), max_size=12))
def test_any_text_is_read_to_the_letter_or_refused(text: str) -> None:
    for parse in (parse_dictionary, parse_list, parse_bytes):
        try:
            read = parse(text)
        except ValueError:
            continue
        match read:
            case InnerList():
                assert serialize_list(read) == text
            case bytes():
                assert serialize_bytes(read) == text
            case _:
                assert ", ".join(f"{k}={member}" for k, member in read.items()) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param('a="1",b="2"', id="no space after the comma"),
        pytest.param('a="1", ', id="a comma at the end"),
        pytest.param('a="1"  , b="2"', id="spaces before the comma"),
        pytest.param('a="1", a="2"', id="a key twice"),
        pytest.param('A="1"', id="an upper-case key"),
        pytest.param("a", id="no value"),
        pytest.param("a=?1", id="a boolean"),
        pytest.param("a=token", id="a token"),
        pytest.param('a="1" ;b=2', id="a space before a parameter"),
        pytest.param('a="1";b=', id="a parameter without its value"),
        pytest.param('a="\\x"', id="an escape that is none"),
        pytest.param('a="é"', id="not ASCII"),
        pytest.param('a="1', id="no closing quote"),
        pytest.param('a=("1"  "2")', id="two spaces in a list"),
        pytest.param('a=( "1")', id="a space at the start of a list"),
    ],
)
def test_another_spelling_of_a_dictionary_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"starts at|given twice"):
        parse_dictionary(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("YQ==", id="no colons"),
        pytest.param(":YQ:", id="no padding"),
        pytest.param(":YR==:", id="unused bits"),
        pytest.param(":Y===:", id="too much padding"),
        pytest.param(":YQ=A:", id="padding within"),
        pytest.param(":_-8=:", id="base64url"),
        pytest.param(":YQ==:;a=1", id="a parameter"),
    ],
)
def test_another_spelling_of_bytes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no byte|unused bits|[Pp]adding|data"):
        parse_bytes(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('("a";a;a)', id="a parameter of an item twice"),
        pytest.param("();a=1;a=1", id="a parameter twice"),
        pytest.param("();a=01", id="a leading zero"),
        pytest.param("();a=-0", id="a negative zero"),
        pytest.param("();a=1000000000000000", id="sixteen digits"),
        pytest.param("();a=1.5", id="a decimal"),
        pytest.param("(a)", id="a token"),
        pytest.param("(", id="not closed"),
    ],
)
def test_another_spelling_of_a_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no list|given twice"):
        parse_list(text)


@pytest.mark.parametrize("text", ["é", "\n", "\x7f", "\x00"])
def test_a_text_that_no_string_holds_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        serialize_string(text)


def test_long_input_takes_no_more_than_its_length() -> None:
    """A pattern that backtracks would not come back from these."""
    for text in (
        'a="' + "\\" * 100_001,
        "a=(" + '"a" ' * 50_000,
        "a=:" + "A=" * 50_000,
    ):
        with pytest.raises(ValueError, match="starts at"):
            parse_dictionary(text)
