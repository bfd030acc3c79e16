"""Conversion of a visit's result to what the registry's use cases take."""

from crawler.control.control_evidence import ControlEvidence, PublishedPins
from crawler.discovery.visit_result import Discovery
from registry.identity.keys.key_source import KeyReference
from registry.usecases.registration.published_keys import PublishedKeys
from registry.usecases.sites.parse_site import FetchedBody


def published_keys(evidence: ControlEvidence) -> PublishedKeys:
    return PublishedKeys(
        keys={
            KeyReference(source_url=source.source_url, kid=key.kid): key
            for source in evidence.published
            for key in source.keys
        },
        sources=frozenset(source.source_url for source in evidence.published),
        pins=(evidence.pins.kids if isinstance(evidence.pins, PublishedPins) else None),
    )


def fetched_bodies(discovery: Discovery) -> list[FetchedBody]:
    return [
        FetchedBody(
            requested_url=document.url,
            url=document.final_url,
            body=document.body,
            content_type=document.content_type,
            etag=document.validators.etag,
            last_modified=document.validators.last_modified,
            fetched_at=document.fetched_at,
            parsed=None if document.is_page else discovery.parsed.get(document.url),
        )
        for document in discovery.documents
    ]
