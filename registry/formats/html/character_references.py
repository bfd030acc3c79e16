"""Character references, decoded by the HTML standard (section 13.2.5.72 and following).

`html.unescape` knows the rule for text alone. In the value of an attribute a reference
without a semicolon stands for itself before "=" or an alphanumeric, so that
`?country=de&region=bw` keeps its keys. It also drops control characters, which the
standard keeps.
"""

import re
from html.entities import html5

# No name is longer than 32 characters, and none without a semicolon than 6.
_REFERENCE = re.compile(
    r"&(?:#(?:[xX]([0-9a-fA-F]++)|([0-9]++));?|([A-Za-z][A-Za-z0-9]{0,31}+)(;?))"
)
_BARE_LENGTHS = range(6, 1, -1)
_MAX_DIGITS = 7  # of the last code point, 1114111
_REPLACEMENT = "\ufffd"
# What Windows-1252 has at 0x80 to 0x9F; the standard keeps its five holes.
_WINDOWS = {
    code: bytes([code]).decode("cp1252")
    for code in range(0x80, 0xA0)
    if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}


def decode_text(text: str) -> str:
    """Decode the references in text."""
    return _REFERENCE.sub(_in_text, text) if "&" in text else text


def decode_attribute(value: str) -> str:
    """Decode the references in the value of an attribute."""
    return _REFERENCE.sub(_in_attribute, value) if "&" in value else value


def _in_text(match: re.Match[str]) -> str:
    name = match[3]
    if name is None:
        return _numbered(match)
    if match[4] and f"{name};" in html5:
        return html5[f"{name};"]
    for length in _BARE_LENGTHS:
        if name[:length] in html5:
            return html5[name[:length]] + match[0][1 + length :]
    return match[0]


def _in_attribute(match: re.Match[str]) -> str:
    name, semicolon = match[3], match[4]
    if name is None:
        return _numbered(match)
    following = match.string[match.end() : match.end() + 1]
    if semicolon:
        return html5.get(f"{name};", match[0])
    if following == "=" or (following.isascii() and following.isalnum()):
        return match[0]
    return html5.get(name, match[0])


def _numbered(match: re.Match[str]) -> str:
    digits = (match[1] or match[2]).lstrip("0")
    if len(digits) > _MAX_DIGITS:
        return _REPLACEMENT
    code = int(digits or "0", 16 if match[1] else 10)
    if not 0 < code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return _REPLACEMENT
    return _WINDOWS.get(code) or chr(code)
