"""The tables and the page of a report held against its JSON form.

People read CSV, Parquet and HTML, auditors compute the JSON again: released code makes all
of them from one report, so the JSON says what people must have been shown.
"""

import html
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from registry.auditor.reports.parquet_form import ServedPages, read_lines
from registry.auditor.source import LogSource, LogUnreadable
from registry.errors import RegistryError
from registry.records.canonical import digest_of
from registry.reports.archive.agreement import Agreement
from registry.reports.render.json_object import parse_json
from registry.reports.render.parquet import format_parquet
from registry.reports.render.report_files import FORMAT, Form

OTHER_RELEASE = "the JSON is not this release's: compare them with that of its time"
MARKUP = (
    "its words are the JSON's, its markup or layout is not: another release, or other "
    "drawings"
)
MOST_BYTES = 2
"""Length of a form as a multiple of that which the JSON gives: more is not read."""
_STYLE = re.compile("<style>[^<]*</style>")
_TEXT = re.compile(r">([^<>]*[^<>\s][^<>]*)<")


def _words(page: bytes, _: int) -> Sequence[str]:
    texts = _TEXT.findall(_STYLE.sub("", page.decode(errors="replace")))
    return [html.unescape(text.strip()) for text in texts]


def _lines(table: bytes, _: int) -> Sequence[str]:
    return table.decode(errors="replace").splitlines()


_PARTS: Mapping[Form, Callable[[bytes, int], Sequence[str]]] = {
    "csv": _lines,
    "html": _words,
    "parquet": read_lines,
}
"""Readers of what people see of a form; the number is of rows that are enough."""


def form_of(path: Path) -> Form:
    return next((form for form in _PARTS if path.suffix == f".{form}"), "html")


class FormsAgreement(Agreement):
    """Agreement of the forms of a report with its JSON."""

    def __init__(self, report: bytes) -> None:
        """report: as JSON."""
        super().__init__()
        self._report = parse_json(report)

    def compare(self, form: Form, body: bytes) -> None:
        """Compare rows of a table or words of a page."""
        if self._report is None:
            self.lack(f"{form}: {OTHER_RELEASE}")
            return
        expected = FORMAT[form](self._report)
        if form == "parquet":
            expected = format_parquet(self._report, ServedPages(body).compress)
        if body == expected:
            return
        if len(body) > MOST_BYTES * len(expected):
            self.differ(f"{form}: it has {len(body)} bytes, not {len(expected)}")
            return
        try:
            ours = _PARTS[form](expected, sys.maxsize)
            self._compare_parts(form, _PARTS[form](body, len(ours) + 1), ours)
        except RegistryError as refused:
            self.differ(f"{form}: it can't be read: {refused}")

    def _compare_parts(
        self, form: Form, theirs: Sequence[str], ours: Sequence[str]
    ) -> None:
        if ours == theirs:
            self.lack(f"{form}: {MARKUP}")
        for tag, *ends in SequenceMatcher(None, theirs, ours).get_opcodes():
            if tag != "equal":
                reported, computed = theirs[ends[0] : ends[1]], ours[ends[2] : ends[3]]
                self.differ(
                    f"{form}: {' '.join(reported)!r}, by the JSON {' '.join(computed)!r}"
                )

    async def compare_stored(
        self, source: LogSource, month: str, digests: Mapping[str, str]
    ) -> None:
        """Compare those of a month as they are served. digests: of its record."""
        for form in [form for form in _PARTS if form in digests]:
            try:
                path = f"/v1/reports/{month}?form={form}"
                _, body = await source.signed_file(path)
            except LogUnreadable as unreadable:
                own = self._report and digest_of(FORMAT[form](self._report))
                if own != digests[form]:
                    self.lack(f"{form}: {unreadable}")
                continue
            if digest_of(body) != digests[form]:
                self.differ(f"{form}: what is served is not what is on record")
            self.compare(form, body)
