import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.detect import parse_page
from registry.formats.document import Document, Parsed, Rejected
from registry.sites.action import Action, Call, Parameter
from tests.unit.work import assert_linear

URL = "https://kiosk.example/index.html"
TOOL = 'toolname="find" tooldescription="Find a magazine"'
GIVEN = "toolparamdescription=given"
TWO = "<input type=radio name=a><input type=radio name=a>"


def _read(html: str) -> Document:
    result = parse_page(html.encode(), url=URL)
    assert isinstance(result, Parsed), result
    return result.document


def _rejection(html: str) -> str:
    result = parse_page(html.encode(), url=URL)
    assert isinstance(result, Rejected), result
    return result.problem.code


def _tool(controls: str, attributes: str = "") -> Action:
    (action,) = _read(f"<form {TOOL} {attributes}>{controls}</form>").site.actions
    return action


def _parameters(controls: str) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in _tool(controls).parameters}


def _rules(html: str) -> list[tuple[str, str]]:
    return [(deviation.pointer, deviation.rule) for deviation in _read(html).deviations]


# --- which forms are tools ------------------------------------------------------------


def test_a_described_form_is_a_tool() -> None:
    document = _read(
        f"""<!doctype html><html lang="de-AT"><head><title>Kiosk &amp; Co</title>
        <meta name="Description" content="Magazines"></head>
        <form {TOOL} action="/find" method="post"><input name="q" required></form>"""
    )
    (action,) = document.site.actions
    assert (document.format, document.dialect) == ("webmcp", "page")
    assert document.conformance == "strict"
    assert document.raw is None
    assert (document.site.name, document.site.description) == (
        "Kiosk & Co",
        "Magazines",
    )
    assert document.site.languages == ("de-AT",)
    assert action == Action(
        name="find",
        description="Find a magazine",
        parameters=(Parameter(name="q", type="string", required=True),),
        confirmation=True,
        calls=(
            Call(
                format="webmcp",
                transport="form",
                method="POST",
                target="https://kiosk.example/find",
                operation="find",
            ),
        ),
    )


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<title>Kiosk</title>",
        '<form toolname="find"><input name=q></form>',
        '<form toolname="" tooldescription="Find"></form>',
        '<form toolname=" " tooldescription="Find"></form>',
        '<form tooldescription="Find"></form>',
        '<div toolname="find" tooldescription="Find"></div>',
        '<Tool toolName="find" toolDescription="Find"></Tool>',
        '<form tool-name="find" tool-description="Find"></form>',
        f"<!-- <form {TOOL}></form> -->",
        f"<script>'<form {TOOL}>'</script>",
        f"<template><form {TOOL}></form></template>",
        f"<template><template></template><form {TOOL}></form></template>",
        f"<textarea><form {TOOL}></form></textarea>",
        f"<noscript><form {TOOL}></form></noscript>",
        f"<form><form {TOOL}></form></form>",
        f"<form {TOOL}",
        f"<plaintext><form {TOOL}></form>",
        f"<svg><![CDATA[ > <form {TOOL}></form> ]]></svg>",
        f"<svg><form {TOOL}></form></svg>",
        f"<script><!-- <script> </script> <form {TOOL}></form> --></script>",
        "<script>navigator.modelContext.registerTool({name:'a',description:'b'})",
        "\x00\ufffd<<<>>>",
    ],
    ids=range(23),
)
def test_other_pages_hold_no_tools(html: str) -> None:
    assert _rejection(html) == "page_without_tools"


@pytest.mark.parametrize(
    "html",
    [
        f"<form {TOOL}>",
        f"<FORM {TOOL.upper()}></FORM>",
        f"</template><form {TOOL}></form>",
        f"<form></form><form {TOOL}></form>",
        f"<form></form></form><form {TOOL}>",
        f"<svg><title><form {TOOL}></form></title></svg>",
        f"<button><svg><path></button><form {TOOL}></form>",
    ],
    ids=range(7),
)
def test_tools_are_found_in_untidy_pages(html: str) -> None:
    assert len(_read(html).site.actions) == 1


def test_the_first_of_two_tools_of_a_name_counts() -> None:
    html = (
        "<form toolname=a tooldescription=first></form>"
        "<form toolname=a tooldescription=second></form>"
    )
    (action,) = _read(html).site.actions
    assert action.description == "first"
    assert _rules(html) == [("form[a]", "duplicate")]


def test_one_attribute_alone_is_told_beside_a_whole_tool() -> None:
    html = f"<form toolname=x></form><form {TOOL}></form><form tool-name=y>"
    assert _rules(html) == [("form[x]", "required"), ("form", "spelling")]
    assert len(_read(html).site.actions) == 1


def test_a_page_of_too_many_tools_is_cut() -> None:
    document = _read(
        "".join(f"<form toolname=t{n} tooldescription=d></form>" for n in range(501))
    )
    assert len(document.site.actions) == 500
    assert [deviation.rule for deviation in document.deviations] == ["limit"]


def test_a_page_of_too_many_tags_is_cut() -> None:
    for tag in ("<label>", "<svg>", "<svg><p>"):
        html = f"<form {TOOL}></form>" + tag * 20_000 + "<form toolname=x>"
        assert _rules(html) == [("page", "limit")]


@pytest.mark.parametrize(
    ("spaces", "actions", "rules"),
    [(0, 2, []), (1, 1, [("page", "limit")]), (99_999, 1, [("page", "limit")])],
)
def test_of_a_long_page_the_beginning_is_read(
    spaces: int, actions: int, rules: list[tuple[str, str]]
) -> None:
    first, last = f"<form {TOOL}></form>", "<form toolname=b tooldescription=b>"
    room = 512 * 1024 - len(first + last) + spaces
    html = first + " " * room + last
    assert len(_read(html).site.actions) == actions
    assert _rules(html) == rules


# --- submission -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "confirmation", "rules"),
    [
        ("", True, []),
        ("toolautosubmit", False, []),
        ("toolautosubmit=''", False, []),
        ("toolautosubmit=true", False, []),
        ("toolautosubmit=false", False, ["autosubmit"]),
        ("TOOLAUTOSUBMIT='FALSE '", False, ["autosubmit"]),
        ("toolautosubmit=0", False, ["autosubmit"]),
    ],
)
def test_the_presence_of_toolautosubmit_decides(
    attributes: str, confirmation: bool, rules: list[str]
) -> None:
    html = f"<form {TOOL} {attributes}></form>"
    document = _read(html)
    assert document.site.actions[0].confirmation is confirmation
    assert [deviation.rule for deviation in document.deviations] == rules


def test_a_conflicting_autosubmit_is_repeated() -> None:
    (deviation,) = _read(f'<form {TOOL} toolautosubmit="No"></form>').deviations
    assert deviation.pointer == "form[find]"
    assert "'No'" in deviation.detail


@pytest.mark.parametrize(
    ("attributes", "controls", "method", "target"),
    [
        ("", "", "GET", URL),
        ("action=/x", "", "GET", "https://kiosk.example/x"),
        ("action=x method=POST", "", "POST", "https://kiosk.example/x"),
        ("method=put", "", "GET", URL),
        ("method=dialog action=/x", "", "", ""),
        ("action=/x", "<button formaction=/y>", "GET", "https://kiosk.example/y"),
        ("", "<button formmethod=post>", "POST", URL),
        ("", "<input type=image formaction=/y>", "GET", "https://kiosk.example/y"),
        ("", "<button type=button formaction=/y>", "GET", URL),
        ("", "<button disabled formaction=/y>", "GET", URL),
        ("", "<button>a</button><button formaction=/y>", "GET", URL),
    ],
    ids=range(11),
)
def test_a_form_is_sent_where_its_first_button_sends_it(
    attributes: str, controls: str, method: str, target: str
) -> None:
    (call,) = _tool(controls, attributes).calls
    assert (call.method, call.target) == (method, target)
    assert call.transport == ("form" if target else "page")
    assert call.operation == "find"


def test_a_dangerous_form_action_is_dropped() -> None:
    document = _read(f'<form {TOOL} action="javascript:x()"></form>')
    assert document.site.actions[0].calls[0].target == ""
    assert document.deviations[0].rule == "target"


def test_the_base_decides_where_a_form_goes() -> None:
    (action,) = _read(
        f'<base href="https://cdn.example/"><form {TOOL} action=find></form>'
    ).site.actions
    assert action.calls[0].target == "https://cdn.example/find"
    assert action.calls[0].off_origin


# --- parameters -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("control", "kind", "required"),
    [
        ("<input name=a>", "string", False),
        ("<input name=a required>", "string", True),
        ("<input name=a type=TEXT>", "string", False),
        ("<input name=a type=unheard-of>", "string", False),
        ("<input name=a type=email required=''>", "string", True),
        ("<input name=a type=date>", "string", False),
        ("<input name=a type=datetime-local>", "string", False),
        ("<input name=a type=url>", "string", False),
        ("<input name=a type=color required>", "string", True),
        ("<input name=a type=password>", "string", False),
        ("<input name=a type=number required>", "number", True),
        ("<input name=a type=range required>", "number", True),
        ("<input name=a type=checkbox>", "boolean", False),
        ("<input name=a type=checkbox required>", "boolean", True),
        ("<input name=a type=hidden toolparamdescription=b>", "string", False),
        ("<input name=a type=' checkbox '>", "string", False),
        ("<input name=a type=checkbox readonly>", "boolean", False),
        ("<select name=a readonly></select>", "string", False),
        ("<textarea name=a required></textarea>", "string", True),
        ("<select name=a required></select>", "string", True),
        ("<select name=a multiple></select>", "array", False),
    ],
    ids=range(21),
)
def test_a_control_is_a_parameter_of_its_type(
    control: str, kind: str, required: bool
) -> None:
    (parameter,) = _tool(control).parameters
    assert (parameter.name, parameter.type) == ("a", kind)
    assert parameter.required is required


@pytest.mark.parametrize(
    "control",
    [
        "<input>",
        "<input name>",
        "<input name=a disabled>",
        "<input name=a readonly>",
        "<textarea name=a readonly></textarea>",
        "<select name=a disabled><option>x</select>",
        "<input name=a type=hidden>",
        "<input name=a type=hidden toolparamtitle=b>",
        "<input name=a type=file>",
        "<input name=a type=submit>",
        "<input name=a type=image>",
        "<input name=a type=reset>",
        "<input name=a type=button>",
        "<button name=a>x</button>",
        "<output name=a></output>",
        "<fieldset disabled><input name=a></fieldset>",
        "<fieldset disabled><fieldset><input name=a></fieldset></fieldset>",
        "<fieldset disabled><legend>x</legend><input name=a></fieldset>",
        "<fieldset disabled><legend></legend><legend><input name=a></legend></fieldset>",
        "<template><input name=a></template>",
        "<!-- <input name=a> -->",
        "<input name=a form=elsewhere>",
        "<input name=a form>",
        "<x-input name=a></x-input>",
    ],
    ids=range(24),
)
def test_what_an_agent_cannot_fill_in_is_no_parameter(control: str) -> None:
    assert _tool(control).parameters == ()


@pytest.mark.parametrize(
    "control",
    [
        "<fieldset disabled></fieldset><input name=a>",
        "<fieldset disabled><legend><input name=a></legend></fieldset>",
        "<fieldset disabled><legend></fieldset><input name=a>",
        "</fieldset><input name=a>",
        "<div><table><tr><td><input name=a></table>",
        "<select><option>x<input name=a>",
        "<select name=b></select><input name=a>",
        "<select><form></form><input name=a>",
        "<select><fieldset disabled><input name=a>",
        "<xmp><fieldset disabled></xmp><input name=a>",
    ],
    ids=range(10),
)
def test_controls_in_untidy_forms_are_parameters(control: str) -> None:
    assert "a" in _parameters(control)


@pytest.mark.parametrize(
    ("controls", "names"),
    [
        ("<input name=a><input name=a><input name=b>", ["b"]),
        ("<input name=a><textarea name=a></textarea>", []),
        ("<input type=hidden name=a value=0><input type=checkbox name=a>", []),
        ("<input type=radio name=a><input name=a>", []),
        ("<input type=radio name=a><input type=checkbox name=a>", []),
        ("<input name=a disabled><input name=a>", ["a"]),
        ("<input name=a readonly><input name=a>", ["a"]),
    ],
    ids=range(7),
)
def test_a_name_of_several_controls_is_left_out(
    controls: str, names: list[str]
) -> None:
    html = f"<form {TOOL}>{controls}</form>"
    (action,) = _read(html).site.actions
    assert [parameter.name for parameter in action.parameters] == names
    is_told = ("form[find]", "duplicate") in _rules(html)
    assert is_told == ("a" not in names)


def test_buttons_of_one_name_are_no_fault() -> None:
    html = f"<form {TOOL}><button name=a>x</button><button name=a>y</button></form>"
    assert _rules(html) == []


def test_buttons_of_a_name_make_one_choice() -> None:
    result = _parameters(
        """<input type=radio name=r value=a><input type=radio name=r value=b required>
        <input type=radio name=r value=c disabled><input type=radio name=r value=a>
        <input type=radio name=one>
        <input type=checkbox name=c value=x><input type=checkbox name=c value=y>"""
    )
    assert result == {
        "r": Parameter(name="r", type="string", required=True, enum=("a", "b")),
        "one": Parameter(name="one", type="string", required=False, enum=("on",)),
        "c": Parameter(name="c", type="array", required=False, enum=("x", "y")),
    }


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        ("<option value=x>X<option>Y &amp; Z<option> two \n words", ["x", "Y & Z", "two words"]),
        ('<option value="">-<option>a</option>', ["a"]),
        ("<option disabled>a<option disabled value=b>c<option>d", ["d"]),
        ("<optgroup disabled><option>a</optgroup><option>b", ["b"]),
        ("<optgroup disabled><option>a<optgroup><option>b", ["b"]),
        ("<optgroup label=x><option>a</optgroup><optgroup><option>b", ["a", "b"]),
        ("<option>a<option>a", ["a"]),
        ("<option><b>a</b>c<!-- d --></option>", ["ac"]),
        ("<option>a<hr><option>b", ["a", "b"]),
        ("<template><option>a</template><option>b", ["b"]),
        ("", []),
    ],
    ids=range(11),
)  # fmt: skip
def test_choices_are_the_options_that_can_be_chosen(
    options: str, choices: list[str]
) -> None:
    (parameter,) = _tool(f"<select name=s>{options}</select><option>no").parameters
    assert parameter.enum == tuple(choices)


@pytest.mark.parametrize(
    ("controls", "description"),
    [
        ("<label for=x>Title of it</label><input id=x name=a>", "Title of it"),
        ("<input id=x name=a><label for=x>After</label>", "After"),
        ("<label for=x>One</label><label for=x>Two</label><input id=x name=a>", "One; Two"),
        ("<label>Author <input name=a></label>", "Author"),
        ("<label>Author <input name=a> of it</label>", "Author of it"),
        ("<label>Author <input name=a>", "Author"),
        ("<label>Size <select name=a><option>XL</select> (EU)</label>", "Size (EU)"),
        ("<label>Text <textarea name=a>no</textarea><button>no</button></label>", "Text"),
        ("<label><i>A &amp; <b>B</b></i> <input name=a></label>", "A & B"),
        ("<label>no<input type=hidden name=h>, yes<input name=a></label>", "no, yes"),
        ("<label>no<button>x</button><input name=a></label>", ""),
        ("<label>no</label><input name=a>", ""),
        ("<label for=y>no<input name=a></label>", ""),
        ("<label for=''>no<input name=a></label>", ""),
        ("<input id=x><label for=x>no</label><input id=x name=a>", ""),
        ("<template><label for=x>no</label></template><input id=x name=a>", ""),
        ("<label>no<input name=a toolparamdescription='Its colour'></label>", "Its colour"),
        ("<label>yes<input name=a aria-description=no></label>", "yes"),
        ("<input name=a aria-description=Year toolparamtitle=no>", "Year"),
        ("<input name=a toolparamtitle=Year aria-label=no>", "Year"),
        ("<input name=a aria-label=Year>", "Year"),
        ("<input name=a placeholder=no title=no>", ""),
        ("<label><input type=checkbox name=a> I agree</label>", "I agree"),
    ],
    ids=range(23),
)  # fmt: skip
def test_a_parameter_is_described_by_its_attribute_or_its_labels(
    controls: str, description: str
) -> None:
    assert _parameters(controls)["a"].description == description


@pytest.mark.parametrize(
    ("controls", "description"),
    [
        ("<label><input type=radio name=a value=s>Small</label><input type=radio name=a>", ""),
        ("<label><input type=radio name=a value=s>Small</label>", "Small"),
        ("<input type=radio name=a toolparamdescription=no><input type=radio name=a>", ""),
        ("<input type=radio name=a toolparamtitle=x>", "x"),
        ("<fieldset><legend>Size</legend><input type=radio name=a><input type=radio name=a>",
         "Size"),
        ("<fieldset><legend>Size<input type=radio name=a><input type=radio name=a>", "Size"),
        ("<fieldset><legend>x</legend><input type=radio name=a></fieldset>", ""),
        (("<fieldset><legend>no</legend></fieldset><input type=radio name=a>"
         "<input type=radio name=a>"), ""),
        (("<fieldset><legend>x</legend><input type=checkbox name=a>"
         "<input type=checkbox name=a></fieldset>"), "x"),
        (f"<fieldset {GIVEN}><legend>no</legend>{TWO}</fieldset>", "given"),
        (f"<fieldset {GIVEN}><p><input type=radio name=a></p><p><input type=radio name=a>",
         "given"),
        (f"<fieldset toolparamdescription=no><fieldset {GIVEN}>{TWO}", "given"),
        (f"<fieldset toolparamdescription=no><fieldset>{TWO}", ""),
        ((f"<fieldset {GIVEN}><fieldset toolparamdescription=no><input type=radio name=a>"
          "</fieldset><input type=radio name=a></fieldset>"), "given"),
        ("<fieldset toolparamdescription=no><input type=radio name=a></fieldset>" * 2, ""),
        ("<fieldset><legend>no</legend><input type=radio name=a></fieldset>" * 2, ""),
        ("<fieldset toolparamdescription=no><input name=a></fieldset>", ""),
        (f"<fieldset toolparamdescription=no><input name=a {GIVEN}></fieldset>", "given"),
        (f"<fieldset {GIVEN}><input type=checkbox name=a><input type=checkbox name=a>", "given"),
        ("<input type=radio name=a toolparamtitle=no><input type=radio name=a>", ""),
        ("<fieldset toolparamdescription=no>" * 30 + TWO[:25]
         + "</fieldset>" * 29 + TWO[25:], ""),
    ],
    ids=range(21),
)  # fmt: skip
def test_a_group_is_described_by_the_fieldset_around_it(
    controls: str, description: str
) -> None:
    assert _parameters(controls)["a"].description == description


def test_a_fieldset_around_the_form_describes_nothing_in_it() -> None:
    html = f"<fieldset {GIVEN}><form {TOOL}>{TWO}</form></fieldset>"
    (action,) = _read(html).site.actions
    assert action.parameters[0].description == ""


def test_a_description_on_a_button_of_several_is_reported() -> None:
    controls = (
        "<input type=radio name=a toolparamdescription=x><input type=radio name=a>"
    )
    assert _rules(f"<form {TOOL}>{controls}</form>") == [("form[find]", "group")]


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("find.a-Magazine_2", []),
        ("x" * 128, []),
        ("x" * 129, ["name"]),
        ("bad name!", ["name"]),
        ("größe", ["name"]),
    ],
    ids=range(5),
)
def test_a_name_that_browsers_refuse_is_reported(name: str, rules: list[str]) -> None:
    html = f'<form toolname="{name}" tooldescription=x></form>'
    assert [rule for _, rule in _rules(html)] == rules


def test_controls_elsewhere_join_by_the_forms_id_in_the_order_of_the_page() -> None:
    (action,) = _read(
        f"""<input name=early form=f><form id=f {TOOL}><input name=own>
        <input name=foreign form=other></form><input name=loose><input name=late form=f>
        <form id=f {TOOL.replace("find", "twin")}></form>"""
    ).site.actions[:1]
    assert [p.name for p in action.parameters] == ["early", "own", "late"]


def test_a_form_within_a_form_is_none_and_ends_it() -> None:
    (action,) = _read(
        f"""<form {TOOL}><input name=a><form {TOOL} id=b><input name=c></form>
        <input name=d></form><input name=e form=b>"""
    ).site.actions
    assert [p.name for p in action.parameters] == ["a", "c"]


def test_names_of_object_members_are_harmless() -> None:
    names = ["__proto__", "constructor", "toString", "hasOwnProperty", "a[b]", "\u00e4"]
    controls = "".join(f'<input name="{name}">' for name in names)
    assert list(_parameters(controls)) == names


def test_texts_are_cleaned_and_cut() -> None:
    action = _tool(
        f"<input name='a\u202eb' toolparamdescription='{'x' * 5_000}'>"
        f"<input name={'n' * 300}>"
    )
    first, second = action.parameters
    assert first.name == "a b"
    assert len(first.description) == 4_000
    assert len(second.name) == 200


def test_a_tool_of_too_many_parameters_is_cut() -> None:
    html = f"<form {TOOL}>{''.join(f'<input name=a{n}>' for n in range(101))}</form>"
    (action,) = _read(html).site.actions
    assert len(action.parameters) == 100
    assert _rules(html) == [("form[find]", "limit")]


# --- a page of several kinds ----------------------------------------------------------


def test_an_action_declared_in_every_way_is_one_with_all_calls() -> None:
    document = _read(
        """<form toolname=search-books tooldescription="Search the books" action=/s
          data-awas-action=searchBooks><input name=q data-awas-param=query></form>
        <script>navigator.modelContext.registerTool({name: "search_books",
          description: "Find", annotations: {readOnlyHint: true}})</script>
        <a href=/all data-awas-action=list>All books</a>"""
    )
    entry, other = document.site.actions
    assert document.format == "webmcp"
    assert document.conformance == "strict"
    assert (entry.name, entry.description) == ("search-books", "Search the books")
    assert (entry.sensitivity, entry.confirmation) == ("read", True)
    assert [parameter.name for parameter in entry.parameters] == ["q"]
    assert [(call.format, call.transport) for call in entry.calls] == [
        ("webmcp", "form"),
        ("webmcp", "page"),
        ("awas", "form"),
    ]
    assert other.name == "list"


def test_what_one_declaration_leaves_open_the_next_fills_in() -> None:
    (action,) = _read(
        """<script>navigator.modelContext.registerTool({name: "find",
          description: compose()})</script>
        <form data-awas-action=find aria-label="Find a book">
          <input data-awas-param=q></form>"""
    ).site.actions
    assert action.description == "Find a book"
    assert [parameter.name for parameter in action.parameters] == ["q"]
    assert action.confirmation is None


# --- hostile pages --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        ("", "<div>", ""),
        ("", "<form></form>", ""),
        ("", "<form toolname=t{} tooldescription=d></form>", ""),
        ("", f"<form {TOOL}></form>", ""),
        ("", "<form toolname=t{}></form>", ""),
        (f"<form {TOOL}>", "<fieldset disabled>", "<input name=a>" * 100),
        (f"<form {TOOL}>", "<fieldset><legend>x<input type=radio name=r{}>", ""),
        (f"<form {TOOL}>", "<fieldset><input type=radio name=r{}><input type=radio name=r{}>", ""),
        (f"<form {TOOL}>", "<input name=a>", ""),
        (f"<form {TOOL}>", "<input name=a{}>", ""),
        (f"<form id=f {TOOL}></form>", "<input name=a{} form=f>", ""),
        (f"<form {TOOL}>", "<input type=radio name=r value={}>", ""),
        (f"<form {TOOL}>", "<input type=checkbox name=c value={}>", ""),
        (f"<form {TOOL}>", "<label>x<input name=a>", ""),
        (f"<form {TOOL}>", "<label for=i{}>x</label><input id=i{} name=a{}>", ""),
        (f"<form {TOOL}>", "<label for=i>x</label>", "<input id=i name=a>" * 100),
        (f"<form {TOOL}><select name=s>", "<option>x", ""),
        (f"<form {TOOL}>", "<select name=s{}><option>x</select>", ""),
        (f"<form {TOOL}>", "<template>", ""),
        (f"<form {TOOL}>", "<!--", ""),
    ],
    ids=range(20),
)  # fmt: skip
def test_hostile_pages_take_linear_time(before: str, unit: str, after: str) -> None:
    def read(times: int) -> None:
        middle = "".join(unit.replace("{}", str(number)) for number in range(times))
        page = (before + middle + after).encode()
        assert isinstance(parse_page(page, url=URL), Parsed | Rejected)

    read(5_000)
    assert_linear(read, 300)


_pieces = st.sampled_from(
    [
        "<", ">", "/", "=", '"', "'", " ", "&", "&#x", "&amp;", "<!--", "-->", "a", "\x00",
        "<form ", f"<form {TOOL}>", "</form>", "<input name=", "<select>", "</select>",
        "<option>", "<label>", "</label>", "<script>", "</script", "<template>", "<title>",
        "form=f", "type=radio", "\u20ac", "<fieldset>", "<legend>", "<optgroup disabled>",
        "<label for=a>", "id=a", "<textarea>", "<button>", "<div data-awas-action=a>",
        "</div>", "data-ai-action=b", "data-awas-param=c", "<a href=x ",
        "<svg>", "</svg>", "<svg/>", "<desc>", "<![CDATA[", "]]>", "<math>", "</p>",
        "navigator.modelContext", ".registerTool(", "{name: 'a', description: 'b'", "})",
    ]
)  # fmt: skip


@given(st.lists(_pieces, max_size=25))
def test_any_markup_is_parsed_or_rejected(pieces: list[str]) -> None:
    body = "".join(pieces).encode()
    assert isinstance(parse_page(body, url=URL), Parsed | Rejected)


@given(st.binary(max_size=200))
def test_any_bytes_are_parsed_or_rejected(body: bytes) -> None:
    html = f"<form {TOOL}>".encode()
    assert isinstance(parse_page(body, url=URL), Parsed | Rejected)
    assert isinstance(parse_page(html + body, url=URL), Parsed)
