"""A registry's records as it logs them, in order, for tests of those who read them."""

import json
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256, shake_256

from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.ties import make_seed, tie_key
from registry.records.canonical import digest_of
from registry.records.disclosure import seal
from registry.records.ranking_record import RankingFields, ranking_record
from registry.records.record import (
    ANONYMOUS,
    choice_of,
    erase_record,
    policy_record,
    seed_commitment_record,
    seed_reveal_record,
    selection_record,
    trials_commitment_record,
    trials_result_record,
)
from registry.records.seed import commit_secret, digest_request
from registry.sites.identifier import format_site_id, make_ulid
from tests.unit.records.version_1 import ranking_record_1, selection_record_1

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = NOON.date()
POLICY = DEFAULT_POLICY.canonical_json
PARAMS = {"query": "bread", "location": None, "filters": {}}
ASKED_VALUES = (PARAMS["query"], PARAMS["location"], PARAMS["filters"])
WEIGHTS = DEFAULT_POLICY.weights


def secret_of(day: date) -> bytes:
    return sha256(b"secret of " + day.isoformat().encode()).digest()


class History:
    """bodies: what was logged. now: set it, or let it run by `minutes`. text: of the policy."""

    def __init__(self, now=NOON, text=POLICY, version=2):
        self.text = text
        self.version = version
        self.bodies = []
        self.now = now
        self.disclosures = {}

    def pass_by(self, **by):
        self.now += timedelta(**by)
        return self

    def log(self, record):
        self.bodies.append(record.body)
        return len(self.bodies) - 1

    @property
    def head(self):
        return {"record_id": self.ulid(), "at": self.now}

    def ulid(self):
        unix_ms = int(self.now.timestamp() * 1000)
        return make_ulid(unix_ms, len(self.bodies).to_bytes(10, "big"))

    def begin(self):
        """As a registry does: the policy, and the secrets of two days."""
        self.policy()
        self.commit(self.now.date())
        self.commit(self.now.date() + timedelta(days=1))
        return self

    def policy(self, text=None):
        text = text or self.text
        code = digest_of(b"code")
        return self.log(policy_record(**self.head, policy_json=text, code_digest=code))

    def commit(self, day, secret=None):
        commitment = commit_secret(secret or secret_of(day))
        return self.log(
            seed_commitment_record(**self.head, day=day, commitment=commitment)
        )

    def reveal(self, day, secret=None):
        secret = secret or secret_of(day)
        return self.log(seed_reveal_record(**self.head, day=day, secret=secret))

    def commit_trials(self, day, secret=None, material=b"material"):
        commitment = commit_secret(secret or secret_of(day))
        digest = digest_of(material)
        members = {"day": day, "commitment": commitment, "material": digest}
        return self.log(trials_commitment_record(**self.head, **members))

    def try_invariance(self, day, secret=None):
        numbers = {"n": 360, "violations": 0, "snap": digest_of(b"index")}
        result = {**numbers, "tallies": digest_of(b"[]")}
        secret = secret or secret_of(day)
        members = {"day": day, "secret": secret, "result": result}
        return self.log(trials_result_record(**self.head, **members))

    def erase(self, index, digests, last=None):
        return self.log(
            erase_record(
                **self.head, leaf_index=index, digests=digests, last_index=last
            )
        )

    def select(self, ranking, site=7, ranking_id=None):
        """ranking: the entry of one."""
        chosen = ranking_id or json.loads(self.bodies[ranking])["id"]
        site_id = None if site is None else format_site_id(site)
        if self.version == 1:
            head = (self.ulid(), self.now, ANONYMOUS)
            return self.log(selection_record_1(*head, chosen, site_id))
        salt = sha256(b"%d" % len(self.bodies)).digest()
        sealed = seal({"choice": choice_of(site_id)}, lambda size: salt[:size], 1)
        index = self.log(
            selection_record(
                **self.head,
                operator=ANONYMOUS,
                ranking_id=chosen,
                sd_digest=sealed.digests[0],
            )
        )
        self.disclosures[index] = [sealed.openings[0].disclosure]
        return index

    def rank(self, *, seed=1, policy=None, operator=ANONYMOUS, count=None, **disclose):
        """A ranking of three sites, the last two of equal score."""
        request_id = disclose.get("request_id", self.ulid())
        scores = disclose.get("scores") or honest_scores(self.now)
        order = disclose.get("order") or [row["site"] for row in scores]
        eligible = disclose.get("eligible", max(3, len(order)))
        answer = {"eligible": eligible, "order": order}
        sealed = seal(
            {
                **PARAMS,
                **pick(disclose, "query", "location"),
                "request": {
                    "id": request_id,
                    "nonce": "n",
                    "at": self.now.isoformat(),
                    "after": disclose.get("after", ["-1000000000", "0", "0", "0"]),
                },
                "scores": scores,
                **({"answer": answer} if self.version > 1 else {}),
            },
            lambda size: shake_256(b"%d" % len(self.bodies)).digest(size),
            8,
        )
        head = {**self.head, **pick(disclose, "record_id")}
        fields = RankingFields(
            **head,
            operator=operator,
            policy=digest_of(policy or self.text),
            snapshot="snap",
            seed_index=seed,
            sd_digests=sealed.digests,
        )
        if self.version == 1:
            record = ranking_record_1(fields, order, eligible, count)
        else:
            record = ranking_record(fields, count)
        index = self.log(record)
        self.disclosures[index] = [opening.disclosure for opening in sealed.openings]
        return index


def pick(members, *names):
    return {name: members[name] for name in names if name in members}


def seed_at(now):
    """Of what `History.rank` is asked."""
    return make_seed(secret_of(now.date()), digest_request(*ASKED_VALUES, now), "n")


def honest_scores(now):
    """As disclosed: the best, then two equals by their tie keys."""
    seed = seed_at(now)
    return [
        scored(7, (9000, 5000, 5000, 7000, 2000), seed),
        *sorted(
            (scored(site, (4000, 5000, 5000, 7000, 2000), seed) for site in (8, 9)),
            key=lambda score: score["tie"],
        ),
    ]


def scored(site, factors, seed, tier=1):
    spelled = format_site_id(site)
    return {
        "site": spelled,
        "factors": list(factors),
        "score": sum(w * f for w, f in zip(WEIGHTS, factors, strict=True)),
        "tie": f"{tie_key(seed, spelled):016x}",
        "tier": tier,
        "probes": [3, 3, 3, 100],
        "place": 250441,
    }
