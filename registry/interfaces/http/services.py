"""What the handlers work with: made once by the composition root, injected by name."""

from dataclasses import dataclass

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from registry.db.engine import Engine
from registry.interfaces.http.limits import TokenBuckets
from registry.sites.gazetteer import Gazetteer
from registry.usecases.chance import Chance
from registry.usecases.search import Searcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """api, auditor: engines of those roles. origin: of this registry, `aud` of tokens.

    log_vkey, promise_vkey: C2SP verifier keys. web_key: behind cursors and receipts.
    contact: of the operator, a mailto: or https: URL, or "".
    """

    api: Engine
    auditor: Engine
    searcher: Searcher
    gazetteer: Gazetteer
    origin: str
    test_hosts: bool
    log_vkey: str
    promise_vkey: str
    web_key: bytes
    chance: Chance
    write_limits: TokenBuckets
    contact: str


Injected = NamedDependency[SkipValidation[Services]]
