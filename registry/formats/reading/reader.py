"""A cursor over foreign JSON that knows its JSON pointer and records deviations.

Every container is checked before use; a member of an unexpected kind counts as absent and
leaves a deviation. Texts lose control characters, bidirectional overrides and characters
that no reader sees: they could make one site look like another, or speak to a model alone.
"""

import re
from dataclasses import dataclass, field

import msgspec

from registry.formats.document import (
    MAX_ACTIONS,
    MAX_TEXT_CHARACTERS,
    NATIVE,
    Deviation,
    Document,
    DocumentOrigin,
    Format,
)
from registry.formats.reading.call_targets import (
    is_off_origin,
    is_private_target,
    resolve_target,
)
from registry.sites.action import Call
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue, join_pointer
from registry.toml_table import read_table

MAX_DEVIATIONS = 100
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]+"
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


class _Wording(msgspec.Struct, forbid_unknown_fields=True):
    rule: str
    detail: str
    fix: str = ""


_WORDINGS = read_table(__package__, "deviations.toml", dict[str, _Wording])


def clean_text(text: str) -> str:
    if text.isprintable():  # then none of them is in it
        return text.strip()
    return _UNSEEN.sub(" ", text).strip()


def cut_text(text: str) -> str:
    """Clean the text and cut it to MAX_TEXT_CHARACTERS."""
    return clean_text(text)[:MAX_TEXT_CHARACTERS]


def kind_of(value: JsonValue) -> str:
    return _KINDS[type(value)]


@dataclass(slots=True)
class DeviationLog:
    """The deviations of a document while it is read.

    url: the document's address. site_url: the crawled site, if it is elsewhere.
    allow_loopback: for development, addresses of this machine may be called. family: the
    format it is read as, once detected.
    """

    url: str
    site_url: str = ""
    allow_loopback: bool = False
    family: Format | None = None
    _noted: dict[tuple[str, str], Deviation] = field(default_factory=dict)

    def note(self, pointer: str, rule: str, detail: str, fix: str = "") -> None:
        """Record a deviation, the first of a rule at a pointer, up to MAX_DEVIATIONS."""
        if not self.is_full:
            deviation = Deviation(pointer=pointer, rule=rule, detail=detail, fix=fix)
            self._noted.setdefault((pointer, rule), deviation)

    def deviate(self, pointer: str, kind: str, /, **facts: object) -> None:
        """Record a deviation in the words of deviations.toml, into which the facts go."""
        words = _WORDINGS[kind]
        detail, fix = words.detail.format(**facts), words.fix.format(**facts)
        self.note(pointer, words.rule, detail, fix)

    def deviate_instead(self, pointer: str, kind: str, /, **facts: object) -> None:
        """Record a deviation in place of those that are noted at the pointer.

        So a fault is reported once, by the reader that knows most of it, with one repair.
        """
        for key in [key for key in self._noted if key[0] == pointer]:
            del self._noted[key]
        self.deviate(pointer, kind, **facts)

    @property
    def is_full(self) -> bool:
        return len(self._noted) >= MAX_DEVIATIONS

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        return tuple(self._noted.values())

    def resolve(self, text: str, *, base: str = "") -> str | None:
        """Return the absolute URL of a target; None if agents must not follow it."""
        return resolve_target(
            text, base=base or self.url, allow_loopback=self.allow_loopback
        )

    def note_dropped_target(self, pointer: str, text: str, base: str = "") -> None:
        if is_private_target(text, base=base or self.url):
            self.deviate(pointer, "private_target", text=text[:80])
        else:
            self.deviate(pointer, "no_https_target", text=text[:80])

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
        provenance: DocumentOrigin = NATIVE,
        is_judged: bool = True,
    ) -> Document:
        """Make the document. is_judged: it was compared with its specification."""
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
    """A value, its JSON pointer, and the deviation log of its document.

    members: of an object, else empty. Several names are synonyms in order of preference.
    """

    __slots__ = ("_parent", "_step", "log", "members", "value")

    def __init__(
        self,
        value: JsonValue,
        step: str,
        log: DeviationLog,
        parent: "Reader | None" = None,
    ) -> None:
        """Point at a value. step: the pointer's last, or all of it without a parent."""
        self.value = value
        self.members: JsonObject = value if isinstance(value, dict) else {}
        self.log = log
        self._step = step
        self._parent = parent

    @property
    def pointer(self) -> str:
        """The pointer by RFC 6901, formatted on demand: few values have a deviation."""
        if self._parent is None:
            return self._step
        return join_pointer(self._parent.pointer, self._step)

    @property
    def is_present(self) -> bool:
        return self.value is not None

    def deviate(self, kind: str, /, **facts: object) -> None:
        if not self.log.is_full:
            self.log.deviate(self.pointer, kind, **facts)

    def deviate_instead(self, kind: str, /, **facts: object) -> None:
        self.log.deviate_instead(self.pointer, kind, **facts)

    def child(self, *names: str) -> "Reader":
        """Return the first of the named members that is not null, else an absent one."""
        members = self.members
        for name in names:
            value = members.get(name)
            if value is not None:
                return Reader(value, name, self.log, self)
        return Reader(None, names[0], self.log, self)

    def text(self, *names: str) -> str:
        """Return the first named member that is a text; "" if none is."""
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
            elif value is not None and not self.log.is_full:
                self.child(name).expect("a string")
        return ""

    def as_text(self) -> str:
        if not isinstance(self.value, str):
            self.expect("a string")
            return ""
        text = clean_text(self.value)
        if len(text) > MAX_TEXT_CHARACTERS:
            self.deviate("long_text", count=len(text), limit=MAX_TEXT_CHARACTERS)
        return text[:MAX_TEXT_CHARACTERS]

    def boolean(self, *names: str) -> bool | None:
        """Read a flag; None if undeclared: unknown is not false."""
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
        declared = self.child(*names)
        value = declared.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        declared.expect("a number")
        return None

    def items(self, *names: str, limit: int = MAX_ACTIONS) -> "list[Reader]":
        """Return the elements of the array member, at most `limit`."""
        return self.child(*names).elements(limit)

    def elements(self, limit: int = MAX_ACTIONS) -> "list[Reader]":
        if not isinstance(self.value, list):
            self.expect("an array")
            return []
        self._note_excess(len(self.value), limit)
        log = self.log
        return [
            Reader(item, str(index), log, self)
            for index, item in enumerate(self.value[:limit])
        ]

    def texts(self, *names: str, limit: int = MAX_ACTIONS) -> tuple[str, ...]:
        items = (item.as_text() for item in self.items(*names, limit=limit))
        return tuple(filter(None, items))

    def children(
        self, *names: str, limit: int = MAX_ACTIONS
    ) -> "list[tuple[str, Reader]]":
        """Return name and value of each member of the object member, at most `limit`."""
        return self.child(*names).entries(limit)

    def entries(self, limit: int = MAX_ACTIONS) -> "list[tuple[str, Reader]]":
        if not isinstance(self.value, dict):
            self.expect("an object")
            return []
        self._note_excess(len(self.value), limit)
        # The order of members means nothing, so it must not decide which are cut.
        names = list(self.value)
        read = names if len(names) <= limit else sorted(names)[:limit]
        members, log = self.value, self.log
        return [(name, Reader(members[name], name, log, self)) for name in read]

    def target(self, *names: str, base: str = "") -> str | None:
        """Return the absolute URL in the first named member that is a text.

        A URL that agents must not follow is dropped with a deviation.
        """
        text = self.text(*names)
        return self.resolve(text, names=names, base=base) if text else None

    def names_private(self, *names: str, base: str = "") -> bool:
        """Return whether one of the texts is an address left out as private."""
        texts = (self.members.get(name) for name in names)
        return any(
            is_private_target(text, base=base or self.log.url)
            and not self.log.resolve(text, base=base)
            for text in texts
            if isinstance(text, str)
        )

    def check_address(self, name: str, *, also: tuple[str, ...] = ()) -> None:
        """Record a text that is no absolute address that agents may follow.

        also: further schemes that are allowed there.
        """
        text = self.text(name)
        if not text or text.startswith(also):
            return
        if is_private_target(text, base=""):
            self.resolve(text, names=(name,))
        elif "://" not in text or self.log.resolve(text) is None:
            self.child(name).deviate("no_https_url")

    def resolve(
        self, text: str, *, names: tuple[str, ...], base: str = ""
    ) -> str | None:
        url = self.log.resolve(text, base=base)
        if url is None:
            self.log.note_dropped_target(self.child(*names).pointer, text, base)
        return url

    def call(
        self,
        format: Format,  # noqa: A002 - the field's own name
        transport: str,
        url: str = "",
        method: str = "",
        operation: str = "",
    ) -> Call:
        """Make a call. url: absolute, or "" for a call without an address."""
        return Call(
            format=format,
            transport=transport,
            method=method,
            target=url,
            operation=operation,
            off_origin=bool(url) and self.log.off_origin(url),
        )

    def expect(self, kind: str) -> None:
        """Record that a present value is of another kind."""
        if self.value is not None:
            self.deviate("unexpected_type", present=kind_of(self.value), kind=kind)

    def _note_excess(self, count: int, limit: int) -> None:
        if count > limit:
            self.deviate("more_entries", count=count, limit=limit)
