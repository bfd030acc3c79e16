"""An attacker with the public log alone: he can't tell what was asked from it.

He knows the sites and the policy, so he can ask whatever he likes and see its answer; he
is even told what half of the rankings were about. The same attacker reads version 1.
"""

import json
import random
from collections import Counter
from datetime import timedelta
from hashlib import sha256

import pytest

from registry.identity import base64url
from registry.records.canonical import canonical_json
from registry.sites.identifier import format_site_id, parse_site_id
from tests.unit.records.history import History

CATEGORIES = ("bakery", "hotel", "clinic", "repair", "museum")
WEIGHTS = (8, 5, 4, 2, 1)
RANKINGS = 400


class World:
    """Sites of few categories, each of which has questions about it."""

    def __init__(self, sites, seed):
        self.dice = random.Random(seed)
        self.sites = {
            format_site_id(2**60 + number): CATEGORIES[number % len(CATEGORIES)]
            for number in range(sites)
        }
        self.queries = [
            (category, f"{category} {place}")
            for category in CATEGORIES
            for place in ("near me", "open now", "cheap", "for two", "tomorrow")
        ]

    def answer(self, query):
        """Return the number of eligible sites and the order, as the registry would."""
        category = query.split(" ")[0]
        eligible = [site for site, kind in self.sites.items() if kind == category]
        eligible.sort(key=lambda site: sha256((query + site).encode()).digest())
        return len(eligible), eligible[:20]

    def play(self, version):
        """Return the public records, and of each what it was about."""
        history, subjects = History(version=version).begin(), {}
        for _ in range(RANKINGS):
            category = self.dice.choices(CATEGORIES, WEIGHTS)[0]
            _, query = self.dice.choice([q for q in self.queries if q[0] == category])
            eligible, order = self.answer(query)
            history.now += timedelta(seconds=self.dice.randint(0, 40))
            scores = [{"site": site, "factors": [1], "tie": "0"} for site in order]
            ranking = history.rank(
                query=query, scores=scores, order=order, eligible=eligible
            )
            subjects[ranking] = category
            if order and self.dice.random() < 0.3:
                history.select(ranking, site=parse_site_id(order[0]))
        return history.bodies, subjects


class Attacker:
    """Knows the world and the subjects of the first half of the rankings."""

    def __init__(self, world, bodies, known):
        self.world = world
        self.records = [json.loads(body) for body in bodies]
        self.bodies = bodies
        self.usual = Counter(known.values()).most_common(1)[0][0]
        self.guesses = {}
        for category, query in world.queries:
            for clue in self.clues_of_answer(query):
                self.guesses.setdefault(clue, category)
        self.learned = {}
        for ranking, category in known.items():
            for clue in self.clues_of_form(ranking):
                self.learned.setdefault(clue, Counter())[category] += 1
        self.chosen = {
            record["ranking"]: world.sites.get(str(record.get("site")))
            for record in self.records
            if record["kind"] == "selection"
        }

    def clues_of_answer(self, query):
        eligible, order = self.world.answer(query)
        yield ("order", eligible, tuple(order))
        answer = {"eligible": eligible, "order": order}
        for value in (query, order, eligible, answer, {"category": query.split()[0]}):
            encoded = canonical_json(value)
            yield ("digest", base64url.encode(sha256(encoded).digest()))
            for name in ("query", "answer", "filters", "scores"):
                bare = base64url.encode(canonical_json(["", name, value]))
                yield ("digest", base64url.encode(sha256(bare.encode()).digest()))

    def clues_of_form(self, index):
        """What might depend on the subject: length, time, place in the log, digests."""
        record = self.records[index]
        yield ("length", len(self.bodies[index]))
        yield ("minute", record["t"][14:16])
        yield ("last minute", self.records[index - 1]["t"] == record["t"])
        yield ("id", record["id"][10:12])
        yield ("digests", len(record["_sd"]))
        yield ("first digest", record["_sd"][0][:1])

    def guess(self, index):
        record = self.records[index]
        seen = ("order", record.get("n"), tuple(record.get("order", ())))
        for clue in (seen, *(("digest", digest) for digest in record["_sd"])):
            if clue in self.guesses:
                return self.guesses[clue]
        if self.chosen.get(record["id"]):
            return self.chosen[record["id"]]
        votes = Counter()
        for clue in self.clues_of_form(index):
            votes.update(self.learned.get(clue, ()))
        return votes.most_common(1)[0][0] if votes else self.usual


def success(world, version):
    """Return the attacker's share of right guesses, and that of the usual category."""
    bodies, subjects = world.play(version)
    rankings = sorted(subjects)
    known = {ranking: subjects[ranking] for ranking in rankings[: RANKINGS // 2]}
    attacker = Attacker(world, bodies, known)
    rest = rankings[RANKINGS // 2 :]
    right = sum(attacker.guess(ranking) == subjects[ranking] for ranking in rest)
    usual = sum(attacker.usual == subjects[ranking] for ranking in rest)
    return right / len(rest), usual / len(rest)


@pytest.mark.parametrize("sites", [8, 20, 60, 200])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_log_is_guessed_no_better_than_by_frequencies(sites, seed):
    """Two standard deviations of chance above the usual category, at the most."""
    share, usual = success(World(sites, seed), version=2)
    chance = (usual * (1 - usual) / (RANKINGS // 2)) ** 0.5
    assert share <= usual + 2 * chance


@pytest.mark.parametrize("sites", [8, 20, 60, 200])
def test_the_same_attacker_reads_records_of_version_1(sites):
    share, usual = success(World(sites, 1), version=1)
    assert share > 0.95 > usual
