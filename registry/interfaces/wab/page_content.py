"""The parts of this registry that wab.readContent reads: its policy, in plain words.

There is no page behind the bridge. The selectors name texts of ours, so nothing of
strangers comes back, and there is no element to protect but by name.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from registry.errors import Forbidden, NotFound, Refused
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.rest.search.policy_text import (
    EXCLUSIONS,
    RULES,
    STATEMENTS,
    WEIGHED,
)
from registry.interfaces.wab.refusals import SELECTOR_FORBIDDEN, SELECTOR_UNKNOWN

MAX_SELECTOR_LENGTH = 200
SELECTORS: Mapping[str, str] = {
    "factors": "#factors",
    "policy": "#policy",
    "exclusions": "#exclusions",
    "rules": "#rules",
}
_BLOCKED = re.compile(
    r"(?:^|[\s>+~,])(?:script|style|iframe|object|embed|form|input|textarea)\b"
    r"|\[\s*(?:type|on\w+)|javascript:",
    re.IGNORECASE,
)


def read_content(selector: Any) -> Mapping[str, str]:
    """Return text, html and selector. Raises: Refused, Forbidden, NotFound."""
    if not isinstance(selector, str) or not 0 < len(selector) <= MAX_SELECTOR_LENGTH:
        detail = f"selector is a string of at most {MAX_SELECTOR_LENGTH} characters"
        raise Refused(PARAMETER_INVALID, detail, pointer="/selector")
    if _BLOCKED.search(selector):
        raise Forbidden(SELECTOR_FORBIDDEN, pointer="/selector")
    paragraphs = _CONTENT.get(selector)
    if paragraphs is None:
        known = ", ".join(SELECTORS.values())
        raise NotFound(SELECTOR_UNKNOWN, f"there are {known}", pointer="/selector")
    return {
        "text": "\n".join(paragraphs),
        "html": "".join(f"<p>{escape(text)}</p>" for text in paragraphs),
        "selector": selector,
    }


_CONTENT: Mapping[str, Sequence[str]] = {
    SELECTORS["factors"]: [
        f"{name}: {row.meaning} {row.reason}" for name, row in WEIGHED.items()
    ],
    SELECTORS["policy"]: list(STATEMENTS.values()),
    SELECTORS["exclusions"]: [f"{row.what}: {row.enforced}" for row in EXCLUSIONS],
    SELECTORS["rules"]: [f"{row.attempt}: {row.answer}" for row in RULES],
}
