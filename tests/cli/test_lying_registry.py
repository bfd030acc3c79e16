"""What commands believe of a registry that answers with something else than was asked."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from registry.cli import main
from registry.identity import base64url
from registry.records.disclosure import parse_disclosure
from registry.sites.identifier import format_site_id
from registry.terminal.styled import Console, Table
from registry.tlog.merkle import leaf_hash
from tests.cli.audited import VKEY, Served, publish, run, run_json, serving
from tests.unit.records.history import History

SIZE = 40
ABSENT = "01JZZZZZZZZZZZZZZZZZZZZZZZ"


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


def as_received(history: History, index: int) -> dict[str, Any]:
    """The answer that was handed out, as far as the audit reads it."""
    opened = map(parse_disclosure, history.disclosures[index])
    scores: Any = next(own.value for own in opened if own.name == "scores")
    leaf = leaf_hash(history.bodies[index]).hex()
    return {
        "ranking": {"id": f"{id_at(history, index)}.secret", "leafHash": leaf},
        "results": [
            {"site": {"id": row["site"], "host": "a.test"}, "score": row["score"]}
            for row in scores
        ],
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
    printed = ("The registry's answer is not one", "The log can't be read", "key")
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
    assert f"shop.test, site {expected}: on record" in result.output
    assert ("/v1/sites/shop.test" in served.requested) is not is_named
