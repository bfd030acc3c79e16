"""What the handlers work with: made once by the composition root, injected by name."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from registry.db.engine import Engine
from registry.identity.web_bot_auth import SignatureAgent
from registry.interfaces.http.limits import TokenBuckets
from registry.sites.gazetteer import Gazetteer
from registry.usecases.chance import Chance
from registry.usecases.counterfactual import Counterfactuals
from registry.usecases.lint import Linter
from registry.usecases.operator_access import OperatorAccess
from registry.usecases.refresh import Allowance
from registry.usecases.report_queue import ReportQueue
from registry.usecases.search import Searcher
from registry.usecases.served_log import ServedLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """What outsiders learn of the crawler.

    networks: where its requests come from; none: not published. agent: who signs them;
    None: nobody.
    """

    user_agent: str
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    agent: SignatureAgent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What there is one of in a process.

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
    reports: ReportQueue
    searcher: Searcher
    operators: OperatorAccess
    gazetteer: Gazetteer
    linter: Linter
    origin: str
    test_hosts: bool
    log_vkey: str
    former_vkeys: tuple[str, ...]
    auditors: frozenset[str]
    auditor_limits: TokenBuckets
    counterfactuals: Counterfactuals
    promise_vkey: str
    web_key: bytes
    chance: Chance
    write_limits: TokenBuckets
    refreshes: Allowance
    contact: str
    bot: Bot


Injected = NamedDependency[SkipValidation[Services]]
