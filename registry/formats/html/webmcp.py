"""What an HTML page offers: WebMCP tools of its forms and scripts, AWAS actions.

Forms with toolname and tooldescription are read as Chromium 150 reads them: disabled and
readonly controls are no parameters, hidden ones only if a description is given;
a name that several controls bear is left out, unless all are checkboxes or all are radio
buttons; controls elsewhere in the page join a form by their `form` attribute.
`toolautosubmit` is a boolean attribute: `toolautosubmit="false"` submits.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from registry.errors import Refused, TooLarge
from registry.formats import refusals
from registry.formats.document import (
    MAX_ACTIONS,
    MAX_BODY_BYTES,
    MAX_PARAMETERS,
    Document,
)
from registry.formats.html.awas import MarkedPage
from registry.formats.html.controls import Control, Holder, read_parameter
from registry.formats.html.forms import read_form_call
from registry.formats.html.markup import decode_page
from registry.formats.html.page import MAX_TAGS, Page
from registry.formats.html.scripts import read_scripts
from registry.formats.reading.actions import gather, severest
from registry.formats.reading.claims import read_languages
from registry.formats.reading.names import match_key
from registry.formats.reading.parameters import MAX_WORD_CHARACTERS
from registry.formats.reading.reader import Ledger, Reader, clean_text, cut_text
from registry.formats.reading.targets import resolve_target
from registry.sites.action import Action, Parameter
from registry.sites.site import Site
from registry.strict_json import JSON_TOO_LARGE

_NEEDED = ("toolname", "tooldescription")
_MAX_NOTED = 100
_NEGATIONS = frozenset({"false", "0", "no", "off"})
_NOT_FILLED = frozenset({"submit", "reset", "button", "image", "file"})
_FILLED = frozenset({"input", "select", "textarea"})
# Elsewhere `readonly` means nothing (HTML standard, section 4.10.5.3.3).
_NEVER_READONLY = frozenset({"select", "checkbox", "radio", "range", "color"})


def read_page(body: bytes, ledger: Ledger) -> Document:
    """Raises: Refused (page_without_tools); TooLarge (json_too_large)."""
    if len(body) > MAX_BODY_BYTES:
        raise TooLarge(JSON_TOO_LARGE, f"the page has {len(body)} bytes")
    page = Page(decode_page(body))
    if page.is_cut:
        ledger.note("page", "limit", f"more than {MAX_TAGS} tags; no more are read")
    base = resolve_target(page.base, base=ledger.url) or ledger.url
    declared = _read_forms(page, base, ledger)
    registered = read_scripts(page.scripts, ledger)
    marked = MarkedPage(page, base, ledger).read_actions()
    is_webmcp = bool(declared or registered.actions or registered.is_partial)
    if not is_webmcp and not marked:
        raise Refused(refusals.PAGE_WITHOUT_TOOLS)
    return ledger.conclude(
        format="webmcp" if is_webmcp else "awas",
        dialect="page",
        version="",
        site=Site(
            name=cut_text(page.title),
            description=cut_text(page.description),
            languages=read_languages(
                Reader({"lang": page.language or None}, "html", ledger), "lang"
            ),
            actions=_unite((*declared, *registered.actions, *marked)),
        ),
        raw=None,
    )


def _unite(found: Iterable[Action]) -> tuple[Action, ...]:
    """An action declared in several ways is one; the first stands, the rest fill in."""
    kept: dict[str, Action] = {}
    for action in found:
        key = match_key(action.name)
        kept[key] = _join(kept[key], action) if key in kept else action
    return tuple(islice(kept.values(), MAX_ACTIONS))


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


def _read_forms(page: Page, base: str, ledger: Ledger) -> tuple[Action, ...]:
    """Both attributes are needed; one alone is worth a word to the author."""
    complete, partial = [], []
    for form in page.forms:
        attributes = form.tag.attributes
        told = [name for name in _NEEDED if attributes.get(name, "").strip()]
        if len(told) == len(_NEEDED):
            complete.append(form)
        elif told or "tool-name" in attributes:
            partial.append(form)
    for form in partial[:_MAX_NOTED]:
        _note_partial(form, ledger)
    if len(complete) > MAX_ACTIONS:
        ledger.note("form", "limit", f"{len(complete)} tools; {MAX_ACTIONS} are read")
    return gather(
        (_at(form, ledger), _read_tool(form, page, base, ledger))
        for form in complete[:MAX_ACTIONS]
    )


def _at(form: Holder, ledger: Ledger) -> Reader:
    """A place in the page that deviations of this form are noted at."""
    name = form.tag.attributes.get("toolname", "")
    return Reader(None, f"form[{clean_text(name[:80])}]", ledger)


def _note_partial(form: Holder, ledger: Ledger) -> None:
    attributes = form.tag.attributes
    if "tool-name" in attributes:
        ledger.note(
            "form",
            "spelling",
            "tool-name is honoured by no browser",
            "Write toolname and tooldescription.",
        )
        return
    has_name = bool(attributes.get("toolname", "").strip())
    missing = "tooldescription" if has_name else "toolname"
    _at(form, ledger).note(
        "required", f"{missing} is missing; the form is no tool", f"Add {missing}."
    )


def _read_tool(form: Holder, page: Page, base: str, ledger: Ledger) -> Action:
    place = _at(form, ledger)
    attributes = form.tag.attributes
    name = cut_text(attributes["toolname"])
    _check_autosubmit(attributes.get("toolautosubmit", ""), place)
    return Action(
        name=name,
        description=cut_text(attributes["tooldescription"]),
        parameters=_read_parameters(form, page, place),
        confirmation="toolautosubmit" not in attributes,
        calls=(
            read_form_call(form, place, format="webmcp", operation=name, base=base),
        ),
    )


def _check_autosubmit(value: str, place: Reader) -> None:
    if value.strip().lower() in _NEGATIONS:
        place.note(
            "autosubmit",
            f"toolautosubmit={value[:20]!a} submits: its presence decides",
            "Remove the attribute if a person shall submit.",
        )


def _read_parameters(form: Holder, page: Page, place: Reader) -> tuple[Parameter, ...]:
    named: dict[str, list[Control]] = {}
    for control in form.controls:
        name = control.tag.attributes.get("name")
        if name and not control.is_disabled and not _is_readonly(control):
            named.setdefault(name, []).append(control)
    groups = {
        clean_text(name[:MAX_WORD_CHARACTERS]): controls
        for name, controls in named.items()
        if _is_parameter(name, controls, place)
    }
    groups.pop("", None)
    if len(groups) > MAX_PARAMETERS:
        place.note("limit", f"{len(groups)} parameters; {MAX_PARAMETERS} are read")
    return tuple(
        read_parameter(name, controls, page.text_in)
        for name, controls in islice(groups.items(), MAX_PARAMETERS)
    )


def _is_readonly(control: Control) -> bool:
    return "readonly" in control.tag.attributes and control.kind not in _NEVER_READONLY


def _is_parameter(name: str, controls: list[Control], place: Reader) -> bool:
    if len(controls) == 1:
        return _is_filled(controls[0])
    kinds = {control.kind for control in controls}
    if kinds in ({"checkbox"}, {"radio"}):
        return True
    if any(map(_is_filled, controls)):
        place.note(
            "duplicate",
            f"several controls are named {name[:80]}; browsers leave it out",
            "Give each control a name of its own.",
        )
    return False


def _is_filled(control: Control) -> bool:
    """Whether an agent can give it a value."""
    attributes = control.tag.attributes
    if control.tag.name not in _FILLED or control.kind in _NOT_FILLED:
        return False
    return control.kind != "hidden" or bool(attributes.get("toolparamdescription"))
