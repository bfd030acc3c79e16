"""Actions of an HTML page: WebMCP tools of its forms and scripts, and AWAS actions.

Forms with toolname and tooldescription are read as Chromium 150 reads them: disabled and
readonly controls are not parameters, hidden ones only with a description; a name of
several controls is left out, unless all are checkboxes or all are radio buttons; controls
elsewhere in the page join a form by their `form` attribute.
`toolautosubmit` is a boolean attribute: `toolautosubmit="false"` submits.
"""

from collections.abc import Iterable
from itertools import islice

from msgspec.structs import replace

from registry.errors import Refused
from registry.formats import refusals
from registry.formats.document import (
    MAX_ACTIONS,
    MAX_BODY_BYTES,
    MAX_PARAMETERS,
    Deviation,
    Document,
)
from registry.formats.html.awas_markup import MarkedPage
from registry.formats.html.controls import Control, Holder, read_parameter
from registry.formats.html.form_calls import read_form_call
from registry.formats.html.html_page import MAX_TAGS, HtmlPage
from registry.formats.html.links import DiscoveryLink, links_in
from registry.formats.html.page_encoding import decode_page
from registry.formats.html.scripts import note_refused_name, read_scripts
from registry.formats.reading.action_list import gather, severest
from registry.formats.reading.call_targets import page_base
from registry.formats.reading.claims import read_languages
from registry.formats.reading.name_folding import match_key
from registry.formats.reading.parameters import MAX_WORD_CHARACTERS
from registry.formats.reading.reader import DeviationLog, Reader, clean_text, cut_text
from registry.sites.action import Action, Parameter
from registry.sites.site import Site

_NEEDED = ("toolname", "tooldescription")
_MAX_NOTED = 100
_TOOLS = ("form", "script", "awas")  # how pointers to tools begin
_NEGATIONS = frozenset({"false", "0", "no", "off"})
_NOT_FILLED = frozenset({"submit", "reset", "button", "image", "file"})
_FILLED = frozenset({"input", "select", "textarea"})
# Elsewhere `readonly` means nothing (HTML standard, section 4.10.5.3.3).
_NEVER_READONLY = frozenset({"select", "checkbox", "radio", "range", "color"})


def read_page(body: bytes, content_type: str, log: DeviationLog) -> Document:
    """Read a page, of a long one the beginning.

    Raises: Refused (page_encoding, page_without_tools).
    """
    if len(body) > MAX_BODY_BYTES:
        log.deviate("page", "long_page", limit=MAX_BODY_BYTES)
    html = _decode(body, content_type, log)
    page = HtmlPage(html)
    if page.is_cut:
        log.deviate("page", "too_many_tags", limit=MAX_TAGS)
    links = links_in(html, log)
    base = page_base(page.base, url=log.url, allow_loopback=log.allow_loopback)
    declared = _read_forms(page, base, log)
    registered = read_scripts(page.scripts, log)
    marked = MarkedPage(page, base, log).read_actions()
    is_webmcp = bool(declared or registered.actions or registered.is_partial)
    if not is_webmcp and not marked:
        raise _without_tools(log, links)
    return log.conclude(
        format="webmcp" if is_webmcp else "awas",
        dialect="page",
        version="",
        site=Site(
            name=cut_text(page.title),
            description=cut_text(page.description),
            languages=read_languages(
                Reader({"lang": page.language or None}, "html", log), "lang"
            ),
            actions=_unite((*declared, *registered.actions, *marked)),
        ),
        raw=None,
    )


def _decode(body: bytes, content_type: str, log: DeviationLog) -> str:
    page = decode_page(body, content_type)
    if not page.is_readable:
        raise Refused(refusals.PAGE_ENCODING, page.deviation)
    if page.deviation:
        fix = refusals.PAGE_ENCODING.fix
        log.note("page", "encoding", page.deviation, fix)
    return page.text


def concerns_tool(deviation: Deviation) -> bool:
    """Return whether the deviation is of a form, script or element, not of the page."""
    return deviation.pointer.startswith(_TOOLS)


def _without_tools(log: DeviationLog, links: tuple[DiscoveryLink, ...]) -> Refused:
    """Return the refusal with what helps: what is nearly a tool, or what the page names."""
    if any(map(concerns_tool, log.deviations)):
        return Refused(
            refusals.PAGE_WITHOUT_TOOLS,
            "no tool of the page is complete",
            fix="Add what is missing, as noted for each of them.",
        )
    if links:
        return Refused(
            refusals.PAGE_WITHOUT_TOOLS,
            "the page declares no tool itself, but points to discovery documents",
            fix="Nothing is wrong with that: check the documents that it points to.",
        )
    return Refused(refusals.PAGE_WITHOUT_TOOLS)


def _unite(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Merge actions of one name; the first counts, the others fill in."""
    united: dict[str, Action] = {}
    for action in actions:
        key = match_key(action.name)
        united[key] = _join(united[key], action) if key in united else action
    return tuple(islice(united.values(), MAX_ACTIONS))


def _join(first: Action, other: Action) -> Action:
    is_open = first.confirmation is None
    return replace(
        first,
        description=first.description or other.description,
        parameters=first.parameters or other.parameters,
        sensitivity=severest(first.sensitivity, other.sensitivity),
        confirmation=other.confirmation if is_open else first.confirmation,
        calls=tuple(dict.fromkeys((*first.calls, *other.calls))),
    )


# --- forms ----------------------------------------------------------------------------


def _read_forms(page: HtmlPage, base: str, log: DeviationLog) -> tuple[Action, ...]:
    """Read the forms with both attributes, and record those with only one."""
    complete, partial = [], []
    for form in page.forms:
        attributes = form.tag.attributes
        given = [name for name in _NEEDED if attributes.get(name, "").strip()]
        if len(given) == len(_NEEDED):
            complete.append(form)
        elif given or "tool-name" in attributes:
            partial.append(form)
    for form in partial[:_MAX_NOTED]:
        _note_partial(form, log)
    if len(complete) > MAX_ACTIONS:
        log.deviate("form", "more_forms", count=len(complete), limit=MAX_ACTIONS)
    return gather(
        (_at(form, log), _read_tool(form, page, base, log))
        for form in complete[:MAX_ACTIONS]
    )


def _at(form: Holder, log: DeviationLog) -> Reader:
    """Return the pointer for deviations of this form."""
    name = form.tag.attributes.get("toolname", "")
    return Reader(None, f"form[{clean_text(name[:80])}]", log)


def _note_partial(form: Holder, log: DeviationLog) -> None:
    attributes = form.tag.attributes
    if "tool-name" in attributes:
        log.deviate("form", "tool_name_spelling")
        return
    has_name = bool(attributes.get("toolname", "").strip())
    missing = "tooldescription" if has_name else "toolname"
    _at(form, log).deviate("form_is_no_tool", missing=missing)


def _read_tool(form: Holder, page: HtmlPage, base: str, log: DeviationLog) -> Action:
    pointer = _at(form, log)
    attributes = form.tag.attributes
    name = cut_text(attributes["toolname"])
    note_refused_name(name, pointer)
    _check_autosubmit(attributes.get("toolautosubmit", ""), pointer)
    call = read_form_call(form, pointer, format="webmcp", operation=name, base=base)
    return Action(
        name=name,
        description=cut_text(attributes["tooldescription"]),
        parameters=_read_parameters(form, page, pointer),
        confirmation="toolautosubmit" not in attributes,
        calls=() if call is None else (call,),
    )


def _check_autosubmit(value: str, pointer: Reader) -> None:
    if value.strip().lower() in _NEGATIONS:
        pointer.deviate("auto_submit", value=value[:20])


def _read_parameters(
    form: Holder, page: HtmlPage, pointer: Reader
) -> tuple[Parameter, ...]:
    named: dict[str, list[Control]] = {}
    for control in form.controls:
        name = control.tag.attributes.get("name")
        if name and not control.is_disabled and not _is_readonly(control):
            named.setdefault(name, []).append(control)
    groups = {
        clean_text(name[:MAX_WORD_CHARACTERS]): controls
        for name, controls in named.items()
        if _is_parameter(name, controls, pointer)
    }
    groups.pop("", None)
    if len(groups) > MAX_PARAMETERS:
        pointer.deviate("more_controls", count=len(groups), limit=MAX_PARAMETERS)
    return tuple(
        read_parameter(name, controls, page.text_in)
        for name, controls in islice(groups.items(), MAX_PARAMETERS)
    )


def _is_readonly(control: Control) -> bool:
    return "readonly" in control.tag.attributes and control.kind not in _NEVER_READONLY


def _is_parameter(name: str, controls: list[Control], pointer: Reader) -> bool:
    if len(controls) == 1:
        return _is_filled(controls[0])
    kinds = {control.kind for control in controls}
    if kinds in ({"checkbox"}, {"radio"}):
        _check_descriptions(name, controls, pointer)
        return True
    if any(map(_is_filled, controls)):
        pointer.deviate("controls_of_a_name", name=name[:80])
    return False


def _check_descriptions(name: str, controls: list[Control], pointer: Reader) -> None:
    if any("toolparamdescription" in control.tag.attributes for control in controls):
        pointer.deviate("described_button", name=name[:80])


def _is_filled(control: Control) -> bool:
    """Return whether an agent can give it a value."""
    attributes = control.tag.attributes
    if control.tag.name not in _FILLED or control.kind in _NOT_FILLED:
        return False
    return control.kind != "hidden" or bool(attributes.get("toolparamdescription"))
