"""/v1/log: the name of the log, its keys, witnesses and auditors."""

from litestar import get

from registry.interfaces.http.services import Injected
from registry.interfaces.rest.wire_model import WireModel
from registry.tlog.note import format_vkey


class LogView(WireModel):
    """verifierKey, promiseKey: C2SP verifier keys of checkpoints and of promises.

    formerKeys: those that signed checkpoints before, the oldest first; while a key is
    being replaced, the last of them signs too.
    witnesses: verifier keys of those who cosign; quorum: how many of them have cosigned
    any checkpoint that is served. auditors: verifier keys of those whose labels and
    attestations are put on record now.
    """

    origin: str
    verifier_key: str
    promise_key: str
    checkpoint: str
    former_keys: tuple[str, ...]
    witnesses: tuple[str, ...]
    quorum: int
    auditors: tuple[str, ...]


@get("/log")
async def get_log_keys(services: Injected) -> LogView:
    """The log's origin is its name; followers remember the verifier key they began with."""
    witnessed = services.served.policy
    return LogView(
        origin=services.log_vkey.partition("+")[0],
        verifier_key=services.log_vkey,
        promise_key=services.promise_vkey,
        checkpoint="/checkpoint",
        former_keys=services.former_vkeys,
        witnesses=tuple(format_vkey(witness.key) for witness in witnessed.witnesses),
        quorum=witnessed.quorum,
        auditors=tuple(sorted(services.auditors)),
    )
