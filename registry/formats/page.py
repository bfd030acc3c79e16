"""What one pass over a page's tags gathers: metadata, forms, their controls and labels.

Keeps to the parts of the HTML standard that decide which control belongs to which form
(section 4.10.18.3): forms do not nest, the `form` attribute overrules position, a disabled
fieldset disables what is in it, templates are inert.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from registry.formats.document import MAX_PARAMETERS
from registry.formats.markup import Tag, Text, tokenize

_MODEL_CONTEXT = re.compile(r"(?:navigator|document)\s*+\??\.\s*+modelContext\b")
_REGISTRATION = re.compile(r"\b(?:registerTool|provideContext)\b")


@dataclass(slots=True)
class Control:
    tag: Tag
    disabled: bool
    label: str = ""
    options: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        if self.tag.name != "input":
            return self.tag.name
        return self.tag.attributes.get("type", "text").lower()


@dataclass(slots=True)
class Form:
    attributes: dict[str, str]
    controls: list[Control] = field(default_factory=list)


@dataclass(slots=True)
class _Label:
    target_id: str
    parts: list[str] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)


class Page:
    """What one pass over the tags gathers; scripts and templates are not entered."""

    def __init__(self, html: str) -> None:
        self.title = ""
        self.description = ""
        self.language = ""
        self.base = ""
        self.forms: list[Form] = []
        self.labels: dict[str, str] = {}
        self.has_imperative = False
        self.has_misspelt = False
        self._strays: list[tuple[str, Control]] = []
        self._form: Form | None = None
        self._select: Control | None = None
        self._label: _Label | None = None
        self._in_option = False
        self._fieldsets: list[bool] = []
        self._disabled_fieldsets = 0
        self._templates = 0
        self._raw_name = ""
        for token in tokenize(html):
            self._take(token)
        self._join_strays()

    def _take(self, token: Tag | Text) -> None:
        if isinstance(token, Text):
            self._take_text(token)
        elif token.name == "template":
            self._templates = max(0, self._templates + (-1 if token.closes else 1))
        elif self._templates == 0:
            self._raw_name = token.name
            handlers = _CLOSING if token.closes else _OPENING
            handler = handlers.get(token.name)
            if handler is not None:
                handler(self, token)

    def _take_text(self, text: Text) -> None:
        if self._templates:
            return
        if text.raw:
            self._take_raw(text.content)
        elif self._in_option and self._select is not None:
            self._take_option_text(self._select, text.content)
        elif self._label is not None and self._select is None:
            self._label.parts.append(text.content)

    def _take_raw(self, content: str) -> None:
        if self._raw_name == "title":
            self.title = self.title or content
        elif self._raw_name == "script" and not self.has_imperative:
            self.has_imperative = bool(
                _MODEL_CONTEXT.search(content) and _REGISTRATION.search(content)
            )

    def _take_option_text(self, select: Control, content: str) -> None:
        """An option without a value stands for its text."""
        if len(select.options) < MAX_PARAMETERS:
            select.options.append(content.strip())
        self._in_option = False

    # --- start tags ---

    def open_html(self, tag: Tag) -> None:
        self.language = self.language or tag.attributes.get("lang", "")

    def open_base(self, tag: Tag) -> None:
        self.base = self.base or tag.attributes.get("href", "")

    def open_meta(self, tag: Tag) -> None:
        if tag.attributes.get("name", "").lower() == "description":
            self.description = self.description or tag.attributes.get("content", "")

    def open_form(self, tag: Tag) -> None:
        self.has_misspelt |= "tool-name" in tag.attributes
        if self._form is None:  # a form within a form is none
            self._form = Form(tag.attributes)
            self.forms.append(self._form)

    def open_fieldset(self, tag: Tag) -> None:
        disables = "disabled" in tag.attributes
        self._fieldsets.append(disables)
        self._disabled_fieldsets += disables

    def open_label(self, tag: Tag) -> None:
        self._label = _Label(tag.attributes.get("for", ""))

    def open_control(self, tag: Tag) -> None:
        disabled = self._disabled_fieldsets > 0 or "disabled" in tag.attributes
        control = Control(tag, disabled)
        owner = tag.attributes.get("form")
        if owner is not None:
            self._strays.append((owner, control))
        elif self._form is not None:
            self._form.controls.append(control)
        if self._label is not None:
            self._label.controls.append(control)
        if tag.name == "select":
            self._select = control

    def open_option(self, tag: Tag) -> None:
        if self._select is None:
            return
        value = tag.attributes.get("value")
        self._in_option = value is None
        if value and len(self._select.options) < MAX_PARAMETERS:
            self._select.options.append(value)

    # --- end tags ---

    def close_form(self, _tag: Tag) -> None:
        self._form = None

    def close_fieldset(self, _tag: Tag) -> None:
        if self._fieldsets:
            self._disabled_fieldsets -= self._fieldsets.pop()

    def close_label(self, _tag: Tag) -> None:
        label, self._label = self._label, None
        if label is None:
            return
        text = " ".join("".join(label.parts).split())
        if label.target_id:
            self.labels.setdefault(label.target_id, text)
        for control in label.controls:
            control.label = text

    def close_select(self, _tag: Tag) -> None:
        self._select = None
        self._in_option = False

    def close_option(self, _tag: Tag) -> None:
        self._in_option = False

    def _join_strays(self) -> None:
        """Controls elsewhere in the page belong to the form that they name."""
        forms: dict[str, Form] = {}
        for form in self.forms:
            forms.setdefault(form.attributes.get("id", ""), form)
        for owner, control in self._strays:
            if owner and owner in forms:
                forms[owner].controls.append(control)


_OPENING: dict[str, Callable[[Page, Tag], None]] = {
    "html": Page.open_html,
    "base": Page.open_base,
    "meta": Page.open_meta,
    "form": Page.open_form,
    "fieldset": Page.open_fieldset,
    "label": Page.open_label,
    "input": Page.open_control,
    "select": Page.open_control,
    "textarea": Page.open_control,
    "option": Page.open_option,
}
_CLOSING: dict[str, Callable[[Page, Tag], None]] = {
    "form": Page.close_form,
    "fieldset": Page.close_fieldset,
    "label": Page.close_label,
    "select": Page.close_select,
    "option": Page.close_option,
}
