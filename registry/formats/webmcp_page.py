"""WebMCP tools that an HTML page declares: forms with toolname and tooldescription.

Follows Chromium's reading of the declarative API: disabled and readonly controls are no
parameters, hidden ones only if described; the first control of a name counts; controls
elsewhere in the page join a form by their `form` attribute. `toolautosubmit` is a boolean
attribute: `toolautosubmit="false"` submits.

Tools that scripts register are only reported: whether and how they appear is for the
running page to say.
"""

from dataclasses import replace

from registry.errors import Refused, TooLarge
from registry.formats import refusals
from registry.formats.actions import gather
from registry.formats.claims import read_languages
from registry.formats.document import (
    MAX_BODY_BYTES,
    MAX_PARAMETERS,
    MAX_TEXT_CHARACTERS,
    Document,
)
from registry.formats.markup import decode_page
from registry.formats.page import Control, Form, Page
from registry.formats.reader import Ledger, Reader, clean_text
from registry.formats.targets import resolve_target
from registry.sites.action import Action, Call, Parameter
from registry.sites.site import Site
from registry.strict_json import JSON_TOO_LARGE

_NOT_FILLABLE = frozenset({"submit", "reset", "button", "image", "file"})
_TYPES = {"checkbox": "boolean", "number": "number", "range": "number"}


def read_page(body: bytes, ledger: Ledger) -> Document:
    """Raises: Refused (page_without_tools); TooLarge (json_too_large)."""
    if len(body) > MAX_BODY_BYTES:
        raise TooLarge(JSON_TOO_LARGE, f"the page has {len(body)} bytes")
    page = Page(decode_page(body))
    _report(page, ledger)
    tools = [form for form in page.forms if _is_tool(form, ledger)]
    if not tools and not page.has_imperative:
        raise Refused(refusals.PAGE_WITHOUT_TOOLS)
    base = resolve_target(page.base, base=ledger.url) or ledger.url
    return ledger.conclude(
        format="webmcp",
        dialect="page",
        version="",
        site=Site(
            name=_cut(page.title),
            description=_cut(page.description),
            languages=read_languages(
                Reader({"lang": page.language or None}, "html", ledger), "lang"
            ),
            actions=gather(
                (_at(form, ledger), _read_tool(form, page, base, ledger))
                for form in tools
            ),
        ),
        raw=None,
    )


def _report(page: Page, ledger: Ledger) -> None:
    if page.has_imperative:
        ledger.note(
            "script",
            "imperative",
            "scripts register tools, which cannot be read without running the page",
            "Declare them as forms too, or list them in a manifest.",
        )
    if page.has_misspelt:
        ledger.note(
            "form",
            "spelling",
            "tool-name is honoured by no browser",
            "Write toolname and tooldescription.",
        )


def _cut(text: str) -> str:
    return clean_text(text)[:MAX_TEXT_CHARACTERS]


def _at(form: Form, ledger: Ledger) -> Reader:
    """A place in the page that deviations of this form are noted at."""
    return Reader(None, f"form[{form.attributes.get('toolname', '')[:80]}]", ledger)


def _is_tool(form: Form, ledger: Ledger) -> bool:
    """Both attributes are needed; one alone is worth a word to the author."""
    has_name = bool(form.attributes.get("toolname", "").strip())
    has_description = bool(form.attributes.get("tooldescription", "").strip())
    if has_name != has_description:
        missing = "tooldescription" if has_name else "toolname"
        _at(form, ledger).note(
            "required", f"{missing} is missing; the form is no tool", f"Add {missing}."
        )
    return has_name and has_description


def _read_tool(form: Form, page: Page, base: str, ledger: Ledger) -> Action:
    _check_autosubmit(form, ledger)
    name = _cut(form.attributes["toolname"])
    return Action(
        name=name,
        description=_cut(form.attributes["tooldescription"]),
        parameters=_read_parameters(form, page),
        calls=(_read_call(form, name, base, ledger),),
    )


def _check_autosubmit(form: Form, ledger: Ledger) -> None:
    value = form.attributes.get("toolautosubmit", "")
    if value.strip().lower() in ("false", "0", "no", "off"):
        _at(form, ledger).note(
            "autosubmit",
            f"toolautosubmit={value[:20]!a} submits: its presence decides",
            "Remove the attribute if a person shall submit.",
        )


def _read_call(form: Form, name: str, base: str, ledger: Ledger) -> Call:
    place = _at(form, ledger)
    action = form.attributes.get("action", "").strip()
    method = form.attributes.get("method", "get").strip().upper()
    if method == "DIALOG":
        return place.call("webmcp", "page", operation=name)
    url = place.resolve(action, names=("action",), base=base) if action else ledger.url
    if url is None:
        return place.call("webmcp", "page", operation=name)
    method = "POST" if method == "POST" else "GET"
    return place.call("webmcp", "form", url, method, name)


def _read_parameters(form: Form, page: Page) -> tuple[Parameter, ...]:
    kept: dict[str, Parameter] = {}
    radios: dict[str, list[str]] = {}
    for control in form.controls:
        name = clean_text(control.tag.attributes.get("name", ""))
        if not name or not _is_fillable(control):
            continue
        if control.kind == "radio":
            radios.setdefault(name, []).append(
                control.tag.attributes.get("value", "on")
            )
        if name not in kept and len(kept) < MAX_PARAMETERS:
            kept[name] = _read_control(name, control, page)
    return tuple(
        replace(each, enum=tuple(radios[each.name][:MAX_PARAMETERS]))
        if each.name in radios
        else each
        for each in kept.values()
    )


def _is_fillable(control: Control) -> bool:
    attributes = control.tag.attributes
    if control.disabled or "readonly" in attributes or control.kind in _NOT_FILLABLE:
        return False
    return control.kind != "hidden" or bool(attributes.get("toolparamdescription"))


def _read_control(name: str, control: Control, page: Page) -> Parameter:
    attributes = control.tag.attributes
    several = control.kind == "select" and "multiple" in attributes
    return Parameter(
        name=name,
        type="array" if several else _TYPES.get(control.kind, "string"),
        required="required" in attributes,
        description=_cut(
            attributes.get("toolparamdescription")
            or attributes.get("toolparamtitle")
            or control.label
            or page.labels.get(attributes.get("id", ""), "")
            or attributes.get("aria-label", "")
        ),
        enum=tuple(each for each in control.options if each),
    )
