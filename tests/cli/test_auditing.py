"""`audit verify`, `prove`, `reproduce` and `monitor` over logs of honest records."""

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest

from registry.auditor import follow_log as following
from registry.auditor import source
from registry.records.record import moderation_record, registration_record
from registry.sites.identifier import format_site_id, parse_site_id
from registry.tlog.merkle import leaf_hash
from registry.tlog.tiles import encode_bundle, parse_bundle
from tests.cli.audited import VKEY, Served, publish, run, run_json, serving
from tests.unit.records.history import (
    DAY,
    History,
    honest_scores,
    scored,
    seed_at,
)

SIZE = 600


def history_of(size: int) -> History:
    """One's own to change."""
    return copy.deepcopy(made_of(size))


@cache
def made_of(size: int) -> History:
    history = History().begin()
    while len(history.bodies) < size:
        history.pass_by(seconds=20)
        history.rank(operator="op-1", count=len(history.bodies) - 2)
    return history


@pytest.fixture
def history() -> History:
    return history_of(SIZE)


@pytest.fixture
def folder(history: History, tmp_path: Path) -> Path:
    return publish(tmp_path / "log", history.bodies)


@pytest.fixture
def served(folder: Path) -> Iterator[Served]:
    with serving(folder) as opened:
        yield opened


def entries_read(served: Served) -> list[str]:
    """Sorted, as they are fetched side by side."""
    return sorted(path for path in served.requested if "entries" in path)


def finding(url: object, *options: object) -> tuple[str, str, int | None]:
    code, output = run_json("verify", url, "--key", VKEY, *options)
    assert code == 1
    return output["code"], output["path"], output["entryIndex"]


# --- verify ---


def test_an_honest_log_is_sound_wherever_it_is_read(
    folder: Path, served: Served
) -> None:
    for url in (folder, folder.as_uri(), served.url):
        code, output = run_json("verify", url, "--key", VKEY)
        assert (code, output["verified"], output["size"]) == (0, True, SIZE)
        assert output["records"] == {"policy": 1, "ranking": SIZE - 3, "seed": 2}
    result = run("verify", served.url)
    assert "The log is sound: 600 entries" in result.stdout


def test_a_folder_does_not_say_whose_log_it_is(folder: Path, tmp_path: Path) -> None:
    result = run("verify", folder)
    assert (result.exit_code, "--key" in result.output) == (1, True)
    assert run("verify", tmp_path / "absent", "--key", VKEY).exit_code == 1
    assert run("verify", folder, "--key", "nonsense").exit_code == 2
    assert run("verify", folder, "--key", VKEY, "--quorum", "1").exit_code == 2


def test_the_second_run_reads_only_what_is_new(
    history: History, folder: Path, served: Served, tmp_path: Path
) -> None:
    options = ("verify", served.url, "--state", tmp_path / "state")
    assert run_json(*options)[1]["readFrom"] == 0
    assert entries_read(served)[-1] == "/tile/entries/002.p/88"
    served.requested.clear()
    assert run_json(*options)[1]["readFrom"] == SIZE
    assert served.requested == ["/checkpoint"]

    publish(folder, history_of(800).bodies)
    served.requested.clear()
    code, output = run_json(*options)
    assert (code, output["readFrom"], output["size"]) == (0, SIZE, 800)
    assert output["records"]["ranking"] == 797
    assert entries_read(served) == ["/tile/entries/002", "/tile/entries/003.p/32"]


def test_a_log_rewritten_since_the_last_run_is_found(
    folder: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    options = ("--state", state)
    assert run("verify", folder, "--key", VKEY, *options).exit_code == 0
    saved = state.read_bytes()
    other = history_of(800)
    del other.bodies[300]
    fork = publish(tmp_path / "fork", other.bodies)
    assert finding(fork, *options)[:2] == ("log_forked", "checkpoint")
    shorter = publish(tmp_path / "shorter", history_of(599).bodies)
    assert finding(shorter, *options)[:2] == ("log_shrunk", "checkpoint")
    assert state.read_bytes() == saved, "what was seen is not forgotten"


def test_an_interrupted_run_goes_on_where_it_was(
    folder: Path, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SAVE_EVERY_S", 0.0)
    monkeypatch.setattr(source, "PAUSES_S", (0.0, 0.0))
    state = tmp_path / "state"
    served.failures["/tile/entries/001"] = [503] * 9
    result = run("verify", served.url, "--state", state)
    assert (result.exit_code, "can't be read" in result.output) == (1, True)
    assert json.loads(state.read_bytes())["size"] == 256
    served.requested.clear()
    served.failures.clear()
    code, output = run_json("verify", served.url, "--state", state)
    assert (code, output["readFrom"]) == (0, 256)
    assert "/tile/entries/000" not in served.requested


def test_a_fork_behind_an_interruption_is_found(
    served: Served, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PAUSES_S", (0.0,))
    state = tmp_path / "state"
    served.failures["/tile/entries/001"] = [503]
    assert run("verify", served.url, "--state", state).exit_code == 1
    bodies = history_of(800).bodies
    bodies[400], bodies[401] = bodies[401], bodies[400]
    fork = publish(tmp_path / "fork", bodies)
    result = finding(fork, "--state", state)
    assert result[:2] == ("log_forked", "checkpoint")


def test_a_server_may_stumble(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "PAUSES_S", (0.0, 0.0, 0.0))
    served.failures["/tile/0/000"] = [503, 429]
    assert run("verify", served.url).exit_code == 0


def test_a_state_of_another_log_or_of_nothing_is_not_taken(
    folder: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    state.write_text('{"origin":"x","size":1,"root":"00"}')
    options = ("verify", folder, "--key", VKEY, "--state", state)
    assert "no state of an audit" in run(*options).output
    state.unlink()
    assert run(*options).exit_code == 0
    other = state.read_text().replace("registry.example/audit+1d57a2a5", "x+1")
    state.write_text(other)
    assert run(*options).exit_code == 1


@pytest.mark.parametrize(
    ("path", "spoil", "expected"),
    [
        pytest.param(
            "tile/entries/001",
            lambda data: data.replace(b"op-1", b"op-2", 1),
            ("log_entry_forged", "tile/entries/001", 256),
            id="an entry",
        ),
        pytest.param(
            "tile/0/001",
            lambda data: bytes(32) + data[32:],
            ("log_tile_forged", "tile/0/001", None),
            id="a tile",
        ),
        pytest.param(
            "tile/1/000.p/2",
            lambda data: data[32:] + data[:32],
            ("log_root_wrong", "checkpoint", None),
            id="a tile of the edge",
        ),
        pytest.param(
            "checkpoint",
            lambda data: data.replace(b"\n600\n", b"\n599\n"),
            ("log_checkpoint_invalid", "checkpoint", None),
            id="the checkpoint",
        ),
    ],
)
def test_what_is_changed_is_found_with_its_place(
    folder: Path, path: str, spoil: object, expected: tuple[str, str, int | None]
) -> None:
    file = folder / path
    file.write_bytes(spoil(file.read_bytes()))  # type: ignore[operator]
    assert finding(folder) == expected


def test_a_forged_entry_with_its_forged_leaf_hash_is_found(folder: Path) -> None:
    entries = list(parse_bundle((folder / "tile/entries/001").read_bytes(), 256))
    entries[7] = entries[8]
    (folder / "tile/entries/001").write_bytes(encode_bundle(entries))
    tile = folder / "tile/0/001"
    data = tile.read_bytes()
    tile.write_bytes(data[: 7 * 32] + leaf_hash(entries[7]) + data[8 * 32 :])
    assert finding(folder) == ("log_tile_forged", "tile/0/001", None)


def test_a_missing_part_and_cut_off_parts_are_found(folder: Path) -> None:
    file = folder / "tile/entries/000"
    data = file.read_bytes()
    file.write_bytes(data[:-1])
    assert finding(folder) == ("log_part_malformed", "tile/entries/000", None)
    file.unlink()
    assert finding(folder) == ("log_part_missing", "tile/entries/000", None)


def test_records_that_break_a_rule_are_found_with_their_place(
    history: History, tmp_path: Path
) -> None:
    history.rank(seed=2)
    history.rank(policy=b"{}")
    history.erase(5, ["A" * 43])
    folder = publish(tmp_path / "log", history.bodies)
    first = ("seed_not_of_the_day", "tile/entries/002", 600)
    assert finding(folder) == first
    code, output = run_json("verify", folder, "--key", VKEY, "--all")
    assert code == 1
    result = [
        (finding["code"], finding["entryIndex"]) for finding in output["findings"]
    ]
    broken = ["seed_not_of_the_day", "policy_unlogged", "erasure_unfounded"]
    assert result == list(zip(broken, (600, 601, 602), strict=True))
    text = run("verify", folder, "--key", VKEY, "--all")
    assert all(item in text.output for item in broken)


def test_a_finding_is_found_again_by_the_next_run(
    history: History, tmp_path: Path
) -> None:
    history.rank(seed=2)
    folder = publish(tmp_path / "log", history.bodies)
    for _ in range(2):
        assert finding(folder, "--state", tmp_path / "state")[2] == 600


def test_findings_are_reported_up_to_a_hundred(
    history: History, tmp_path: Path
) -> None:
    for _ in range(150):
        history.rank(seed=2)
    folder = publish(tmp_path / "log", history.bodies)
    _, output = run_json("verify", folder, "--key", VKEY, "--all")
    assert len(output["findings"]) == 100


def test_honest_erasures_are_looked_up(history: History, tmp_path: Path) -> None:
    for index in (3, 599, 300):
        record = json.loads(history.bodies[index])
        history.erase(index, record["_sd"])
    folder = publish(tmp_path / "log", history.bodies)
    assert run("verify", folder, "--key", VKEY).exit_code == 0


# --- prove ---


def test_a_record_is_proven_and_the_proof_stands_alone(
    history: History, folder: Path, tmp_path: Path
) -> None:
    proof, record = tmp_path / "proof", tmp_path / "record"
    for index in (0, 255, 256, 599):
        options = ("--proof-out", proof, "--record-out", record)
        code, output = run_json("prove", index, folder, "--key", VKEY, *options)
        assert (code, output["index"], output["size"]) == (0, index, SIZE)
        assert record.read_bytes() == history.bodies[index]
        offline = ("prove", "--proof", proof, "--record", record, "--key", VKEY)
        assert run_json(*offline)[1]["index"] == index
    record.write_bytes(history.bodies[0])
    assert run_json(*offline) == (1, run_json(*offline)[1])
    assert run_json(*offline)[1]["code"] == "log_proof_invalid"


def test_a_record_is_found_by_its_id(history: History, served: Served) -> None:
    record_id = json.loads(history.bodies[300])["id"]
    served.answers[f"/v1/records/{record_id}"] = {"leafIndex": 300}
    assert run_json("prove", f"{record_id}.secret", served.url)[1]["index"] == 300
    served.answers[f"/v1/records/{record_id}"] = {"leafIndex": None}
    assert run("prove", record_id, served.url).exit_code == 1


def test_another_record_than_the_one_asked_for_is_no_proof(
    history: History, served: Served
) -> None:
    """A lying registry names the index of an entry that does stand in the log."""
    record_id = json.loads(history.bodies[300])["id"]
    for absent in (record_id, "01JZZZZZZZZZZZZZZZZZZZZZZZ"):
        served.answers[f"/v1/records/{absent}"] = {"leafIndex": 5}
        code, summary = run_json("prove", absent, served.url)
        assert (code, summary["code"]) == (1, "log_entry_other")
        assert summary["entryIndex"] == 5


def test_the_record_has_the_leaf_hash_that_was_promised(
    history: History, folder: Path, tmp_path: Path
) -> None:
    proof, record = tmp_path / "proof", tmp_path / "record"
    promised, other = (leaf_hash(history.bodies[i]).hex() for i in (300, 301))
    by_index = ("prove", 300, folder, "--key", VKEY)
    saved = ("--proof-out", proof, "--record-out", record)
    assert run(*by_index, "--leaf-hash", promised, *saved).exit_code == 0
    assert run_json(*by_index, "--leaf-hash", other)[0] == 1
    offline = ("prove", "--proof", proof, "--record", record, "--key", VKEY)
    assert run(*offline, "--leaf-hash", promised.upper()).exit_code == 0
    code, summary = run_json(*offline, "--leaf-hash", other)
    assert (code, summary["code"]) == (1, "log_entry_other")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["600", "{folder}", "--key", VKEY], id="beyond the log"),
        pytest.param(["nobody", "{folder}", "--key", VKEY], id="an id in a folder"),
    ],
)
def test_what_is_not_there_is_not_proven(folder: Path, arguments: list[str]) -> None:
    words = [argument.format(folder=folder) for argument in arguments]
    assert run("prove", *words).exit_code == 1


def test_proving_needs_to_know_what_and_where(folder: Path) -> None:
    assert run("prove").exit_code == 2
    assert run("prove", "7", folder, "8").exit_code == 2
    twice = run("prove", "7", folder, "--registry", folder)
    assert twice.exit_code == 2
    assert "--registry" in twice.output
    checkpoint = folder / "checkpoint"
    offline = ("prove", "--proof", checkpoint, "--record", checkpoint)
    assert run(*offline).exit_code == 2
    assert run(*offline, "--key", VKEY).exit_code == 1


def test_no_forged_entry_is_proven(folder: Path) -> None:
    file = folder / "tile/entries/001"
    file.write_bytes(file.read_bytes().replace(b"op-1", b"op-2", 1))
    code, output = run_json("prove", 256, folder, "--key", VKEY)
    assert (code, output["code"]) == (1, "log_entry_forged")


# --- reproduce ---


def held(history: History, index: int) -> dict[str, object]:
    """As the registry gives a ranking to its asker."""
    return {
        "id": json.loads(history.bodies[index])["id"],
        "leafIndex": index,
        "openings": [
            {"name": "?", "value": None, "disclosure": disclosure}
            for disclosure in history.disclosures[index]
        ],
    }


def test_a_ranking_is_computed_again(history: History, served: Served) -> None:
    record = held(history, 300)
    served.answers[f"/v1/rankings/{record['id']}.secret"] = record
    code, output = run_json("reproduce", f"{record['id']}.secret", served.url)
    assert (code, output["mismatches"], output["incomplete"]) == (3, 0, 1)
    assert output["rankings"][0]["checked"] == [
        "sites",
        "totals",
        "order",
        "quality",
        "proximity",
        "day",
    ]
    missing = " ".join(output["rankings"][0]["notChecked"])
    assert "not revealed yet" in missing
    assert "profiles: " in missing


def test_ties_are_computed_once_the_secret_is_out(
    history: History, tmp_path: Path
) -> None:
    history.now += timedelta(days=1)
    history.reveal(DAY)
    folder = publish(tmp_path / "log", history.bodies)
    lines = tmp_path / "held.jsonl"
    lines.write_text("".join(json.dumps(held(history, i)) + "\n" for i in range(3, 9)))
    options = ("reproduce", "--disclosures", lines, folder, "--key", VKEY)
    code, output = run_json(*options)
    assert (code, output["checked"], output["mismatches"]) == (3, 6, 0)
    assert "ties" in output["rankings"][0]["checked"]
    code, messages = run_json(*options, "--first", 4, "--last", 5)
    assert [ranking["leafIndex"] for ranking in messages["rankings"]] == [4, 5]
    assert "profiles: " in output["rankings"][0]["notChecked"][0]
    assert "6 computed again, 0 differ" in run(*options).output


def test_a_ranking_that_was_not_by_its_scores_is_found(
    history: History, tmp_path: Path
) -> None:
    order = [format_site_id(item) for item in (9, 8, 7)]
    index = history.rank(order=order)
    folder = publish(tmp_path / "log", history.bodies)
    lines = tmp_path / "held.jsonl"
    lines.write_text(json.dumps(held(history, index)))
    options = ("reproduce", "--disclosures", lines, folder, "--key", VKEY)
    code, output = run_json(*options)
    assert (code, output["mismatches"]) == (1, 1)
    assert run(*options).exit_code == 1


LESSER = (3000, 5000, 5000, 7000, 2000)


def test_a_further_page_needs_the_one_that_it_goes_on_from(
    history: History, tmp_path: Path
) -> None:
    """Who calls a first page a further one need not have the best sites in it."""
    last = honest_scores(history.now)[-1]
    key = [-last["score"], last["tier"], int(last["tie"], 16)]
    site, lesser = parse_site_id(last["site"]), scored(10, LESSER, seed_at(history.now))
    after = [*map(str, [*key, site, 4000, 7000])]
    pages = [history.rank(request_id="r")]
    pages += [history.rank(request_id="r", after=after, scores=[lesser])]
    folder = publish(tmp_path / "log", history.bodies)
    lines = tmp_path / "held.jsonl"

    def unchecked(*indexes: int) -> str:
        lines.write_text("\n".join(json.dumps(held(history, i)) for i in indexes))
        options = ("--disclosures", lines, folder, "--key", VKEY)
        code, output = run_json("reproduce", *options)
        assert (code, output["mismatches"]) == (3, 0), output
        return " ".join(output["rankings"][-1]["notChecked"])

    assert "page: a further one" not in unchecked(*pages)
    assert "page: a further one" in unchecked(pages[1])
    assert "page: a further one" in unchecked(5, pages[1])


def test_disclosures_of_another_ranking_differ(
    history: History, folder: Path, tmp_path: Path
) -> None:
    item, other = held(history, 4), held(history, 5)
    lines = tmp_path / "held.jsonl"
    lines.write_text(json.dumps({**item, "openings": other["openings"]}))
    options = ("reproduce", "--disclosures", lines, folder, "--key", VKEY)
    _, output = run_json(*options)
    assert "does not belong to the record" in output["rankings"][0]["differences"][0]
    lines.write_text(json.dumps({**item, "leafIndex": 5}))
    assert run_json(*options)[0] == 1
    lines.write_text("no JSON")
    assert run(*options).exit_code == 1


def test_what_nobody_opens_is_not_computed(history: History, served: Served) -> None:
    record = {**held(history, 300), "openings": None}
    served.answers[f"/v1/rankings/{record['id']}"] = record
    result = run("reproduce", record["id"], served.url)
    assert (result.exit_code, "nothing to compute" in result.output) == (3, True)


def test_an_id_beside_an_answer_is_not_read_as_a_folder(tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    answer.write_text("{}")
    result = run("reproduce", "01K.secret", "--answer", answer)
    assert result.exit_code == 2
    assert "give one of ID, --answer and --disclosures" in result.output


# --- monitor ---

SITE = format_site_id(7)


def with_news(history: History) -> None:
    history.log(
        registration_record(
            **history.head, site_id=SITE, act="rotate", seq=2, kid="k", jws=b"a.b.c"
        )
    )
    for site, act in ((8, "delist"), (7, "quarantine")):
        site_id = format_site_id(site)
        history.log(
            moderation_record(
                **history.head, site_id=site_id, act=act, reason="phishing"
            )
        )


def test_news_of_a_site_are_told_once(
    history: History, folder: Path, served: Served, tmp_path: Path
) -> None:
    served.answers["/v1/sites/shop.example"] = {"id": SITE}
    options = ("monitor", served.url, "--host", "shop.example")
    options = (*options, "--state", tmp_path / "state")
    first = run(*options)
    assert first.exit_code == 0
    assert f"shop.example is site {SITE}: the registry's word" in first.stderr
    with_news(history)
    publish(folder, history.bodies)
    result = run(*options)
    assert result.exit_code == 3
    assert "rotation act rotate, kid k" in result.output
    assert "moderation act quarantine, reason phishing" in result.output
    assert "delist" not in result.output
    assert run(*options).exit_code == 0


@pytest.mark.parametrize("days", [0, 3])
def test_a_log_that_stands_still_is_named_to_who_watches(
    tmp_path: Path, days: int
) -> None:
    """Shown to him alone it has no news, and is sound."""
    history = History(now=datetime.now(UTC) - timedelta(days=days)).begin()
    folder = publish(tmp_path / "log", history.bodies)
    options = ("monitor", folder, "--site", SITE, "--key", VKEY)
    result = run(*options, "--state", tmp_path / "state")
    assert result.exit_code == 0
    assert ("is not revealed" in result.stderr) is bool(days)


def test_rankings_of_an_operator_are_told_as_json_lines(
    history: History, tmp_path: Path
) -> None:
    history.rank(operator="op-9", count=1)
    folder = publish(tmp_path / "log", history.bodies)
    state = tmp_path / "state"
    options = ("monitor", folder, "--operator", "op-9", "--key", VKEY)
    result = run(*options, "--state", state, "--json")
    assert result.exit_code == 3
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["index"], line["record"]["opn"]) for line in lines] == [(600, 1)]


def test_a_gap_in_an_operators_numbers_ends_the_watch(
    history: History, tmp_path: Path
) -> None:
    history.rank(operator="op-9", count=2)
    history.pass_by(minutes=3)
    history.rank()
    folder = publish(tmp_path / "log", history.bodies)
    options = ("monitor", folder, "--operator", "op-9", "--key", VKEY)
    result = run(*options, "--state", tmp_path / "state")
    assert result.exit_code == 1
    assert "of op-9, ranking 1 is missing" in result.output


def test_a_watch_needs_one_subject_and_a_state(folder: Path, tmp_path: Path) -> None:
    assert run("monitor", folder, "--key", VKEY).exit_code == 2
    assert run("monitor", folder, "--operator", "x", "--key", VKEY).exit_code == 2
    watch = ("monitor", folder, "--key", VKEY, "--state", tmp_path / "state")
    assert run(*watch).exit_code == 2
    assert run(*watch, "--site", SITE, "--operator", "x").exit_code == 2
