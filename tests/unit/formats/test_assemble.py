from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

from msgspec import structs

from registry.formats.assemble import assemble
from registry.formats.document import Document, DocumentOrigin, Format
from registry.formats.reading.name_folding import match_key
from registry.formats.semantic import semantic_hash
from registry.sites.action import Action, Call, Parameter
from registry.sites.entry import ClaimConflict
from registry.sites.site import Site


def _document(format_: Format, **claims: Any) -> Document:
    return Document(
        format=format_,
        dialect="",
        version="",
        url=f"https://hof.example/{format_}.json",
        conformance="strict",
        site=Site(**claims),
    )


def _call(format_: str) -> Call:
    return Call(format=format_, transport="http", target="https://hof.example/x")


def test_one_document_is_its_own_listing() -> None:
    document = _document("abp", name="Hof", actions=(Action(name="a"),))
    assert assemble([document]).site == document.site


def test_no_document_makes_an_empty_listing() -> None:
    assert assemble([]).site == Site()


def test_the_order_of_documents_does_not_matter() -> None:
    documents = [
        _document("webmcp", name="Web", category="c"),
        _document("wab", name="Bridge"),
        _document("awp", description="d", languages=("de",)),
    ]
    listings = {repr(assemble(permutation)) for permutation in permutations(documents)}
    assert len(listings) == 1


def test_later_formats_fill_in_what_earlier_ones_leave_open() -> None:
    listing = assemble(
        [_document("abp", name="Hof", description="A farm"), _document("awp")]
    )
    assert (listing.site.name, listing.site.description) == ("Hof", "A farm")
    assert listing.conflicts == ()


def test_contradictions_are_recorded_and_the_first_format_stands() -> None:
    listing = assemble(
        [
            _document("webmcp", name="Der Hof", commission_percent=0.0),
            _document("wab", name="Hof", commission_percent=5.0),
        ]
    )
    assert (listing.site.name, listing.site.commission_percent) == ("Hof", 5.0)
    assert listing.conflicts == (
        ClaimConflict(field="name", values=(("wab", "Hof"), ("webmcp", "Der Hof"))),
        ClaimConflict(
            field="commission_percent", values=(("wab", "5.0"), ("webmcp", "0.0"))
        ),
    )


def test_spelling_is_no_contradiction() -> None:
    listing = assemble(
        [
            _document("wab", name="Hof  Ost", url="https://hof.example/"),
            _document("abp", name="hof ost", url="https://hof.example"),
        ]
    )
    assert listing.conflicts == ()


def test_one_action_in_two_formats_is_one_action_with_both_calls() -> None:
    wab = Action(name="buyEggs", auth_required=True, calls=(_call("wab"),))
    awp = Action(
        name="buy_eggs",
        description="Buy eggs",
        parameters=(Parameter(name="count"),),
        auth_required=False,
        calls=(_call("awp"),),
    )
    other = Action(name="feedHens")
    listing = assemble(
        [_document("awp", actions=(awp, other)), _document("wab", actions=(wab,))]
    )
    eggs, hens = listing.site.actions
    assert (eggs.name, eggs.description) == ("buyEggs", "Buy eggs")
    assert eggs.parameters == awp.parameters
    assert eggs.calls == (*wab.calls, *awp.calls)
    assert eggs.auth_required is True
    assert hens == other
    assert listing.conflicts == (
        ClaimConflict(
            field="actions/buyEggs/auth_required",
            values=(("wab", "True"), ("awp", "False")),
        ),
    )


def test_permissions_are_joined_and_compared() -> None:
    listing = assemble(
        [
            _document("wab", permissions=(("click", True), ("scroll", True))),
            _document("awas", permissions=(("click", False), ("read", True))),
        ]
    )
    assert dict(listing.site.permissions) == {
        "click": True,
        "scroll": True,
        "read": True,
    }
    assert [conflict.field for conflict in listing.conflicts] == ["permissions/click"]


def test_a_synthetic_document_speaks_last() -> None:
    synthetic = replace(
        _document("awp", name="Guess"), provenance=DocumentOrigin(source="synthetic")
    )
    assert assemble([synthetic, _document("webmcp", name="Hof")]).site.name == "Hof"


def test_spellings_of_one_name_match() -> None:
    spellings = (
        "searchMenu",
        "search_menu",
        "search-menu",
        "Search menu",
        "SEARCHMENU",
    )
    assert len({match_key(name) for name in spellings}) == 1
    assert match_key("search") != match_key("research")
    assert match_key("!!") != match_key("??")


# --- semantic hash --------------------------------------------------------------------


def test_the_hash_has_32_bytes_and_ignores_order() -> None:
    a, b = Action(name="a", calls=(_call("wab"), _call("awp"))), Action(name="b")
    swapped = structs.replace(a, calls=a.calls[::-1])
    first = semantic_hash(Site(actions=(a, b), languages=("de", "en")))
    assert len(first) == 32
    assert first == semantic_hash(Site(actions=(b, swapped), languages=("en", "de")))


def test_every_claim_counts_for_the_hash() -> None:
    base = Site(name="Hof", actions=(Action(name="a"),))
    others = [
        structs.replace(base, name="Gut"),
        structs.replace(base, commission_percent=1.0),
        structs.replace(base, is_independent=False),
        structs.replace(base, actions=(Action(name="a", description="x"),)),
        structs.replace(base, actions=(Action(name="a", auth_required=False),)),
        structs.replace(base, actions=(Action(name="a"), Action(name="b"))),
    ]
    assert len({semantic_hash(site) for site in [base, *others]}) == 7


def test_a_new_version_number_changes_no_hash(
    sample: Callable[[str], dict[str, Any]], read: Callable[..., Document]
) -> None:
    document = sample("abp-manifest")
    before = semantic_hash(read(document).site)
    document["app"]["version"] = "2.0.1"
    assert semantic_hash(read(document).site) == before


def _with_action(format_: Format, *parameters: Parameter) -> Document:
    return _document(format_, actions=(Action(name="find", parameters=parameters),))


def test_parameters_that_differ_are_shown_and_the_first_format_stands() -> None:
    query = Parameter(name="query", required=True)
    listing = assemble(
        [
            _with_action("awp", query, Parameter(name="page")),
            _with_action("wab", query),
        ]
    )
    (action,) = listing.site.actions
    assert action.parameters == (query,)
    assert listing.conflicts == (
        ClaimConflict(
            field="actions/find/parameters",
            values=(("wab", "query"), ("awp", "query, page?")),
        ),
    )


def test_parameters_that_one_document_leaves_open_are_no_contradiction() -> None:
    query = Parameter(name="query", required=True)
    finer = structs.replace(query, type="string", description="what to look for")
    listing = assemble(
        [_with_action("wab"), _with_action("awp", query), _with_action("abp", finer)]
    )
    assert listing.conflicts == ()
    assert listing.site.actions[0].parameters == (query,)


def test_a_claimed_address_elsewhere_stands_beside_the_crawled_one() -> None:
    claims = [
        _document("wab", url="https://other.example/"),
        _document("abp", url="https://hof.example/app"),
    ]
    listing = assemble(claims, site_url="https://hof.example/")
    assert listing.site.url == "https://other.example/"
    assert listing.conflicts == (
        ClaimConflict(
            field="url",
            values=(
                ("crawled", "https://hof.example/"),
                ("wab", "https://other.example/"),
                ("abp", "https://hof.example/app"),
            ),
        ),
    )


def test_a_claimed_address_on_the_crawled_origin_is_no_contradiction() -> None:
    claims = [
        _document("wab", url="https://hof.example/start"),
        _document("abp", url="https://hof.example/app"),
    ]
    assert assemble(claims, site_url="https://hof.example/").conflicts == ()
