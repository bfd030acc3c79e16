"""What the throughput is measured with are sound documents, and not one again and again."""

from crawler.bench.documents import ACTIONS, build_document, is_crowded, url_of
from registry.formats.detect import parse_document
from registry.formats.document import Parsed


def test_crowds_documents_are_read_as_four_formats() -> None:
    result = [parse_document(build_document(n), url=url_of(n)) for n in range(8)]
    documents = [item.document for item in result if isinstance(item, Parsed)]
    assert [document.format for document in documents] == 2 * [
        "wab",
        "awp",
        "awas",
        "abp",
    ]
    assert {len(document.site.actions) for document in documents} == {ACTIONS}


def test_each_site_has_another_document_of_a_common_size() -> None:
    bodies = {build_document(n) for n in range(50)}
    assert len(bodies) == 50
    assert all(4_000 < len(body) < 7_000 for body in bodies)


def test_only_the_crowds_names_are_resolved_here() -> None:
    assert is_crowded("crowd-1.test.")
    assert not is_crowded("crowd-1.test.shop.example")
