"""`lint --new`: a first document, from options or from questions at a terminal."""

import sys
from collections.abc import Mapping

import click

from registry.formats.document import Deviation
from registry.formats.first_document import (
    QUESTIONS,
    OwnerQuestion,
    find_fault,
    question_of,
    write_first_document,
)
from registry.formats.repair import Repaired
from registry.terminal.output import errors, print_json
from registry.terminal.styled import escape

_OPTIONS = {"place": "--city and --country"}


def write_new(stated: Mapping[str, str], *, allow_loopback: bool) -> None:
    """Write the document to standard output. stated: answers by option.

    Raises: click.ClickException.
    """
    answers = _answers_of(stated)
    if sys.stdin.isatty() and not all(
        answers[question.name] or question.is_optional for question in QUESTIONS
    ):
        answers = _prompt_missing(answers, allow_loopback=allow_loopback)
    outcome = write_first_document(answers, allow_loopback=allow_loopback)
    if not isinstance(outcome, Repaired):
        raise click.UsageError(_explain(outcome.missing))
    print_json(outcome.document)
    provider = outcome.document["provider"]
    site = provider["url"] if isinstance(provider, dict) else ""
    address = escape(f"{site}agent-bridge.json")
    errors.print_line(
        f"[dim]Save it as agent-bridge.json, serve it at {address} and check it:[/] "
        f"fair-registry lint {address} --strict"
    )


def _answers_of(stated: Mapping[str, str]) -> dict[str, str]:
    city, country = stated["city"], stated["country"]
    place = f"{city}, {country}" if country else city
    return {**{row.name: stated.get(row.name, "") for row in QUESTIONS}, "place": place}


def _explain(missing: tuple[Deviation, ...]) -> str:
    """List the answers that lack or will not do, in the order of the questions."""
    faults = {question_of(deviation): deviation for deviation in reversed(missing)}
    lines = [_line(faults[row], row) for row in (*QUESTIONS, None) if row in faults]
    return "\n".join(
        ("--new needs six answers, as options or asked at a terminal.", *lines)
    )


def _line(deviation: Deviation, question: OwnerQuestion | None) -> str:
    if question is None:
        return f"  {deviation.pointer}: {deviation.detail}. {deviation.fix}"
    option = _OPTIONS.get(question.name, f"--{question.name}")
    example = f"e.g. {question.example}"
    if deviation.rule == "required":
        return f"  {option} is missing: {question.text} ({example})"
    return f"  {option}: {deviation.detail}. {deviation.fix}"


def _prompt_missing(answers: dict[str, str], *, allow_loopback: bool) -> dict[str, str]:
    """Ask for what no option has answered, each until the answer will do."""
    return {
        question.name: answers[question.name]
        or _prompt(question, allow_loopback=allow_loopback)
        for question in QUESTIONS
    }


def _prompt(question: OwnerQuestion, *, allow_loopback: bool) -> str:
    text = f"{question.text} (e.g. {question.example})"
    while True:
        answer = str(click.prompt(text, default="", show_default=False, err=True))
        fault = find_fault(question.name, answer, allow_loopback=allow_loopback)
        if not fault:
            return answer
        errors.print_line(f"  [yellow]{escape(fault)}[/]")
