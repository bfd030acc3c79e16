"""A registry's database with site owners who act on it: what the tests here play in.

Everything is the real thing but time and the network: the clock is set by hand, and
what a crawler would have fetched is handed over.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text

from crawler.context import Context
from crawler.http.fetch import Fetcher
from crawler.robots.robots_cache import RobotsCache
from registry.db.engine.engines import Connection, Engine, Role
from registry.db.registration import registrations
from registry.db.registration.registrations import Registration
from registry.db.schema.metadata import metadata
from registry.db.sites import listed_sites as sites
from registry.identity.keys.key_source import (
    KeyReference,
    key_set_url,
    txt_record_url,
    wab_record_name,
)
from registry.identity.keys.private_keys import (
    PrivateKey,
    generate_private_key,
    public_key_of,
)
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.challenge import Challenge
from registry.identity.statements.declarations import Declarations
from registry.identity.statements.jws import sign_compact
from registry.identity.statements.registration import DocumentClaim
from registry.sites.entry import SiteEntry
from registry.sites.host import Host, parse_host
from registry.usecases.ids import IdSource
from registry.usecases.log.promiser import Promiser
from registry.usecases.registration.decide_registration import carry_out
from registry.usecases.registration.key_acts import verify_signature
from registry.usecases.registration.published_keys import PublishedKeys
from registry.usecases.registration.submit_registration import (
    issue_challenge,
    submit_registration,
)
from registry.usecases.sites.list_site import Lister
from registry.usecases.sites.parse_site import (
    FetchedBody,
    ParsedSite,
    Registrant,
    parse_site,
)

AUDIENCE = "https://registry.example"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LEASE = timedelta(seconds=60)
PROMISE_KEY = Ed25519PrivateKey.from_private_bytes(b"p" * 32)
_numbers = itertools.count(1)

Rows = dict[str, list[Any]]


class Clock:
    """Stands until it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


def new_host() -> Host:
    return parse_host(f"site-{next(_numbers)}.test", test_hosts=True)


@dataclass
class SiteOwner:
    """The owner of one host, with a key."""

    host: Host = field(default_factory=new_host)
    key: PrivateKey = field(default_factory=lambda: generate_private_key("Ed25519"))

    @property
    def public(self) -> PublicKey:
        return public_key_of(self.key)

    @property
    def kid(self) -> str:
        return self.public.kid

    @property
    def reference(self) -> KeyReference:
        return self.reference_of(self.public)

    def reference_of(self, key: PublicKey) -> KeyReference:
        return KeyReference(source_url=key_set_url(self.host), kid=key.kid)

    @property
    def key_set(self) -> str:
        return key_set_url(self.host)

    @property
    def dns(self) -> str:
        return txt_record_url(wab_record_name(self.host))

    def publishing(
        self,
        *keys: PublicKey,
        dns: Iterable[PublicKey] = (),
        unread: Iterable[str] = (),
        pins: frozenset[str] | None = frozenset(),
    ) -> PublishedKeys:
        """What a fetch of the two places finds. unread: those that can't be read."""
        places = {self.key_set: keys, self.dns: tuple(dns)}
        read = {place: entry for place, entry in places.items() if place not in unread}
        return PublishedKeys(
            keys={
                KeyReference(source_url=place, kid=key.kid): key
                for place, result in read.items()
                for key in result
            },
            sources=frozenset(read),
            pins=pins,
        )

    def sign(self, challenge: Challenge, now: datetime, **members: Any) -> bytes:
        """The challenge's payload, signed now. members: replace its own; None drops."""
        issued = int(now.timestamp())
        payload = {**challenge.payload, "iat": issued, "exp": issued + 600, **members}
        if payload["act"] not in {"register", "update"}:
            payload.pop("docs")
        by_name = {name: value for name, value in payload.items() if value is not None}
        return sign_compact(by_name, self.key).encode()


def wab(**changes: Any) -> dict[str, Any]:
    """A small WAB document, sound and strict."""
    return {
        "wab_version": "1.0",
        "provider": {"name": "Alder", "category": "restaurant", "description": "Food."},
        "capabilities": {
            "commands": [
                {"name": "bookTable", "description": "Book a table.", "trigger": "api"}
            ],
            "permissions": {"readContent": True},
        },
        **changes,
    }


def with_commands(*names: str) -> dict[str, Any]:
    commands = [
        {"name": name, "description": f"To {name}.", "trigger": "api"} for name in names
    ]
    permissions = {"readContent": True}
    return wab(capabilities={"commands": commands, "permissions": permissions})


def body_of(
    host: Host,
    content: object,
    *,
    path: str = "/agent-bridge.json",
    at: datetime = NOON,
    is_page: bool = False,
) -> FetchedBody:
    """content: bytes as they are, anything else as JSON."""
    url = f"https://{host.name}{path}"
    return FetchedBody(
        url=url,
        body=content if isinstance(content, bytes) else json.dumps(content).encode(),
        content_type="text/html" if is_page else "application/json",
        fetched_at=at,
    )


def understood(
    host: Host,
    *bodies: FetchedBody,
    at: datetime = NOON,
    claims: Sequence[DocumentClaim] = (),
    pinned: Sequence[PublicKey] = (),
    declarations: Declarations | None = None,
) -> ParsedSite:
    return parse_site(
        bodies or [body_of(host, wab(), at=at)],
        Registrant(
            site_url=f"https://{host.name}/",
            claims=claims,
            declarations=declarations or Declarations(),
            pinned=pinned,
        ),
        now=at,
    )


class Scene:
    """The registry's use cases, each under the role that runs it in earnest."""

    def __init__(
        self, engines: dict[Role, Engine], owner: Engine, lister: Lister, clock: Clock
    ) -> None:
        self.engines = engines
        self.lister = lister
        self.clock = clock
        self.ids = IdSource(clock=clock)
        self._owner = owner

    @property
    def api(self) -> Engine:
        return self.engines[Role.API]

    @property
    def promiser(self) -> Promiser:
        return Promiser(self.api, PROMISE_KEY, self.ids.clock, refusal=None)

    @property
    def crawler(self) -> Engine:
        return self.engines[Role.CRAWLER]

    def context(self, fetcher: Fetcher) -> Context:
        """What a crawler's jobs work with here; its chance is always one half."""
        return Context(
            engine=self.crawler,
            fetcher=fetcher,
            robots=RobotsCache(fetcher),
            lister=self.lister,
            ids=self.ids,
            draw=lambda: 0.5,
            test_hosts=True,
        )

    async def challenge(self, host: Host) -> Challenge:
        async with self.api.begin() as connection:
            return await issue_challenge(
                connection, host, audience=AUDIENCE, ids=self.ids
            )

    async def submit_token(
        self, token: bytes, network: str | None = None
    ) -> Registration:
        async with self.api.begin() as connection:
            return await submit_registration(
                connection,
                token,
                audience=AUDIENCE,
                test_hosts=True,
                ids=self.ids,
                network=network,
            )

    async def submit(
        self,
        site: SiteOwner,
        challenge: Challenge | None = None,
        network: str | None = None,
        **members: Any,
    ) -> Registration:
        """A new challenge, signed and sent."""
        challenge = challenge or await self.challenge(site.host)
        token = site.sign(challenge, self.clock(), **members)
        return await self.submit_token(token, network)

    async def lease(self, registration: Registration) -> Registration:
        """The registration as a crawler gets it; leases of others are thrown away."""
        return (await self.lease_all([registration]))[0]

    async def lease_all(self, wanted: Sequence[Registration]) -> list[Registration]:
        async with self.crawler.begin() as connection:
            leased = [
                registration
                for retries in (False, True)
                for registration in await registrations.lease_registrations(
                    connection,
                    now=self.clock(),
                    lease=LEASE,
                    limit=1000,
                    retries=retries,
                )
            ]
        by_id = {task.registration_id: task for task in leased}
        return [by_id[item.registration_id] for item in wanted]

    async def decide(
        self,
        registration: Registration,
        published: PublishedKeys,
        what: ParsedSite | None = None,
    ) -> Registration:
        """registration: leased. The same, decided."""
        verified = verify_signature(registration, published, test_hosts=True)
        statement = verified.statement
        if statement.act in {"register", "update"} and what is None:
            what = understood(
                statement.host,
                at=self.clock(),
                claims=statement.documents,
                declarations=statement.declarations,
            )
        await carry_out(self.crawler, verified, what, self.lister, self.ids)
        return await self.registration(registration)

    async def play(
        self,
        site: SiteOwner,
        published: PublishedKeys | None = None,
        what: ParsedSite | None = None,
        **members: Any,
    ) -> Registration:
        """Challenge, submit, lease and decide."""
        leased = await self.lease(await self.submit(site, **members))
        published = published or site.publishing(site.public)
        return await self.decide(leased, published, what)

    async def register(self, **owner: Any) -> SiteOwner:
        """A site that is listed."""
        site = SiteOwner(**owner)
        decided = await self.play(site)
        assert decided.status == "active", decided.problems
        return site

    async def registration(self, item: Registration) -> Registration:
        result = await self._read(
            registrations.find_registration, item.registration_id, role=Role.API
        )
        assert isinstance(result, Registration)
        return result

    async def entry(self, site: SiteOwner) -> SiteEntry:
        result = await self._read(sites.find_site, site.host.name, role=Role.API)
        assert isinstance(result, SiteEntry)
        return result

    async def standings(self, site: SiteOwner) -> dict[KeyReference, str]:
        entry = await self.entry(site)
        keys = await self._read(sites.keys_of, entry.site_id, role=Role.API)
        return {key.known.reference: key.known.state for key in keys}

    async def _read(self, query: Callable[..., Any], *given: Any, role: Role) -> Any:
        async with self.engines[role].connect() as connection:
            return await query(connection, *given)

    async def rows(self) -> Rows:
        """Every row of every table."""
        async with self._owner.connect() as connection:
            return {
                table.fullname: await rows_of(connection, table.fullname)
                for table in metadata.sorted_tables
            }

    async def sql(self, statement: str, **values: Any) -> list[Any]:
        """Run as the owner of the database, who may do everything."""
        async with self._owner.begin() as connection:
            result = await connection.execute(text(statement), values)
            return list(result.all()) if result.returns_rows else []


async def rows_of(connection: Connection, table: str) -> list[Any]:
    result = await connection.execute(text(f"SELECT t::text FROM {table} AS t"))
    return sorted(row[0] for row in result)


def codes(decided: Registration) -> list[str]:
    return [problem.code for problem in decided.problems]
