"""A report in its JSON form, read as far as it has to be to compute it again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import msgspec

from registry.errors import Refused
from registry.ranking.policy import POLICY_BY_DIGEST, Policy
from registry.reports.archive.refusals import REPORT_NOT_REPRODUCIBLE
from registry.reports.model import VERSION
from registry.reports.report_terms import Algorithm, Terms, Window

Instant = Annotated[datetime, msgspec.Meta(tz=True)]


class _Window(msgspec.Struct, rename="camel"):
    start_at: Instant
    end_at: Instant


class _Terms(msgspec.Struct, rename="camel"):
    """Terms of a report: seed and thresholds are the same for all, and not its choice."""

    window: _Window
    operator: str
    category: str


class _Algorithm(msgspec.Struct, rename="camel"):
    policy_digest: str
    code_digest: str
    source_url: str
    attestations: tuple[str, ...]


class _Report(msgspec.Struct):
    version: str
    terms: _Terms
    algorithm: _Algorithm


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedReport:
    """members: all of it."""

    members: dict[str, Any]
    terms: Terms
    algorithm: Algorithm

    def check_window(self, window: Window) -> None:
        """Raises: Refused, if the archive is of another one."""
        if self.terms.window != window:
            detail = f"the archive is of {window.start_at} to {window.end_at}"
            raise Refused(REPORT_NOT_REPRODUCIBLE, detail)

    @property
    def policy(self) -> Policy:
        """Return its policy. Raises: Refused, if this software has none of that digest."""
        digest = self.algorithm.policy_digest
        if digest not in POLICY_BY_DIGEST:
            raise Refused(REPORT_NOT_REPRODUCIBLE, f"it is of the policy {digest}")
        return POLICY_BY_DIGEST[digest]


def parse_report(body: bytes) -> CitedReport:
    """Raises: Refused."""
    try:
        read = msgspec.json.decode(body, type=_Report)
        window = Window(
            start_at=read.terms.window.start_at, end_at=read.terms.window.end_at
        )
        members = msgspec.json.decode(body)
    except (msgspec.MsgspecError, ValueError) as error:
        raise Refused(REPORT_NOT_REPRODUCIBLE, f"no JSON form: {error}") from error
    if read.version != VERSION:
        raise Refused(REPORT_NOT_REPRODUCIBLE, f"it is a {read.version}")
    terms = msgspec.structs.asdict(read.terms)
    return CitedReport(
        members=members,
        terms=Terms(**{**terms, "window": window}),
        algorithm=Algorithm(**msgspec.structs.asdict(read.algorithm)),
    )
