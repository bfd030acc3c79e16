"""A cursor over foreign JSON that knows where it is and records what is amiss.

Nothing is taken for granted: every container is checked before use, a member of another
kind than asked for counts as absent and leaves a deviation. Texts come without control
characters and bidirectional overrides, which could make one site look like another.
"""

import re
from dataclasses import dataclass, field

from registry.formats.document import (
    MAX_ACTIONS,
    MAX_TEXT_CHARACTERS,
    NATIVE,
    Deviation,
    Document,
    Format,
    Provenance,
)
from registry.formats.reading.targets import is_off_origin, resolve_target
from registry.sites.action import Call
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue, join_pointer

MAX_DEVIATIONS = 100
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+"
)
_KINDS: dict[type, str] = {
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def clean_text(text: str) -> str:
    if text.isprintable():  # then none of them is in it
        return text.strip()
    return _UNSEEN.sub(" ", text).strip()


def cut_text(text: str) -> str:
    """Clean, and no longer than a text may be."""
    return clean_text(text)[:MAX_TEXT_CHARACTERS]


def kind_of(value: JsonValue) -> str:
    return _KINDS[type(value)]


@dataclass(slots=True)
class Ledger:
    """The departures found while one document is read.

    url: where the document lies. site_url: the crawled site, if that is elsewhere.
    family: the format it is read as, once that is told.
    """

    url: str
    site_url: str = ""
    family: Format | None = None
    _noted: dict[tuple[str, str], Deviation] = field(default_factory=dict)

    def note(self, pointer: str, rule: str, detail: str, fix: str = "") -> None:
        """The first note of a rule at a place stands; beyond MAX_DEVIATIONS none."""
        if not self.is_full:
            found = Deviation(pointer=pointer, rule=rule, detail=detail, fix=fix)
            self._noted.setdefault((pointer, rule), found)

    @property
    def is_full(self) -> bool:
        return len(self._noted) >= MAX_DEVIATIONS

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        return tuple(self._noted.values())

    def off_origin(self, url: str) -> bool:
        return is_off_origin(url, site_url=self.site_url or self.url)

    def conclude(
        self,
        *,
        format: Format,  # noqa: A002 - the field's own name
        dialect: str,
        version: str,
        site: Site,
        raw: JsonObject | None,
        references: tuple[str, ...] = (),
        provenance: Provenance = NATIVE,
        is_judged: bool = True,
    ) -> Document:
        """is_judged: the document was compared with its specification."""
        return Document(
            format=format,
            dialect=dialect,
            version=version,
            url=self.url,
            conformance="strict" if is_judged and not self._noted else "tolerated",
            site=site,
            deviations=self.deviations,
            raw=raw,
            references=references,
            provenance=provenance,
        )


class Reader:
    """One value, its JSON pointer, and the ledger of its document.

    members: the object's; none if it is no object. Where several names are given, they
    are synonyms in order of preference.
    """

    __slots__ = ("_parent", "_step", "ledger", "members", "value")

    def __init__(
        self,
        value: JsonValue,
        step: str,
        ledger: Ledger,
        parent: "Reader | None" = None,
    ) -> None:
        """step: the last of the pointer; the whole of it where there is no parent."""
        self.value = value
        self.members: JsonObject = value if isinstance(value, dict) else {}
        self.ledger = ledger
        self._step = step
        self._parent = parent

    @property
    def pointer(self) -> str:
        """RFC 6901. Spelled when asked for: few values have anything amiss."""
        if self._parent is None:
            return self._step
        return join_pointer(self._parent.pointer, self._step)

    @property
    def is_present(self) -> bool:
        return self.value is not None

    def note(self, rule: str, detail: str, fix: str = "") -> None:
        if not self.ledger.is_full:
            self.ledger.note(self.pointer, rule, detail, fix)

    def child(self, *names: str) -> "Reader":
        """The first of the named members that is not null, else an absent one."""
        members = self.members
        for name in names:
            value = members.get(name)
            if value is not None:
                return Reader(value, name, self.ledger, self)
        return Reader(None, names[0], self.ledger, self)

    def text(self, *names: str) -> str:
        """The first named member that is a text; "" if none is."""
        members = self.members
        for name in names:
            value = members.get(name)
            if isinstance(value, str):
                if value.isprintable() and len(value) <= MAX_TEXT_CHARACTERS:
                    text = value.strip()
                else:
                    text = self.child(name).as_text()
                if text:
                    return text
            elif value is not None and not self.ledger.is_full:
                self.child(name).expect("a string")
        return ""

    def as_text(self) -> str:
        if not isinstance(self.value, str):
            self.expect("a string")
            return ""
        text = clean_text(self.value)
        if len(text) > MAX_TEXT_CHARACTERS:
            self.note(
                "limit",
                f"{len(text)} characters; the first {MAX_TEXT_CHARACTERS} are read",
                "Shorten the text.",
            )
        return text[:MAX_TEXT_CHARACTERS]

    def boolean(self, *names: str) -> bool | None:
        """None if undeclared: unknown is not false."""
        members = self.members
        for name in names:
            value = members.get(name)
            if isinstance(value, bool):
                return value
            if value is not None:
                self.child(name).expect("a boolean")
                return None
        return None

    def number(self, *names: str) -> float | None:
        found = self.child(*names)
        if isinstance(found.value, int | float) and not isinstance(found.value, bool):
            return float(found.value)
        found.expect("a number")
        return None

    def items(self, *names: str, limit: int = MAX_ACTIONS) -> "list[Reader]":
        """The elements of the array member, at most `limit`."""
        return self.child(*names).elements(limit)

    def elements(self, limit: int = MAX_ACTIONS) -> "list[Reader]":
        if not isinstance(self.value, list):
            self.expect("an array")
            return []
        self._note_excess(len(self.value), limit)
        ledger = self.ledger
        return [
            Reader(item, str(index), ledger, self)
            for index, item in enumerate(self.value[:limit])
        ]

    def texts(self, *names: str, limit: int = MAX_ACTIONS) -> tuple[str, ...]:
        found = (item.as_text() for item in self.items(*names, limit=limit))
        return tuple(text for text in found if text)

    def children(
        self, *names: str, limit: int = MAX_ACTIONS
    ) -> "list[tuple[str, Reader]]":
        """Name and value of each member of the object member, at most `limit`."""
        return self.child(*names).entries(limit)

    def entries(self, limit: int = MAX_ACTIONS) -> "list[tuple[str, Reader]]":
        if not isinstance(self.value, dict):
            self.expect("an object")
            return []
        self._note_excess(len(self.value), limit)
        # The order of members means nothing, so it must not choose who is cut.
        names = list(self.value)
        kept = names if len(names) <= limit else sorted(names)[:limit]
        members, ledger = self.value, self.ledger
        return [(name, Reader(members[name], name, ledger, self)) for name in kept]

    def target(self, *names: str, base: str = "") -> str | None:
        """The absolute URL in the first named member that is a text.

        What agents must not follow is dropped with a deviation.
        """
        text = self.text(*names)
        return self.resolve(text, names=names, base=base) if text else None

    def resolve(
        self, text: str, *, names: tuple[str, ...], base: str = ""
    ) -> str | None:
        url = resolve_target(text, base=base or self.ledger.url)
        if url is None:
            self.child(*names).note(
                "target",
                f"{text[:80]!a} is no https address; it is left out",
                "Give an https URL or a path on the site.",
            )
        return url

    def call(
        self,
        format: Format,  # noqa: A002 - the field's own name
        transport: str,
        url: str = "",
        method: str = "",
        operation: str = "",
    ) -> Call:
        """url: absolute, or "" where the call goes to no address."""
        return Call(
            format=format,
            transport=transport,
            method=method,
            target=url,
            operation=operation,
            off_origin=bool(url) and self.ledger.off_origin(url),
        )

    def expect(self, kind: str) -> None:
        """Note that a present value is of another kind."""
        if self.value is not None:
            self.note(
                "type",
                f"{kind_of(self.value)} where {kind} is expected",
                f"Make it {kind}.",
            )

    def _note_excess(self, count: int, limit: int) -> None:
        if count > limit:
            self.note("limit", f"{count} entries; {limit} are read", "List fewer.")
