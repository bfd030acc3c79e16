"""A log with its archive, made in memory: what the tests of archives play with."""

import copy
import json
from base64 import b64encode
from dataclasses import replace
from datetime import timedelta
from functools import cache
from hashlib import sha256, shake_256
from pathlib import Path

import msgspec
import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.identity import base64url
from registry.identity.keys.private_keys import public_key_of
from registry.identity.statements.jws import sign_compact
from registry.index.query.sample import sample_sites
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.ties import make_seed, tie_key
from registry.records.canonical import canonical_json, digest_of
from registry.records.disclosure import seal
from registry.records.labelling import Labelling, digest_source
from registry.records.ranking_columns import (
    RankingColumns,
    category_of,
    pack_sites,
    stored_query_key,
)
from registry.records.ranking_record import RankingFields, ranking_record
from registry.records.record import (
    choice_of,
    label_record,
    registration_record,
    selection_record,
    trials_commitment_record,
    trials_result_record,
)
from registry.records.seed import commit_secret, digest_request
from registry.reports.archive.archive_manifest import Manifest
from registry.reports.archive.archive_rows import STATED, archive_ranking, derive
from registry.reports.archive.reading import Archive, open_archive
from registry.reports.archive.writing import ArchiveWriter, WriteSummary
from registry.reports.invariance import LEFT_OUT, TrialCount, digest_swaps
from registry.reports.labels import AUDITOR as AUDITOR_KIND
from registry.reports.labels import (
    DOCUMENT,
    REGISTRATION,
    LabelStatement,
    compare_claims,
    rank_statements,
)
from registry.reports.report_terms import Algorithm, Terms, Window
from registry.reports.window.observation import SiteDisclosure
from registry.sites.identifier import format_site_id, parse_site_id
from registry.sites.label import Label
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from tests.unit.records.history import DAY, NOON, History, secret_of

KEY = Ed25519PrivateKey.from_private_bytes(sha256(b"promises").digest())
PUBLIC = public_key_of(KEY)
SITES = tuple(range(101, 131))
SIZES = ("micro", "small", "medium", "large", "unknown")
WINDOW = Window(start_at=NOON - timedelta(hours=12), end_at=NOON + timedelta(hours=36))
SWAPS = tuple(
    TrialCount(perturbation=LEFT_OUT + name, trials=80, violations=40 - 10 * number)
    for number, name in enumerate(FACTOR_NAMES)
)
SALT = "5a" * 16
TRIALS = (((TrialCount(perturbation="brand", trials=400, violations=1), *SWAPS), SALT),)
ALGORITHM = Algorithm(policy_digest=DEFAULT_POLICY.digest, code_digest="sha256:code")
TERMS = Terms(window=WINDOW)
REGISTERED_AT = NOON + timedelta(hours=13, seconds=3, microseconds=456789)
AUDITOR = Signer(
    name="auditor.example",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(sha256(b"auditor").digest()),
)
AUDITOR_KEY = format_vkey(AUDITOR.verifier_key)
SOURCE = "https://business-register.example/entries/7"


class Town(History):
    """rows: of the archive, as the records tell. draw: of the sample, by order and seed."""

    def __init__(self, now=NOON, draw=None, tells_sample=True, nonce="n"):
        super().__init__(now)
        self.draw = draw or fair_draw
        self.tells_sample = tells_sample
        self.nonce = nonce
        self.rows = []

    def ask(self, number):
        """Three sites of thirty; every fifth question is one that was asked before."""
        request_id = self.ulid()
        order = [SITES[(number * step + step) % 30] for step in (1, 7, 11)]
        order = list(dict.fromkeys(order)) if number % 17 else []
        query = f"bread {number % 80}"
        filters = {"category": "bakery"} if number % 3 else {}
        location = "u33d" if number % 2 else None
        digest = digest_request(query, location, filters, self.now)
        seed = make_seed(secret_of(self.now.date()), digest, "n")
        sampled = self.draw(order, seed) if order else ()
        sample = {"sample": list(map(format_site_id, sampled))}
        sealed = seal(
            {
                "query": query,
                "location": location,
                "filters": filters,
                "request": {
                    "id": request_id,
                    "nonce": self.nonce,
                    "at": self.now.isoformat(),
                    "after": ["-1000000000", "0", "0", "0"],
                },
                "scores": scores_of(number, order, seed),
                "answer": {
                    "eligible": len(order) and 30,
                    "order": list(map(format_site_id, order)),
                    **(sample if self.tells_sample else {}),
                },
            },
            lambda size: shake_256(b"%d" % len(self.bodies)).digest(size),
            8,
        )
        fields = RankingFields(
            **self.head,
            operator=("anon", "op-1")[number % 2],
            policy=DEFAULT_POLICY.digest,
            snapshot="snap",
            seed_index=1,
            sd_digests=sealed.digests,
        )
        record = ranking_record(fields)
        openings = {opening.name: opening.disclosure for opening in sealed.openings}
        index = self.log(record)
        columns = RankingColumns(
            accepted_at=self.now,
            operator=fields.operator,
            eligible=len(order) and 30,
            returned=pack_sites(order),
            sampled=pack_sites(sampled),
            query_key=stored_query_key(query),
            category=category_of(filters),
            located=bool(number % 2),
        )
        self.rows.append(archive_ranking(index, record.body, columns, openings, None))
        return self.rows[-1]

    def choose(self, row, site):
        choice = choice_of(None if site is None else format_site_id(site))
        salt = sha256(b"%d" % len(self.bodies)).digest()
        sealed = seal({"choice": choice}, lambda size: salt[:size], 1)
        record = selection_record(
            **self.head,
            operator="anon",
            ranking_id=row.id,
            sd_digest=sealed.digests[0],
        )
        row.selection_index, row.chosen = self.log(record), site
        row.choice_salt, _, _ = json.loads(
            base64url.decode(sealed.openings[0].disclosure)
        )
        row.choice = canonical_json(sealed.openings[0].value).decode()

    def label(self, site, label, signer=AUDITOR, **changes):
        """What an auditor signs; logged, and as it is told of in the archive."""
        signed = labelling(site, label, signer, **changes).signed(signer.private)
        self.log(label_record(**self.head, labelling=signed))
        return statement(signed, self.now)

    def tell_trials(self, tallies, salt=SALT):
        """Commit to trials of today, and log their results; swaps are for auditors."""
        swaps = [tally for tally in tallies if tally.is_swap]
        tallies = [tally for tally in tallies if not tally.is_swap]
        secret, day = sha256(b"trials").digest(), self.now.date()
        committed = {"commitment": commit_secret(secret), "material": digest_of(b"{}")}
        self.log(trials_commitment_record(**self.head, day=day, **committed))
        result = {
            "snap": "snap",
            "n": sum(tally.trials for tally in tallies),
            "violations": sum(tally.violations for tally in tallies),
            "tallies": digest_of(canonical_json(msgspec.to_builtins(tallies))),
            **({"swaps": digest_swaps(swaps, salt)} if salt else {}),
        }
        self.log(
            trials_result_record(**self.head, day=day, secret=secret, result=result)
        )

    def register(self, site, token=None):
        """What its owner signs, logged at the end: entries before keep their numbers."""
        token = token or statement_of(site)
        members = {"act": "register", "seq": 1, "jws": token.encode()}
        kid = public_key_of(key_of(site)).kid
        self.log(
            registration_record(**self.head, site_id=site.site_id, kid=kid, **members)
        )

    def forget(self, row):
        """Erased, on record."""
        self.erase(row.leaf_index, [])
        for name in STATED:
            setattr(row, name, None)
            setattr(row, f"{name}_salt", None)
        row.factors = row.totals = row.ties = row.answer_salt = None
        row.eligible, row.returned, row.sampled = 0, [], []
        row.chosen = row.choice = row.choice_salt = None
        row.query_key, row.category, row.located = derive(row)


def fair_draw(_, seed, eligible=SITES):
    eligible = np.array(eligible, np.int64)
    return sample_sites(eligible, seed, DEFAULT_POLICY.eligible_sample)


def labelling(site, label, signer=AUDITOR, **changes):
    text = Labelling(
        auditor=format_vkey(signer.verifier_key),
        site_id=format_site_id(site),
        label=label,
        observed_on=NOON.date(),
        stated_at=NOON - timedelta(minutes=1),
        source_digest=digest_source(SOURCE),
    )
    return msgspec.structs.replace(text, **changes)


def statement(text, valid_from):
    return LabelStatement(
        label=text.label,
        stated_by=text.auditor,
        stated_at=text.stated_at,
        valid_from=valid_from,
        source=SOURCE,
        observed_on=text.observed_on,
    )


def scores_of(number, order, seed):
    """Falling, with a tie at the end of every other list."""
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
            "site": format_site_id(site),
            "tie": f"{tie_key(seed, format_site_id(site)):016x}",
            "tier": int(site % 3 > 0),
            "place": site % 5 - 1,
            "probes": [3, 2, 1, None if site % 2 else 50],
        }
        for site, row in zip(order, factors, strict=True)
    ]


@cache
def _played(count):
    return play(Town(), count)


def play(town, count):
    """Begin the town, and let its day pass until the secret is out."""
    town.begin()
    for site, label, changes in STATEMENTS:
        town.label(site, label, **changes)
    town.tell_trials(TRIALS[0][0])
    for number in range(count):
        town.pass_by(minutes=1)
        row = town.ask(number)
        if number % 3 == 0 and row.returned:
            town.choose(row, row.returned[number % 2])
        elif number % 10 == 1:
            town.choose(row, None)
        if number % 29 == 5:
            town.forget(row)
    town.now = REGISTERED_AT
    for site in disclosures():
        town.register(site)
    town.now = NOON + timedelta(hours=14)
    town.reveal(DAY)
    return town


def played(count=500):
    """A town's day and a half; one's own to change."""
    return copy.deepcopy(_played(count))


def missing(town):
    del town.rows[10]


def invented(town):
    """In the place of a choice."""
    other = copy.deepcopy(town.rows[20])
    other.leaf_index = next(row.selection_index for row in town.rows if row.chosen)
    town.rows.append(other)
    town.rows.sort(key=lambda row: row.leaf_index)


def reordered(town):
    row = next(row for row in town.rows[40:] if len(row.returned) == 3)
    row.returned.reverse()


def disclosures():
    return [
        SiteDisclosure(
            site_id=format_site_id(site),
            size=SIZES[number % 5],
            independence=("independent", "chain", "unknown")[number % 3],
            commission_percent=None if number % 4 == 3 else 1.25 * number,
            domain=f"domain-{number // 2}.test",
            category=("bakery", "hotel")[number % 2],
            registered_at=REGISTERED_AT,
        )
        for number, site in enumerate(SITES)
    ]


MICRO = Label(size="micro")
EARLIER = {"stated_at": NOON - timedelta(hours=1)}
STATEMENTS = (
    (SITES[5], MICRO, {}),
    (SITES[10], Label(size="small"), EARLIER),
    (SITES[10], MICRO, {}),
    (SITES[15], Label(size="large"), EARLIER),
    (SITES[15], Label(), {}),
)
"""What the auditor says, in the order of the log; the last of a site counts."""

TOLD_AT = NOON - timedelta(days=9)


def registered(site, **label):
    return LabelStatement(
        label=Label(**label),
        stated_by=REGISTRATION,
        stated_at=TOLD_AT,
        valid_from=TOLD_AT,
        source=f"sha256:{site}",
    )


def told_labels(sites=None):
    """By site what each author said last; of it those labels count that `disclosures` has.

    Two registrations contradict the auditor, some documents the registration.
    """
    members = {}
    for number, item in enumerate(disclosures() if sites is None else sites):
        site = parse_site_id(item.site_id)
        label = {
            "size": None if item.size == "unknown" else item.size,
            "independence": item.independence
            if item.independence != "unknown"
            else None,
            "commission_percent": item.commission_percent,
        }
        if number in {5, 10}:
            label["size"] = "large"
        members[site] = [registered(site, **label)]
        if number % 7 == 3 and label["size"]:
            document = replace(
                members[site][0], stated_by=DOCUMENT, label=documented(item)
            )
            members[site].append(document)
    for site, label, changes in STATEMENTS:
        if site in members:
            words = [task for task in members[site] if task.kind != AUDITOR_KIND]
            text = labelling(site, label, **changes)
            members[site] = [*words, statement(text, NOON)]
    return members


def documented(site):
    """What documents of some sites state: not what was signed."""
    stated = {"chain": "independent", "independent": "chain"}.get(site.independence)
    return Label(independence=stated, commission_percent=site.commission_percent)


def key_of(site):
    return Ed25519PrivateKey.from_private_bytes(sha256(site.site_id.encode()).digest())


def host_of(site):
    return f"shop-{site.site_id.lower()}.{site.domain}"


def statement_of(site, **changes):
    """The registration that a site signs; its category too, which documents leave out."""
    label = all_told()[site.site_id][0].label
    issued = int(TOLD_AT.timestamp())
    payload = {
        "act": "register",
        "aud": "https://registry.example",
        "category": site.category,
        "commission_rate": label.commission_percent,
        "exp": issued + 600,
        "iat": issued,
        "is_independent": {"independent": True, "chain": False}.get(label.independence),
        "jti": base64url.encode(bytes(32)),
        "seq": 1,
        "size": label.size,
        "sub": host_of(site),
        **changes,
    }
    stated = {name: value for name, value in payload.items() if value is not None}
    return sign_compact(stated, key_of(site))


def declared_row(site, document=None, **changes):
    """A row of the archive. document: members of it, in place of what told_labels has."""
    by_author = {task.stated_by: task.label for task in all_told()[site.site_id]}
    label = by_author.get(DOCUMENT, Label())
    fairness = {}
    if label.independence is not None:
        fairness["is_independent"] = label.independence == "independent"
    if label.commission_percent is not None:
        fairness["commission_rate"] = f"{label.commission_percent}%"
    body = {
        "wab_version": "1.0",
        "provider": {"name": "Alder", "description": "Bread."},
        "capabilities": {"commands": [{"name": "buyBread", "trigger": "api"}]},
        **({"fairness_metrics": fairness} if label != Label() else {}),
        **(document or {}),
    }
    fetched = int(TOLD_AT.timestamp())
    entry = {
        "url": f"https://{host_of(site)}/agent-bridge.json",
        "contentType": "application/json",
        "firstFetchedAt": fetched,
        "fetchedAt": fetched,
        "retiredAt": None,
        "body": b64encode(json.dumps(body).encode()).decode(),
    }
    return {
        "site_id": parse_site_id(site.site_id),
        "statement": statement_of(site),
        "keys": json.dumps([public_key_of(key_of(site)).jwk]),
        "documents": json.dumps([entry]),
        **changes,
    }


@cache
def all_told():
    return {format_site_id(site): labels for site, labels in told_labels().items()}


def declared_rows():
    return list(map(declared_row, disclosures()))


def claims():
    """By the numbers of sites, as a report takes them."""
    compared = {
        SITES.index(site): compare_claims(rank_statements(label, WINDOW.end_at))
        for site, label in told_labels().items()
    }
    return {number: claim for number, claim in compared.items() if claim.stated_twice}


def write(
    folder,
    rows,
    checkpoint="",
    *,
    sites=None,
    key=KEY,
    labels=None,
    trials=TRIALS,
    declared=None,
    window=None,
) -> Manifest:
    writer = ArchiveWriter(folder, disclosures() if sites is None else sites)
    for day in ("2026-11-20", "2026-11-21"):
        writer.add([row for row in rows if row.minute.startswith(day)])
        writer.end_day(day)
    writer.add_declared(declared_rows() if declared is None else declared)
    write_summary = WriteSummary(
        window=window or WINDOW,
        checkpoint=checkpoint,
        trials=trials,
        labels=told_labels(sites) if labels is None else labels,
    )
    return writer.finish(write_summary, key)


def archived(folder: Path, rows, **how) -> Archive:
    write(folder, rows, **how)
    return open_archive(folder, PUBLIC)
