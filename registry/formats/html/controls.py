"""The controls of a page, and the parameters of an action that they make.

Types, choices and descriptions as Chromium derives them for WebMCP from a form
(`form_mcp_schema.cc`), with the texts that a page has besides where that finds none: a
title, a legend, an aria-label. A group of buttons is described by the toolparamdescription
of the innermost fieldset around all of them that stands in the form, not by one of the
buttons. A disabled option, whose choice would not be submitted, is left out, and so is an
empty choice, which stands for none.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from registry.formats.document import MAX_PARAMETERS
from registry.formats.html.markup import Tag
from registry.formats.reading.parameters import MAX_WORD_CHARACTERS
from registry.formats.reading.reader import clean_text, cut_text
from registry.sites.action import Parameter

_TYPES = {"checkbox": "boolean", "number": "number", "range": "number"}
_CHOOSING = frozenset({"select", "radio"})
_FORM_CONTROLS = frozenset({"input", "select", "textarea"})
_MAX_FIELDSETS = 20  # around a control; a page of nothing but fieldsets is no work

TextIn = Callable[[Tag], str]
"""The text of an element, by its start tag."""


@dataclass(slots=True)
class Holder:
    """A form, or a section that bears an action, and the controls that belong to it."""

    tag: Tag
    controls: "list[Control]" = field(default_factory=list)


@dataclass(slots=True)
class Fieldset:
    """A fieldset.

    form: that it stands in. disables: disables its controls now; not while its legend is
    open.
    """

    tag: Tag
    form: Holder | None
    outer: "Fieldset | None"
    disables: bool = False
    legend: Tag | None = None

    @property
    def is_disabled(self) -> bool:
        return "disabled" in self.tag.attributes


@dataclass(slots=True)
class Control:
    """A form control, or another element that is marked as a parameter.

    kind: the type of an input, else the element's name.
    """

    tag: Tag
    kind: str
    is_disabled: bool
    form: Holder | None
    fieldset: Fieldset | None
    labels: tuple[Tag, ...] = ()
    options: tuple[Tag, ...] = ()


def read_parameter(
    name: str, controls: Sequence[Control], text_in: TextIn
) -> Parameter:
    """Read a parameter from its controls; of different kinds the first counts.

    name: clean, and short enough.
    """
    kind = controls[0].kind
    is_group = kind in ("radio", "checkbox") and len(controls) > 1
    return Parameter(
        name=name,
        type=_type_of(controls[0], is_group=is_group),
        required=_is_required(controls),
        description=cut_text(
            _describe_group(controls, text_in)
            if is_group
            else _describe(controls[0], text_in)
        ),
        enum=_choices(controls, text_in) if is_group or kind in _CHOOSING else (),
    )


def _is_required(controls: Sequence[Control]) -> bool | None:
    if controls[0].tag.name not in _FORM_CONTROLS:
        return None
    return any("required" in control.tag.attributes for control in controls)


def _type_of(control: Control, *, is_group: bool) -> str:
    if control.tag.name not in _FORM_CONTROLS:
        return "unknown"
    if is_group:
        return "array" if control.kind == "checkbox" else "string"
    if control.kind == "select" and "multiple" in control.tag.attributes:
        return "array"
    return _TYPES.get(control.kind, "string")


def _describe(control: Control, text_in: TextIn) -> str:
    attributes = control.tag.attributes
    return (
        attributes.get("toolparamdescription")
        or "; ".join(filter(None, map(text_in, control.labels)))
        or attributes.get("aria-description")
        or attributes.get("toolparamtitle")
        or attributes.get("aria-label", "")
    )


def _describe_group(controls: Sequence[Control], text_in: TextIn) -> str:
    """Describe a group by its fieldset; what a single choice says of itself is no name."""
    fieldset = _common_fieldset(controls[0], controls[-1])
    if fieldset is None:
        return ""
    is_within = fieldset.form is controls[0].form
    own = fieldset.tag.attributes.get("toolparamdescription") if is_within else ""
    return own or (text_in(fieldset.legend) if fieldset.legend else "")


def _common_fieldset(first: Control, last: Control) -> Fieldset | None:
    """Return the innermost fieldset around both, and so around all between them."""
    around_first = set(map(id, _fieldsets_of(first)))
    return next((f for f in _fieldsets_of(last) if id(f) in around_first), None)


def _fieldsets_of(control: Control) -> Iterator[Fieldset]:
    """Yield the fieldsets around a control, the innermost first, up to a bound."""
    fieldset = control.fieldset
    for _ in range(_MAX_FIELDSETS):
        if fieldset is None:
            return
        yield fieldset
        fieldset = fieldset.outer


def _choices(controls: Sequence[Control], text_in: TextIn) -> tuple[str, ...]:
    if controls[0].kind == "select":
        options = controls[0].options
        values = [
            text_in(option) if value is None else value
            for option in options
            for value in (option.attributes.get("value"),)
        ]
    else:
        values = [control.tag.attributes.get("value", "on") for control in controls]
    cleaned = (clean_text(value[:MAX_WORD_CHARACTERS]) for value in values)
    return tuple(filter(None, dict.fromkeys(cleaned)))[:MAX_PARAMETERS]
