"""Parse fetched bytes into a site: parse, verify, assemble. No I/O.

A declared document that is not what was signed refuses the whole. One that can't be
read, or whose own signature does not hold, only counts as missing: what the site says in
its other documents still stands, and the problem is kept for the owner.

Anybody can point to anybody's document. One on another host counts only where it speaks
for this host itself: by the address that it claims, or by a signature for this host.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from msgspec import structs

from registry.errors import Problem, Refused
from registry.formats.assemble import AssembledSite, assemble
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import (
    Deviation,
    Document,
    DocumentOrigin,
    Parsed,
    Rejected,
    StoredDocument,
)
from registry.formats.html.markup import is_html
from registry.formats.refusals import PAGE_WITHOUT_TOOLS
from registry.formats.semantic import semantic_hash
from registry.identity import refusals
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.declarations import Declarations
from registry.identity.statements.document_signature import (
    Unsigned,
    verify_document_signature,
)
from registry.identity.statements.registration import DocumentClaim
from registry.sites.site import Site
from registry.usecases.refusals import (
    DOCUMENT_ELSEWHERE,
    DOCUMENT_HASH_MISMATCH,
    DOCUMENT_MISSING,
)

# Only WAB says what `signature` is; in another format it may be anything.
_ANOTHER_MEANING = frozenset(
    {
        refusals.DOCUMENT_SIGNATURE_ALGORITHM.code,
        refusals.DOCUMENT_SIGNATURE_MALFORMED.code,
    }
)
_MAX_REASONS = 3
_NOTHING_DECLARED = Declarations()
_MEMBERS = {
    kind: tuple(member.name for member in fields(kind))
    for kind in (DocumentOrigin, Deviation)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedBody:
    """requested_url: what was asked for, where redirects led from it to the url.

    parsed: where somebody has read it already.
    """

    url: str
    body: bytes
    content_type: str
    fetched_at: datetime
    etag: str | None = None
    last_modified: str | None = None
    requested_url: str = ""
    parsed: Parsed | Rejected | None = None

    @property
    def is_page(self) -> bool:
        """Return whether it is HTML, which declares tools in its forms, or nothing."""
        return is_html(self.content_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrant:
    """Registrant of the documents, and what is known of it beside them.

    claims: of the registration that names the documents. pinned: the keys that the site
    was proved by. allow_loopback: for development, actions may be called on this machine.
    """

    site_url: str
    claims: Sequence[DocumentClaim] = ()
    declarations: Declarations = _NOTHING_DECLARED
    pinned: Sequence[PublicKey] = ()
    allow_loopback: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSite:
    """site: with the registrant's declarations where the documents are silent.

    meaning: its semantic hash. problems: of documents that were left out. absent: URLs at
    which there surely is nothing.
    """

    listing: AssembledSite
    site: Site
    meaning: bytes
    documents: tuple[StoredDocument, ...]
    problems: tuple[Problem, ...]
    absent: frozenset[str] = frozenset()

    @property
    def refused_urls(self) -> frozenset[str]:
        """Return the URLs of documents that are there, and that the problems are about."""
        return frozenset(map(url_of, self.problems)) - self.absent

    @property
    def is_strict(self) -> bool:
        return all(document.conformance == "strict" for document in self.documents)


class NoDocument(Refused):
    """A refusal where no document counts: the first unsound signature, else why.

    unsound: by URL, those whose own signature does not hold. left_out: the others.
    tried: addresses that were merely looked at, each with what failed there, if anything.
    """

    def __init__(
        self,
        unsound: Mapping[str, Problem],
        left_out: Sequence[Problem],
        tried: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.unsound = unsound
        self.left_out = tuple(left_out)
        for url, first in unsound.items():
            kind = first.kind
            detail = _located(first, url).detail
            super().__init__(kind, detail, pointer=first.pointer)
            return
        codes = {problem.code for problem in left_out}
        is_elsewhere = DOCUMENT_ELSEWHERE.code in codes
        kind = DOCUMENT_ELSEWHERE if is_elsewhere else DOCUMENT_MISSING
        super().__init__(kind, _why(left_out, tried))

    @property
    def signatures(self) -> dict[str, dict[str, Any]]:
        """Return, by URL, the result of verifying each signature."""
        return {url: _failed(problem) for url, problem in self.unsound.items()}

    @property
    def has_expired(self) -> bool:
        return any(
            signature["status"] == "expired" for signature in self.signatures.values()
        )


def parse_site(
    bodies: Sequence[FetchedBody],
    registrant: Registrant,
    *,
    problems: Sequence[Problem] = (),
    tried: Mapping[str, str] = MappingProxyType({}),
    absent: Iterable[str] = (),
    now: datetime,
) -> ParsedSite:
    """problems: what went wrong in fetching. tried: see `NoDocument`. absent: `ParsedSite`.

    now: also for documents that stand unchanged, whose signature may have run out.
    Raises: NoDocument where none is left; Refused for one that is not what was signed.
    """
    verify_claims(bodies, registrant.claims)
    documents, unsound, unreadable = _verified_documents(bodies, registrant, now)
    left_out = [*problems, *unreadable]
    if not documents:
        raise NoDocument(unsound, left_out, tried)
    # A page that only points to its documents has done what it is there for.
    left_out = [
        problem for problem in left_out if problem.code != PAGE_WITHOUT_TOOLS.code
    ]
    listing = assemble(
        [document for document, _ in documents], site_url=registrant.site_url
    )
    site = with_declarations(listing.site, registrant.declarations)
    return ParsedSite(
        listing=listing,
        site=site,
        meaning=_meaning_of(site, documents),
        documents=tuple(stored for _, stored in documents),
        problems=(
            *(_located(problem, url) for url, problem in unsound.items()),
            *left_out,
        ),
        absent=frozenset(absent),
    )


def _meaning_of(
    site: Site, documents: Iterable[tuple[Document, StoredDocument]]
) -> bytes:
    """Return the semantic hash; that of a document which says the same is at hand."""
    for document, stored in documents:
        if document.site == site:
            return stored.semantic_hash
    return semantic_hash(site)


def _verified_documents(
    bodies: Sequence[FetchedBody], registrant: Registrant, now: datetime
) -> tuple[list[tuple[Document, StoredDocument]], dict[str, Problem], list[Problem]]:
    """Return the documents, by URL why a signature failed, and what was unreadable."""
    host = urlsplit(registrant.site_url).hostname or ""
    documents: list[tuple[Document, StoredDocument]] = []
    unsound: dict[str, Problem] = {}
    unreadable: list[Problem] = []
    for body in bodies:
        match _parse(body, registrant):
            case Rejected(problem):
                unreadable.append(_located(problem, body.url))
            case Parsed(document):
                match check_signature(
                    document, host=host, pinned=registrant.pinned, now=now
                ):
                    case Problem() as problem:
                        unsound[body.url] = problem
                    case signature if not speaks_for(host, document, signature):
                        unreadable.append(_elsewhere(body, host))
                    case signature:
                        documents.append((document, _stored(body, document, signature)))
    return documents, unsound, unreadable


def is_at(host: str, url: str) -> bool:
    """Return whether the URL's host is the host, an A-label."""
    return urlsplit(url).hostname == host


def speaks_for(host: str, document: Document, signature: Mapping[str, Any]) -> bool:
    """Return whether the document lies on the host, names it, or is signed for it."""
    return (
        is_at(host, document.url)
        or is_at(host, document.site.url)
        or signature.get("kind") == "B"
    )


def _elsewhere(body: FetchedBody, host: str) -> Problem:
    detail = f"it does not name {host}"
    return _located(Refused(DOCUMENT_ELSEWHERE, detail).problem, body.url)


def verify_claims(
    bodies: Sequence[FetchedBody], claims: Sequence[DocumentClaim]
) -> None:
    """Raises: Refused if a document is not the one whose hash was signed."""
    if not claims:
        return
    served = {
        body.requested_url or body.url: hashlib.sha256(body.body).hexdigest()
        for body in bodies
    }
    for index, claim in enumerate(claims):
        digest = served.get(claim.url)
        if claim.sha256 is not None and digest not in {None, claim.sha256}:
            raise Refused(
                DOCUMENT_HASH_MISMATCH,
                f"{claim.url} has the SHA-256 {digest}",
                pointer=f"/docs/{index}/sha256",
            )


def check_signature(
    document: Document, *, host: str, pinned: Sequence[PublicKey], now: datetime
) -> dict[str, Any] | Problem:
    """Return the result of verifying a signature, or why the document is not believed.

    A signature under a key that is not the site's says nothing and is shown so; one
    that fails under the site's own key is a changed document.
    """
    if document.raw is None:
        return {"status": "unsigned"}
    try:
        outcome = verify_document_signature(
            document.raw, host=host, pinned=pinned, now=now
        )
    except Refused as refused:
        if refused.code == refusals.DOCUMENT_KEY_NOT_PINNED.code:
            return {"status": "unpinned", "detail": refused.problem.detail}
        if document.format != "wab" and refused.code in _ANOTHER_MEANING:
            return {"status": "unsigned"}
        return refused.problem
    if isinstance(outcome, Unsigned):
        return {"status": "unsigned"}
    verified = {"status": "valid", "kind": outcome.kind, "keyId": outcome.key_id}
    if outcome.expires_at is not None:
        verified["expiresAt"] = outcome.expires_at.astimezone(UTC).isoformat()
    return verified


def _failed(problem: Problem) -> dict[str, Any]:
    is_over = problem.code == refusals.DOCUMENT_SIGNATURE_EXPIRED.code
    return {"status": "expired" if is_over else "invalid", "detail": problem.detail}


def with_declarations(site: Site, declared: Declarations) -> Site:
    """Documents speak first; the registration fills what they leave open."""
    if declared == _NOTHING_DECLARED:
        return site
    commission = site.commission_percent
    independent = site.is_independent
    return structs.replace(
        site,
        category=site.category or declared.category or "",
        location=site.location or declared.location,
        commission_percent=(
            declared.commission_percent if commission is None else commission
        ),
        is_independent=declared.is_independent if independent is None else independent,
    )


def _parse(body: FetchedBody, registrant: Registrant) -> Parsed | Rejected:
    if body.parsed is not None:
        return body.parsed
    if body.is_page:
        return parse_page(
            body.body,
            url=body.url,
            content_type=body.content_type,
            allow_loopback=registrant.allow_loopback,
        )
    return parse_document(
        body.body,
        url=body.url,
        content_type=body.content_type,
        site_url=registrant.site_url,
        allow_loopback=registrant.allow_loopback,
    )


def _stored(
    body: FetchedBody, document: Document, signature: dict[str, Any]
) -> StoredDocument:
    return StoredDocument(
        url=body.url,
        format=document.format,
        dialect=document.dialect,
        conformance=document.conformance,
        provenance=_members_of(document.provenance),
        signature=signature,
        deviations=[_members_of(deviation) for deviation in document.deviations],
        semantic_hash=semantic_hash(document.site),
        body=body.body,
        content_type=body.content_type,
        etag=body.etag,
        last_modified=body.last_modified,
        first_fetched_at=body.fetched_at,
        fetched_at=body.fetched_at,
    )


def _members_of(item: DocumentOrigin | Deviation) -> dict[str, Any]:
    return {name: getattr(item, name) for name in _MEMBERS[type(item)]}


def _located(problem: Problem, url: str) -> Problem:
    return replace(problem, detail=f"{url}: {problem.detail}")


def url_of(problem: Problem) -> str:
    """Return the URL of the document that a problem is about; "" if none."""
    url, colon, _ = problem.detail.partition(": ")
    return url if colon and "://" in url and " " not in url else ""


def _why(problems: Sequence[Problem], tried: Mapping[str, str]) -> str:
    """Name what was expected before pages and addresses that were merely looked at."""
    pages = [p for p in problems if p.code == PAGE_WITHOUT_TOOLS.code]
    first = [p for p in problems if p.code != PAGE_WITHOUT_TOOLS.code]
    reasons = [problem.detail for problem in [*first, *pages][:_MAX_REASONS]]
    if tried:
        reasons.append(f"no document at {', '.join(map(_attempt, tried.items()))}")
    return "; ".join(reasons) or "nothing was found at the well-known places"


def _attempt(looked: tuple[str, str]) -> str:
    url, failed = looked
    path = urlsplit(url).path
    return f"{path} ({failed})" if failed else path
