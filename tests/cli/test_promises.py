"""`audit promises` and `audit evidence`: agents who check that promises are kept."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.client import RegistryClient, keep_promise
from registry.records.promise import format_promise, sign_promise
from registry.sites.identifier import make_ulid
from registry.tlog.merkle import leaf_hash
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from registry.tlog.tiles import encode_bundle, parse_bundle
from tests.cli.audited import VKEY, Served, publish, run, run_json, serving
from tests.unit.records.history import NOON, History

PROMISER = Signer(
    name="registry.example/audit",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(sha256(b"promiser").digest()),
)
SIZE = 1_200
OMITTED = b"what was answered and is not in the log"


@pytest.fixture(scope="module")
def history() -> History:
    result = History().begin()
    while len(result.bodies) < SIZE:
        result.pass_by(seconds=10)
        result.rank()
    return result


@pytest.fixture
def served(history: History, tmp_path: Path) -> Iterator[Served]:
    with serving(publish(tmp_path / "log", history.bodies)) as opened:
        opened.answers["/v1/log"]["promiseKey"] = format_vkey(PROMISER.verifier_key)
        yield opened


def promised(body: bytes, at: datetime, by: Signer = PROMISER) -> dict[str, object]:
    """As an answer holds it."""
    absent = make_ulid(1_795_000_000_000, sha256(body).digest()[:10])
    return {
        "id": absent if body == OMITTED else json.loads(body)["id"],
        "leafHash": leaf_hash(body).hex(),
        "promise": format_promise(sign_promise(leaf_hash(body), at, by.private)),
    }


def keep(folder: Path, *answers: dict[str, object]) -> Path:
    file = folder / "promises.jsonl"
    lines = [json.dumps({"registry": "x", **answer}) + "\n" for answer in answers]
    file.write_text("".join(lines))
    return file


def test_the_registry_that_gave_the_promises_is_asked_by_default(
    history: History, served: Served, tmp_path: Path
) -> None:
    answer = promised(history.bodies[3], made_at(3))
    file = keep(tmp_path, {"registry": served.url, **answer})
    assert outcomes(file, "--key", VKEY) == (0, ["kept"])
    both = keep(tmp_path, {"registry": served.url, **answer}, answer)
    refused = run("promises", both, "--key", VKEY)
    assert refused.exit_code == 2
    assert "--registry" in refused.output
    assert outcomes(both, "--registry", served.url, "--key", VKEY)[0] == 0


def evidence_of(answer: dict[str, object], folder: Path) -> Path:
    return folder / f"broken-promise-{str(answer['leafHash'])[:16]}.json"


def made_at(index: int) -> datetime:
    """When History made the record at an index."""
    return NOON + timedelta(seconds=10 * (index - 2))


def outcomes(*arguments: object) -> tuple[int, list[str]]:
    code, output = run_json("promises", *arguments)
    return code, [promise["outcome"] for promise in output["promises"]]


def test_promises_that_were_kept_are_found_in_the_log(
    history: History, served: Served, tmp_path: Path
) -> None:
    saved = [promised(history.bodies[i], made_at(i)) for i in (3, 256, 600, 1_199)]
    served.answers[f"/v1/records/{saved[1]['id']}"] = {"leafIndex": 256}
    served.answers[f"/v1/records/{saved[2]['id']}"] = {"leafIndex": 7}  # a wrong hint
    served.answers[f"/v1/records/{saved[3]['id']}"] = {"leafIndex": 10**9}
    assert outcomes(keep(tmp_path, *saved), served.url) == (0, ["kept"] * 4)


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(1, "kept"), (1.9, "kept"), (2, "late"), (15, "late")]
)
def test_promises_of_one_file_are_held_against_each_other_to_the_second(
    history: History, served: Served, tmp_path: Path, seconds: float, outcome: str
) -> None:
    """Entry 600 stands behind 599, which was accepted so much later: the order is late."""
    behind = promised(history.bodies[600], made_at(600))
    ahead = promised(history.bodies[599], made_at(600) + timedelta(seconds=seconds))
    file = keep(tmp_path, behind, ahead)
    assert outcomes(file, served.url) == (int(outcome == "late"), [outcome, "kept"])
    assert outcomes(keep(tmp_path, behind), served.url) == (0, ["kept"])


@pytest.mark.parametrize(
    ("ahead", "outcome"),
    [
        pytest.param(timedelta(seconds=50), "not due", id="clocks that differ"),
        pytest.param(timedelta(seconds=70), "ahead", id="a minute"),
        pytest.param(timedelta(days=365), "ahead", id="a year"),
    ],
)
def test_a_promise_is_of_the_time_at_which_it_was_received(
    served: Served, tmp_path: Path, ahead: timedelta, outcome: str
) -> None:
    """One that is dated ahead is never due; in a line of old the clock of now counts."""
    answer = promised(OMITTED, datetime.now(UTC) + ahead)
    file = keep(tmp_path, answer)
    assert outcomes(file, served.url) == (int(outcome == "ahead"), [outcome])
    keep_promise(tmp_path / "kept.jsonl", served.url, answer)
    assert outcomes(tmp_path / "kept.jsonl")[1] == [outcome]


def test_a_promise_dated_ahead_is_so_when_its_time_has_come(
    history: History, served: Served, tmp_path: Path
) -> None:
    """The registry had ten minutes to think it over, and logged it then."""
    answer = promised(history.bodies[600], made_at(600))
    for minutes, outcome in ((0, "kept"), (10, "ahead")):
        received = made_at(600) - timedelta(minutes=minutes)
        line = {**answer, "receivedAt": received.isoformat()}
        assert outcomes(keep(tmp_path, line), served.url)[1] == [outcome]


@pytest.mark.parametrize(
    ("kind", "minutes", "code", "outcome"),
    [("ranking", 4, 0, "kept"), ("ranking", 6, 3, "old"), ("selection", 6, 0, "kept")],
)
def test_an_answer_of_before_is_no_answer_of_now(
    kind: str,
    minutes: int,
    code: int,
    outcome: str,
    *,
    served: Served,
    tmp_path: Path,
) -> None:
    """It is on record and in time; a site that came since is missing in it.

    A selection that is sent again with its key has the answer of the first time.
    """
    history = History().begin()
    index = history.rank()
    if kind == "selection":
        index = history.select(index)
    publish(served.folder, history.bodies)
    received = NOON + timedelta(minutes=minutes)
    answer = promised(history.bodies[index], NOON)
    file = keep(tmp_path, {**answer, "receivedAt": received.isoformat()})
    assert outcomes(file, served.url) == (code, [outcome])


@pytest.mark.parametrize("is_hinted", [True, False])
def test_an_entry_beside_its_leaf_hash_alone_keeps_no_promise(
    served: Served, tmp_path: Path, is_hinted: bool
) -> None:
    """Both are served for it, and the signed root has neither."""
    bundle, tile = (served.folder / name for name in ("tile/entries/002", "tile/0/002"))
    entries = list(parse_bundle(bundle.read_bytes(), 256))
    entries[88] = OMITTED
    bundle.write_bytes(encode_bundle(entries))
    data = tile.read_bytes()
    tile.write_bytes(data[: 88 * 32] + leaf_hash(OMITTED) + data[89 * 32 :])
    answer = promised(OMITTED, made_at(600))
    if is_hinted:
        served.answers[f"/v1/records/{answer['id']}"] = {"leafIndex": 600}
    code, output = run_json("promises", keep(tmp_path, answer), served.url)
    assert (code, output["code"]) == (1, "log_tile_forged")


@pytest.mark.parametrize("index", [3, 300, 1_100])
def test_a_broken_promise_is_saved_as_evidence(
    served: Served, tmp_path: Path, index: int
) -> None:
    broken = promised(OMITTED, made_at(index) + timedelta(seconds=5))
    options = (keep(tmp_path, broken), served.url, "--evidence", tmp_path)
    assert outcomes(*options) == (1, ["broken"])
    file = evidence_of(broken, tmp_path)
    code, output = run_json("evidence", file)
    assert (code, output["broken"]) == (0, True)
    assert output["leafHash"] == broken["leafHash"]
    assert output["logKey"] == VKEY
    assert output["shownBy"] == "record"
    assert output["first"] <= index <= output["last"] < SIZE
    assert "The promise was broken" in run("evidence", file).output
    # Only bundles around that time were read.
    assert len([path for path in served.requested if "entries" in path]) <= 6

    spoiled = json.loads(file.read_text())
    spoiled["leaves"].pop()
    file.write_text(json.dumps(spoiled))
    assert run_json("evidence", file)[0] == 1


def test_what_only_the_reporters_clock_shows_accuses_nobody(
    served: Served, tmp_path: Path
) -> None:
    broken = promised(OMITTED, made_at(SIZE))
    options = (keep(tmp_path, broken), served.url, "--evidence", tmp_path)
    assert outcomes(*options) == (1, ["broken"])
    file = evidence_of(broken, tmp_path)
    code, output = run_json("evidence", file)
    assert (code, output["broken"], output["last"]) == (3, False, SIZE - 1)
    assert output["shownBy"] == "reporter"
    assert "Not proven" in run("evidence", file).output


def test_a_promise_of_this_minute_is_not_due(served: Served, tmp_path: Path) -> None:
    fresh = promised(OMITTED, datetime.now(UTC))
    assert outcomes(keep(tmp_path, fresh), served.url) == (0, ["not due"])


def test_a_record_logged_behind_later_ones_is_late(
    history: History, served: Served, tmp_path: Path
) -> None:
    early = promised(history.bodies[900], made_at(300))
    served.answers[f"/v1/records/{early['id']}"] = {"leafIndex": 900}
    assert outcomes(keep(tmp_path, early), served.url) == (1, ["late"])


@pytest.mark.parametrize("is_hinted", [True, False])
def test_the_record_of_another_answer_keeps_no_promise(
    history: History, served: Served, tmp_path: Path, is_hinted: bool
) -> None:
    """An answer that is not on record was handed out with the promise of one that is."""
    answer = promised(history.bodies[600], made_at(600))
    answer["id"] = promised(OMITTED, made_at(600))["id"]
    if is_hinted:
        served.answers[f"/v1/records/{answer['id']}"] = {"leafIndex": 600}
    assert outcomes(keep(tmp_path, answer), served.url) == (1, ["other"])


def test_a_late_record_does_not_hide_behind_another(
    served: Served, tmp_path: Path
) -> None:
    late = History().begin()
    late.pass_by(minutes=30).rank()
    late.pass_by(minutes=-30)
    answers = [
        promised(late.bodies[index], NOON) for index in (late.rank(), late.rank())
    ]
    publish(served.folder, late.bodies)
    for index, answer in enumerate(answers, start=4):
        served.answers[f"/v1/records/{answer['id']}"] = {"leafIndex": index}
    assert outcomes(keep(tmp_path, *answers), served.url) == (1, ["late", "late"])


@pytest.mark.parametrize("decoys", [2, 400])
def test_no_number_of_decoys_hides_a_late_record(
    served: Served, tmp_path: Path, decoys: int
) -> None:
    """Of an old time they stand between it and the records of before it, as many as suit."""
    late = History().begin()
    late.pass_by(minutes=30).rank()
    late.pass_by(minutes=-30)
    for _ in range(decoys):
        late.rank()
    answer = promised(late.bodies[late.rank()], NOON)
    publish(served.folder, late.bodies)
    served.answers[f"/v1/records/{answer['id']}"] = {"leafIndex": decoys + 4}
    assert run("promises", keep(tmp_path, answer), served.url).exit_code == 1


def test_a_kept_promise_stands_in_the_very_log_that_is_verified(
    history: History, served: Served, tmp_path: Path
) -> None:
    """A second one, in order and without the record, is served to who verifies it all."""
    other = History().begin()
    while len(other.bodies) < SIZE:
        other.pass_by(seconds=11).rank()
    first, second = served.folder, publish(tmp_path / "other", other.bodies)
    honest, checkpoints = served.answer, iter([first, second, second])

    def answer(path: str) -> tuple[int, bytes, dict[str, str]]:
        if path == "/checkpoint":
            served.folder = next(checkpoints)
        return honest(path)

    served.answer = answer  # type: ignore[method-assign]
    file = keep(tmp_path, promised(history.bodies[600], made_at(600)))
    code, problem = run_json("promises", file, served.url)
    assert (code, problem["code"]) == (1, "log_entry_other")


def test_what_was_verified_is_not_read_again(
    history: History, served: Served, tmp_path: Path
) -> None:
    file = keep(tmp_path, promised(history.bodies[1_100], made_at(1_100)))
    options = (file, served.url, "--state", tmp_path / "state")
    for is_whole in (True, False):
        served.requested.clear()
        assert outcomes(*options) == (0, ["kept"])
        assert ("/tile/entries/001" in served.requested) is is_whole


def test_a_promise_by_another_key_proves_nothing(
    history: History, served: Served, tmp_path: Path
) -> None:
    other = Signer(
        name="other.example",
        algorithm=NoteAlgorithm.ED25519,
        private=Ed25519PrivateKey.from_private_bytes(bytes(32)),
    )
    foreign = promised(history.bodies[3], made_at(3), by=other)
    forged = {**promised(history.bodies[3], made_at(3)), "leafHash": "00" * 32}
    odd = {**foreign, "leafHash": "not hex"}
    file = keep(tmp_path, foreign, forged, odd)
    assert outcomes(file, served.url) == (1, ["foreign"] * 3)


def test_what_a_registry_calls_a_record_is_no_path_and_no_markup(
    served: Served, tmp_path: Path
) -> None:
    hostile = {**promised(OMITTED, made_at(300)), "id": "../../[/red]\x1b[2J"}
    folder = tmp_path / "new" / "evidence"
    result = run("promises", keep(tmp_path, hostile), served.url, "--evidence", folder)
    assert (result.exit_code, "\x1b" in result.output) == (1, False)
    assert evidence_of(hostile, folder).is_file()


def test_a_line_that_is_no_promise_is_reported(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "promises.jsonl"
    file.write_text("{}\n")
    result = run("promises", file, served.url)
    assert (result.exit_code, "line 1" in result.output) == (1, True)


def test_what_is_no_evidence_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "evidence.json"
    file.write_text("{}")
    assert run("evidence", file).exit_code == 1


def test_a_client_keeps_the_promises_of_its_answers(
    history: History, served: Served, tmp_path: Path
) -> None:
    answers = [promised(history.bodies[i], datetime.now(UTC)) for i in (3, 4)]
    for index, answer in enumerate(answers, start=3):
        served.answers[f"/v1/records/{answer['id']}"] = {"leafIndex": index}
    answers[0]["id"] = f"{answers[0]['id']}.secret"
    served.answers["/v1/search"] = {"ranking": answers[0], "results": []}
    served.answers["/v1/selections"] = answers[1]
    file = tmp_path / "promises.jsonl"

    async def ask() -> None:
        async with RegistryClient(served.url, promises=file) as client:
            await client.search(q="bread")
            await client.select("id", None)

    asyncio.run(ask())
    assert "secret" not in file.read_text()
    assert outcomes(file, served.url) == (0, ["kept", "kept"])
