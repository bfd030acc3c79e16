"""A report in its JSON form, read as far as it has to be to compute it again."""

from dataclasses import dataclass
from typing import Any

import msgspec

from registry.errors import Refused
from registry.ranking.policy import POLICY_BY_DIGEST, Policy
from registry.reports.archive.refusals import REPORT_NOT_REPRODUCIBLE
from registry.reports.model import VERSION
from registry.reports.render.json_object import snake_members
from registry.reports.report_terms import Algorithm, Terms, Window
from registry.terminal.output import GARBLED


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
    """Return it; seed and thresholds are the same for all, and not its choice.

    Raises: Refused.
    """
    with Refused.on(
        (*GARBLED, AttributeError), REPORT_NOT_REPRODUCIBLE, "no JSON form: {}".format
    ):
        members = msgspec.json.decode(body)
        version, *parts = map(members.get, ("version", "terms", "algorithm"))
        terms = msgspec.convert(snake_members(parts[0]), Terms)
        algorithm = msgspec.convert(snake_members(parts[1]), Algorithm)
    if version != VERSION:
        raise Refused(REPORT_NOT_REPRODUCIBLE, f"it is a {version}")
    terms = Terms(window=terms.window, operator=terms.operator, category=terms.category)
    return CitedReport(members=members, terms=terms, algorithm=algorithm)
