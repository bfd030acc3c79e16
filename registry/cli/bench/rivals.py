"""Search engines beside which ours is measured; they rank by words alone (BM25).

Each gets the sites' distinct words and gives the best 20 of those that say any word of
the request. Their own order is not judged here, only what it costs.
"""

import importlib
import importlib.util
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from registry.cli.bench.synthetic_words import Language
from registry.cli.bench.turns import milliseconds_in_turns
from registry.index.columns.rows import Rows
from registry.ranking.text import stem

K = 20
_WRITER_BYTES = 200_000_000
_ROWS_AT_ONCE = 50_000

Words = Sequence[str]


def has_tantivy() -> bool:
    return importlib.util.find_spec("tantivy") is not None


def load_tantivy(
    folder: Path, rows: Rows, language: Language
) -> Callable[[Words], None]:
    """What searches, in one thread; the index is in files, as ours is."""
    tantivy: Any = importlib.import_module("tantivy")  # not a dependency of the service
    schema = tantivy.SchemaBuilder().add_text_field("said", index_option="freq").build()
    index = tantivy.Index(schema, path=str(folder))
    with index.writer(_WRITER_BYTES, 1) as writer:
        for text in _texts(rows, language):
            writer.add_document(tantivy.Document(said=text))
    index.reload()
    searcher = index.searcher()

    def search(words: Words) -> None:
        anything = [
            (
                tantivy.Occur.Should,
                tantivy.Query.term_query(schema, "said", word, index_option="freq"),
            )
            for word in words
        ]
        searcher.search(tantivy.Query.boolean_query(anything), K, count=False)

    return search


def measure_fts5(
    folder: Path, rows: Rows, language: Language, requests: Sequence[Words]
) -> list[float]:
    """CPU milliseconds a request."""
    with closing(sqlite3.connect(folder / "fts5.db", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = off")
        database.execute("CREATE VIRTUAL TABLE site USING fts5(said, content='')")
        database.execute("BEGIN")
        numbered = enumerate(_texts(rows, language))
        database.executemany("INSERT INTO site (rowid, said) VALUES (?, ?)", numbered)
        database.execute("COMMIT")
        database.execute("INSERT INTO site (site) VALUES ('optimize')")

        def search(words: Words) -> None:
            anything = " OR ".join(f'"{word}"' for word in words)
            database.execute(
                "SELECT rowid FROM site WHERE site MATCH ? ORDER BY rank LIMIT ?",
                (anything, K),
            ).fetchall()

        return milliseconds_in_turns((search, requests))[0]


def _texts(rows: Rows, language: Language) -> Iterator[str]:
    """What each site says, as terms, without its keywords."""
    order = np.argsort(language.hashes)
    ascending = language.hashes[order]
    terms = [*map(stem, language.words), *[""] * (len(order) - len(language.words))]
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        starts = rows.starts[start : start + _ROWS_AT_ONCE + 1]
        hashes = rows.hashes[starts[0] : starts[-1]]
        numbers = order[np.searchsorted(ascending, hashes)].tolist()
        said = [terms[number] for number in numbers]
        for begin, end in zip(
            starts[:-1] - starts[0], starts[1:] - starts[0], strict=True
        ):
            yield " ".join(filter(None, said[begin:end]))
