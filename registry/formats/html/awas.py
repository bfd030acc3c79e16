"""AWAS actions that a page's own elements bear: `data-awas-action` and its kin.

The specification says `data-awas-*` (AWAS 1.0, HTML attributes); its reference parser
reads `data-ai-*`, and so do most pages. Both are read, the second with a deviation.
Parameters are the marked controls within the form or section that bears the action, or
in the form of a control that does, and those anywhere that name the action themselves.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from registry.formats.document import (
    MAX_ACTIONS,
    MAX_PARAMETERS,
)
from registry.formats.html.controls import Control, Holder, read_parameter
from registry.formats.html.forms import read_form_call, submit_button
from registry.formats.html.markup import Tag
from registry.formats.html.page import ACTION_MARKS, PARAMETER_MARKS, Marked, Page
from registry.formats.reading.parameters import MAX_WORD_CHARACTERS, type_name
from registry.formats.reading.reader import Ledger, Reader, clean_text, cut_text
from registry.sites.action import Action, Call, Parameter

_TRUTHS = {"true": True, "false": False}
# Beside a name, what makes `data-ai-action` mean AWAS.
_EVIDENCE = frozenset(
    {"data-awas-action", "data-ai-action-type", "data-ai-endpoint", "data-ai-method"}
    | {"data-ai-description", "data-ai-intent", "data-ai-param", "data-ai-params"}
)
_PARAMETERS = frozenset(PARAMETER_MARKS)


class MarkedPage:
    """base: of the page's relative URLs."""

    def __init__(self, page: Page, base: str, ledger: Ledger) -> None:
        self._page = page
        self._base = base
        self._ledger = ledger
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
        """Several elements may bear one action; what the first leaves open counts."""
        bearers: dict[str, list[Marked]] = {}
        for marked in self._page.marked:
            bearers.setdefault(_word(marked.tag, "action"), []).append(marked)
        bearers.pop("", None)
        meant = ((name, each) for name, each in bearers.items() if self._is_meant(each))
        return tuple(
            self._read_action(name, elements)
            for name, elements in islice(meant, MAX_ACTIONS)
        )

    def _is_meant(self, bearers: list[Marked]) -> bool:
        """`data-ai-action` alone is in use for buttons of chat windows and the like."""
        name = _word(bearers[0].tag, "action")
        return (
            bool(self._naming.get(name))
            or any(not _EVIDENCE.isdisjoint(each.tag.attributes) for each in bearers)
            or any(self._has_parameters(_holder_of(each)) for each in bearers)
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

    def _read_action(self, name: str, bearers: list[Marked]) -> Action:
        place = Reader(None, f"awas[{name[:80]}]", self._ledger)
        for bearer in bearers:
            _note_prefix(bearer.tag, ACTION_MARKS, place)
        descriptions = (text for each in bearers for text in self._describe(each))
        calls = (calls for each in bearers if (calls := self._read_calls(each, place)))
        return Action(
            name=name,
            description=cut_text(next(filter(None, descriptions), "")),
            parameters=self._read_parameters(name, bearers, place),
            calls=next(calls, (place.call("awas", "page", operation=name),)),
        )

    # --- parameters ---

    def _read_parameters(
        self, name: str, bearers: list[Marked], place: Reader
    ) -> tuple[Parameter, ...]:
        own = self._parameters_of(self._naming.get(name, []), place)
        holders = (holder for each in bearers if (holder := _holder_of(each)))
        shared = (self._parameters_in(holder, place) for holder in holders)
        found = {each.name: each for each in (*own, *next(filter(None, shared), ()))}
        return tuple(found.values())[:MAX_PARAMETERS]

    def _parameters_in(self, holder: Holder, place: Reader) -> tuple[Parameter, ...]:
        """Those that name no action themselves."""
        if id(holder) not in self._read_holders:
            controls = (
                control
                for control in holder.controls
                if self._names.get(id(control), ("-", ""))[0] == ""
            )
            self._read_holders[id(holder)] = self._parameters_of(controls, place)
        return self._read_holders[id(holder)]

    def _parameters_of(
        self, controls: Iterable[Control], place: Reader
    ) -> tuple[Parameter, ...]:
        groups: dict[str, list[Control]] = {}
        for control in controls:
            if not control.is_disabled:
                _note_prefix(control.tag, PARAMETER_MARKS, place)
                _, name = self._names[id(control)]
                groups.setdefault(name, []).append(control)
        groups.pop("", None)
        return tuple(
            self._read_parameter(name, alike)
            for name, alike in islice(groups.items(), MAX_PARAMETERS)
        )

    def _read_parameter(self, name: str, controls: list[Control]) -> Parameter:
        """What the attributes say goes before what the controls are."""
        tag = controls[0].tag
        found = read_parameter(name, controls, self._page.text_in)
        declared = type_name(_said(tag, "param-type"))
        said = _said(tag, "param-description") or _said(tag, "description")
        return replace(
            found,
            type=found.type if declared == "unknown" else declared,
            required=_TRUTHS.get(_said(tag, "param-required").lower(), found.required),
            description=cut_text(said)
            or found.description
            or cut_text(tag.attributes.get("placeholder", "")),
        )

    # --- description and calls ---

    def _describe(self, bearer: Marked) -> Iterator[str]:
        """From the most to the least telling."""
        tag, holder = bearer.tag, _holder_of(bearer)
        yield _said(tag, "description")
        yield _said(tag, "context")
        yield tag.attributes.get("aria-label", "")
        yield tag.attributes.get("aria-description", "")
        if tag.name in ("a", "button"):
            yield self._page.text_in(tag)
        if holder is not None:
            yield _said(holder.tag, "context")
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

    def _read_calls(self, bearer: Marked, place: Reader) -> tuple[Call, ...]:
        """As the attributes say, as the link leads, as the form is submitted."""
        tag, holder = bearer.tag, _holder_of(bearer)
        calls = []
        endpoint = self._resolve(_said(tag, "endpoint"), "endpoint", place)
        if endpoint:
            method = _said(tag, "method").upper() or "GET"
            calls.append(place.call("awas", "http", endpoint, method))
        if tag.name == "a":
            url = self._resolve(tag.attributes.get("href", ""), "href", place)
            if url:
                calls.append(place.call("awas", "navigate", url))
        elif holder is not None and _is_submitted(holder, endpoint):
            calls.append(read_form_call(holder, place, format="awas", base=self._base))
        return tuple(calls)

    def _resolve(self, address: str, name: str, place: Reader) -> str | None:
        """None for an address within the page itself."""
        if not address or address.startswith("#"):
            return None
        return place.resolve(address, names=(name,), base=self._base)


def _said(tag: Tag, name: str) -> str:
    """What the element says of it, in an attribute of either prefix."""
    own = tag.attributes.get(f"data-awas-{name}")
    return own or tag.attributes.get(f"data-ai-{name}", "")


def _word(tag: Tag, name: str) -> str:
    return clean_text(_said(tag, name)[:MAX_WORD_CHARACTERS])


def _holder_of(bearer: Marked) -> Holder | None:
    """The form or section that the element is, or the form that it is in."""
    part = bearer.part
    return part.form if isinstance(part, Control) else part


def _is_submitted(holder: Holder, endpoint: str | None) -> bool:
    """Where an endpoint is named, a form that says no target is left to scripts."""
    if holder.tag.name != "form":
        return False
    return endpoint is None or "action" in holder.tag.attributes


def _note_prefix(tag: Tag, marks: tuple[str, str], place: Reader) -> None:
    specified, other = marks
    if specified not in tag.attributes:
        place.note(
            "prefix",
            f"{other} is read; the specification says {specified}",
            f"Write {specified}.",
        )
