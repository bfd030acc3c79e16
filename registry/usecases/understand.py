"""From fetched bytes to what a site says: parse, verify, assemble. No I/O.

A declared document that is not what was signed refuses the whole. One that can't be
read, or whose own signature does not hold, only counts as missing: what the site says in
its other documents still stands, and the problem is kept for the owner.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from registry.db.documents import StoredDocument
from registry.errors import Problem, ProblemType, Refused
from registry.formats.assemble import Listing, assemble
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import (
    Deviation,
    Document,
    Parsed,
    Provenance,
    Rejected,
)
from registry.formats.refusals import PAGE_WITHOUT_TOOLS
from registry.formats.semantic import semantic_hash
from registry.identity.declarations import Declarations
from registry.identity.document_signature import Unsigned, verify_document_signature
from registry.identity.keys import PublicKey
from registry.identity.refusals import (
    DOCUMENT_KEY_NOT_PINNED,
    DOCUMENT_SIGNATURE_ALGORITHM,
    DOCUMENT_SIGNATURE_EXPIRED,
    DOCUMENT_SIGNATURE_MALFORMED,
)
from registry.identity.registration import DocumentClaim
from registry.sites.site import Site
from registry.usecases.refusals import DOCUMENT_HASH_MISMATCH, DOCUMENT_MISSING

# Only WAB says what `signature` is; in another format it may be anything.
_ANOTHER_MEANING = frozenset(
    {DOCUMENT_SIGNATURE_ALGORITHM.code, DOCUMENT_SIGNATURE_MALFORMED.code}
)
_NOTHING_DECLARED = Declarations()
_MEMBERS = {
    kind: tuple(member.name for member in fields(kind))
    for kind in (Provenance, Deviation)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedBody:
    """asked_url: what was asked for. url: where it was found after redirects.

    is_page: it is HTML, which declares tools in its forms, or nothing. parsed: where
    somebody has read it already.
    """

    asked_url: str
    url: str
    is_page: bool
    body: bytes
    content_type: str
    etag: str | None
    last_modified: str | None
    fetched_at: datetime
    parsed: Parsed | Rejected | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrant:
    """Whose documents they are, and what is known of them beside the documents.

    claims: of the registration that names the documents. pinned: the keys that the site
    was proved by.
    """

    site_url: str
    claims: Sequence[DocumentClaim] = ()
    declarations: Declarations = _NOTHING_DECLARED
    pinned: Sequence[PublicKey] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """site: with the registrant's declarations where the documents are silent.

    meaning: its semantic hash. problems: of documents that were left out.
    """

    listing: Listing
    site: Site
    meaning: bytes
    documents: tuple[StoredDocument, ...]
    problems: tuple[Problem, ...]

    @property
    def refused_urls(self) -> frozenset[str]:
        """Of the documents that the problems are about."""
        return frozenset(url_of(one) for one in self.problems)

    @property
    def is_strict(self) -> bool:
        return all(one.conformance == "strict" for one in self.documents)


class NoDocument(Refused):
    """None of the documents counts: the first signature that does not hold, else why.

    unsound: by URL, those whose own signature does not hold. left_out: the others.
    """

    def __init__(
        self, unsound: Mapping[str, Problem], left_out: Sequence[Problem]
    ) -> None:
        self.unsound = unsound
        self.left_out = tuple(left_out)
        for url, first in unsound.items():
            kind = ProblemType(first.code, first.title, first.fix)
            detail = _placed(first, url).detail
            super().__init__(kind, detail, pointer=first.pointer)
            return
        super().__init__(DOCUMENT_MISSING, _why(left_out))

    @property
    def signatures(self) -> dict[str, dict[str, Any]]:
        """By URL, what is to be told of the signatures."""
        return {url: _failed(problem) for url, problem in self.unsound.items()}

    @property
    def has_expired(self) -> bool:
        return any(one["status"] == "expired" for one in self.signatures.values())


def understand(
    bodies: Sequence[FetchedBody],
    registrant: Registrant,
    *,
    problems: Sequence[Problem] = (),
    now: datetime,
) -> Understood:
    """problems: what went wrong in fetching.

    now: also for documents that stand unchanged, whose signature may have run out.
    Raises: NoDocument where none is left; Refused for one that is not what was signed.
    """
    verify_claims(bodies, registrant.claims)
    site_url = registrant.site_url
    host = urlsplit(site_url).hostname or ""
    pinned = registrant.pinned
    left_out = list(problems)
    unsound: dict[str, Problem] = {}
    documents: list[tuple[Document, StoredDocument]] = []
    for body in bodies:
        match _parse(body, site_url):
            case Rejected(problem):
                left_out.append(_placed(problem, body.url))
            case Parsed(document):
                match check_signature(document, host=host, pinned=pinned, now=now):
                    case Problem() as problem:
                        unsound[body.url] = problem
                    case signature:
                        documents.append((document, _stored(body, document, signature)))
    if not documents:
        raise NoDocument(unsound, left_out)
    # A page that only points to its documents has done what it is there for.
    left_out = [one for one in left_out if one.code != PAGE_WITHOUT_TOOLS.code]
    listing = assemble([document for document, _ in documents], site_url=site_url)
    site = with_declarations(listing.site, registrant.declarations)
    return Understood(
        listing=listing,
        site=site,
        meaning=_meaning_of(site, documents),
        documents=tuple(stored for _, stored in documents),
        problems=(*(_placed(one, url) for url, one in unsound.items()), *left_out),
    )


def _meaning_of(
    site: Site, documents: Iterable[tuple[Document, StoredDocument]]
) -> bytes:
    """Mostly there is one document, and the site says what it does: hashed already."""
    for document, stored in documents:
        if document.site == site:
            return stored.semantic_hash
    return semantic_hash(site)


def verify_claims(
    bodies: Sequence[FetchedBody], claims: Sequence[DocumentClaim]
) -> None:
    """Raises: Refused if a document is not the one whose hash was signed."""
    if not claims:
        return
    served = {body.asked_url: hashlib.sha256(body.body).hexdigest() for body in bodies}
    for index, claim in enumerate(claims):
        found = served.get(claim.url)
        if claim.sha256 is not None and found not in {None, claim.sha256}:
            raise Refused(
                DOCUMENT_HASH_MISMATCH,
                f"{claim.url} has the SHA-256 {found}",
                pointer=f"/docs/{index}/sha256",
            )


def check_signature(
    document: Document, *, host: str, pinned: Sequence[PublicKey], now: datetime
) -> dict[str, Any] | Problem:
    """What is told of the signature, or why the document is not to be believed.

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
        if refused.code == DOCUMENT_KEY_NOT_PINNED.code:
            return {"status": "unpinned", "detail": refused.problem.detail}
        if document.format != "wab" and refused.code in _ANOTHER_MEANING:
            return {"status": "unsigned"}
        return refused.problem
    if isinstance(outcome, Unsigned):
        return {"status": "unsigned"}
    told = {"status": "valid", "kind": outcome.kind, "keyId": outcome.key_id}
    if outcome.expires_at is not None:
        told["expiresAt"] = outcome.expires_at.astimezone(UTC).isoformat()
    return told


def _failed(problem: Problem) -> dict[str, Any]:
    is_over = problem.code == DOCUMENT_SIGNATURE_EXPIRED.code
    return {"status": "expired" if is_over else "invalid", "detail": problem.detail}


def with_declarations(site: Site, declared: Declarations) -> Site:
    """Documents speak first; the registration fills what they leave open."""
    if declared == _NOTHING_DECLARED:
        return site
    commission = site.commission_percent
    independent = site.is_independent
    return replace(
        site,
        category=site.category or declared.category or "",
        location=site.location or declared.location,
        commission_percent=(
            declared.commission_percent if commission is None else commission
        ),
        is_independent=declared.is_independent if independent is None else independent,
    )


def _parse(body: FetchedBody, site_url: str) -> Parsed | Rejected:
    if body.parsed is not None:
        return body.parsed
    if body.is_page:
        return parse_page(body.body, url=body.url)
    return parse_document(
        body.body, url=body.url, content_type=body.content_type, site_url=site_url
    )


def _stored(
    body: FetchedBody, document: Document, signature: dict[str, Any]
) -> StoredDocument:
    return StoredDocument(
        url=body.url,
        format=document.format,
        dialect=document.dialect,
        conformance=document.conformance,
        provenance=_told(document.provenance),
        signature=signature,
        deviations=[_told(one) for one in document.deviations],
        semantic_hash=semantic_hash(document.site),
        body=body.body,
        content_type=body.content_type,
        etag=body.etag,
        last_modified=body.last_modified,
        first_fetched_at=body.fetched_at,
        fetched_at=body.fetched_at,
    )


def _told(one: Provenance | Deviation) -> dict[str, Any]:
    return {name: getattr(one, name) for name in _MEMBERS[type(one)]}


def _placed(problem: Problem, url: str) -> Problem:
    return replace(problem, detail=f"{url}: {problem.detail}")


def url_of(problem: Problem) -> str:
    """Of a problem as it is told here: which document it is about; "" if none."""
    url, colon, _ = problem.detail.partition(": ")
    return url if colon and "://" in url and " " not in url else ""


def _why(problems: Sequence[Problem]) -> str:
    if not problems:
        return "nothing was found at the well-known places"
    return "; ".join(problem.detail for problem in problems[:3])
