"""Materials of profiles, and proofs of what a generation of the index commits to."""

from collections.abc import Iterable
from typing import Annotated

from litestar import get
from litestar.params import FromPath, QueryParameter

from registry.errors import NotFound, Refused
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.wire_model import WireModel
from registry.records.generation import Generation
from registry.sites.identifier import parse_site_id
from registry.tlog.canonical_text import MAX_INT64
from registry.tlog.keyed_tree import BUCKETS, KeyedTree
from registry.usecases.refusals import SITE_UNKNOWN
from registry.usecases.sites.profile_material import ProfileMaterial
from registry.usecases.sites.read_material import read_material

BUCKETS_MAX = 100
LATEST = "latest"
Buckets = Annotated[
    str, QueryParameter(max_length=500, description="numbers of buckets, by commas")
]

Places = Annotated[
    str,
    QueryParameter(
        max_length=2_000, description="of sites, counted through all buckets from 0"
    ),
]


class BucketView(WireModel):
    """entries: base64, in the form of `table`. path: hex, from the bucket upward."""

    number: int
    entries: bytes
    path: tuple[str, ...]


class GenerationView(WireModel):
    """Roots of both tables, hex, and the buckets that were asked for.

    generation: `sha256:` of the canonical JSON of policy, sites and words.
    """

    generation: str
    policy: str
    sites: str
    words: str
    site_buckets: tuple[BucketView, ...]
    word_buckets: tuple[BucketView, ...]


@get("/profiles/{site_id:str}")
async def get_profile_material(
    site_id: FromPath[str], services: Injected
) -> ProfileMaterial:
    """A profile is made again from this, bit for bit."""
    with NotFound.on(ValueError, SITE_UNKNOWN, str, pointer="id"):
        number = parse_site_id(site_id)
    async with services.api.connect() as connection:
        return await read_material(
            connection, number, services.clock(), allow_loopback=services.test_hosts
        )


@get("/generations/{generation:str}")
async def get_generation(
    generation: FromPath[str],
    services: Injected,
    sites: Buckets = "",
    words: Buckets = "",
    places: Places = "",
) -> GenerationView:
    """sites, words: at most 100 buckets, of 4,096, each. generation: or `latest`.

    Who draws places below the number of sites has drawn sites, and the paths show it.
    """
    follower = services.searcher.follower
    name = follower.index.generation if generation == LATEST else generation
    held = await follower.generations.find(name)
    return view_generation(held, sites=sites, words=words, places=places)


def view_generation(
    generation: Generation, *, sites: str = "", words: str = "", places: str = ""
) -> GenerationView:
    """Return what it commits to and the buckets of these numbers. Raises: Refused."""
    roots, table = generation.roots, generation.sites
    drawn = _numbers(places, "places", below=MAX_INT64)
    at = [table.bucket_at(number) for number in drawn if number < len(table)]
    numbers = _numbers(sites, "sites")
    return GenerationView(
        generation=roots.name,
        policy=roots.policy,
        sites=roots.sites.hex(),
        words=roots.words.hex(),
        site_buckets=_view(table, [*numbers, *at]),
        word_buckets=_view(generation.words, _numbers(words, "words")),
    )


def _numbers(text: str, pointer: str, below: int = BUCKETS) -> list[int]:
    """Raises: Refused."""
    names = text.split(",") if text else []
    # No number that is asked for has more digits, and int() refuses thousands of them.
    numbers = [
        int(name)
        for name in names
        if len(name) <= len(str(MAX_INT64)) and name.isascii() and name.isdigit()
    ]
    if len(numbers) != len(names) or len(names) > BUCKETS_MAX:
        detail = f"give at most {BUCKETS_MAX} whole numbers, by commas"
        raise Refused(PARAMETER_INVALID, detail, pointer=pointer)
    if any(number >= below for number in numbers):
        detail = f"they are below {below}"
        raise Refused(PARAMETER_INVALID, detail, pointer=pointer)
    return numbers


def _view(tree: KeyedTree, numbers: Iterable[int]) -> tuple[BucketView, ...]:
    """Return each bucket once, ascending."""
    return tuple(
        BucketView(
            number=number,
            entries=tree.buckets[number],
            path=tuple(node.hex() for node in tree.path(number)),
        )
        for number in sorted(set(numbers))
    )
