"""A report in its JSON form, read as far as it has to be to compute it again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import msgspec

from registry.archive.refusals import REPORT_NOT_REPRODUCIBLE
from registry.errors import Refused
from registry.fairness.inference.bootstrap import MINIMUM_REPLICATES
from registry.fairness.report.figures import VERSION, Algorithm, Terms, Window
from registry.ranking.policy import POLICIES, Policy

MAX_REPLICATES = 10 * MINIMUM_REPLICATES

Instant = Annotated[datetime, msgspec.Meta(tz=True)]


class _Window(msgspec.Struct, rename="camel"):
    start_at: Instant
    end_at: Instant


class _Terms(msgspec.Struct, rename="camel"):
    window: _Window
    minimum_cell: Annotated[int, msgspec.Meta(ge=1)]
    replicates: Annotated[int, msgspec.Meta(ge=MINIMUM_REPLICATES, le=MAX_REPLICATES)]
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
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
class ToldReport:
    """members: all of it."""

    members: dict[str, Any]
    terms: Terms
    algorithm: Algorithm

    def check_window(self, window: Window) -> None:
        """Raises: Refused, if the archive is of another one."""
        if self.terms.window != window:
            told = f"the archive is of {window.start_at} to {window.end_at}"
            raise Refused(REPORT_NOT_REPRODUCIBLE, told)

    @property
    def policy(self) -> Policy:
        """Under which it was made. Raises: Refused, if that is none of this software's."""
        for one in POLICIES.values():
            if one.digest == self.algorithm.policy_digest:
                return one
        told = f"it is of the policy {self.algorithm.policy_digest}"
        raise Refused(REPORT_NOT_REPRODUCIBLE, told)


def parse_report(body: bytes) -> ToldReport:
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
    return ToldReport(
        members=members,
        terms=Terms(**{**terms, "window": window}),
        algorithm=Algorithm(**msgspec.structs.asdict(read.algorithm)),
    )
