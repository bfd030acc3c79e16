"""Agreement of an archive's labels and categories with what sites declared.

The log names each statement that a site signed by its digest, so that the newest is
known. Documents are in the archive as they were fetched; category and label follow.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from registry.errors import RegistryError
from registry.identity.keys.jwk import parse_jwk
from registry.identity.statements.jws import parse_compact, verify_jws
from registry.identity.statements.registration import SiteStatement, parse_statement
from registry.records.canonical import digest_of
from registry.records.record import format_minute, parse_record
from registry.records.record_fields import Members
from registry.reports.archive.agreement import Agreement
from registry.reports.archive.declared_rows import DeclaredRow
from registry.reports.labels import DOCUMENT, REGISTRATION, LabelStatement
from registry.reports.window.observation import SiteDisclosure
from registry.sites.host import Host
from registry.sites.identifier import format_site_id, parse_site_id
from registry.sites.label import Label
from registry.usecases.sites.declared import label_declared, label_documented
from registry.usecases.sites.parse_site import ParsedSite, Registrant, parse_site
from registry.usecases.sites.profile_material import bodies_of

VISIT_S = 600
"""Seconds between the fetch of a document and its listing, at most."""

UNDECLARED_SITE = "its labels and category are unproven: the archive lacks"


@dataclass(slots=True, kw_only=True)
class DeclaredAgreement(Agreement):
    """Agreement of labels and categories with declarations.

    end: of the window. size: leaves that the archive was made from. sites: how many have
    the labels and the category that they declared.
    """

    end: datetime
    size: int
    sites: int = 0
    _first: dict[int, str] = field(default_factory=dict)
    _newest: dict[int, list[Members]] = field(default_factory=dict)

    def visit(self, index: int, entry: bytes) -> None:
        """Note a statement; in the minute of the end each may be the newest."""
        if b'"kind":"registration"' not in entry or index >= self.size:
            return
        members = parse_record(entry)
        end, minute = format_minute(self.end), str(members["t"])
        if members["kind"] != "registration" or minute > end:
            return
        site_id = parse_site_id(str(members["site"]))
        self._first.setdefault(site_id, minute)
        if minute < end:
            self._newest[site_id] = [members]
        else:
            self._newest.setdefault(site_id, []).append(members)

    def finish(
        self,
        sites: Iterable[SiteDisclosure],
        labels: Iterable[tuple[int, Sequence[LabelStatement]]],
        declared: Iterable[DeclaredRow] | None,
    ) -> None:
        """sites, labels: as the report takes them. declared: None where it has none."""
        if declared is None:
            self.lack(
                "labels and categories: archives of older releases have no proofs"
            )
            return
        stated = {
            site_id: {statement.stated_by: statement.label for statement in several}
            for site_id, several in labels
        }
        left = {parse_site_id(site.site_id): site for site in sites}
        for row in declared:
            if row.site_id in left:
                own = stated.get(row.site_id, {})
                self._hold(row, left.pop(row.site_id), own)
        for site_id in left:
            self._lack_of(site_id, f"{UNDECLARED_SITE} what it declared")
        for site_id, logged in self._newest.items():
            if str(logged[0]["t"]) < format_minute(self.end):
                self._differ_on(site_id, "it is registered and not in the archive")

    def _hold(
        self, row: DeclaredRow, site: SiteDisclosure, labels: dict[str, Label]
    ) -> None:
        before = len(self.differences), len(self.missing)
        statement = self._statement(row)
        if statement is None:
            return
        self._hold_entry(row.site_id, site, statement.host)
        signed = label_declared(statement.declarations)
        self._compare(row, "label by registration", labels.get(REGISTRATION), signed)
        parsed = self._parsed(row, statement)
        if parsed is not None:
            documented = label_documented(parsed.listing.site)
            self._compare(row, "label by documents", labels.get(DOCUMENT), documented)
            self._compare(row, "category", site.category, parsed.site.category)
        self.sites += before == (len(self.differences), len(self.missing))

    def _hold_entry(self, site_id: int, site: SiteDisclosure, host: Host) -> None:
        """Hold age and publisher; another release may cut the same host elsewhere."""
        own, at = host.registrable_domain, site.registered_at
        first = self._first[site_id]
        if at is None or format_minute(at) != first:
            self._differ_on(site_id, f"it is registered since {first}, and not {at}")
        if site.domain != own:
            is_cut = f".{host.name}".endswith(f".{site.domain}")
            note = self._lack_of if is_cut else self._differ_on
            note(site_id, f"its publisher is {own}, and not {site.domain}")

    def _statement(self, row: DeclaredRow) -> SiteStatement | None:
        """Return the newest statement; None, having said why, where it is not there."""
        logged = self._newest.pop(row.site_id, [])
        token = (row.statement or "").encode()
        if not logged or not token:
            lacking = "its statement" if logged else "a record of its registration"
            self._lack_of(row.site_id, f"{UNDECLARED_SITE} {lacking}")
            return None
        if all(digest_of(token) != members["jws"] for members in logged):
            self._differ_on(row.site_id, "its statement is not the newest in the log")
            return None
        try:
            jws = parse_compact(token)
            keys = {key.kid: key for key in map(parse_jwk, row.keys)}
            verify_jws(jws, keys[jws.kid])
            return parse_statement(jws.payload, test_hosts=True)
        except KeyError as unknown:
            self._lack_of(row.site_id, f"{UNDECLARED_SITE} the key {unknown}")
        except RegistryError as refused:
            self._differ_on(row.site_id, f"its statement: {refused}")
        return None

    def _parsed(self, row: DeclaredRow, statement: SiteStatement) -> ParsedSite | None:
        """Parse its documents with all of its keys: one may have been revoked since."""
        registrant = Registrant(
            site_url=f"https://{statement.host.name}/",
            declarations=statement.declarations,
            pinned=list(map(parse_jwk, row.keys)),
            allow_loopback=True,
        )
        bodies = bodies_of(row.documents)
        try:
            now = max(body.fetched_at for body in bodies)
            return parse_site(bodies, registrant, now=now)
        except (RegistryError, ValueError, OverflowError) as error:
            self._lack_of(row.site_id, f"its documents do not count any more: {error}")
            return None

    def _compare(
        self, row: DeclaredRow, name: str, shown: object, declared: object
    ) -> None:
        """Note a difference; none is proven if the documents changed about the end."""
        if shown == declared or (shown is None and declared == Label()):
            return
        end = self.end.timestamp()
        instants = [
            instant or 0
            for document in row.documents
            for instant in (document.first_fetched_at, document.retired_at)
        ]
        text = f"the {name} is {shown}, and {declared} is declared"
        is_late = any(abs(instant - end) < VISIT_S for instant in instants)
        if is_late and REGISTRATION not in name:
            self._lack_of(row.site_id, f"{text}, about when the window ended")
        else:
            self._differ_on(row.site_id, text)

    def _differ_on(self, site_id: int, text: str) -> None:
        self.differ(f"site {format_site_id(site_id)}: {text}")

    def _lack_of(self, site_id: int, text: str) -> None:
        self.lack(f"site {format_site_id(site_id)}: {text}")
