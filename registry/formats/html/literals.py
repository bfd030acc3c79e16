"""Literals in a script, and the names bound to them.

Nothing is executed or guessed: other expressions are None, and so is null. No recursion;
bodies of functions are skipped. Of several bindings of a name the last before its use
counts, whatever its scope.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter

from registry.formats.html.javascript import (
    OPENING,
    is_word,
    match_brackets,
    read_number,
    read_string,
    tokenize,
)
from registry.strict_json import JsonValue

Span = tuple[int, int]
"""Index of the first token of an expression, and of the first behind it."""

_MAX_DEPTH = 32
_TRUTHS = {"true": True, "false": False}
_ENDS = frozenset({"", ";", ",", ")", "]", "}"})
_INFIX = frozenset({"in", "instanceof"})
_WRAPPING = frozenset({"(", "async", "function"})
_CONTROLLING = frozenset({"if", "for", "while", "switch", "catch", "with", "await"})


@dataclass(frozen=True, slots=True)
class _Binding:
    """A name's value from a token on.

    index: of the token. size: tokens, with those of all names within. in_turn: a loop's
    variable, which takes the values of a list in turn.
    """

    index: int
    value: JsonValue
    size: int
    in_turn: bool = False


class Script:
    """A tokenized script. tokens: its first `limit`; is_cut: there are more.

    Names may expand to as many tokens again, so that few of them do not expand without end.
    """

    def __init__(self, text: str, *, limit: int) -> None:
        self.tokens = tokenize(text, limit=limit + 1)
        self.is_cut = len(self.tokens) > limit
        del self.tokens[limit:]
        self._partner = match_brackets(self.tokens)
        self._bound: dict[str, list[_Binding]] = {}
        self._allowance = limit
        for index, token in enumerate(self.tokens):
            bind = _BINDING.get(token)
            if bind is not None:
                bind(self, index)

    def token(self, index: int) -> str:
        """Return a token, empty beyond the script's ends."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else ""

    def parts(self, bracket: int) -> Iterator[Span]:
        """Yield the spans between the commas within a pair of brackets."""
        end = self._partner[bracket]
        first = index = bracket + 1
        while index < end:
            text = self.tokens[index]
            if text == ",":
                yield first, index
                first = index + 1
            index = (self._partner[index] if text in OPENING else index) + 1
        if first < end:
            yield first, end

    def behind(self, bracket: int) -> int:
        """Return the index behind a pair of brackets."""
        return self._partner[bracket] + 1

    def values(self, span: Span) -> list[JsonValue]:
        """Evaluate the expression; several values only within a loop."""
        first, end = span
        bound = self._lookup(first) if end - first == 1 else None
        if bound is not None and bound.in_turn and isinstance(bound.value, list):
            return bound.value
        return [self.value(span)]

    def value(self, span: Span) -> JsonValue:
        """Evaluate a literal expression; None for others."""
        value = self._begin(span)
        pending = [(span[0], value, 0)] if self._is_container(span) else []
        while pending:
            bracket, container, depth = pending.pop()
            for name, part in self._members(bracket):
                member = self._begin(part) if depth < _MAX_DEPTH else None
                if isinstance(container, dict):
                    container[name] = member
                elif isinstance(container, list):
                    container.append(member)
                if member is not None and self._is_container(part):
                    pending.append((part[0], member, depth + 1))
        return value

    # --- expressions ---

    def _members(self, bracket: int) -> Iterator[tuple[str, Span]]:
        """Yield name and value of each member; in an array the names are empty."""
        for first, end in self.parts(bracket):
            name = self.token(first)
            if self.tokens[bracket] == "[":
                yield "", (first, end)
            elif self.token(first + 1) == ":":
                quoted = read_string(name)
                yield name if quoted is None else quoted, (first + 2, end)
            elif end - first == 1 and is_word(name):
                yield name, (first, end)

    def _is_container(self, span: Span) -> bool:
        first, end = span
        return self.token(first) in ("[", "{") and self._partner[first] + 1 == end

    def _begin(self, span: Span) -> JsonValue:
        """Return the value; for a container an empty one, to be filled."""
        first, end = span
        if self._is_container(span):
            return [] if self.tokens[first] == "[" else {}
        if end - first == 1:
            return self._single(first)
        if end - first == 2:
            return _signed(self.tokens[first], self.tokens[first + 1])
        return self._joined(span)

    def _joined(self, span: Span) -> str | None:
        """Evaluate strings that are joined by plus signs."""
        texts = []
        for index in range(*span, 2):
            if self.token(index + 1) != "+" and index + 1 != span[1]:
                return None
            text = self._single(index)
            if not isinstance(text, str):
                return None
            texts.append(text)
        return "".join(texts) if texts else None

    def _single(self, index: int) -> JsonValue:
        text = self.tokens[index]
        if is_word(text) and text not in _TRUTHS:
            bound = self._lookup(index)
            return None if bound is None or bound.in_turn else bound.value
        if text in _TRUTHS:
            return _TRUTHS[text]
        quoted = read_string(text)
        return read_number(text) if quoted is None else quoted

    # --- names ---

    def bind_literal(self, assignment: int) -> None:
        """Bind `name = …`, declared or not; `object.name = …` binds no name."""
        is_name = is_word(self.token(assignment - 1))
        if not is_name or self.token(assignment - 2) in (".", "?."):
            return
        first, end = self._literal_at(assignment + 1)
        before = self._allowance
        value = self.value((first, end))
        size = end - first + before - self._allowance
        self._bind(assignment - 1, _Binding(assignment, value, size))

    def bind_loop(self, of: int) -> None:
        """Bind `for (const name of list)`."""
        self._bind_in_turn(of - 1, of + 1)

    def bind_callback(self, method: int) -> None:
        """Bind `list.forEach((name) => …)`."""
        index = method + 1
        while self.token(index) in _WRAPPING:
            index += 1
        if self.token(method - 1) == ".":
            self._bind_in_turn(index, method - 2)

    def bind_parameters(self, bracket: int) -> None:
        """Bind `(name, …) => …`, `function (name, …) {…}` to unknown values."""
        behind = self.token(self.behind(bracket))
        if behind == "=>" or (
            behind == "{" and self.token(bracket - 1) not in _CONTROLLING
        ):
            for first, _ in self.parts(bracket):
                self._bind(first, _Binding(bracket, None, 0))

    def bind_parameter(self, arrow: int) -> None:
        """Bind `name => …` to an unknown value."""
        self._bind(arrow - 1, _Binding(arrow - 1, None, 0))

    def _bind_in_turn(self, name: int, listed: int) -> None:
        binding = self._lookup(listed)
        if binding is not None and isinstance(binding.value, list):
            self._bind(name, replace(binding, index=name, in_turn=True))

    def _bind(self, name: int, binding: _Binding) -> None:
        if is_word(self.token(name)):
            bindings = self._bound.setdefault(self.token(name), [])
            if not bindings or bindings[-1].index < binding.index:
                bindings.append(binding)

    def _literal_at(self, first: int) -> Span:
        """Return the span of a literal; empty if the expression continues otherwise."""
        token, end = self.token(first), first + 1
        if token in OPENING:
            end = self._partner[first] + 1
        elif token in ("-", "!"):
            end += 1
        while self.token(end) == "+":
            end += 2
        behind = self.token(end)
        goes_on = behind not in _ENDS and (not is_word(behind) or behind in _INFIX)
        return (first, first if goes_on or end > len(self.tokens) else end)

    def _lookup(self, index: int) -> _Binding | None:
        """Return the name's last binding before the index, or else its first after it."""
        bindings = self._bound.get(self.token(index))
        if not bindings:
            return None
        position = bisect_left(bindings, index, key=_BINDING_INDEX)
        binding = bindings[max(position - 1, 0)]
        if binding.size > self._allowance:
            return None
        self._allowance -= binding.size
        return binding


_BINDING: dict[str, Callable[[Script, int], None]] = {
    "=": Script.bind_literal,
    "of": Script.bind_loop,
    "forEach": Script.bind_callback,
    "(": Script.bind_parameters,
    "=>": Script.bind_parameter,
}


_BINDING_INDEX = attrgetter("index")


def _signed(sign: str, digits: str) -> JsonValue:
    """Evaluate `-1`, and `!0` and `!1`, by which minifiers write true and false."""
    if sign == "!" and digits in ("0", "1"):
        return digits == "0"
    number = read_number(digits) if sign == "-" else None
    return None if number is None else -number
