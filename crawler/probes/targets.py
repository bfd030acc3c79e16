"""Targets of probes, and what each promised to answer. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from crawler import refusals
from crawler.http.body import PAGE_LIMITS, BodyLimits
from crawler.http.exchange import Fetched, Wanted
from crawler.http.guard import RedirectRule
from crawler.http.head import DOCUMENT_TYPES, JSON_TYPES, Validators
from crawler.probes import bridge
from registry.errors import Refused
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Parsed
from registry.formats.html.foreign_content import HTML_TYPES
from registry.formats.html.markup import is_html
from registry.formats.wab.transports import EXECUTE
from registry.sites.entry import SiteEntry

_ON_THE_HOST = RedirectRule(within="host")
"""A site is measured by what its own host answers."""
_OF_A_BRIDGE = Wanted(accept=JSON_TYPES, headers=bridge.HEADERS, redirects=_ON_THE_HOST)

Expect = Callable[[Fetched], None]
"""Raises: Refused `bridge_answer`, `document_other`."""


def _expect_nothing(answer: Fetched) -> None:
    """Accept any response of the accepted types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTarget:
    """wanted: names the promised answer's types. expect: what it must be.

    promise: the same in words, for the owner.
    """

    url: str
    wanted: Wanted
    promise: str
    expect: Expect = _expect_nothing


def bridge_of(entry: SiteEntry) -> str:
    """The base URL of its WAB bridge, "" where it has none of its own."""
    for action in entry.site.actions:
        for call in action.calls:
            if call.format == "wab" and call.transport == "http":
                base_url, separator, _ = call.target.rpartition(EXECUTE)
                if separator and not call.off_origin:
                    return base_url
    return ""


def ping_of(base_url: str) -> ProbeTarget:
    """base_url: absolute, `transport.http.base_url` of a WAB document."""
    return ProbeTarget(
        url=_method_url(base_url, "ping"),
        wanted=_OF_A_BRIDGE,
        promise='JSON with "status": "ok", bare or as the result of a WAB response',
        expect=lambda answer: bridge.verify_pong(answer.body, answer.url),
    )


def document_at(
    url: str, *, promised: str, content_type: str, body: bytes, stored: Validators
) -> ProbeTarget:
    """The document that was crawled there: the same bytes, or others of its format.

    promised: the format.
    """
    is_page = is_html(content_type)
    return ProbeTarget(
        url=url,
        wanted=Wanted(
            accept=HTML_TYPES if is_page else DOCUMENT_TYPES,
            conditional=stored,
            redirects=_ON_THE_HOST,
            limits=PAGE_LIMITS if is_page else BodyLimits(),
        ),
        promise=f"304, or 200 with a document of the format {promised}",
        expect=partial(_expect_format, promised=promised, body=body, is_page=is_page),
    )


def page_of(host: str) -> ProbeTarget:
    """Return the home page of a host that serves no document itself."""
    wanted = Wanted(accept=HTML_TYPES, redirects=_ON_THE_HOST, limits=PAGE_LIMITS)
    return ProbeTarget(
        url=f"https://{host}/", wanted=wanted, promise="200 with a page of HTML"
    )


def exactly(method: bridge.Method, base_url: str) -> ProbeTarget:
    """Return the target of a method, whose answer must be WAB 1.0 to the letter."""
    return ProbeTarget(
        url=_method_url(base_url, method),
        wanted=_OF_A_BRIDGE,
        promise="an answer as in WAB 1.0, 5.2 and 5.3",
        expect=lambda answer: bridge.verify_answer(method, answer.body, answer.url),
    )


def _method_url(base_url: str, method: bridge.Method) -> str:
    return f"{base_url.rstrip('/')}/{method}"


def _expect_format(
    answer: Fetched, *, promised: str, body: bytes, is_page: bool
) -> None:
    if answer.body == body:
        return
    parse = parse_page if is_page else parse_document
    parsed = parse(answer.body, url=answer.url, content_type=answer.content_type)
    if not isinstance(parsed, Parsed):
        detail = f"{answer.url}: {parsed.problem.detail}"
        raise Refused(refusals.DOCUMENT_OTHER, detail)
    if parsed.document.format != promised:
        detail = f"{answer.url}: it is {parsed.document.format}, not {promised}"
        raise Refused(refusals.DOCUMENT_OTHER, detail)
