"""A log with its archive, made in memory: what the tests of archives play with."""

import copy
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.archive.manifest import Manifest
from registry.archive.reading import Archive, open_archive
from registry.archive.rows import archive_ranking, derive
from registry.archive.writing import ArchiveWriter, Told
from registry.audit.disclosure import seal
from registry.audit.record import (
    ranking_record,
    selection_record,
)
from registry.fairness.invariance import Tally
from registry.fairness.report.figures import Algorithm, Terms, Window
from registry.fairness.window.observation import SiteDisclosure
from registry.identity.private_keys import public_key_of
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.ties import make_seed, tie_key
from registry.sites.identifier import spell_site_id
from tests.unit.audit.history import NOON, History, secret_of

KEY = Ed25519PrivateKey.from_private_bytes(sha256(b"promises").digest())
PUBLIC = public_key_of(KEY)
SITES = tuple(range(101, 131))
SIZES = ("micro", "small", "medium", "large", "unknown")
WINDOW = Window(start_at=NOON - timedelta(hours=12), end_at=NOON + timedelta(hours=36))
TRIALS = ((Tally(perturbation="brand", trials=400, violations=1),),)
ALGORITHM = Algorithm(policy_digest=DEFAULT_POLICY.digest, code_digest="sha256:code")
TERMS = Terms(window=WINDOW)


class Town(History):
    """rows: of the archive, as the records tell. factors: by leaf, of returned sites."""

    def __init__(self, now=NOON):
        super().__init__(now)
        self.rows = []

    def ask(self, number):
        """Three sites of thirty; every fifth question is one that was asked before."""
        request_id = self.ulid()
        order = [SITES[(number * step + step) % 30] for step in (1, 7, 11)]
        order = list(dict.fromkeys(order)) if number % 17 else []
        sealed = seal(
            {
                "query": f"bread {number % 80}",
                "location": "u33d" if number % 2 else None,
                "filters": {"category": "bakery"} if number % 3 else {},
                "scores": scores_of(number, order, self.now.date(), request_id),
            },
            lambda size: sha256(b"%d" % len(self.bodies)).digest()[:size],
            8,
        )
        record = ranking_record(
            **self.head,
            operator=("anon", "op-1")[number % 2],
            policy=DEFAULT_POLICY.digest,
            snapshot="snap",
            seed_index=1,
            eligible_count=len(order) and 30,
            order=list(map(spell_site_id, order)),
            sd_digests=sealed.digests,
        )
        openings = {one.name: one.disclosure for one in sealed.openings}
        sampled = [SITES[(number + step) % 30] for step in range(10)] if order else []
        index = self.log(record)
        self.rows.append(archive_ranking(index, record.body, openings, sampled, None))
        return self.rows[-1]

    def choose(self, row, site):
        record = selection_record(
            **self.head,
            operator="anon",
            ranking_id=row.id,
            site_id=None if site is None else spell_site_id(site),
        )
        row.selection_index, row.chosen = self.log(record), site

    def forget(self, row):
        """Erased, on record."""
        self.erase(row.leaf_index, [])
        for name in ("query", "location", "filters", "scores"):
            setattr(row, name, None)
            setattr(row, f"{name}_salt", None)
        row.factors = row.totals = row.ties = None
        row.query_key, row.category, row.located = derive(row)


def scores_of(number, order, day, request_id):
    """Falling, with a tie at the end of every other list."""
    seed = make_seed(secret_of(day), request_id, "n")
    factors = [
        [
            9000 - 1000 * (rank if number % 2 else min(rank, 1)),
            5000,
            5000 + site % 7,
            7000,
            2000,
        ]
        for rank, site in enumerate(order)
    ]
    return [
        {
            "factors": row,
            "score": sum(
                w * f for w, f in zip(DEFAULT_POLICY.weights, row, strict=True)
            ),
            "site": spell_site_id(site),
            "tie": f"{tie_key(seed, spell_site_id(site)):016x}",
        }
        for site, row in zip(order, factors, strict=True)
    ]


@cache
def _played(count):
    town = Town().begin()
    for number in range(count):
        town.pass_by(minutes=2)
        row = town.ask(number)
        if number % 3 == 0 and row.returned:
            town.choose(row, row.returned[number % 2])
        elif number % 10 == 1:
            town.choose(row, None)
        if number % 29 == 5:
            town.forget(row)
    return town


def played(count=500):
    """A town's day and a half; one's own to change."""
    return copy.deepcopy(_played(count))


def disclosures():
    return [
        SiteDisclosure(
            site_id=spell_site_id(site),
            size=SIZES[number % 5],
            independence=("independent", "chain", "unknown")[number % 3],
            commission_percent=None if number % 4 == 3 else 1.25 * number,
            domain=f"domain-{number // 2}.test",
            category=("bakery", "hotel")[number % 2],
            registered_at=datetime(2026, 1, 1, 1, 2, 3, 456789, tzinfo=UTC)
            + timedelta(days=10 * number),
        )
        for number, site in enumerate(SITES)
    ]


def write(folder, rows, checkpoint="", sites=None, key=KEY) -> Manifest:
    writer = ArchiveWriter(folder, disclosures() if sites is None else sites)
    for day in ("2026-11-20", "2026-11-21"):
        writer.add([one for one in rows if one.minute.startswith(day)])
        writer.end_day(day)
    return writer.finish(Told(window=WINDOW, checkpoint=checkpoint, trials=TRIALS), key)


def archived(folder: Path, rows, **how) -> Archive:
    write(folder, rows, **how)
    return open_archive(folder, PUBLIC)
