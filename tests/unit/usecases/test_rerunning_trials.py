"""A day's trials run again over HTTP, at registries that are honest, and that lie."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from registry.auditor.command import decode_lines
from registry.auditor.reproduce import Held as HeldRanking
from registry.auditor.rerun_trials import Rerun
from registry.auditor.source import open_source
from registry.auditor.trust import TrustOptions
from registry.bench.invariance import NOW, town_shadow
from registry.demo.town.member import CAST
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.canonical import digest_of
from registry.records.record import trials_commitment_record, trials_result_record
from registry.records.rules.calendar_days import start_of
from registry.records.seed import commit_secret
from registry.reports.invariance import (
    PERTURBATIONS,
    InvarianceResult,
    TrialCount,
    digest_swaps,
    result_members,
    seed_of,
)
from registry.reports.report_terms import Window
from registry.sites.gazetteer import Gazetteer
from registry.usecases.reports.shadow import TrialMaterial, question_of, shadow_of
from registry.usecases.reports.try_invariance import try_invariance
from registry.usecases.sites.list_site import Lister
from registry.usecases.sites.profile_material import ProfileMaterial
from tests.cli.audited import VKEY, Served, publish, run_json, serving
from tests.db.test_asking_counterfactually import Bribable
from tests.unit.records.history import History
from tests.unit.reports.archive.archived import Town, archived
from tests.unit.usecases.served_town import probed, served_material

DAY = NOW.date()
SECRET = sha256(b"trials").digest()
TRIALS = 4 * len(PERTURBATIONS)
QUERIES = ("book a table", "bread for tomorrow", "a hotel room", "repair a bicycle")
FEWER = TRIALS - len(PERTURBATIONS)
CLAIMED = {"n": TRIALS}  # of nothing that could be tried
MIDNIGHT = int(start_of("2026-11-21").timestamp())  # of the day after
BEFORE = MIDNIGHT - 86_401
SALT = "5a" * 16
Held = list[dict[str, Any]]
Swaps = tuple[TrialCount, ...]


@pytest.fixture(scope="module")
def lister(gazetteer: Gazetteer) -> Lister:
    return Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=DEFAULT_POLICY)


@pytest.fixture(scope="module")
def bribable(lister: Lister) -> Lister:
    """A release in which what a site pays counts: trials of it fail."""
    return Bribable(
        gazetteer=lister.gazetteer, encoder=lister.encoder, policy=lister.policy
    )


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as server:
        yield server


@dataclass(frozen=True, kw_only=True)
class TrialDay:
    """A registry on a day of trials: honest, but for what is set.

    lister: of the code that it runs. secret: that it tells. run: trials that it makes.
    logged: of its results. other: of the material that it serves. committed: of the one
    that it commits to, too. salted: the log commits to the pairs of sites. falsify: what
    it makes of them. pairs: as they came out. erased: how many of the rankings are erased
    between commitment and results.
    """

    lister: Lister
    secret: bytes = SECRET
    run: int = TRIALS
    logged: dict[str, Any] = field(default_factory=dict)
    other: dict[str, Any] = field(default_factory=dict)
    committed: dict[str, Any] = field(default_factory=dict)
    salted: bool = False
    erased: int = 0
    falsify: Callable[[Swaps], Swaps] = tuple
    pairs: list[TrialCount] = field(default_factory=list)

    def publish(self, served: Served) -> Held:
        """Publish the log and the material; return the answers of who asked."""
        history = History(now=NOW).begin()
        held = [_held(history, history.rank(query=query)) for query in QUERIES]
        self.log(history, held, served)
        return held

    def log(self, history: History, held: Held, served: Served) -> None:
        """Publish the trials of rankings."""
        material = _material(self.lister, held)
        material = msgspec.structs.replace(material, **self.committed)
        history.log(
            trials_commitment_record(
                **history.head,
                day=DAY,
                commitment=commit_secret(SECRET),
                material=digest_of(material.body),
            )
        )
        for line in held[: self.erased]:
            digests = json.loads(history.bodies[line["leafIndex"]])["_sd"]
            history.erase(line["leafIndex"], digests)
        result = {**self._result(material, held[self.erased :]), **self.logged}
        history.log(
            trials_result_record(
                **history.head, day=DAY, secret=self.secret, result=result
            )
        )
        publish(served.folder, history.bodies)
        body = msgspec.structs.replace(material, **self.other).body
        served.signed[f"/v1/invariance/{DAY}"] = body, ""

    def _result(self, material: TrialMaterial, held: Held) -> dict[str, Any]:
        result = _tried(material, held, self)
        self.pairs.extend(result.swaps)
        swaps = {"swaps": digest_swaps(self.falsify(result.swaps), SALT)}
        return {**result_members(result), **(swaps if self.salted else {})}


RESULTS: dict[tuple[Any, ...], InvarianceResult] = {}


def _tried(material: TrialMaterial, held: Held, day: TrialDay) -> InvarianceResult:
    """Run the trials of a registry; those of the same material are run once for all tests."""
    key = (material.body, json.dumps(held), id(day.lister), day.run, day.secret)
    if key not in RESULTS:
        questions = {
            line["id"]: question_of(
                line["id"], [opening["disclosure"] for opening in line["openings"]]
            )
            for line in held
        }
        shadow = shadow_of(material, questions, day.lister)
        RESULTS[key] = try_invariance(shadow, trials=day.run, seed=seed_of(day.secret))
    return RESULTS[key]


def _held(history: History, index: int) -> dict[str, Any]:
    openings = [{"disclosure": text} for text in history.disclosures[index]]
    record_id = json.loads(history.bodies[index])["id"]
    return {"id": record_id, "leafIndex": index, "openings": openings}


@cache
def _sites(lister: Lister) -> tuple[ProfileMaterial, ...]:
    town = town_shadow(lister, CAST[::5])
    return tuple(served_material(probed(listing)) for listing in town.listings)


def _material(lister: Lister, held: Held) -> TrialMaterial:
    return TrialMaterial(
        at=int(NOW.timestamp()),
        policy=DEFAULT_POLICY.digest,
        trials=TRIALS,
        rankings=tuple(line["id"] for line in held),
        sites=_sites(lister),
    )


def lines_of(held: Held) -> list[bytes]:
    return [json.dumps(line).encode() for line in held]


def audit(served: Served, held: Held) -> tuple[int, Any]:
    file = served.folder / "disclosures"
    file.write_bytes(b"\n".join(lines_of(held)))
    return _audit(served, "--disclosures", file)


def _audit(served: Served, *options: object) -> tuple[int, Any]:
    code, output = run_json(
        *("trials", DAY, "--registry", served.url, "--key", VKEY), *options
    )
    return code, output.get("rankings", [output])[0]


def computed(output: Any) -> int:
    """How many trials were run."""
    tried = [line for line in output["checked"][1:] if line.endswith(" fail")]
    run = (line.split(" fail")[0].split() for line in tried)
    return sum(int(words[-1]) for words in run)


async def rerun(served: Served, held: Held, lister: Lister) -> Rerun:
    """As the release of this lister does."""
    own = Rerun(DAY.isoformat(), make_profiler=lambda _: lister)
    async with open_source(served.url) as source:
        await own.hold(
            source, TrustOptions(), decode_lines(lines_of(held), HeldRanking)
        )
    return own


def test_honest_trials_come_out_the_same(served: Served, lister: Lister) -> None:
    code, output = audit(served, TrialDay(lister=lister).publish(served))
    assert (code, computed(output)) == (0, TRIALS), output
    assert len(output["checked"]) == 1 + len(PERTURBATIONS) + len(FACTOR_NAMES)
    assert all("pairs change places" in line for line in output["checked"][-5:])


@pytest.mark.parametrize("known", [0, 2])
def test_who_holds_some_queries_runs_their_trials(
    known: int, served: Served, lister: Lister
) -> None:
    held = TrialDay(lister=lister).publish(served)
    code, output = audit(served, held[:known])
    assert (code, output["differences"]) == (3, []), output
    assert f"of {4 - known} of 4 rankings" in output["notChecked"][0]
    assert (computed(output) > 0) == (known > 0)
    assert computed(output) < TRIALS


@pytest.mark.parametrize(
    ("lie", "text"),
    [
        ({"run": FEWER}, f"the log has {FEWER} trials"),
        ({"run": FEWER, "logged": {"n": TRIALS}}, "numbers by perturbation"),
        ({"logged": {"violations": 1}}, "the log has 1 violations, 0 of"),
        ({"logged": {"snap": digest_of(b"index")}}, "the sites give the index"),
        ({"other": {"sites": ()}}, "not the one committed to"),
        ({"committed": {"rankings": ()}, "logged": CLAIMED}, f"has {TRIALS} trials"),
        ({"committed": {"sites": ()}, "logged": CLAIMED}, f"has {TRIALS} trials"),
        ({"committed": {"at": MIDNIGHT}}, f"ranked as at {MIDNIGHT}"),
        ({"committed": {"at": BEFORE}}, f"ranked as at {BEFORE}"),
        ({"secret": sha256(b"a better one").digest()}, "not those committed to"),
    ],
)
def test_a_lie_is_never_the_same(
    lie: dict[str, Any], text: str, served: Served, lister: Lister
) -> None:
    code, output = audit(served, TrialDay(lister=lister, **lie).publish(served))
    assert code == 1, output
    assert text in json.dumps(output)


def test_who_holds_what_was_erased_before_the_trials_accuses_nobody(
    served: Served, lister: Lister
) -> None:
    """The registry could not ask it any more, as the log shows."""
    held = TrialDay(lister=lister, erased=1).publish(served)
    code, output = audit(served, held)
    assert (code, output["differences"]) == (3, []), output
    assert "of 1 of 4 rankings" in output["notChecked"][0]


def test_a_registry_that_ran_none_of_its_trials_is_no_success(
    served: Served, lister: Lister
) -> None:
    """As after an update to another policy in between; it may hide a violation as well."""
    held = TrialDay(lister=lister, run=0).publish(served)
    code, output = audit(served, held)
    assert (code, output["differences"]) == (3, []), output
    assert "ran none of the trials" in output["notChecked"][0]


async def test_a_dropped_violation_is_seen_by_who_holds_some_of_the_queries(
    served: Served, bribable: Lister
) -> None:
    held = TrialDay(lister=bribable, logged={"violations": 0}).publish(served)
    own = await rerun(served, held[:3], bribable)
    (difference,) = own.outcome.differences
    assert "the log has 0 violations" in difference


async def test_a_leak_that_only_the_registry_runs_shows_in_the_index(
    served: Served, lister: Lister, bribable: Lister
) -> None:
    held = TrialDay(lister=bribable).publish(served)
    own = await rerun(served, held, lister)
    assert any("the sites give the index" in line for line in own.outcome.differences)


def falsified(line: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Answer for one ranking with another's disclosures."""
    return {**line, "openings": other["openings"]}


@pytest.mark.parametrize(
    ("falsify", "code"),
    [
        (lambda held: [falsified(held[0], held[1]), *held[1:]], 1),
        (lambda held: [{**held[0], "openings": [{"disclosure": "?"}]}], 1),
        (lambda held: [{**held[0], "leafIndex": None}, {**held[1], "openings": []}], 3),
    ],
)
def test_a_disclosure_that_is_none_opens_nothing(
    falsify: Callable[[Held], Held], code: int, served: Served, lister: Lister
) -> None:
    held = TrialDay(lister=lister).publish(served)
    assert audit(served, falsify(held))[0] == code


@pytest.mark.parametrize("what", ["no material", "another day", "no JSON"])
def test_what_can_not_be_had_is_not_computed(
    what: str, served: Served, lister: Lister
) -> None:
    held = TrialDay(lister=lister).publish(served)
    if what == "no material":
        served.signed.clear()
    arguments = ["--registry", served.url, "--key", VKEY]
    day = "2026-11-19" if what == "another day" else DAY
    if what == "no JSON":
        served.signed[f"/v1/invariance/{DAY}"] = b"{", ""
        assert audit(served, held)[0] == 3
    else:
        assert run_json("trials", day, *arguments)[0] == 3


def erase(town: Town) -> None:
    town.forget(town.rows[0])


def answer_another_query(town: Town) -> None:
    town.rows[0].query = "bread 99"


def take_the_place_of_another(town: Town) -> None:
    town.rows[0].leaf_index = town.rows[1].leaf_index


def withhold(town: Town) -> None:
    del town.rows[:2]


@pytest.mark.parametrize(
    ("tamper", "code", "text"),
    [
        (None, 0, ""),
        (withhold, 3, "of 2 of 4 rankings no query"),
        (erase, 3, "of 1 of 4 rankings no query"),
        (answer_another_query, 1, "a disclosure of"),
        (take_the_place_of_another, 1, "a disclosure of"),
    ],
)
def test_an_archive_opens_what_the_log_has_the_digests_of(
    tamper: Callable[[Town], None] | None,
    code: int,
    text: str,
    served: Served,
    lister: Lister,
) -> None:
    """The manifest of each is signed: who tampers is the registry itself."""
    town = Town(now=NOW).begin()
    held: Held = [
        {
            "id": row.id,
            "openings": [{"disclosure": text} for text in row.disclosures().values()],
        }
        for row in map(town.ask, range(1, 5))
    ]
    TrialDay(lister=lister).log(town, held, served)
    if tamper:
        tamper(town)
    archive = archived(served.folder / "archive", town.rows)
    result, output = _audit(served, "--archive", archive.folder)
    assert (result, text in json.dumps(output)) == (code, True), output
    assert (computed(output) == TRIALS) == (tamper is None)


def more_pairs(swaps: Swaps) -> Swaps:
    first, *others = swaps
    return (replace(first, violations=first.violations + 1), *others)


WITHIN = {"start_at": NOW - timedelta(days=1), "end_at": NOW + timedelta(days=1)}
BEFORE = {"start_at": NOW - timedelta(days=1), "end_at": NOW - timedelta(hours=1)}


@pytest.mark.parametrize(
    ("committed", "opened", "window", "code", "text"),
    [
        pytest.param(tuple, tuple, WITHIN, 0, "", id="honest"),
        pytest.param(
            more_pairs, more_pairs, WITHIN, 1, "pairs of sites that", id="both"
        ),
        pytest.param(tuple, more_pairs, WITHIN, 1, "other pairs", id="the archive"),
        pytest.param(more_pairs, tuple, WITHIN, 1, "other pairs", id="the log"),
        pytest.param(tuple, None, BEFORE, 3, "no archive opens", id="of before"),
    ],
)
def test_pairs_of_sites_are_held_against_what_the_log_commits_to(
    committed: Callable[[Swaps], Swaps],
    opened: Callable[[Swaps], Swaps] | None,
    *,
    window: dict[str, datetime],
    code: int,
    text: str,
    served: Served,
    lister: Lister,
) -> None:
    town = Town(now=NOW).begin()
    held: Held = [
        {
            "id": row.id,
            "openings": [{"disclosure": text} for text in row.disclosures().values()],
        }
        for row in map(town.ask, range(1, 5))
    ]
    day = TrialDay(lister=lister, salted=True, falsify=committed)
    day.log(town, held, served)
    runs = [((*opened(tuple(day.pairs)),), SALT)] if opened else []
    archive = archived(
        served.folder / "archive", town.rows, trials=runs, window=Window(**window)
    )
    result, output = _audit(served, "--archive", archive.folder)
    assert (result, text in json.dumps(output)) == (code, True), output


def test_an_archive_whose_files_are_others_opens_nothing(
    served: Served, lister: Lister
) -> None:
    TrialDay(lister=lister).publish(served)
    archive = archived(served.folder / "archive", Town(now=NOW).begin().rows)
    for entry in archive.manifest.files:
        (archive.folder / entry.name).write_bytes(b"PAR1")
    code, output = _audit(served, "--archive", archive.folder)
    assert (code, "archive_damaged" in json.dumps(output)) == (1, True), output
