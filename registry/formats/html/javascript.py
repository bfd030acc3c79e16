"""JavaScript tokens, the brackets among them, strings and numbers.

No common parser handles hostile scripts in bounded time: tree-sitter 0.26 needs seconds
and hundreds of megabytes for 64 kB of `/[`, others recurse. So this knows only enough to
find literals and to skip all else. It never backtracks in the text.

A regular expression is recognised by the token before it, and skipped; templates may hold
templates two deep. Source: ECMA-262, chapter 12.
"""

import math
import re
from itertools import islice

_MAX_DIGITS = 20
_STRING = r'"(?>(?:[^"\\\n\r]++|\\[\s\S])*)"?' r"|'(?>(?:[^'\\\n\r]++|\\[\s\S])*)'?"
_SKIPPED = r"(?>(?:[\s\ufeff]++|//[^\n\r]*+|<!--[^\n\r]*+|/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/)?)*)"
_REGEX = (
    r"/(?![*/])(?>(?:[^/\\\[\n\r]++|\\.|\[(?>(?:[^\]\\\n\r]++|\\.)*)\]?)+)"
    r"(?:/[A-Za-z]*+)?"
)
_NUMBER = r"(?:\d|\.\d)[\w.]*+(?:(?<=[eE])[+-]\d++)?"
# Behind these an expression begins; only there a slash begins a regular expression, which
# is skipped.
_LEADING = (
    r"(?:return|typeof|case|in|of|do|else|void|delete|new|throw|await|yield)(?![\w$])"
    r"|=>|[=!]==?|(?:\*\*|>>>?|<<|&&|\|\||\?\?|[-+*/%&|^<>])=|&&|\|\||\?\?|\*\*"
    r"|[-({\[,;:?=!&|+*%~^<>]"
)


def _template(depth: int) -> str:
    if depth == 0:
        return r"`(?>(?:[^`\\]++|\\[\s\S])*)`?"
    plain = rf"[^`{{}}\"']++|{_STRING}|{_template(depth - 1)}"
    braces = rf"\{{(?>(?:{plain}|\{{(?>(?:{plain})*)\}}?)*)\}}?"
    substitution = rf"\$\{{(?>(?:{plain}|{braces})*)\}}?"
    return rf"`(?>(?:[^`\\$]++|\\[\s\S]|\$(?!\{{)|{substitution})*)`?"


_TOKEN = re.compile(
    rf"{_SKIPPED}(?:((?!\+\+|--|\?\.(?!\d))(?:{_LEADING}))(?>(?:{_SKIPPED}{_REGEX})?)"
    rf"|(\+\+|--|\?\.|\.\.\.|{_STRING}|{_template(2)}|{_NUMBER}|[\w$]++|[\s\S])|\Z)"
)
_WHOLE_STRING = re.compile(
    r'"(?>(?:[^"\\\n\r]++|\\[\s\S])*)"'
    r"|'(?>(?:[^'\\\n\r]++|\\[\s\S])*)'"
    r"|`(?>(?:[^`\\$]++|\\[\s\S]|\$(?!\{))*)`"
)
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(\r\n|[\s\S]))"
)
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    **dict.fromkeys(("\r\n", "\n", "\r", "\u2028", "\u2029"), ""),
}
_OPENING = {")": "(", "]": "[", "}": "{"}
OPENING = frozenset(_OPENING.values())


def tokenize(text: str, *, limit: int) -> list[str]:
    """Return the first `limit` tokens, without comments and regular expressions."""
    tokens = (match[1] or match[2] for match in _TOKEN.finditer(text))
    return [token for token in islice(tokens, limit) if token]


def is_word(token: str) -> bool:
    return token[:1].isalpha() or token[:1] in ("_", "$")


def match_brackets(tokens: list[str]) -> list[int]:
    """Return the index of the partner of each opening bracket.

    A closing bracket also closes those within that have no partner; the end of the script
    closes the others.
    """
    partner = [len(tokens)] * len(tokens)
    opened: list[int] = []
    count = dict.fromkeys(OPENING, 0)
    for index, token in enumerate(tokens):
        if token in OPENING:
            opened.append(index)
            count[token] += 1
        elif token in _OPENING and count[_OPENING[token]]:
            inner = ""
            while inner != _OPENING[token]:
                last = opened.pop()
                inner = tokens[last]
                partner[last] = index
                count[inner] -= 1
    return partner


def read_string(token: str) -> str | None:
    """Evaluate a string, or a template without substitutions; None for other tokens."""
    if not _WHOLE_STRING.fullmatch(token):
        return None
    text = token[1:-1]
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(_unescape, text)
    # Two escapes may make a surrogate pair.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape(match: "re.Match[str]") -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    return _ESCAPED.get(match[4], match[4])


def read_number(token: str) -> float | None:
    digits = token.replace("_", "")
    if len(digits) > _MAX_DIGITS:
        return None
    try:
        return int(digits, 0)
    except ValueError:
        pass
    try:
        number = float(digits)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
