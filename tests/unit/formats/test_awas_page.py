import pytest

from registry.formats.detect import parse_page
from registry.formats.document import Document, Parsed, Rejected
from registry.sites.action import Action, Call, Parameter
from tests.unit.work import assert_linear

URL = "https://books.example/index.html"


def _read(html: str) -> Document:
    result = parse_page(html.encode(), url=URL)
    assert isinstance(result, Parsed), result
    return result.document


def _action(html: str) -> Action:
    (action,) = _read(html).site.actions
    return action


def _names(html: str) -> list[str]:
    return [parameter.name for parameter in _action(html).parameters]


def _rules(html: str) -> list[tuple[str, str]]:
    return [(deviation.pointer, deviation.rule) for deviation in _read(html).deviations]


def test_a_control_may_bear_the_action_of_its_form() -> None:
    document = _read(
        """<html lang=en><title>Books</title>
        <form action=/find method=GET>
          <input type=text name=q data-awas-param=query data-awas-action=find-books
            placeholder="Titles, authors &hellip;">
          <select name=s data-awas-param=sort><option value=new>Newest
            <option value=low>Cheapest</select>
          <input name=unmarked><button>Find books</button>
        </form><div data-awas-result=find-books></div>"""
    )
    assert (document.format, document.dialect) == ("awas", "page")
    assert document.conformance == "strict"
    assert (document.site.name, document.site.languages) == ("Books", ("en",))
    assert document.site.actions == (
        Action(
            name="find-books",
            description="Find books",
            parameters=(
                Parameter(
                    name="query",
                    type="string",
                    required=False,
                    description="Titles, authors \u2026",
                ),
                Parameter(
                    name="sort", type="string", required=False, enum=("new", "low")
                ),
            ),
            calls=(
                Call(
                    format="awas",
                    transport="form",
                    method="GET",
                    target="https://books.example/find",
                ),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("html", "names"),
    [
        ("<form data-awas-action=x><input data-awas-param=a></form>", ["a"]),
        ("<form id=f data-awas-action=x></form><input form=f data-awas-param=a>", ["a"]),
        ("<div data-awas-action=x><input data-awas-param=a></div>", ["a"]),
        ("<div data-awas-action=x><p><div></div><input data-awas-param=a></div>", ["a"]),
        ("<div data-awas-action=x><form><input data-awas-param=a></form></div>", ["a"]),
        ("<section data-awas-action=x><div><input data-awas-param=a></section>", ["a"]),
        ("<form><button data-awas-action=x></button><input data-awas-param=a>", ["a"]),
        ("<a data-awas-action=x></a><input data-awas-param=a data-awas-action=x>", ["a"]),
        ("<form data-awas-action=x><input data-awas-param=a type=hidden></form>", ["a"]),
        ("<form data-awas-action=x><input data-awas-param=a readonly></form>", ["a"]),
        ("<form data-awas-action=x><x-date data-awas-param=a></x-date></form>", ["a"]),
        ("<form data-awas-action=x><input name=a></form>", []),
        ("<form data-awas-action=x><input data-awas-param=a disabled></form>", []),
        ("<form data-awas-action=x><input data-awas-param=''></form>", []),
        ("<form data-awas-action=x></form><input data-awas-param=a>", []),
        ("<div data-awas-action=x></div><input data-awas-param=a>", []),
        ("<div data-awas-action=x><div></div></div><input data-awas-param=a>", []),
        ("<div data-awas-action=x><section></div><input data-awas-param=a>", []),
        ("<a data-awas-action=x><input data-awas-param=a></a>", []),
        ("<template><p data-awas-action=y></template><p data-awas-action=x>", []),
        ("<form data-awas-action=x><input data-awas-param=a><input data-awas-param=a>",
         ["a"]),
    ],
    ids=range(21),
)  # fmt: skip
def test_marked_controls_belong_to_the_action_around_them(
    html: str, names: list[str]
) -> None:
    assert _names(html) == names


def test_controls_that_name_an_action_belong_to_it_alone() -> None:
    first, second = _read(
        """<form data-awas-action=a><input data-awas-param=both>
        <input data-awas-param=own data-awas-action=b></form>"""
    ).site.actions
    assert [parameter.name for parameter in first.parameters] == ["both"]
    assert [parameter.name for parameter in second.parameters] == ["own", "both"]


def test_sections_within_sections_keep_their_own_controls() -> None:
    outer, inner = _read(
        """<div data-awas-action=a><input data-awas-param=one>
        <div data-awas-action=b><input data-awas-param=two></div>
        <input data-awas-param=three></div>"""
    ).site.actions
    assert [parameter.name for parameter in outer.parameters] == ["one", "three"]
    assert [parameter.name for parameter in inner.parameters] == ["two"]


@pytest.mark.parametrize(
    ("control", "parameter"),
    [
        ("<input data-awas-param=a type=number required>",
         Parameter(name="a", type="number", required=True)),
        ("<input data-awas-param=a data-awas-param-type=integer type=number>",
         Parameter(name="a", type="integer", required=False)),
        ("<input data-awas-param=a data-awas-param-type=unheard>",
         Parameter(name="a", type="string", required=False)),
        ("<input data-awas-param=a data-awas-param-required=TRUE>",
         Parameter(name="a", type="string", required=True)),
        ("<input data-awas-param=a data-awas-param-required=false required>",
         Parameter(name="a", type="string", required=False)),
        ("<label>Name <input data-awas-param=a></label>",
         Parameter(name="a", type="string", required=False, description="Name")),
        ("<label>no <input data-awas-param=a data-awas-param-description=yes></label>",
         Parameter(name="a", type="string", required=False, description="yes")),
        ("<input data-awas-param=a data-awas-description=yes aria-label=no>",
         Parameter(name="a", type="string", required=False, description="yes")),
        (("<input type=radio data-awas-param=a value=x><input type=radio data-awas-param=a"
         " value=y>"), Parameter(name="a", type="string", required=False, enum=("x", "y"))),
        ("<input type=checkbox data-awas-param=a>",
         Parameter(name="a", type="boolean", required=False)),
        ("<textarea data-awas-param=a></textarea>",
         Parameter(name="a", type="string", required=False)),
        ("<x-date data-awas-param=a></x-date>", Parameter(name="a")),
        (("<x-date data-awas-param=a data-awas-param-type=string "
         "data-awas-param-required=true></x-date>"),
         Parameter(name="a", type="string", required=True)),
    ],
    ids=range(13),
)  # fmt: skip
def test_attributes_of_a_parameter_go_before_what_its_control_is(
    control: str, parameter: Parameter
) -> None:
    (result,) = _action(f"<form data-awas-action=x>{control}</form>").parameters
    assert result == parameter


@pytest.mark.parametrize(
    ("html", "description"),
    [
        ("<button data-awas-action=x data-awas-description=a data-awas-context=b>", "a"),
        ("<button data-awas-action=x data-awas-context=a aria-label=b>", "a"),
        ("<button data-awas-action=x aria-label=a>b</button>", "a"),
        ("<button data-awas-action=x title=b> <b>a</b>\n c</button>", "a c"),
        ("<a href=/ data-awas-action=x>a &amp; b</a>", "a & b"),
        ("<a href=/ data-awas-action=x title=a><img></a>", "a"),
        (("<form data-awas-action=x><fieldset><legend>a</legend><input></fieldset>"
         "<button>b</button></form>"), "a"),
        ("<form data-awas-action=x><input><button>a</button></form>", "a"),
        ("<form data-awas-action=x><input type=submit value=a></form>", "a"),
        ("<form data-awas-context=a><input data-awas-action=x><button>b</button>", "a"),
        ("<form aria-label=a><button data-awas-action=x></button></form>", "a"),
        ("<span data-awas-action=x>no</span>", ""),
        ("<p data-awas-action=x></p><button data-awas-action=x>a</button>", "a"),
    ],
    ids=range(13),
)  # fmt: skip
def test_the_most_telling_text_describes_the_action(
    html: str, description: str
) -> None:
    assert _action(html).description == description


@pytest.mark.parametrize(
    ("html", "calls"),
    [
        ("<a href=/w?id=1 data-awas-action=x>", [("navigate", "", "/w?id=1")]),
        ("<a href=#top data-awas-action=x>", [("page", "", "")]),
        ("<a data-awas-action=x>", [("page", "", "")]),
        ("<a href=javascript:x() data-awas-action=x>", [("page", "", "")]),
        ("<form action=/f method=post data-awas-action=x>", [("form", "POST", "/f")]),
        ("<form data-awas-action=x>", [("form", "GET", "/index.html")]),
        ("<form data-awas-action=x data-awas-endpoint=/e>", [("http", "GET", "/e")]),
        (("<form action=/f data-awas-action=x data-awas-endpoint=/e "
         "data-awas-method=put>"), [("http", "PUT", "/e"), ("form", "GET", "/f")]),
        ("<button data-awas-action=x data-awas-endpoint=/e data-awas-method=DELETE>",
         [("http", "DELETE", "/e")]),
        ("<button data-awas-action=x>", [("page", "", "")]),
        ("<div data-awas-action=x>", [("page", "", "")]),
        ("<form action=/f><button data-awas-action=x>", [("form", "GET", "/f")]),
        ("<p data-awas-action=x><a href=/w data-awas-action=x>", [("navigate", "", "/w")]),
    ],
    ids=range(13),
)  # fmt: skip
def test_the_element_tells_how_to_call_the_action(
    html: str, calls: list[tuple[str, str, str]]
) -> None:
    result = _action(html).calls
    assert {item.format for item in result} == {"awas"}
    assert [
        (item.transport, item.method, item.target.removeprefix("https://books.example"))
        for item in result
    ] == calls
    assert all(bool(item.target) != bool(item.operation) for item in result)


@pytest.mark.parametrize(
    ("html", "rules"),
    [
        ("<p data-awas-action=x>", []),
        ("<p data-awas-action=x data-ai-action=y>", []),
        ("<p data-ai-action=x data-ai-endpoint=/x>", [("awas[x]", "prefix")]),
        ("<p DATA-AI-ACTION=x DATA-AI-INTENT=y>", [("awas[x]", "prefix")]),
        ("<form data-awas-action=x><input data-ai-param=a>", [("awas[x]", "prefix")]),
        ("<form data-awas-action=x><input data-ai-param=a data-awas-param=a>", []),
        ("<form data-ai-action=x><input data-ai-param=a>", [("awas[x]", "prefix")]),
    ],
    ids=range(7),
)
def test_the_prefix_of_the_reference_parser_is_read_and_reported(
    html: str, rules: list[tuple[str, str]]
) -> None:
    assert _action(html).name == "x"
    assert _rules(html) == rules


@pytest.mark.parametrize(
    "html",
    [
        "<p data-awas-action=''>",
        "<input data-awas-param=a>",
        "<div data-awas-result=x>",
        "<div data-awas-context=x>",
        "<button data-ai-action-trigger=x>",
        "<button data-ai-action=close>",
        "<form><input name=q><button data-ai-action=send></form>",
        "<p awas-action=x data-awas_action=y>",
        "<!-- <p data-awas-action=x> -->",
        "<template><p data-awas-action=x></template>",
        "<script>'<p data-awas-action=x>'</script>",
    ],
    ids=range(11),
)
def test_other_marks_are_no_actions(html: str) -> None:
    result = parse_page(html.encode(), url=URL)
    assert isinstance(result, Rejected)
    assert result.problem.code == "page_without_tools"


def test_actions_beyond_the_limit_are_left_out() -> None:
    html = "".join(f"<p data-awas-action=a{number}>" for number in range(501))
    assert len(_read(html).site.actions) == 500


@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        ("", "<a data-awas-action=a{} href=/x>x</a>", ""),
        ("", "<a data-awas-action=a href=/x>x</a>", ""),
        ("", "<div data-awas-action=a{}>x", "<input data-awas-param=p>"),
        ("<div data-awas-action=a>", "<div>", "</div>"),
        ("<div data-awas-action=a>", "<div></section>", ""),
        ("<div data-awas-action=a>", "<div><section></div>", ""),
        ("<form data-awas-action=a>", "<input data-awas-param=p{}>", ""),
        ("<form data-awas-action=a>", "<input data-awas-param=p>", ""),
        ("<form>", "<button data-awas-action=a{}>", "<input data-awas-param=p>" * 100),
        ("", "<input data-awas-param=p{} data-awas-action=a{}>", ""),
        ("", "<input data-awas-param=p{} data-awas-action=a>", ""),
        ("", "<button data-ai-action=a{}>x", ""),
    ],
    ids=range(12),
)
def test_hostile_pages_take_linear_time(before: str, unit: str, after: str) -> None:
    def read(times: int) -> None:
        middle = "".join(unit.replace("{}", str(number)) for number in range(times))
        page = (before + middle + after).encode()
        assert isinstance(parse_page(page, url=URL), Parsed | Rejected)

    assert_linear(read, 120)
