"""Services of the handlers: made once by the composition root, injected by name."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from urllib.parse import urlsplit

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from registry.db.engine.engines import Engine
from registry.identity.requests.web_bot_auth import SignatureAgent
from registry.interfaces.http.limits import Limits
from registry.interfaces.http.spare_room import SpareRoom
from registry.interfaces.http.streams import StreamSlots
from registry.sites.addresses import is_loopback_host
from registry.sites.gazetteer import Gazetteer
from registry.usecases.ids import Clock, IdSource
from registry.usecases.log.served_log import ServedLog
from registry.usecases.operators.operator_access import OperatorAccess
from registry.usecases.readiness import Readiness
from registry.usecases.reports.answer_counterfactual import Counterfactuals
from registry.usecases.reports.trial_materials import TrialMaterials
from registry.usecases.search.answer_search import Searcher
from registry.usecases.sites.lint import Linter
from registry.usecases.sites.listed_entries import ListedCount
from registry.usecases.sites.refresh import RefreshAllowance
from registry.usecases.work_queue import WorkQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """The crawler as outsiders know it.

    networks: where its requests come from; none: not published. agent: who signs them;
    None: nobody.
    """

    user_agent: str
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    agent: SignatureAgent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The services of a process, one of each.

    api, auditor, eraser, labeller: engines of those roles. served: the log, as far as it is
    published. origin: of this registry, `aud` of tokens.
    log_vkey, promise_vkey: C2SP verifier keys; former_vkeys: of the log, before;
    auditors: of those whose word is put on record. web_key: behind cursors and receipts.
    refreshes: what the owner of each site may ask for. contact: of the operator, a
    mailto: or https: URL, or "".
    """

    api: Engine
    auditor: Engine
    eraser: Engine
    labeller: Engine
    served: ServedLog
    reports: WorkQueue
    lints: WorkQueue
    searcher: Searcher
    readiness: Readiness
    listed_count: ListedCount
    operators: OperatorAccess
    gazetteer: Gazetteer
    linter: Linter
    origin: str
    test_hosts: bool
    log_vkey: str
    former_vkeys: tuple[str, ...]
    auditors: frozenset[str]
    counterfactuals: Counterfactuals
    trial_materials: TrialMaterials
    promise_vkey: str
    web_key: bytes
    ids: IdSource
    limits: Limits
    room: SpareRoom
    streams: StreamSlots
    sockets: StreamSlots
    refreshes: RefreshAllowance
    contact: str
    bot: Bot

    @property
    def is_public(self) -> bool:
        """Strangers reach it: it is no development's, and known by another address."""
        return not self.test_hosts and not is_loopback_host(
            urlsplit(self.origin).hostname or ""
        )

    @property
    def log_origin(self) -> str:
        return self.log_vkey.partition("+")[0]

    @property
    def clock(self) -> Clock:
        return self.ids.clock


Injected = NamedDependency[SkipValidation[Services]]
