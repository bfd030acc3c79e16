"""State of an auditor between runs: the edge of the tree, and what records showed.

The edge commits to every entry before it, so the next run reads only what is new and
still finds a log that was rewritten.
"""

from pathlib import Path
from typing import Literal

import click
import msgspec

from registry.durable_file import replace_durably
from registry.errors import RegistryError
from registry.records.rules.conduct_state import ConductState
from registry.tlog.checkpoint import Checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.note import VerifierKey, format_vkey, parse_vkey


class AuditState(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """key: the log's verifier key. head_size, head_root: of the newest checkpoint seen.

    size, levels: of the edge of what is verified of it, see `TreeEdge`. watched: whose
    news were printed of it, "" for nobody's.
    """

    version: Literal[1] = 1
    key: str
    head_size: int
    head_root: bytes
    size: int
    levels: list[list[bytes]]
    conduct: ConductState
    watched: str = ""

    @property
    def edge(self) -> TreeEdge:
        """Raises: RegistryError if it is none."""
        return TreeEdge(size=self.size, levels=tuple(map(tuple, self.levels)))

    @property
    def head(self) -> Checkpoint:
        origin = parse_vkey(self.key).name
        return Checkpoint(origin=origin, size=self.head_size, root=self.head_root)


def state_of(
    key: VerifierKey, head: Checkpoint, edge: TreeEdge, conduct: ConductState
) -> AuditState:
    return AuditState(
        key=format_vkey(key),
        head_size=head.size,
        head_root=head.root,
        size=edge.size,
        levels=[list(level) for level in edge.levels],
        conduct=conduct,
    )


def load_state(path: Path | None) -> AuditState | None:
    """Load the state; None before the first run. Raises: click.ClickException."""
    if path is None or not path.exists():
        return None
    try:
        state = msgspec.json.decode(path.read_bytes(), type=AuditState)
        (state.edge, state.head)  # noqa: B018 — they must be what they are taken for
    except (msgspec.MsgspecError, RegistryError) as error:
        raise click.ClickException(
            f"{path} is no state of an audit ({error}); start again with another file"
        ) from error
    return state


def save_state(path: Path, state: AuditState) -> None:
    """Replace the state before in one step, once the new one is durable."""
    replace_durably(path, msgspec.json.encode(state) + b"\n", mode=0o666)
