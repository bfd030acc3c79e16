"""Submission of a form: its target, method and button.

Source: HTML standard, section 4.10.21 (form submission).
"""

from registry.formats.document import Format
from registry.formats.html.controls import Control, Holder
from registry.formats.reading.call_targets import is_private_target
from registry.formats.reading.reader import Reader
from registry.sites.action import Call

_NOT_SUBMITTING = frozenset({"button", "reset"})


def submit_button(holder: Holder) -> Control | None:
    """Return the form's default button (HTML: implicit submission)."""
    return next(filter(_submits, holder.controls), None)


def _submits(control: Control) -> bool:
    if control.is_disabled:
        return False
    if control.tag.name == "button":
        kind = control.tag.attributes.get("type", "submit").lower()
        return kind not in _NOT_SUBMITTING
    return control.kind in ("submit", "image")


def read_form_call(
    form: Holder,
    pointer: Reader,
    *,
    format: Format,  # noqa: A002 - the field's own name
    operation: str = "",
    base: str,
) -> Call | None:
    """Read the call, None if it leads to a private address; the button's target and method take precedence over the form's.

    pointer: of deviations. base: of the page's relative URLs.
    """
    button = submit_button(form)
    own = button.tag.attributes if button else {}
    method = (own.get("formmethod") or form.tag.attributes.get("method", "")).upper()
    action = (own.get("formaction") or form.tag.attributes.get("action", "")).strip()
    if method == "DIALOG":
        return pointer.call(format, "page", operation=operation)
    action = action or pointer.log.url
    url = pointer.resolve(action, names=("action",), base=base)
    if url is None and is_private_target(action, base=base):
        return None
    if url is None:  # scripts may answer to it
        return pointer.call(format, "page", operation=operation)
    method = "POST" if method == "POST" else "GET"
    return pointer.call(format, "form", url, method, operation)
