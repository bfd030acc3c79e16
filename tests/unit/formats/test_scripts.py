import pytest

from registry.formats.detect import parse_page
from registry.formats.document import Document, Parsed, Rejected
from registry.sites.action import Action, Call, Parameter
from tests.unit.work import assert_linear

URL = "https://kiosk.example/index.html"
LITERAL = "{name: 'find', description: 'Find a magazine'}"


def _read(script: str, attributes: str = "") -> Document:
    html = f"<script {attributes}>{script}</script>"
    result = parse_page(html.encode(), url=URL)
    assert isinstance(result, Parsed), result
    return result.document


def _is_empty(html: str) -> bool:
    result = parse_page(html.encode(), url=URL)
    return isinstance(result, Rejected) and result.problem.code == "page_without_tools"


def _names(script: str) -> list[str]:
    return [action.name for action in _read(script).site.actions]


def _rules(script: str) -> list[tuple[str, str]]:
    return [
        (deviation.pointer, deviation.rule) for deviation in _read(script).deviations
    ]


PARTIAL = [("script", "imperative")]


def test_a_tool_that_is_written_out_is_an_action() -> None:
    document = _read(
        """
        // Registers the one tool of this page.
        navigator.modelContext.registerTool({
          name: "find",
          description: `Find a magazine`,
          inputSchema: {
            type: "object",
            properties: {
              q: {type: "string", description: "What to " + 'look for'},
              'kind': {type: "string", enum: ["daily", "weekly"]},
              __proto__: {type: "number"},
            },
            required: ["q"],
          },
          annotations: {readOnlyHint: true},
          async execute({q}, client) {
            return {content: [{type: "text", text: `${q}: ${await f(`}`)}`}]};
          },
        }, {signal: controller.signal});
        """
    )
    assert (document.format, document.dialect) == ("webmcp", "page")
    assert document.conformance == "strict"
    assert document.site.actions == (
        Action(
            name="find",
            description="Find a magazine",
            parameters=(
                Parameter(
                    name="q",
                    type="string",
                    required=True,
                    description="What to look for",
                ),
                Parameter(
                    name="kind",
                    type="string",
                    required=False,
                    enum=("daily", "weekly"),
                ),
                Parameter(name="__proto__", type="number", required=False),
            ),
            sensitivity="read",
            calls=(Call(format="webmcp", transport="page", operation="find"),),
        ),
    )


@pytest.mark.parametrize(
    "script",
    [
        f"navigator.modelContext.registerTool({LITERAL})",
        f"document.modelContext.registerTool({LITERAL});",
        f"window.navigator.modelContext.registerTool({LITERAL})",
        f"navigator?.modelContext?.registerTool?.({LITERAL})",
        f"await self.navigator.modelContext.registerTool({LITERAL}, options)",
        f"navigator . modelContext /* c */ . registerTool ( {LITERAL} )",
        f"navigator.modelContext.provideContext({{tools: [{LITERAL}]}})",
        f"navigator.modelContext.provideContext({{a, 'tools': [{LITERAL},], b() {{}}}})",
        f"const mc = navigator.modelContext; mc.registerTool({LITERAL})",
        (
            f"var mc = window.navigator?.modelContext || document.modelContext\n"
            f"if (mc) mc.registerTool({LITERAL})"
        ),
        f"let mc; mc = document.modelContext; mc?.provideContext({{tools: [{LITERAL}]}})",
        f"const {{modelContext}} = navigator; modelContext.registerTool({LITERAL})",
        f"this.context = navigator.modelContext; this.context.registerTool({LITERAL})",
        f"const tool = {LITERAL}\nnavigator.modelContext.registerTool(tool)",
        (
            f"function f() {{ navigator.modelContext.registerTool(tool) }}\n"
            f"const tool = {LITERAL}; f()"
        ),
        f"const a = {LITERAL}; navigator.modelContext.provideContext({{tools: [a]}})",
        f"const tools = [{LITERAL}]; navigator.modelContext.provideContext({{tools}})",
        f"const c = {{tools: [{LITERAL}]}}; navigator.modelContext.provideContext(c)",
        (
            f"for (const t of [1]) 0; const all = [{LITERAL}];"
            "for (const t of all) navigator.modelContext.registerTool(t)"
        ),
        (
            f"const all = [{LITERAL}];"
            "all.forEach((t) => navigator.modelContext.registerTool(t))"
        ),
        (
            "const NAME = 'find', description = 'Find a magazine';"
            "navigator.modelContext.registerTool({name: NAME, description})"
        ),
        (
            f"if ('modelContext' in navigator) {{ navigator.modelContext.registerTool({LITERAL})"
            " } else { console.log(`no ${'modelContext'}`) }"
        ),
        f"const re = /[/'\"`]/; navigator.modelContext.registerTool({LITERAL})",
        (
            "const api = {init() { const tool = "
            f"{LITERAL}; navigator.modelContext.registerTool(tool) }}}}"
        ),
        (
            'navigator.modelContext.registerTool({name:"find",description:"Find a magazine",'
            "execute:async e=>({content:[]}),annotations:{}})"
        ),
    ],
    ids=range(25),
)
def test_the_tool_is_read_however_it_is_registered(script: str) -> None:
    document = _read(script)
    (action,) = document.site.actions
    assert (action.name, action.description) == ("find", "Find a magazine")
    assert document.deviations == ()


@pytest.mark.parametrize(
    "script",
    [
        "navigator.modelContext.registerTool(makeTool())",
        "navigator.modelContext.registerTool(tool)",
        "navigator.modelContext.registerTool({...base, execute})",
        "navigator.modelContext.registerTool({name: prefix + 'find', description: 'x'})",
        "navigator.modelContext.registerTool({name: `${a}find`, description: 'x'})",
        "navigator.modelContext.registerTool(cond ? a : b)",
        "navigator.modelContext.registerTool({name: 'find'",
        "navigator.modelContext.registerTool(5)",
        "navigator.modelContext.registerTool({name: 5, description: 'x'})",
        "navigator.modelContext.provideContext({tools: makeTools()})",
        "navigator.modelContext.provideContext({tools: [makeTool()]})",
        "navigator.modelContext.provideContext(context)",
        f"navigator['modelContext'].registerTool({LITERAL})",
        f"getContext(navigator.modelContext).registerTool({LITERAL})",
        f"this.a().b = navigator.modelContext; this.c().registerTool({LITERAL})",
        f"const {{registerTool}} = navigator.modelContext; registerTool({LITERAL})",
        f"const t = {LITERAL}; const add = (t) => navigator.modelContext.registerTool(t)",
        (
            f"const add = (t) => {{ navigator.modelContext.registerTool(t) }};"
            f"const t = {LITERAL}"
        ),
        "tools.map((t) => navigator.modelContext.registerTool(t))",
        "function registerTool(t) { return navigator.modelContext.registerTool(t) }",
    ],
    ids=range(20),
)
def test_what_is_composed_at_run_time_is_reported_not_listed(script: str) -> None:
    document = _read(script)
    assert document.site.actions == ()
    assert document.conformance == "tolerated"
    assert _rules(script) == PARTIAL


@pytest.mark.parametrize(
    "script",
    [
        "",
        f"// navigator.modelContext.registerTool({LITERAL})",
        f"/* navigator.modelContext.registerTool({LITERAL}) */",
        f'const help = "navigator.modelContext.registerTool({LITERAL})"',
        f"const help = `navigator.modelContext.registerTool({LITERAL})`",
        "if (navigator.modelContext?.registerTool) console.log(1)",
        f"server.registerTool({LITERAL}) // no modelContext",
        "navigator.modelContext = {registerTool(tool) { tools.push(tool) }}",
        "navigator.modelContext.provideContext({tools: []})",
        "navigator.modelContext.provideContext()",
        "navigator.modelContext.registerTool(",
        "navigator.modelContext.provideContext({})",
        "navigator.modelContext.registerTool({name: 'find'})",
        "navigator.modelContext.registerTool({name: 'find', description: ''})",
        "modelContextual.registerTool",
    ],
    ids=range(15),
)
def test_scripts_that_register_nothing_hold_no_tools(script: str) -> None:
    assert _is_empty(f"<script>{script}</script>")


@pytest.mark.parametrize(
    ("attributes", "is_read"),
    [
        ("", True),
        ("type=module", True),
        ("type=text/javascript", True),
        ('type=" Application/JavaScript "', True),
        ("type=''", True),
        ("async defer", True),
        ("type=application/json", False),
        ("type=application/ld+json", False),
        ("type=text/babel", False),
        ("type=speculationrules", False),
        ("src=/tools.js", False),
        ("nomodule", False),
    ],
)
def test_only_scripts_that_browsers_run_count(attributes: str, is_read: bool) -> None:
    html = (
        f"<script {attributes}>navigator.modelContext.registerTool({LITERAL})</script>"
    )
    assert _is_empty(html) is not is_read


@pytest.mark.parametrize("around", ["<template>{}</template>", "<!-- {} -->"])
def test_scripts_in_templates_and_comments_do_not_count(around: str) -> None:
    script = f"<script>navigator.modelContext.registerTool({LITERAL})</script>"
    assert _is_empty(around.replace("{}", script))


def test_a_readable_tool_stands_beside_one_that_is_not() -> None:
    script = (
        f"navigator.modelContext.registerTool({LITERAL});"
        "navigator.modelContext.registerTool(other)"
    )
    assert _names(script) == ["find"]
    assert _rules(script) == PARTIAL


@pytest.mark.parametrize(
    ("members", "rules"),
    [
        ("name: 'a', description: t('x')", [("script[a]/description", "imperative")]),
        (
            "name: 'a', description: 'b', inputSchema: zod(schema)",
            [("script[a]/inputSchema", "imperative")],
        ),
        ("name: 'a b', description: 'x'", [("script[a b]", "name")]),
        (f"name: '{'a' * 129}', description: 'x'", [(f"script[{'a' * 80}]", "name")]),
        ("name: 'a', description: 5", [("script[a]/description", "type")]),
        ("name: 'a', description: 'b', inputSchema: {}", []),
    ],
    ids=range(6),
)
def test_parts_that_cannot_be_read_are_reported(
    members: str, rules: list[tuple[str, str]]
) -> None:
    script = f"navigator.modelContext.registerTool({{{members}}})"
    assert len(_names(script)) == 1
    assert _rules(script) == rules


@pytest.mark.parametrize(
    ("annotations", "sensitivity"),
    [
        ("{readOnlyHint: true}", "read"),
        ("{readOnlyHint: !0}", "read"),
        ("{readOnlyHint: false}", "write"),
        ("{destructiveHint: true}", "destructive"),
        ("{destructiveHint: true, readOnlyHint: true}", "destructive"),
        ("{destructiveHint: false}", None),
        ("hints()", None),
        ("{}", None),
    ],
)
def test_hints_tell_the_sensitivity(annotations: str, sensitivity: str | None) -> None:
    (action,) = _read(
        "navigator.modelContext.registerTool({name: 'a', description: 'b', "
        f"annotations: {annotations}}})"
    ).site.actions
    assert action.sensitivity == sensitivity


def test_the_last_binding_before_the_call_counts() -> None:
    script = """
      function a() { const tool = {name: 'a', description: 'A'};
        navigator.modelContext.registerTool(tool) }
      function b() { const tool = {name: 'b', description: 'B'};
        navigator.modelContext.registerTool(tool) }"""
    assert _names(script) == ["a", "b"]


def test_a_tool_that_is_registered_twice_is_one() -> None:
    script = f"navigator.modelContext.registerTool({LITERAL});" * 2
    assert _names(script) == ["find"]
    assert _rules(script) == [("script[find]", "duplicate")]


def test_a_script_too_long_to_be_looked_at_is_reported() -> None:
    script = f"navigator.modelContext.registerTool({LITERAL});" + "x;" * 20_000
    assert _names(script) == ["find"]
    assert _rules(script) == PARTIAL


def test_too_many_scripts_are_reported() -> None:
    item = "<script>navigator.modelContext.registerTool({name:'t0',description:'d'})"
    html = "".join(item.replace("t0", f"t{n}") + "</script>" for n in range(101))
    result = parse_page(html.encode(), url=URL)
    assert isinstance(result, Parsed)
    assert len(result.document.site.actions) == 100
    assert [deviation.rule for deviation in result.document.deviations] == [
        "imperative"
    ]


def test_tools_beyond_the_limit_are_left_out() -> None:
    call = "navigator.modelContext.registerTool({name:'t0',description:'d'});"
    script = "".join(call.replace("t0", f"t{n}") for n in range(501))
    assert len(_names(script)) == 500


@pytest.mark.parametrize(
    "unit",
    [
        "navigator.modelContext.registerTool({name:'a{}',description:'b'});",
        "navigator.modelContext.registerTool(",
        "navigator.modelContext.registerTool({name:'a'",
        "navigator.modelContext.registerTool({execute(){",
        "navigator.modelContext.provideContext({tools:[",
        "a=navigator.modelContext;",
        "modelContext.",
        "modelContext?.registerTool?.(modelContext)",
        "const t={name:'a',description:'b'};for(const u of [t])",
    ],
    ids=range(9),
)
def test_hostile_scripts_take_linear_time(unit: str) -> None:
    def read(times: int) -> None:
        middle = "".join(unit.replace("{}", str(number)) for number in range(times))
        page = f"<script>modelContext;registerTool;{middle}</script>".encode()
        assert isinstance(parse_page(page, url=URL), Parsed | Rejected)

    assert_linear(read, 100)
