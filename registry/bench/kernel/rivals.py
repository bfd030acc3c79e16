"""Search engines beside which the kernel is measured; they rank by words alone (BM25).

Each gets the sites' distinct words and returns the best 20 of the sites with any word of
the request. Only their cost is measured, not their order.
"""

import importlib
import importlib.util
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from registry.bench.kernel.turns import milliseconds_in_turns
from registry.bench.synthetic.language import Language
from registry.index.columns.rows import Rows
from registry.ranking.terms import stem

K = 20
_WRITER_BYTES = 200_000_000
_ROWS_AT_ONCE = 50_000

Words = Sequence[str]


def has_tantivy() -> bool:
    return importlib.util.find_spec("tantivy") is not None


def load_tantivy(
    folder: Path, rows: Rows, language: Language
) -> Callable[[Words], None]:
    """Build an index in files, and return its search in one thread."""
    tantivy: Any = importlib.import_module("tantivy")  # not a dependency of the service
    schema = (
        tantivy.SchemaBuilder().add_text_field("terms", index_option="freq").build()
    )
    index = tantivy.Index(schema, path=str(folder))
    with index.writer(_WRITER_BYTES, 1) as writer:
        for text in _texts(rows, language):
            writer.add_document(tantivy.Document(terms=text))
    index.reload()
    searcher = index.searcher()

    def search(words: Words) -> None:
        any_word = [
            (
                tantivy.Occur.Should,
                tantivy.Query.term_query(schema, "terms", word, index_option="freq"),
            )
            for word in words
        ]
        searcher.search(tantivy.Query.boolean_query(any_word), K, count=False)

    return search


def measure_fts5(
    folder: Path, rows: Rows, language: Language, requests: Sequence[Words]
) -> list[float]:
    """Return the CPU milliseconds of each request."""
    with closing(sqlite3.connect(folder / "fts5.db", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = off")
        database.execute("CREATE VIRTUAL TABLE site USING fts5(terms, content='')")
        database.execute("BEGIN")
        numbered = enumerate(_texts(rows, language))
        database.executemany("INSERT INTO site (rowid, terms) VALUES (?, ?)", numbered)
        database.execute("COMMIT")
        database.execute("INSERT INTO site (site) VALUES ('optimize')")

        def search(words: Words) -> None:
            any_word = " OR ".join(f'"{word}"' for word in words)
            database.execute(
                "SELECT rowid FROM site WHERE site MATCH ? ORDER BY rank LIMIT ?",
                (any_word, K),
            ).fetchall()

        return milliseconds_in_turns((search, requests))[0]


def _texts(rows: Rows, language: Language) -> Iterator[str]:
    """Yield the terms of each site, without its keywords."""
    order = np.argsort(language.hashes)
    ascending = language.hashes[order]
    terms = [*map(stem, language.words), *[""] * (len(order) - len(language.words))]
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        starts = rows.starts[start : start + _ROWS_AT_ONCE + 1]
        hashes = rows.hashes[starts[0] : starts[-1]]
        numbers = order[np.searchsorted(ascending, hashes)].tolist()
        words = [terms[number] for number in numbers]
        for begin, end in zip(
            starts[:-1] - starts[0], starts[1:] - starts[0], strict=True
        ):
            yield " ".join(filter(None, words[begin:end]))
