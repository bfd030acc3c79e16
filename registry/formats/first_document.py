"""The first discovery document of a site that has none, from six answers of its owner.

The answers pass the same readers as a document, so that what is written is conforming,
and holds nothing but what the owner said.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from registry.formats.document import Deviation, Document
from registry.formats.reading.call_targets import resolve_target
from registry.formats.reading.reader import clean_text
from registry.formats.repair import Incomplete, OwnerStatement, Repaired, repair
from registry.sites.action import Action
from registry.sites.site import Site
from registry.toml_table import read_table

_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,79}):\s+(?=\S)")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_STOP_WORDS = frozenset(
    {"a", "an", "the", "of", "for", "to", "and", "or", "in", "on", "at", "with", "by"}
)
_MAX_NAME_WORDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerQuestion:
    """A question to the owner. pointers: the members that the answer becomes."""

    name: str
    text: str
    example: str
    pointers: tuple[str, ...]
    is_optional: bool = False


QUESTIONS = read_table(
    __package__, "first_document.toml", dict[str, tuple[OwnerQuestion, ...]]
)["questions"]


def write_first_document(
    answers: Mapping[str, str], *, allow_loopback: bool = False
) -> Repaired | Incomplete:
    """Write a WAB document. answers: by the names of QUESTIONS; what lacks is empty.

    allow_loopback: for development, the site may be on this machine.
    """
    given = {question.name: answers.get(question.name, "") for question in QUESTIONS}
    origin = _origin(given["url"], allow_loopback=allow_loopback)
    city, country = _parse_place(given["place"])
    statement = OwnerStatement(
        name=given["name"],
        category=given["category"],
        city=city,
        country=country,
        bridge=given["bridge"].strip(),
    )
    outcome = repair(
        _bare_document(origin, given["action"]),
        statement,
        host=urlsplit(origin).netloc,
        allow_loopback=allow_loopback,
    )
    if given["url"].strip() and not origin:
        return _with_address_refused(outcome)
    return outcome


def find_fault(name: str, answer: str, *, allow_loopback: bool = False) -> str:
    """Return why the answer to a question is not taken; "" if it is."""
    question = next(question for question in QUESTIONS if question.name == name)
    if question.is_optional and not answer.strip():
        return ""
    samples = {question.name: question.example for question in QUESTIONS}
    outcome = write_first_document(
        {**samples, name: answer}, allow_loopback=allow_loopback
    )
    if isinstance(outcome, Repaired):
        return ""
    deviation = outcome.missing[0]
    return f"{deviation.detail}. {deviation.fix}" if answer.strip() else "it is needed."


def question_of(deviation: Deviation) -> OwnerQuestion | None:
    """Return the question whose answer is at fault."""
    named = (row for row in QUESTIONS if deviation.pointer in row.pointers)
    return next(named, None)


def _bare_document(origin: str, action: str) -> Document:
    """Make the document to be repaired; without an origin only to judge the answers."""
    return Document(
        format="wab",
        dialect="",
        version="",
        url=origin or QUESTIONS[0].example,
        conformance="tolerated",
        site=Site(url=origin, actions=_parse_action(action)),
    )


def _origin(answer: str, *, allow_loopback: bool) -> str:
    """Return the site's own URL, of an address or of a host name; "" if it is none."""
    text = answer.strip()
    url = text if "://" in text else f"https://{text}"
    target = resolve_target(url, base="", allow_loopback=allow_loopback)
    parts = urlsplit(target or "")
    return f"{parts.scheme}://{parts.netloc}/" if target else ""


def _with_address_refused(outcome: Repaired | Incomplete) -> Incomplete:
    others = outcome.missing if isinstance(outcome, Incomplete) else ()
    refused = Deviation(
        pointer="/provider/url",
        rule="url",
        detail="not an https address that the public can reach",
        fix="Give the site's address, e.g. https://shop.example/.",
    )
    rest = (row for row in others if not row.pointer.startswith("/provider/url"))
    return Incomplete((refused, *rest))


def _parse_place(answer: str) -> tuple[str, str]:
    """Return city and country of "Graz, AT"; without a comma it is a city."""
    if "," not in answer:
        return answer.strip(), ""
    city, _, country = answer.rpartition(",")
    return city.strip(), country.strip()


def _parse_action(answer: str) -> tuple[Action, ...]:
    """Return the action of "Book a table", or by its name of "bookTable: Book a table"."""
    text = clean_text(answer)
    named = _NAMED.match(text)
    name = named[1] if named else _name_of(text)
    description = text[named.end() :] if named else text
    return (Action(name=name, description=description),) if text else ()


def _name_of(sentence: str) -> str:
    """Return a name of the first telling words: "bookTable" of "Book a table"."""
    plain = unicodedata.normalize("NFKD", sentence).encode("ascii", "ignore").decode()
    all_words: list[str] = _WORD.findall(plain)
    words = [word for word in all_words if word.lower() not in _STOP_WORDS]
    first, *others = words[:_MAX_NAME_WORDS] or ["action"]
    return first.lower() + "".join(word.capitalize() for word in others)
