"""Documents of a material are read as the crawler read them."""

import pytest

from crawler.discovery.visit_result import FetchedDocument
from crawler.http.head import Validators
from registry.bench.invariance import NOW
from registry.usecases.sites.profile_material import DocumentMaterial, bodies_of

URL = "https://a.example/"


@pytest.mark.parametrize(
    ("content_type", "is_page"),
    [
        ("text/html", True),
        ("Text/HTML; charset=utf-8", True),
        ("application/xhtml+xml", True),
        ("application/json; profile=html", False),
        ("", False),
    ],
)
def test_crawler_and_auditor_read_the_same_documents_as_pages(
    content_type: str, *, is_page: bool
) -> None:
    crawled = FetchedDocument(
        url=URL,
        final_url=URL,
        found_by="declared",
        body=b"",
        content_type=content_type,
        validators=Validators(),
        links=(),
        fetched_at=NOW,
        elapsed_ms=1,
    )
    material = DocumentMaterial(
        url=URL, content_type=content_type, fetched_at=0, body=b""
    )

    [audited] = bodies_of([material])

    assert crawled.is_page == audited.is_page == is_page
