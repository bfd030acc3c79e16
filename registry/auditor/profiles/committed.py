"""A generation of the index as a record names it: what it commits to, proven."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from registry.auditor.source import LogSource
from registry.errors import Refused
from registry.records.generation import COUNT_BYTES, DIGEST_BYTES, GenerationRoots
from registry.tlog.keyed_tree import bucket_of, count_of, entries_before, read_bucket
from registry.tlog.refusals import PROOF_INVALID

AT_ONCE = 100
"""Buckets of one request."""

LATEST = "latest"


class _Bucket(msgspec.Struct):
    number: int
    entries: bytes
    path: tuple[str, ...]


class _Answer(msgspec.Struct, rename="camel"):
    policy: str
    sites: str
    words: str
    site_buckets: tuple[_Bucket, ...]
    word_buckets: tuple[_Bucket, ...]


@dataclass(slots=True)
class Committed:
    """Generation of the index, as far as it was fetched.

    digests: of profiles, by site. counts: of sites, by the hash of a word.
    """

    source: LogSource
    name: str
    roots: GenerationRoots
    digests: dict[int, bytes] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    _drawn: dict[int, int] = field(default_factory=dict)
    _served: set[tuple[str, int]] = field(default_factory=set)

    @classmethod
    async def fetch(cls, source: LogSource, name: str) -> "Committed":
        """name: or LATEST. Raises: LogUnreadable; Refused where it is another one."""
        answer = await _fetch_buckets(source, name, {})
        roots = GenerationRoots(
            policy=answer.policy, sites=_node(answer.sites), words=_node(answer.words)
        )
        if name not in {roots.name, LATEST}:
            raise Refused(PROOF_INVALID, f"{roots.name} was served for {name}")
        return cls(source, roots.name, roots)

    @property
    def site_count(self) -> int:
        return count_of(self.roots.sites)

    async def fetch_sites(self, site_ids: Iterable[int]) -> None:
        """Raises: LogUnreadable, Refused."""
        await self._fetch("sites", map(bucket_of, site_ids))

    async def fetch_words(self, hashes: Iterable[int]) -> None:
        """Raises: LogUnreadable, Refused."""
        await self._fetch("words", map(bucket_of, hashes))

    async def draw_sites(self, count: int) -> Sequence[int]:
        """Draw `count` sites, or all if there are no more.

        Raises: LogUnreadable, Refused.
        """
        if count >= self.site_count:
            positions: Iterable[int] = range(self.site_count)
        else:
            positions = secrets.SystemRandom().sample(range(self.site_count), count)
        positions = list(positions)
        missing = [at for at in positions if at not in self._drawn]
        await self._fetch("places", missing)
        if any(at not in self._drawn for at in positions):
            raise Refused(PROOF_INVALID, "a drawn position was not served")
        return [self._drawn[at] for at in positions]

    async def _fetch(self, name: str, numbers: Iterable[int]) -> None:
        every = sorted({own for own in numbers if (name, own) not in self._served})
        for first in range(0, len(every), AT_ONCE):
            some = every[first : first + AT_ONCE]
            wanted = {name: ",".join(map(str, some))}
            answer = await _fetch_buckets(self.source, self.name, wanted)
            for bucket in answer.site_buckets:
                self._add_sites(bucket)
            for bucket in answer.word_buckets:
                read = _read(self.roots.words, bucket, COUNT_BYTES)
                self.counts |= {key: int.from_bytes(own) for key, own in read.items()}
            served = {b.number for b in (*answer.site_buckets, *answer.word_buckets)}
            if name == "places":
                continue
            if not served.issuperset(some):
                raise Refused(PROOF_INVALID, f"not all {name} were served")
            self._served |= {(name, number) for number in some}

    def _add_sites(self, bucket: _Bucket) -> None:
        read = _read(self.roots.sites, bucket, DIGEST_BYTES)
        self.digests |= read
        first = entries_before(bucket.number, _nodes(bucket))
        self._drawn |= dict(enumerate(read, start=first))


def _read(root: bytes, bucket: _Bucket, value_bytes: int) -> dict[int, bytes]:
    path = _nodes(bucket)
    return read_bucket(root, bucket.number, bucket.entries, path, value_bytes)


def _nodes(bucket: _Bucket) -> list[bytes]:
    return list(map(_node, bucket.path))


def _node(text: str) -> bytes:
    with Refused.on(ValueError, PROOF_INVALID, "a node: {}".format):
        return bytes.fromhex(text)


async def _fetch_buckets(
    source: LogSource, name: str, wanted: Mapping[str, str]
) -> _Answer:
    query = "&".join(f"{key}={value}" for key, value in wanted.items())
    answer: Any = await source.get_json(f"/v1/generations/{name}?{query}")
    with Refused.on(ValueError, PROOF_INVALID, "a generation: {}".format):
        return msgspec.convert(answer, _Answer)
