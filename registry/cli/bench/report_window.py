"""Made-up rankings for `bench report`: of the size and make of real ones.

What is the same in many records is made once, by the code that makes real ones; what
tells them apart, ids, sites and queries, is put in its place as random bytes.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import mul
from uuid import UUID

import numpy as np
import numpy.typing as npt

from registry.audit.canonical import JsonValue
from registry.audit.disclosure import encode_disclosure, seal
from registry.audit.packing import pack, pack_disclosure
from registry.audit.record import ranking_record
from registry.db.filled_window import FilledSites
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.ties import tie_key
from registry.sites.identifier import make_ulid, spell_site_id

START = datetime(2026, 10, 1, tzinfo=UTC)
END = datetime(2026, 10, 31, tzinfo=UTC)
K, SAMPLE, DIGESTS = 20, DEFAULT_POLICY.eligible_sample, 8
STOCK, QUERIES, BLOCK = 500, 50_000, 10_000
SELECTED, NONE_SELECTED = 0.3, 0.05
OPERATORS = ("anon", "agent-one", "agent-two", "agent-three")
CATEGORIES = ("restaurant", "bakery", "hotel", "repair", "clinic", "shop", "museum")
SIZES = ("micro", "small", "medium", "large", "unknown")
_NOISE = 32 * DIGESTS + 32 + 10
_ORDER_RUNS = DIGESTS * 32 + 16
_SALT = "c2FsdHNhbHRzYWx0c2FsdA"

Rows = tuple[list[tuple[object, ...]], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Rows of a month, drawn from a seed."""

    rankings: int
    sites: npt.NDArray[np.int64]
    rng: np.random.Generator

    @classmethod
    def make(cls, rankings: int, sites: int, seed: int = 1) -> "Window":
        rng = np.random.default_rng(seed)
        ids = np.unique(rng.integers(1, 2**63 - 1, sites))
        return cls(rankings, ids, rng)

    def site_rows(self) -> FilledSites:
        rng, count = self.rng, len(self.sites)
        ages = rng.integers(1, 1000, count).tolist()
        return FilledSites(
            ids=self.sites.tolist(),
            categories=rng.choice(CATEGORIES, count).tolist(),
            registered=[END - timedelta(days=age) for age in ages],
            sizes=rng.choice(SIZES, count, p=(0.3, 0.3, 0.1, 0.1, 0.2)).tolist(),
            independences=rng.choice(
                ("independent", "chain", "unknown"), count, p=(0.5, 0.3, 0.2)
            ).tolist(),
            commissions=[
                None if percent > 30 else float(percent)
                for percent in rng.integers(0, 45, count).tolist()
            ],
        )

    def blocks(self) -> Iterator[Rows]:
        """Rows of audit.entry, audit.ranking and audit.selection."""
        stock = _Stock.make()
        for begin in range(0, self.rankings, BLOCK):
            yield self._block(stock, begin, min(BLOCK, self.rankings - begin))

    def _block(self, stock: "_Stock", begin: int, count: int) -> Rows:
        rng = self.rng
        # Some sites are found again and again, most hardly ever.
        places = (rng.beta(0.5, 1.5, (count, K)) * len(self.sites)).astype(np.int64)
        drawn = _Drawn(
            orders=self.sites[places].astype(">i8"),
            eligible=rng.choice(self.sites, (count, SAMPLE)).astype(">i8"),
            noise=rng.bytes(_NOISE * count),
            templates=rng.integers(0, STOCK, count).tolist(),
            queries=(rng.zipf(1.3, count) % QUERIES).tolist(),
            picks=rng.random(count).tolist(),
            ranks=(rng.geometric(0.4, count) % K).tolist(),
        )
        span = (END - START) / self.rankings
        rows = [
            drawn.row(stock, row, begin + row, START + (begin + row) * span)
            for row in range(count)
        ]
        selections = [selection for *_, selection in rows if selection]
        return [entry for entry, *_ in rows], [one for _, one, _ in rows], selections


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What tells the rankings of a block apart. noise: ids, digests and hashes."""

    orders: npt.NDArray[np.int64]
    eligible: npt.NDArray[np.int64]
    noise: bytes
    templates: list[int]
    queries: list[int]
    picks: list[float]
    ranks: list[int]

    def row(
        self, stock: "_Stock", row: int, leaf_index: int, at: datetime
    ) -> tuple[tuple[object, ...], tuple[object, ...], tuple[object, ...] | None]:
        noise = self.noise[_NOISE * row : _NOISE * (row + 1)]
        stamp = int(at.timestamp() * 1000).to_bytes(6, "big")
        digests, leaf, tail = noise[:-42], noise[-42:-10], noise[-10:]
        record_id = UUID(bytes=stamp + tail)
        template = stock.rankings[self.templates[row]]
        body = template.body(digests + record_id.bytes + self.orders[row].tobytes())
        query = stock.queries[self.queries[row]]
        disclosed = (query, *template.disclosed, self.eligible[row].tobytes())
        selection: tuple[object, ...] | None = None
        if self.picks[row] < SELECTED + NONE_SELECTED:
            chosen = int(self.orders[row, self.ranks[row]])
            site = chosen if self.picks[row] < SELECTED else None
            selection = (record_id, UUID(bytes=stamp + leaf[:10]), site, at)
        entry = (leaf_index, record_id, "ranking", body, leaf, at)
        return entry, (record_id, *disclosed), selection


@dataclass(frozen=True, slots=True)
class _Template:
    """head, tail: of the packed body, around its runs up to the order.

    disclosed: location, filters, request, scores and terms, packed.
    """

    head: bytes
    tail: bytes
    disclosed: tuple[bytes, ...]

    def body(self, runs: bytes) -> bytes:
        return self.head + runs + self.tail


@dataclass(frozen=True, slots=True)
class _Stock:
    rankings: tuple[_Template, ...]
    queries: tuple[bytes, ...]

    @classmethod
    def make(cls) -> "_Stock":
        dice = random.Random(1)  # noqa: S311 — figures for a benchmark
        templates = tuple(_make_template(dice, number) for number in range(STOCK))
        queries = (f"order bread number {number}" for number in range(QUERIES))
        return cls(templates, tuple(_disclose("query", one) for one in queries))


def _make_template(dice: random.Random, number: int) -> _Template:
    sites = sorted(dice.randrange(2**62) for _ in range(K))
    order = [spell_site_id(site) for site in sites]
    at = START + timedelta(minutes=number)
    record = ranking_record(
        record_id=make_ulid(1, bytes(10)),
        at=at,
        operator=dice.choice(OPERATORS),
        policy=DEFAULT_POLICY.digest,
        snapshot=DEFAULT_POLICY.digest,
        seed_index=1,
        eligible_count=dice.randint(SAMPLE, 50_000),
        order=order,
        sd_digests=seal({}, dice.randbytes, DIGESTS).digests,
    )
    packed = pack(record.body)
    begin = 3 + int.from_bytes(packed[1:3], "big")
    filters = {"category": dice.choice(CATEGORIES)} if dice.random() < 0.2 else {}
    request = {"id": order[0], "nonce": "", "at": at.isoformat(), "after": []}
    return _Template(
        head=packed[:begin],
        tail=packed[begin + _ORDER_RUNS + 8 * K :],
        disclosed=(
            _disclose("location", dice.choice((None, "u33d", "u281"))),
            _disclose("filters", filters),
            _disclose("request", request),
            _disclose("scores", _score(dice, order), order, bytes(32)),
            _disclose("terms", {"bread": 7000, "order": 2000}),
        ),
    )


def _score(dice: random.Random, order: list[str]) -> JsonValue:
    """From the best down, one pair in ten tied."""
    rows = [[dice.randrange(10_001) for _ in DEFAULT_POLICY.weights] for _ in order]
    rows.sort(key=_total, reverse=True)
    for place in range(1, len(rows)):
        if dice.random() < 0.1:
            rows[place] = rows[place - 1]
    rows.sort(key=_total, reverse=True)
    return [
        {
            "factors": list(row),
            "score": _total(row),
            "site": site,
            "tie": f"{tie_key(bytes(32), site):016x}",
        }
        for row, site in zip(rows, order, strict=True)
    ]


def _total(row: list[int]) -> int:
    return sum(map(mul, DEFAULT_POLICY.weights, row))


def _disclose(
    name: str, value: JsonValue, order: Sequence[str] = (), seed: bytes | None = None
) -> bytes:
    disclosure = encode_disclosure(_SALT, name, value)
    return pack_disclosure(name, disclosure, order, seed)
