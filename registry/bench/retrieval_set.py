"""Retrieval sets: documents, queries, and which document answers which query.

A folder with `docs.jsonl` (id, name, category, desc, params, actions), `queries.jsonl`
(id, text, lang) and `qrels.tsv` (query, document, grade, under a header), as in BEIR.
actions: of a site, each with name, desc and params; without any, the document is one.
lang: the request's language, by which figures are told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import click
import msgspec

T = TypeVar("T")
_HEADER = "query-id\tcorpus-id\tscore"


class BenchAction(msgspec.Struct, frozen=True):
    name: str
    desc: str = ""
    params: str = ""


class BenchDocument(msgspec.Struct, frozen=True):
    id: str
    name: str
    desc: str
    category: str = ""
    params: str = ""
    actions: tuple[BenchAction, ...] = ()


class BenchQuery(msgspec.Struct, frozen=True):
    id: str
    text: str
    lang: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSet:
    """questions: those with an answer. grades: by question, of the ids that answer."""

    name: str
    documents: tuple[BenchDocument, ...]
    questions: tuple[BenchQuery, ...]
    grades: Mapping[str, Mapping[str, int]]


def read_set(folder: Path) -> RetrievalSet:
    """Raises: click.ClickException naming the file and line that is wrong."""
    documents = tuple(_records(folder / "docs.jsonl", BenchDocument))
    questions = tuple(_records(folder / "queries.jsonl", BenchQuery))
    _refuse_doubles(folder / "docs.jsonl", [document.id for document in documents])
    _refuse_doubles(folder / "queries.jsonl", [question.id for question in questions])
    grades = _grades(folder / "qrels.tsv", {question.id for question in questions})
    answered = tuple(question for question in questions if question.id in grades)
    if not documents or not answered:
        raise click.ClickException(f"{folder}: no document, or no question answered")
    return RetrievalSet(
        name=folder.name, documents=documents, questions=answered, grades=grades
    )


def with_actions(judged: RetrievalSet, others: RetrievalSet) -> RetrievalSet:
    """Give sites their actions: documents of another set whose ids are SITE::ACTION."""
    actions: dict[str, list[BenchAction]] = {}
    for document in others.documents:
        site, parted, action = document.id.rpartition("::")
        if parted:
            own = BenchAction(action, document.desc, document.params)
            actions.setdefault(site, []).append(own)
    return replace(
        judged,
        documents=tuple(
            msgspec.structs.replace(
                document,
                actions=document.actions or tuple(actions.get(document.id, ())),
            )
            for document in judged.documents
        ),
    )


def _records(path: Path, kind: type[T]) -> Iterator[T]:
    decoder = msgspec.json.Decoder(kind)
    for number, line in _lines(path):
        try:
            yield decoder.decode(line)
        except msgspec.MsgspecError as error:
            raise _wrong(path, number, str(error)) from error


def _grades(path: Path, known: set[str]) -> dict[str, dict[str, int]]:
    """Read grades, without those of 0. An id that no document has stays: it can't be found."""
    grades: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        if number == 1:
            if line != _HEADER:
                raise _wrong(path, number, f"expected the header {_HEADER!r}")
            continue
        question, document, grade = _judgement(path, number, line)
        if question not in known:
            raise _wrong(path, number, f"no query has the id {question!r}")
        if grade > 0:
            grades.setdefault(question, {})[document] = grade
    return grades


def _judgement(path: Path, number: int, line: str) -> tuple[str, str, int]:
    parts = line.split("\t")
    if len(parts) != 3 or not (parts[2].isascii() and parts[2].isdecimal()):
        raise _wrong(path, number, "expected query, document and a whole grade")
    if len(parts[2]) > 2:
        raise _wrong(path, number, "grades are at most 99")
    return parts[0], parts[1], int(parts[2])


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered from 1; empty ones are passed over."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{path} can't be read: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.removesuffix("\r")


def _refuse_doubles(path: Path, ids: list[str]) -> None:
    seen: set[str] = set()
    for record_id in ids:
        if record_id in seen:
            raise click.ClickException(f"{path}: the id {record_id!r} occurs twice")
        seen.add(record_id)


def _wrong(path: Path, number: int, reason: str) -> click.ClickException:
    return click.ClickException(f"{path}, line {number}: {reason}")
