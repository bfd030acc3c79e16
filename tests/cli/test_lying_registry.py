"""What commands believe of a registry that answers with something else than was asked."""

import copy
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.bench.verification import write_log
from registry.cli import main
from registry.identity import base64url
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.disclosure import parse_disclosure
from registry.records.record import registration_record
from registry.sites.identifier import format_site_id
from registry.terminal.styled import Console, Table
from registry.tlog.merkle import leaf_hash
from registry.tlog.note import format_vkey
from tests.cli.audited import SIGNER, VKEY, Served, publish, run, run_json, serving
from tests.unit.records.history import History

SIZE = 40
ABSENT = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
FACTORS = ("relevance", "proximity", "capabilityDepth", "quality", "freshness")


@pytest.fixture(scope="module")
def history() -> History:
    honest = History().begin()
    while len(honest.bodies) < SIZE:
        honest.pass_by(seconds=20).rank()
    return honest


@pytest.fixture
def served(history: History, tmp_path: Path) -> Iterator[Served]:
    with serving(publish(tmp_path / "log", history.bodies)) as opened:
        yield opened


def id_at(history: History, index: int) -> str:
    return str(json.loads(history.bodies[index])["id"])


def ranking(history: History, index: int) -> dict[str, object]:
    openings = [{"disclosure": text} for text in history.disclosures[index]]
    return {
        "id": id_at(history, index),
        "leafIndex": index,
        "openings": openings,
    }


@pytest.mark.parametrize("index", [5, 0, SIZE - 1])
@pytest.mark.parametrize("record", [20, None], ids=["another's index", "no such id"])
def test_no_other_entry_proves_an_id(
    history: History, served: Served, index: int, record: int | None
) -> None:
    record_id = ABSENT if record is None else id_at(history, record)
    served.answers[f"/v1/records/{record_id}"] = {"leafIndex": index}
    code, problem = run_json("prove", record_id, served.url, "--key", VKEY)
    assert (code, problem["code"]) == (1, "log_entry_other")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        pytest.param(f"prove {ABSENT}", f"/v1/records/{ABSENT}: absent", id="prove"),
        pytest.param(f"reproduce {ABSENT}.s", "not here", id="reproduce"),
        pytest.param(
            f"prove {SIZE}", f"has {SIZE} entries, none at {SIZE}", id="index"
        ),
    ],
)
def test_an_id_that_nobody_knows_is_no_log_that_cannot_be_read(
    served: Served, command: str, text: str
) -> None:
    result = run(*command.split(), "--registry", served.url, "--key", VKEY)
    printed = " ".join(result.output.split())
    assert (result.exit_code, text in printed) == (1, True), printed
    assert printed.startswith("Not there: ")


@pytest.mark.parametrize("digits", ["0" * 26, "01999999990000000000000000"])
def test_an_id_of_digits_alone_is_no_index(served: Served, digits: str) -> None:
    """A registry makes up its ids: one that is all digits proves no entry of its choice."""
    served.answers[f"/v1/records/{digits}"] = {"leafIndex": 5}
    code, problem = run_json("prove", digits, served.url, "--key", VKEY)
    assert (code, problem["code"]) == (1, "log_entry_other")


@pytest.mark.parametrize(
    "expected", [-1, SIZE, 2**70, "5", None, True, 5.0, [5]], ids=repr
)
def test_an_index_that_is_none_is_told(
    history: History, served: Served, expected: object
) -> None:
    record_id = id_at(history, 5)
    served.answers[f"/v1/records/{record_id}"] = {"leafIndex": expected}
    result = run("prove", record_id, served.url, "--key", VKEY)
    assert result.exit_code == 1
    assert "Entry" not in result.output


def test_another_ranking_is_not_computed_in_place_of_the_one_asked_for(
    history: History, served: Served
) -> None:
    """All of it is sound: it is only not the answer that the asker got."""
    query = f"{id_at(history, 20)}.secret"
    served.answers[f"/v1/rankings/{query}"] = ranking(history, 9)
    result = run("reproduce", query, served.url, "--key", VKEY)
    assert result.exit_code == 1
    assert "the same" not in result.output


def test_a_ranking_of_the_right_id_at_another_index_differs(
    history: History, served: Served
) -> None:
    query = f"{id_at(history, 20)}.secret"
    lie = {**ranking(history, 20), "leafIndex": 9}
    served.answers[f"/v1/rankings/{query}"] = lie
    code, summary = run_json("reproduce", query, served.url, "--key", VKEY)
    assert (code, summary["mismatches"]) == (1, 1)


def test_another_answer_than_the_one_received_is_not_computed(
    history: History, served: Served
) -> None:
    """--leaf-hash is that of the answer: one id may have two records."""
    query = f"{id_at(history, 20)}.secret"
    served.answers[f"/v1/rankings/{query}"] = ranking(history, 20)
    own, other = (leaf_hash(history.bodies[i]).hex() for i in (20, 21))
    options = ("reproduce", query, served.url, "--key", VKEY, "--leaf-hash")
    assert run(*options, own).exit_code == 3  # nothing differs, no profile is served
    code, summary = run_json(*options, other)
    assert (code, summary["mismatches"]) == (1, 1)


@pytest.mark.parametrize("expected", [None, -1, SIZE, 2**70])
def test_a_ranking_without_a_position_is_not_passed_over(
    history: History, served: Served, tmp_path: Path, expected: int | None
) -> None:
    """The registry wrote the lines of the file: one without an index hid its ranking."""
    lines = [ranking(history, 20), {**ranking(history, 21), "leafIndex": expected}]
    file = tmp_path / "disclosures"
    file.write_text("\n".join(map(json.dumps, lines)))
    options = ("--disclosures", file, "--registry", served.url, "--key", VKEY)
    code, summary = run_json("reproduce", *options)
    assert (code, summary["checked"], summary["impossible"]) == (3, 1, 1)
    reasons = [own["notChecked"] for own in summary["rankings"]]
    assert reasons[1] == ["it is not in the published log yet"]


def as_received(history: History, index: int) -> dict[str, Any]:
    """The answer that was handed out, as far as the audit reads it."""
    opened = map(parse_disclosure, history.disclosures[index])
    scores: Any = next(own.value for own in opened if own.name == "scores")
    leaf = leaf_hash(history.bodies[index]).hex()
    return {
        "ranking": {
            "id": f"{id_at(history, index)}.secret",
            "leafHash": leaf,
            "policy": DEFAULT_POLICY.digest,
            "eligible": 3,
        },
        "results": [
            {
                "site": {"id": row["site"], "host": "a.test"},
                "score": row["score"],
                "factors": {
                    name: {"value": value, "weight": 1, "contribution": value}
                    for name, value in zip(FACTORS, row["factors"], strict=True)
                },
            }
            for row in scores
        ],
        "place": None,
    }


@pytest.mark.parametrize(
    ("lie", "difference"),
    [
        pytest.param(lambda _: None, "", id="honest"),
        pytest.param(lambda own: own.reverse(), "the results that were", id="order"),
        pytest.param(lambda own: own.pop(), "the results that were", id="one less"),
        pytest.param(
            lambda own: own[0].update(score=1), "the results that were", id="score"
        ),
        pytest.param(
            lambda own: own[1]["factors"]["quality"].update(value=9000),
            "with other factors than",
            id="factor",
        ),
        pytest.param(
            lambda own: own[1]["factors"].update(bonus=own[1]["factors"]["quality"]),
            "with other factors than",
            id="a factor more",
        ),
        pytest.param(
            lambda own: own[1]["site"].update(url="https://a.test"), "", id="address"
        ),
        pytest.param(
            lambda own: own[1]["site"].update(url="https://a.test/?by=registry"),
            "with the address https://a.test/?by=registry",
            id="an address that the registry is paid for",
        ),
        pytest.param(lambda own: own[2].pop("factors"), "", id="picked members"),
    ],
)
def test_an_agent_that_was_told_another_answer_than_the_one_on_record_finds_it(
    history: History, served: Served, tmp_path: Path, lie: Any, difference: str
) -> None:
    """Record and promise are sound: only who has the answer can know."""
    answer = as_received(history, 20)
    served.answers[f"/v1/rankings/{answer['ranking']['id']}"] = ranking(history, 20)
    lie(answer["results"])
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(answer))
    options = ("--answer", file, "--registry", served.url, "--key", VKEY)
    code, output = run_json("reproduce", *options)
    (item,) = output["rankings"]
    assert code == (1 if difference else 3), output
    assert difference in " ".join(item["differences"])
    assert "results" in item["checked"]


@pytest.mark.parametrize(
    ("lie", "difference"),
    [
        ({"ranking": {"eligible": 40}}, "eligible: 40 was received, and 3 is on"),
        ({"ranking": {"policy": "sha256:0"}}, "policy: 'sha256:0' was received"),
        ({"ranking": {"number": 7}}, "opn: 7 was received, and None is on"),
        ({"place": {"cell": "sv9t"}}, "location: 'sv9t' was received, and None is"),
    ],
)
def test_an_agent_that_was_given_other_facts_than_those_on_record_sees_it(
    history: History,
    served: Served,
    tmp_path: Path,
    lie: dict[str, Any],
    difference: str,
) -> None:
    """By `eligible` he sees that an answer ends early, by the cell where it was asked."""
    answer = as_received(history, 20)
    served.answers[f"/v1/rankings/{answer['ranking']['id']}"] = ranking(history, 20)
    ranked = answer["ranking"] | lie.get("ranking", {})
    file = tmp_path / "answer.json"
    file.write_text(json.dumps({**answer, **lie, "ranking": ranked}))
    options = ("--answer", file, "--registry", served.url, "--key", VKEY)
    code, output = run_json("reproduce", *options)
    assert code == 1, output
    assert difference in " ".join(output["rankings"][0]["differences"])


def test_what_is_no_answer_in_full_is_not_compared(
    served: Served, tmp_path: Path
) -> None:
    file = tmp_path / "answer.json"
    file.write_text('{"results":[{"site":"a.test"}]}')
    result = run("reproduce", "--answer", file, "--registry", served.url)
    assert (result.exit_code, "no answer in full" in result.output) == (1, True)
    assert run("reproduce", "--answer", file, "--disclosures", file).exit_code == 2


def test_a_site_is_watched_by_its_id_without_asking(
    served: Served, tmp_path: Path
) -> None:
    served.answers["/v1/sites/shop.example"] = {"id": format_site_id(8)}
    options = ("--site", format_site_id(7), "--state", tmp_path / "state")
    assert run("monitor", served.url, "--key", VKEY, *options).exit_code == 0
    assert not [path for path in served.requested if path.startswith("/v1/")]


def register(history: History, site: int) -> History:
    own = copy.deepcopy(history)
    members = {"site_id": format_site_id(site), "act": "register", "seq": 1}
    own.log(registration_record(**own.head, **members, kid="k", jws=b"a.b.c"))
    return own


def test_news_are_those_of_the_site_that_was_named(
    history: History, tmp_path: Path
) -> None:
    folder = publish(tmp_path / "log", register(history, 7).bodies)
    for site, code in ((7, 3), (8, 0)):
        options = ("--site", format_site_id(site), "--state", tmp_path / str(site))
        assert run("monitor", folder, "--key", VKEY, *options).exit_code == code


def test_a_host_that_becomes_another_site_is_no_news_of_none(
    history: History, served: Served, tmp_path: Path
) -> None:
    """Whoever is told another id would see none of what was done to his site since."""
    options = ("--state", tmp_path / "state", "--key", VKEY)
    watch = ("monitor", served.url, "--host", "shop.example", *options)
    served.answers["/v1/sites/shop.example"] = {"id": format_site_id(7)}
    assert run(*watch).exit_code == 0
    publish(served.folder, register(history, 7).bodies)
    served.answers["/v1/sites/shop.example"] = {"id": format_site_id(8)}
    result = run(*watch)
    assert (result.exit_code, "watches site" in result.output) == (1, True)
    assert run("verify", served.url, *options).exit_code == 1  # it would pass it over
    assert run("monitor", served.url, "--operator", "op", *options).exit_code == 1
    served.answers["/v1/sites/shop.example"] = {"id": format_site_id(7)}
    assert run(*watch).exit_code == 3


def test_a_registry_that_names_another_key_is_not_followed(
    history: History, served: Served, tmp_path: Path
) -> None:
    """The key of the first run stands in the state: another is for the auditor to give."""
    options = ("verify", served.url, "--state", tmp_path / "state")
    assert run(*options).exit_code == 0
    private = Ed25519PrivateKey.from_private_bytes(sha256(b"another").digest())
    other = replace(SIGNER, private=private)
    write_log(served.folder, iter(register(history, 7).bodies), other)
    key = format_vkey(other.verifier_key)
    served.answers["/v1/log"] = {"verifierKey": key}
    code, problem = run_json(*options)
    assert (code, problem["code"]) == (1, "log_checkpoint_invalid")
    assert run(*options, "--key", key).exit_code == 0


def test_a_key_that_signs_without_a_time_is_no_witness(served: Served) -> None:
    """The log's own least of all."""
    result = run("verify", served.url, "--key", VKEY, "--witness", VKEY)
    assert (result.exit_code, "no key of a witness" in result.output) == (2, True)


@pytest.mark.parametrize(("minutes", "is_ahead"), [(0, False), (30, True)])
def test_a_log_that_is_dated_ahead_is_named(
    tmp_path: Path, minutes: int, is_ahead: bool
) -> None:
    """So it could stand still, and its secrets be due the later."""
    history = History(now=datetime.now(UTC) + timedelta(minutes=minutes)).begin()
    folder = publish(tmp_path / "log", history.bodies)
    code, summary = run_json("verify", folder, "--key", VKEY)
    ahead = json.loads(history.bodies[0])["t"] if is_ahead else None
    assert (code, summary["datedAhead"]) == (0, ahead)
    options = ("monitor", folder, "--operator", "op", "--state", tmp_path / "state")
    for result in (run("verify", folder, "--key", VKEY), run(*options, "--key", VKEY)):
        assert ("which is yet to come" in result.output) is is_ahead


LATE = {
    "nonce": "n" * 43,
    "payload": {"seq": 3},
    "id": 2**60,
    "status": "active",
    "statusUrl": 5,
    "terms": {"window": {"startAt": 1, "endAt": 2}},
    "findings": None,
    "held": True,
}
"""Enough for a command to begin with, and not to end."""


@pytest.mark.parametrize(
    "answer",
    [{}, {"ranking": 5, "results": {}, "verifierKey": []}, LATE, LATE | {"id": "\x1b"}],
    ids=repr,
)
@pytest.mark.parametrize(
    "command",
    [
        "search a table",
        "register shop.test --key site.pem",
        "withdraw shop.test --json --key site.pem",
        "refresh shop.test --key site.pem",
        "exposure shop.test --key site.pem",
        "operator register --name a --contact mailto:a@b.example --key site.pem",
        "operator show",
        "report",
        "audit label shop.test --size micro --source a --name a.example --key site.pem",
        "audit counterfactual --query a --perturbation tier --name a.example --key site.pem",
        "audit verify --state state.json",
        "audit prove 01JZZZZZZZZZZZZZZZZZZZZZZZ",
        "audit trials 2026-11-23",
    ],
)
def test_what_is_no_answer_is_reported_in_a_sentence(
    served: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    answer: object,
) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main, ["keygen", "--out", "site.pem"])
    served.answer = lambda _: (200, json.dumps(answer).encode(), {})  # type: ignore[method-assign]
    words = [*command.split(), "--registry", served.url]
    result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code in {1, 2}
    printed = ("The registry's answer is not one", "The log can't be read")
    printed += ("Not there: ", "key")
    assert any(sentence in result.output for sentence in printed)


def test_a_refusal_steers_no_terminal(served: Served) -> None:
    lie = "\x1b]0;a title\x07 [red]\x9b31m\u202e"
    problem = dict.fromkeys(("code", "detail", "fix", "pointer"), lie)
    served.answer = lambda _: (400, json.dumps(problem).encode(), {})  # type: ignore[method-assign]
    result = CliRunner().invoke(main, ["search", "a", "--registry", served.url])
    assert result.output.count(r"\u001b]0;a title\u0007 [red]\u009b31m\u202e") == 4


def test_no_text_that_is_printed_steers_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lie = "\x1b]0;a title\x07\x9b31m\u202eab"
    table = Table("a", title=lie)
    table.add_row(lie)
    Console().print(lie, markup=False)
    Console().print(table)
    assert not set(capsys.readouterr().out) & set("\x1b\x07\x9b\u202e")


@pytest.mark.parametrize(
    "text", ["[/red]", "[link=https://a.test]b", r"\\[link=https://a.test]b", "[blink]"]
)
def test_no_text_of_a_registry_is_markup(text: str) -> None:
    """A link would lead elsewhere than it says, and an end without beginning is an error."""
    pytest.importorskip("rich")
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, color_system="standard")
    console.print(f"[bold]before[/] {text}", highlight=False)
    assert output.getvalue().endswith(f" {text}\n")


def keygen(name: str, folder: Path) -> dict[str, str]:
    environment = {"XDG_CONFIG_HOME": str(folder)}
    generated = CliRunner().invoke(main, ["keygen", name], env=environment)
    assert generated.exit_code == 0, generated.output
    return environment


def test_an_owner_signs_nothing_that_the_registry_wrote(
    served: Served, tmp_path: Path
) -> None:
    """A challenge of another registry, passed on, would be signed for that one."""
    environment = keygen("shop.test", tmp_path)
    served.answers["/v1/challenges"] = {
        "nonce": "n" * 43,
        "payload": {
            "aud": "https://another.example",
            "sub": "bank.test",
            "jti": "o" * 43,
            "seq": 3,
            "act": "withdraw",
            "docs": [{"url": "https://evil.test/agent-bridge.json"}],
            "next_kid": "k" * 43,
        },
    }
    words = ["register", "shop.test", "--registry", served.url]
    CliRunner().invoke(main, words, env=environment)
    payload = json.loads(base64url.decode(served.posted[-1].split(b".")[1].decode()))
    assert {name: payload.pop(name) > 0 for name in ("iat", "exp")}
    assert payload == {
        "aud": served.url,
        "sub": "shop.test",
        "jti": "n" * 43,
        "seq": 3,
        "act": "register",
    }


def test_an_auditors_question_is_for_the_registry_that_he_named(
    served: Served, tmp_path: Path
) -> None:
    environment = keygen("auditor", tmp_path)
    served.answers["/v1/log"] = {"origin": "another.example", "verifierKey": VKEY}
    words = ["audit", "counterfactual", "--registry", served.url, "--query", "bread"]
    words += ["--perturbation", "commission", "--name", "auditor.example"]
    CliRunner().invoke(main, words, env=environment)
    question = json.loads(served.posted[-1])
    assert question["aud"] == served.url.partition("://")[2]


@pytest.mark.parametrize("is_named", [True, False])
def test_an_auditor_labels_the_site_that_he_named(
    served: Served, tmp_path: Path, is_named: bool
) -> None:
    """A registry that names a rival's id has his signature under it, and shows it."""
    environment = keygen("auditor", tmp_path)
    own, other = map(format_site_id, (7, 8))
    served.answers["/v1/sites/shop.test"] = {"id": other}
    served.answers["/v1/labels"] = {"leafHash": "0" * 64, "site": own}
    words = ["audit", "label", "shop.test", "--registry", served.url, "--size", "micro"]
    words += ["--source", "a", "--name", "auditor.example"]
    words += ["--site", own] if is_named else []
    result = CliRunner().invoke(main, words, env=environment)
    expected = own if is_named else other
    assert json.loads(served.posted[-1])["site"] == expected
    assert f"shop.test, site {expected}: accepted, leaf 00" in result.output
    assert "the registry's word: that it goes on record" in result.output
    assert ("/v1/sites/shop.test" in served.requested) is not is_named


def page_of(*scores: int) -> dict[str, object]:
    places = [
        {"siteId": format_site_id(number), "score": score, "behind": []}
        for number, score in enumerate(scores, 7)
    ]
    return {"places": places, "isWhole": True}


OWN = format_site_id(7)
HELD = {
    "changes": "nothing \x1b]0;a title\x07",
    "expectation": "all is well",
    "held": True,
    "changed": [OWN],
    "shadow": 2,
    "listed": 2,
    "before": page_of(9, 8),
    "after": page_of(9, 8),
}


@pytest.mark.parametrize(
    ("lie", "perturbation", "expected"),
    [
        ({}, "commission", 0),
        ({"after": page_of(9, 7)}, "commission", 1),
        ({"after": page_of(9, 7)}, "older", 0),
        ({"after": page_of(10, 8)}, "older", 1),
        ({"after": page_of(8, 8)}, "older", 0),
        ({"held": False}, "commission", 1),
        ({"changed": [format_site_id(8)]}, "commission", 1),
        ({"changed": []}, "commission", 1),
        ({"after": page_of(8, 9)}, "zero_commission", 1),
    ],
)
def test_who_says_that_it_held_shows_answers_in_which_it_did(
    served: Served,
    tmp_path: Path,
    lie: dict[str, object],
    perturbation: str,
    expected: int,
) -> None:
    environment = keygen("auditor", tmp_path)
    served.answers["/v1/sites/shop.test"] = {"id": OWN}
    served.answers["/v1/counterfactual"] = {**HELD, **lie}
    words = ["audit", "counterfactual", "--registry", served.url, "--query", "bread"]
    words += ["--perturbation", perturbation, "--name", "auditor.example"]
    words += ["--site", "shop.test"]
    result = CliRunner().invoke(main, words, env=environment)
    assert result.exit_code == expected, result.output
    assert f"shop.test: site {OWN}\n" in result.output
    assert "the registry's word: both answers" in result.output
    assert "title" not in result.output
    assert "all is well" not in result.output
    is_lie = lie.get("held", True) and expected
    assert ("differs: " in result.output) is bool(is_lie)


def test_an_auditor_asks_about_the_site_that_he_named(
    served: Served, tmp_path: Path
) -> None:
    """A registry need not be asked which site it is, and may not change another."""
    environment = keygen("auditor", tmp_path)
    served.answers["/v1/counterfactual"] = {**HELD, "changed": [format_site_id(8)]}
    words = ["audit", "counterfactual", "--registry", served.url, "--query", "bread"]
    words += ["--perturbation", "commission", "--name", "auditor.example"]
    words += ["--site", OWN, "--json"]
    result = CliRunner().invoke(main, words, env=environment)
    output = json.loads(result.output)
    assert result.exit_code == 1
    assert output["differences"] == [f"other sites were changed: {format_site_id(8)}"]
    assert output["sites"] == {OWN: OWN}
    assert json.loads(served.posted[-1])["sites"] == [OWN]
    assert not [path for path in served.requested if path.startswith("/v1/sites")]
