"""Content of a page from a pass over its tags: metadata, forms, controls, scripts, marks.

Follows the HTML standard on the form owners of controls (section 4.10.18.3): forms do not
nest, the `form` attribute overrules position, a disabled fieldset disables its controls
outside its legend, templates are inert.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter

from registry.formats.document import MAX_PARAMETERS
from registry.formats.html.character_references import decode_text
from registry.formats.html.controls import Control, Fieldset, Holder
from registry.formats.html.foreign_content import Nesting
from registry.formats.html.markup import Tag, TagFinder, text_of

ACTION_MARKS = ("data-awas-action", "data-ai-action")
PARAMETER_MARKS = ("data-awas-param", "data-ai-param")
_MARKS = (*ACTION_MARKS, *PARAMETER_MARKS)
_ANY_MARK = re.compile("|".join(_MARKS), re.IGNORECASE)
_STARTS = (
    *("html", "base", "meta", "form", "fieldset", "legend", "label", "template"),
    *("input", "select", "option", "optgroup", "button", "output"),
)
_ENDS = ("form", "fieldset", "legend", "label", "template", "select", "optgroup")
# These end with a select that is open, or are not ended within it.
_NOT_IN_SELECT = frozenset({"fieldset", "legend", "label", "button", "output"})
# Elements that may hold the controls of an action without being a form.
_SECTIONS = (
    *("div", "section", "article", "aside", "main", "nav", "header", "footer"),
    *("search", "dialog", "details", "table", "tbody"),
)
_PLAIN = TagFinder(_STARTS, _ENDS)
_MARKED = TagFinder((*_STARTS, *_SECTIONS), (*_ENDS, *_SECTIONS), marks=_MARKS)
_SCRIPT_TYPES = frozenset(
    {
        *("", "module", "text/javascript", "application/javascript"),
        *("text/ecmascript", "application/ecmascript", "application/x-javascript"),
    }
)
_TEXT_END = {
    name: re.compile(rf"<(?:{ends})(?=[\s/>])", re.IGNORECASE)
    for name, ends in (
        ("label", "/?label"),
        ("legend", "/?legend|/?fieldset"),
        ("option", "/?option|/?optgroup|/?select"),
        ("button", "/?button"),
        ("a", "/?a"),
    )
}
MAX_TAGS = 20_000
_MAX_TEXT_CHARACTERS = 5_000
_MAX_LABELS = 4

Part = Holder | Control | None
"""The form, section or control that an element is, besides bearing an action."""


@dataclass(frozen=True, slots=True)
class Marked:
    """An element that names an action."""

    tag: Tag
    part: Part


class HtmlPage:
    """The content of a page, without that of templates.

    scripts: the inline ones. parameters: controls marked as such. is_cut: there are more
    relevant tags than MAX_TAGS.
    """

    def __init__(self, html: str) -> None:
        self.title = ""
        self.description = ""
        self.language = ""
        self.base = ""
        self.forms: list[Holder] = []
        self.scripts: list[str] = []
        self.marked: list[Marked] = []
        self.parameters: list[Control] = []
        self.is_cut = False
        self._html = html
        self._texts: dict[int, str] = {}
        self._form: Holder | None = None
        # Of sections that bear an action, the innermost.
        self._bearers = Nesting[Holder | None](None)
        self._strays: list[Control] = []
        self._by_id: dict[str, Control] = {}
        self._select: Control | None = None
        self._options_disabled = False
        self._label: Tag | None = None
        self._labels: dict[str, list[Tag]] = {}
        self._fieldsets: list[Fieldset] = []
        self._disabling = 0
        self._gather()
        self._join_labels()
        self._join_strays()

    def text_in(self, tag: Tag) -> str:
        """Return the text between a start tag and the next tag that ends its element."""
        if tag.end not in self._texts:
            last = tag.end + _MAX_TEXT_CHARACTERS
            ending = _TEXT_END[tag.name].search(self._html, tag.end, last)
            markup = self._html[tag.end : ending.start() if ending else last]
            self._texts[tag.end] = text_of(markup)
        return self._texts[tag.end]

    def _gather(self) -> None:
        is_marked = bool(_ANY_MARK.search(self._html))
        tags = (_MARKED if is_marked else _PLAIN).find(self._html)
        templates = 0
        for tag in islice(tags, MAX_TAGS):
            name, attributes, closes, _, _ = tag
            if name == "template":
                templates = max(0, templates + (-1 if closes else 1))
            if templates or (self._select is not None and name in _NOT_IN_SELECT):
                continue
            handler = (_CLOSING if closes else _OPENING).get(name)
            part = handler(self, tag) if handler else None
            if is_marked and attributes and not attributes.keys().isdisjoint(_MARKS):
                self._take_marked(tag, part)
        self.is_cut = next(tags, None) is not None

    def _take_marked(self, tag: Tag, part: Part) -> None:
        names = tag.attributes.keys()
        if not names.isdisjoint(PARAMETER_MARKS):
            control = part if isinstance(part, Control) else self.open_control(tag)
            self.parameters.append(control)
        if not names.isdisjoint(ACTION_MARKS):
            self.marked.append(Marked(tag, part))

    # --- start tags ---

    def open_html(self, tag: Tag) -> None:
        self.language = self.language or tag.attributes.get("lang", "")

    def open_base(self, tag: Tag) -> None:
        self.base = self.base or tag.attributes.get("href", "")

    def open_meta(self, tag: Tag) -> None:
        if tag.attributes.get("name", "").lower() == "description":
            self.description = self.description or tag.attributes.get("content", "")

    def open_title(self, tag: Tag) -> None:
        self.title = self.title or decode_text(tag.content)

    def open_script(self, tag: Tag) -> None:
        """Add an inline script; browsers ignore one with `src` or `nomodule`.

        One that is cut off does not run.
        """
        if tag.end == len(self._html):
            return
        kind = tag.attributes.get("type", "").strip().lower()
        if kind in _SCRIPT_TYPES and not {"src", "nomodule"} & tag.attributes.keys():
            self.scripts.append(tag.content)

    def open_form(self, tag: Tag) -> Part:
        if self._form is not None:  # a form within a form is none
            return None
        self._form = Holder(tag)
        if tag.attributes:  # without any it is no tool, and no control names it
            self.forms.append(self._form)
        return self._form

    def open_section(self, tag: Tag) -> Part:
        bears_none = tag.attributes.keys().isdisjoint(ACTION_MARKS)
        bearer = None if bears_none else Holder(tag)
        if bearer is not None or self._bearers.inner is not None:
            self._bearers.enter(tag.name, bearer or self._bearers.inner)
        return bearer

    def open_fieldset(self, tag: Tag) -> None:
        outer = self._fieldsets[-1] if self._fieldsets else None
        self._fieldsets.append(Fieldset(tag, self._form, outer))
        self._disable(self._fieldsets[-1], disables="disabled" in tag.attributes)

    def open_legend(self, tag: Tag) -> None:
        """Open a legend; a disabled fieldset does not disable its first one."""
        fieldset = self._fieldsets[-1] if self._fieldsets else None
        if fieldset and fieldset.legend is None:
            fieldset.legend = tag
            self._disable(fieldset, disables=False)

    def open_label(self, tag: Tag) -> None:
        target = tag.attributes.get("for")
        self._label = tag if target is None else None
        if target:
            self._labels.setdefault(target, []).append(tag)

    def open_control(self, tag: Tag) -> Control:
        attributes = tag.attributes
        is_stray = "form" in attributes
        control = Control(
            tag,
            attributes.get("type", "text").lower() if tag.name == "input" else tag.name,
            self._disabling > 0 or "disabled" in attributes,
            None if is_stray else self._form,
            self._fieldsets[-1] if self._fieldsets else None,
        )
        if is_stray:
            self._strays.append(control)
        elif self._form is not None:
            self._form.controls.append(control)
        if self._bearers.inner is not None:
            self._bearers.inner.controls.append(control)
        if control.kind != "hidden":
            self._give_label(control)
        return control

    def open_input(self, tag: Tag) -> Part:
        self._select = None  # a control within a select ends it
        return self.open_control(tag)

    def open_select(self, tag: Tag) -> Part:
        if self._select is not None:  # so does a select, and is none itself
            self._select = None
            return None
        self._options_disabled = False
        self._select = self.open_control(tag)
        return self._select

    def open_optgroup(self, tag: Tag) -> None:
        self._options_disabled = "disabled" in tag.attributes

    def open_option(self, tag: Tag) -> None:
        select = self._select
        if select is None or self._options_disabled or "disabled" in tag.attributes:
            return
        if len(select.options) < MAX_PARAMETERS:
            select.options += (tag,)

    # --- end tags ---

    def close_form(self, _tag: Tag) -> None:
        if self._select is None:
            self._form = None

    def close_section(self, tag: Tag) -> None:
        self._bearers.leave(tag.name)

    def close_fieldset(self, _tag: Tag) -> None:
        if self._fieldsets:
            self._disable(self._fieldsets.pop(), disables=False)

    def close_legend(self, _tag: Tag) -> None:
        if self._fieldsets:
            fieldset = self._fieldsets[-1]
            self._disable(fieldset, disables=fieldset.is_disabled)

    def close_label(self, _tag: Tag) -> None:
        self._label = None

    def close_select(self, _tag: Tag) -> None:
        self._select = None

    def close_optgroup(self, _tag: Tag) -> None:
        self._options_disabled = False

    # --- what belongs together ---

    def _disable(self, fieldset: Fieldset, *, disables: bool) -> None:
        self._disabling += disables - fieldset.disables
        fieldset.disables = disables

    def _give_label(self, control: Control) -> None:
        """Add the open label, if it has no `for` and this is its first control."""
        if self._label is not None:
            control.labels = (self._label,)
            self._label = None
        identity = control.tag.attributes.get("id")
        if identity:
            self._by_id.setdefault(identity, control)

    def _join_labels(self) -> None:
        for identity, labels in self._labels.items():
            control = self._by_id.get(identity)
            if control is not None:
                both = sorted((*control.labels, *labels), key=_END)
                control.labels = tuple(both[:_MAX_LABELS])

    def _join_strays(self) -> None:
        """Add controls elsewhere in the page to the form that they name."""
        forms: dict[str, Holder] = {}
        for form in self.forms:
            forms.setdefault(form.tag.attributes.get("id", ""), form)
        joined: dict[int, Holder] = {}
        for control in self._strays:
            owner = control.tag.attributes["form"]
            if owner and owner in forms:
                control.form = forms[owner]
                control.form.controls.append(control)
                joined[id(control.form)] = control.form
        for form in joined.values():
            form.controls.sort(key=lambda control: control.tag.end)


_END = attrgetter("end")


_OPENING: dict[str, Callable[[HtmlPage, Tag], Part]] = {
    "html": HtmlPage.open_html,
    "base": HtmlPage.open_base,
    "meta": HtmlPage.open_meta,
    "title": HtmlPage.open_title,
    "script": HtmlPage.open_script,
    "form": HtmlPage.open_form,
    "fieldset": HtmlPage.open_fieldset,
    "legend": HtmlPage.open_legend,
    "label": HtmlPage.open_label,
    "input": HtmlPage.open_input,
    "textarea": HtmlPage.open_input,
    "button": HtmlPage.open_control,
    "output": HtmlPage.open_control,
    "select": HtmlPage.open_select,
    "optgroup": HtmlPage.open_optgroup,
    "option": HtmlPage.open_option,
    **dict.fromkeys(_SECTIONS, HtmlPage.open_section),
}
_CLOSING: dict[str, Callable[[HtmlPage, Tag], Part]] = {
    "form": HtmlPage.close_form,
    "fieldset": HtmlPage.close_fieldset,
    "legend": HtmlPage.close_legend,
    "label": HtmlPage.close_label,
    "select": HtmlPage.close_select,
    "optgroup": HtmlPage.close_optgroup,
    **dict.fromkeys(_SECTIONS, HtmlPage.close_section),
}
