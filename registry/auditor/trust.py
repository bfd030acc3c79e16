"""Trusted keys of an auditor: options that all commands share."""

from dataclasses import dataclass

import click

from registry.auditor.source import LogSource, LogUnreadable
from registry.calls.results import Json
from registry.errors import RegistryError
from registry.terminal.options import joined
from registry.tlog.note import NoteAlgorithm, VerifierKey, parse_vkey


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """quorum: how many of the witnesses must have cosigned a checkpoint."""

    log_key: VerifierKey
    witness_keys: tuple[VerifierKey, ...] = ()
    quorum: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustOptions:
    """Options as given. key: without one the registry's own word is taken."""

    key: str | None = None
    witnesses: tuple[str, ...] = ()
    quorum: int | None = None

    async def settle(self, source: LogSource, known: str | None = None) -> Trust:
        """known: the key of an earlier run. Raises: LogUnreadable."""
        vkey = self.key or known or str((await _log_summary(source))["verifierKey"])
        return self.trust(vkey)

    def trust(self, vkey: str) -> Trust:
        """Raises: click.UsageError."""
        witnesses = tuple(map(_parse, self.witnesses))
        for key in witnesses:
            if key.algorithm is not NoteAlgorithm.COSIGNATURE_V1:
                raise click.UsageError(f"{key.name} is no key of a witness")
        quorum = len(witnesses) if self.quorum is None else self.quorum
        if quorum > len(witnesses):
            raise click.UsageError(f"a quorum of {quorum} needs as many --witness")
        return Trust(log_key=_parse(vkey), witness_keys=witnesses, quorum=quorum)


trust_options = joined(
    click.option(
        "--key",
        metavar="VKEY",
        help="The log's verifier key. Without it the one that the registry names is "
        "taken, which shows that the log is sound, not whose it is.",
    ),
    click.option(
        "--witness",
        "witnesses",
        multiple=True,
        metavar="VKEY",
        help="A witness's verifier key.",
    ),
    click.option(
        "--quorum",
        type=click.IntRange(min=0),
        help="How many of the witnesses must have cosigned. [default: all]",
    ),
)
"""Options that `TrustOptions` takes."""


async def _log_summary(source: LogSource) -> Json:
    try:
        return await source.get_json("/v1/log")
    except LogUnreadable as unreadable:
        raise LogUnreadable(
            f"{unreadable}; give the log's verifier key with --key"
        ) from unreadable


def _parse(vkey: str) -> VerifierKey:
    try:
        return parse_vkey(vkey)
    except RegistryError as refused:
        raise click.UsageError(f"{vkey}: {refused.problem.detail}") from refused
