"""The table and the page of a report held against its JSON form.

People read the CSV and the HTML, auditors compute the JSON again: released code makes all
of them from one report, so the JSON says what people must have been shown.
"""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher

from registry.auditor.source import LogSource, LogUnreadable
from registry.records.canonical import digest_of
from registry.reports.archive.agreement import Agreement
from registry.reports.render.json_object import parse_json
from registry.reports.render.report_files import FORMAT, Form

OTHER_RELEASE = "the JSON is not this release's: compare them with that of its time"
MARKUP = (
    "its words are the JSON's, its markup is not: another release, or other drawings"
)
_STYLE = re.compile("<style>[^<]*</style>")
_TEXT = re.compile(r">([^<>]*[^<>\s][^<>]*)<")


def _words(page: str) -> Sequence[str]:
    return [html.unescape(text.strip()) for text in _TEXT.findall(_STYLE.sub("", page))]


_PARTS: Mapping[Form, Callable[[str], Sequence[str]]] = {
    "csv": str.splitlines,
    "html": _words,
}


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
        if body == (expected := FORMAT[form](self._report)):
            return
        texts = body.decode(errors="replace")[: 2 * len(expected)], expected.decode()
        theirs, ours = map(_PARTS[form], texts)
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
