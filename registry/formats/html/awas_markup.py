"""AWAS actions in the attributes of a page's elements, such as `data-awas-action`.

The specification says `data-awas-*` (AWAS 1.0, HTML attributes); its reference parser
reads `data-ai-*`, and so do most pages. Both are read, the second with a deviation.
Parameters are the marked controls within the form or section that bears the action, or
in the form of a control that does, and those anywhere that name the action themselves.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec.structs import replace

from registry.formats.document import MAX_ACTIONS, MAX_PARAMETERS
from registry.formats.html.controls import Control, Holder, read_parameter
from registry.formats.html.form_calls import read_form_call, submit_button
from registry.formats.html.html_page import (
    ACTION_MARKS,
    PARAMETER_MARKS,
    HtmlPage,
    Marked,
)
from registry.formats.html.markup import Tag
from registry.formats.reading.call_targets import is_private_target
from registry.formats.reading.parameters import MAX_WORD_CHARACTERS, type_name
from registry.formats.reading.reader import DeviationLog, Reader, clean_text, cut_text
from registry.sites.action import Action, Call, Parameter

_TRUTHS = {"true": True, "false": False}
# Attributes that, beside a name, show that `data-ai-action` means AWAS.
_EVIDENCE = frozenset(
    {"data-awas-action", "data-ai-action-type", "data-ai-endpoint", "data-ai-method"}
    | {"data-ai-description", "data-ai-intent", "data-ai-param", "data-ai-params"}
)
_PARAMETERS = frozenset(PARAMETER_MARKS)


class MarkedPage:
    """AWAS actions of a page. base: of the page's relative URLs."""

    def __init__(self, page: HtmlPage, base: str, log: DeviationLog) -> None:
        self._page = page
        self._base = base
        self._log = log
        self._names = {
            id(control): (_word(control.tag, "action"), _word(control.tag, "param"))
            for control in page.parameters
        }
        self._naming: dict[str, list[Control]] = {}
        for control in page.parameters:
            action, _ = self._names[id(control)]
            self._naming.setdefault(action, []).append(control)
        self._read_holders: dict[int, tuple[Parameter, ...]] = {}
        self._with_parameters: dict[int, bool] = {}

    def read_actions(self) -> tuple[Action, ...]:
        """Read the actions; the later of several elements fill in what the first lacks."""
        bearers: dict[str, list[Marked]] = {}
        for marked in self._page.marked:
            bearers.setdefault(_word(marked.tag, "action"), []).append(marked)
        bearers.pop("", None)
        actions = filter(self._is_awas, bearers.values())
        return tuple(map(self._read_action, islice(actions, MAX_ACTIONS)))

    def _is_awas(self, bearers: list[Marked]) -> bool:
        """Distinguish AWAS from `data-ai-action` on buttons of chat windows and such."""
        name = _word(bearers[0].tag, "action")
        return (
            bool(self._naming.get(name))
            or any(not _EVIDENCE.isdisjoint(b.tag.attributes) for b in bearers)
            or any(self._has_parameters(_holder_of(bearer)) for bearer in bearers)
        )

    def _has_parameters(self, holder: Holder | None) -> bool:
        if holder is None:
            return False
        if id(holder) not in self._with_parameters:
            self._with_parameters[id(holder)] = any(
                not _PARAMETERS.isdisjoint(control.tag.attributes)
                for control in holder.controls
            )
        return self._with_parameters[id(holder)]

    def _read_action(self, bearers: list[Marked]) -> Action:
        name = _word(bearers[0].tag, "action")
        pointer = Reader(None, f"awas[{name[:80]}]", self._log)
        for bearer in bearers:
            _note_prefix(bearer.tag, ACTION_MARKS, pointer)
        descriptions = (text for bearer in bearers for text in self._describe(bearer))
        declared = (self._read_calls(b, pointer) for b in bearers)
        calls = next(filter(None, declared), ())
        if not calls and not any(map(self._leads_astray, bearers)):
            calls = (pointer.call("awas", "page", operation=name),)
        return Action(
            name=name,
            description=cut_text(next(filter(None, descriptions), "")),
            parameters=self._read_parameters(name, bearers, pointer),
            calls=calls,
        )

    # --- parameters ---

    def _read_parameters(
        self, name: str, bearers: list[Marked], pointer: Reader
    ) -> tuple[Parameter, ...]:
        own = self._parameters_of(self._naming.get(name, []), pointer)
        holders = filter(None, map(_holder_of, bearers))
        shared = (self._parameters_in(holder, pointer) for holder in holders)
        parameters = (*own, *next(filter(None, shared), ()))
        return tuple({p.name: p for p in parameters}.values())[:MAX_PARAMETERS]

    def _parameters_in(self, holder: Holder, pointer: Reader) -> tuple[Parameter, ...]:
        """Read the holder's parameters that name no action themselves."""
        if id(holder) not in self._read_holders:
            controls = (
                control
                for control in holder.controls
                if self._names.get(id(control), ("-", ""))[0] == ""
            )
            self._read_holders[id(holder)] = self._parameters_of(controls, pointer)
        return self._read_holders[id(holder)]

    def _parameters_of(
        self, controls: Iterable[Control], pointer: Reader
    ) -> tuple[Parameter, ...]:
        groups: dict[str, list[Control]] = {}
        for control in controls:
            if not control.is_disabled:
                _note_prefix(control.tag, PARAMETER_MARKS, pointer)
                _, name = self._names[id(control)]
                groups.setdefault(name, []).append(control)
        groups.pop("", None)
        return tuple(
            self._read_parameter(name, alike)
            for name, alike in islice(groups.items(), MAX_PARAMETERS)
        )

    def _read_parameter(self, name: str, controls: list[Control]) -> Parameter:
        """Read a parameter; attributes take precedence over the controls' own kind."""
        tag = controls[0].tag
        parameter = read_parameter(name, controls, self._page.text_in)
        declared = type_name(_attribute(tag, "param-type"))
        required = _attribute(tag, "param-required").lower()
        text = _attribute(tag, "param-description") or _attribute(tag, "description")
        return replace(
            parameter,
            type=parameter.type if declared == "unknown" else declared,
            required=_TRUTHS.get(required, parameter.required),
            description=cut_text(text)
            or parameter.description
            or cut_text(tag.attributes.get("placeholder", "")),
        )

    # --- description and calls ---

    def _describe(self, bearer: Marked) -> Iterator[str]:
        """Yield descriptions, the most specific first."""
        tag, holder = bearer.tag, _holder_of(bearer)
        yield _attribute(tag, "description")
        yield _attribute(tag, "context")
        yield tag.attributes.get("aria-label", "")
        yield tag.attributes.get("aria-description", "")
        if tag.name in ("a", "button"):
            yield self._page.text_in(tag)
        if holder is not None:
            yield _attribute(holder.tag, "context")
            yield holder.tag.attributes.get("aria-label", "")
            yield from self._describe_holder(holder)
        yield tag.attributes.get("title", "")

    def _describe_holder(self, holder: Holder) -> Iterator[str]:
        fieldset = holder.controls[0].fieldset if holder.controls else None
        if fieldset is not None and fieldset.legend is not None:
            yield self._page.text_in(fieldset.legend)
        button = submit_button(holder)
        if button is not None:
            is_input = button.tag.name == "input"
            yield (
                button.tag.attributes.get("value", "")
                if is_input
                else (self._page.text_in(button.tag))
            )

    def _read_calls(self, bearer: Marked, pointer: Reader) -> tuple[Call, ...]:
        """Read the calls from the attributes, from the link, or from the form."""
        tag, holder = bearer.tag, _holder_of(bearer)
        calls: list[Call | None] = []
        endpoint = self._resolve(_attribute(tag, "endpoint"), "endpoint", pointer)
        if endpoint:
            method = _attribute(tag, "method").upper() or "GET"
            calls.append(pointer.call("awas", "http", endpoint, method))
        if tag.name == "a":
            url = self._resolve(tag.attributes.get("href", ""), "href", pointer)
            if url:
                calls.append(pointer.call("awas", "navigate", url))
        elif holder is not None and _is_submitted(holder, endpoint):
            calls.append(
                read_form_call(holder, pointer, format="awas", base=self._base)
            )
        return tuple(call for call in calls if call is not None)

    def _leads_astray(self, bearer: Marked) -> bool:
        """Return whether an address of its own is left out as a private one."""
        holder, tag = _holder_of(bearer), bearer.tag
        addresses = [_attribute(tag, "endpoint")]
        addresses.append(tag.attributes.get("href", "") if tag.name == "a" else "")
        if holder is not None and tag.name != "a":
            addresses.append(holder.tag.attributes.get("action", ""))
        return any(is_private_target(x, base=self._base) for x in addresses if x)

    def _resolve(self, address: str, name: str, pointer: Reader) -> str | None:
        """Resolve an address; None for one within the page itself."""
        if not address or address.startswith("#"):
            return None
        return pointer.resolve(address, names=(name,), base=self._base)


def _attribute(tag: Tag, name: str) -> str:
    """Return the element's attribute of either prefix."""
    own = tag.attributes.get(f"data-awas-{name}")
    return own or tag.attributes.get(f"data-ai-{name}", "")


def _word(tag: Tag, name: str) -> str:
    return clean_text(_attribute(tag, name)[:MAX_WORD_CHARACTERS])


def _holder_of(bearer: Marked) -> Holder | None:
    """Return the form or section that the element is, or the form that it is in."""
    part = bearer.part
    return part.form if isinstance(part, Control) else part


def _is_submitted(holder: Holder, endpoint: str | None) -> bool:
    """Return whether the form is submitted: scripts handle an endpoint without target."""
    if holder.tag.name != "form":
        return False
    return endpoint is None or "action" in holder.tag.attributes


def _note_prefix(tag: Tag, marks: tuple[str, str], pointer: Reader) -> None:
    specified, other = marks
    if specified not in tag.attributes:
        pointer.deviate("mark_prefix", other=other, specified=specified)
