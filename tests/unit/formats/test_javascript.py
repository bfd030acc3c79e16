import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.html.literals import Script
from registry.strict_json import JsonValue
from tests.unit.work import assert_linear


def _tokens(text: str) -> list[str]:
    return Script(text, limit=1_000).tokens


def _value(expression: str, before: str = "") -> JsonValue:
    """What `expression` says as the argument of a call."""
    script = Script(f"{before}\nread({expression})", limit=1_000)
    opening = len(script.tokens) - 1 - script.tokens[::-1].index("read") + 1
    (argument, *_) = script.parts(opening)
    return script.value(argument)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a.b?.c ?.5:d", ["a", ".", "b", "?.", "c", "?", ".5", ":", "d"]),
        ("a // b\n/* c */ d <!-- e\nf", ["a", "d", "f"]),
        ("/* a", []),
        ("'a\\'b' \"c'd\"", ["'a\\'b'", '"c\'d"']),
        ("'a\nb", ["'a", "b"]),
        ("`a${b}c` d", ["`a${b}c`", "d"]),
        ("`a${ {b: `c${d}`} }e` f", ["`a${ {b: `c${d}`} }e`", "f"]),
        ("`a\\`b` c", ["`a\\`b`", "c"]),
        ("`a${'}`'}` b", ["`a${'}`'}`", "b"]),
        ("`a", ["`a"]),
        ("a = /[/'\"]/g; b", ["a", "=", ";", "b"]),
        ("return /'/", ["return"]),
        ("a / b / c", ["a", "/", "b", "/", "c"]),
        ("a() / b", ["a", "(", ")", "/", "b"]),
        ("a++ / b", ["a", "++", "/", "b"]),
        ("a => /x/", ["a", "=>"]),
        ("1e+5 0xFF 1_000", ["1e+5", "0xFF", "1_000"]),
        ("a===b!=c&&=d**e", ["a", "===", "b", "!=", "c", "&&=", "d", "**", "e"]),
        ("#p $_ \u00e4", ["#", "p", "$_", "\u00e4"]),
        ("\ufeff a\u2028b", ["a", "b"]),
    ],
    ids=range(20),
)
def test_tokens_are_told_apart(text: str, tokens: list[str]) -> None:
    assert _tokens(text) == tokens


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'a'", "a"),
        ("`a\nb`", "a\nb"),
        ("'\\x41\\u0042\\u{43}\\n\\q\\\nd'", "ABC\nqd"),
        ("'\\uD83D\\uDE00'", "\U0001f600"),
        ("'\\uD83D'", "\ufffd"),
        ("'\\u{110000}'", "\ufffd"),
        ("'a' + \"b\" + `c`", "abc"),
        ("12", 12),
        ("-1.5e1", -15.0),
        ("0x10", 16),
        ("1_000", 1000),
        (".5", 0.5),
        ("true", True),
        ("!0", True),
        ("!1", False),
        ("[1, 'a', [], {}]", [1, "a", [], {}]),
        ("[1,,2,]", [1, None, 2]),
        ("{a: 1, 'b': 2, \"c-d\": 3, 4: 5,}", {"a": 1, "b": 2, "c-d": 3, "4": 5}),
        ("{a: {b: [{c: 1}]}}", {"a": {"b": [{"c": 1}]}}),
        ("{a: 1, a: 2}", {"a": 2}),
        ("{__proto__: 1, constructor: 2}", {"__proto__": 1, "constructor": 2}),
        ("{a: 1, b() { return {c: 2}, '}' }, d: 3}", {"a": 1, "d": 3}),
        ("{async a() {}, get b() {}, *c() {}, [d]: 1, ...e, f: 1}", {"f": 1}),
        ("{a: (b, c) => { d, e }, f: 1}", {"a": None, "f": 1}),
        ("{a: /[,}]/, b: 1}", {"a": None, "b": 1}),
        ("{a: `b${c}`, d: e.f, g: h(), i: null, j: undefined}", {"a": None, "d": None,
            "g": None, "i": None, "j": None}),
        ("{a: 'b'.c, d: 'e' + f, g: 'h' ? 1 : 2}", {"a": None, "d": None, "g": None}),
        ("{}.a", None),
        ("[1][0]", None),
        ("a", None),
        ("a = {}", None),
        ("'a", None),
        ("1n", None),
        ("9" * 30, None),
        ("1e999", None),
        ("function () {}", None),
        ("new Map()", None),
        ("-", None),
        ("-'a'", None),
        ("+1", None),
    ],
    ids=range(40),
)  # fmt: skip
def test_literals_say_what_they_are_and_all_else_is_none(
    expression: str, value: JsonValue
) -> None:
    assert _value(expression) == value


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("const a = 1", 1),
        ("let a = {b: 1};", {"b": 1}),
        ("var x = 2, a = 'b' + 'c'", "bc"),
        ("const b = [1]; const a = {c: b}", {"c": [1]}),
        ("const b = [1]; const a = {b}", {"b": [1]}),
        ("const a = 1; { const a = 2 }", 2),
        ("const a = f()", None),
        ("const a = {}.b", None),
        ("const a = [1]\n.map(f)", None),
        ("const a = 'b' in c", None),
        ("const a = 1 + 2", None),
        ("const a = -1", -1),
        ("const a = {b: 1}\nconst c = 1", {"b": 1}),
        ("b.a = 1", None),
        ("const b = a; const a = 1", 1),
        ("const a = a", None),
        ("const a = {b: 1", None),
        ("", None),
    ],
    ids=range(18),
)
def test_names_of_literals_stand_for_them(before: str, value: JsonValue) -> None:
    assert _value("a", before + "\n;") == value


def test_a_name_that_is_bound_only_afterwards_counts_too() -> None:
    script = Script("read(a); const a = 1", limit=100)
    assert script.value((2, 3)) == 1


@pytest.mark.parametrize(
    "before",
    [
        "const a = 1; function f(a) {",
        "const a = 1; const f = (b, a) => {",
        "const a = 1; const f = a => ",
        "const a = 1; const f = {g(a) {",
        "const a = 1; class F { g(a) {",
    ],
)
def test_a_parameter_is_what_its_callers_say(before: str) -> None:
    assert _value("a", before) is None


@pytest.mark.parametrize("before", ["if (a) {", "f(a);", "while (a) {"])
def test_a_condition_binds_no_name(before: str) -> None:
    assert _value("a", f"const a = 1; {before}") == 1


@pytest.mark.parametrize(
    "loop",
    [
        "for (const a of b)",
        "for (let a of b) {",
        "b.forEach(a =>",
        "b.forEach((a, i) => {",
        "b.forEach(async (a) =>",
        "b.forEach(function (a) {",
    ],
)
def test_the_variable_of_a_loop_stands_for_each_value(loop: str) -> None:
    script = Script(f"const b = [1, 2]; {loop} read(a)", limit=100)
    last = len(script.tokens) - 2
    assert script.values((last, last + 1)) == [1, 2]
    assert script.value((last, last + 1)) is None


def test_brackets_without_a_partner_end_with_those_around_them() -> None:
    assert _value("{a: f((1, [2, b: 3}") == {"a": None}
    assert _value("{a: 1, b: f], c: 2}") == {"a": 1, "b": None, "c": 2}


def test_deep_literals_are_read_to_a_depth() -> None:
    value = _value("[" * 100 + "]" * 100)
    depth = 0
    while isinstance(value, list):
        value = value[0] if value else None
        depth += 1
    assert depth == 33


def test_names_do_not_unfold_without_end() -> None:
    lines = ["const a0 = [1, 2, 3, 4, 5, 6, 7, 8]"]
    lines += [f"const a{n} = [{', '.join([f'a{n - 1}'] * 8)}]" for n in range(1, 20)]
    script = Script(";".join(lines), limit=1_000)
    nodes, pending = 0, [script.value((len(script.tokens), len(script.tokens)))]
    for name in ("a1", "a5", "a19"):
        index = script.tokens.index(name)
        pending.append(script.value((index, index + 1)))
    while pending:
        item = pending.pop()
        nodes += 1
        pending += item if isinstance(item, list) else []
    assert nodes <= 3_000


def test_only_so_many_tokens_are_looked_at() -> None:
    assert not Script("a b c", limit=3).is_cut
    script = Script("a b c d", limit=3)
    assert script.is_cut
    assert script.tokens == ["a", "b", "c"]
    assert Script("a", limit=0).tokens == []


@pytest.mark.parametrize(
    "unit",
    [
        "(", "[", "{", ")", "]", "}", "`${", "`${`", "`", "a<b<", "/", "//", "/*", "/[", "/a",
        '"', "'", "\\", '"a" "b"', "a b ", "({,", "{a}=", "`a${b}", "(a,", "(a=", "a=", "a={",
        "x={a(){", "x=[", "'a'+", "a=b+", "-", "!", "...", "?.", "a.b=", "of", "a of b ",
        "a.forEach(", "b=[a];a=[b];", "a=[1];", "\n", " ", "\x00", "1", "0x", "{a:", "{[",
    ],
)  # fmt: skip
def test_hostile_scripts_take_linear_time(unit: str) -> None:
    def read(times: int) -> None:
        script = Script(unit * times, limit=100_000)
        script.value((0, len(script.tokens)))
        for index, token in enumerate(script.tokens[:50]):
            if token in ("(", "[", "{"):
                for part in script.parts(index):
                    script.values(part)

    assert_linear(read, 300)


@given(
    st.lists(
        st.sampled_from(
            ["a", "b", "=", "{", "}", "[", "]", "(", ")", ",", ":", ";", "'x'", "1", ".",
             "of", "forEach", "=>", "...", "`", "${", "/", "\n", "+", "-", "!", "\\"]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_any_script_is_read_without_an_error(pieces: list[str]) -> None:
    script = Script(" ".join(pieces), limit=30)
    count = len(script.tokens)
    assert count <= 30
    for first in range(count):
        script.values((first, first + 1))
        script.value((first, count))
