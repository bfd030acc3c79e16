"""`moderate`: taking a site out of all answers, on public record; `lookalikes`."""

from typing import get_args

import click

from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import in_transaction
from registry.db.engine.engines import Role
from registry.errors import RegistryError
from registry.records.record_fields import ModerationAct
from registry.terminal.output import console, errors, json_option, print_json
from registry.usecases.ids import IdSource
from registry.usecases.moderation import lookalikes, moderate

ACTS: tuple[ModerationAct, ...] = get_args(ModerationAct)


@click.command(name="moderate")
@click.argument("act", type=click.Choice(ACTS))
@click.argument("host")
@click.option(
    "--reason",
    required=True,
    help="Its category, one word such as phishing: public, and in the log for ever.",
)
@json_option
def moderate_site(act: ModerationAct, host: str, reason: str, *, as_json: bool) -> None:
    """Do ACT to the site of HOST: on record, with a notice to its owner, in force at once.

    A quarantined or delisted site is in no answer, whatever its owner signs, until it is
    released or an appeal is upheld.
    """
    try:
        done = in_transaction(
            settings_or_exit(),
            Role.MODERATOR,
            lambda connection: moderate(connection, host, act, reason, IdSource()),
            failing=f"nothing is done to {host}",
        )
    except RegistryError as refused:
        problem = refused.problem
        errors.print_line(f"[red]{problem.code}[/]: {problem.detail}")
        raise SystemExit(1) from refused
    if as_json:
        summary = {
            "host": done.host,
            "siteId": done.site_id,
            "moderated": done.moderated,
        }
        print_json({**summary, "leafHash": done.record.leaf_hash.hex()})
    else:
        standing = done.moderated or "not moderated"
        console.print(f"{done.host} is {standing}; leaf {done.record.leaf_hash.hex()}")


@click.command(name="lookalikes")
@json_option
def list_lookalikes(*, as_json: bool) -> None:
    """Domains that look like one registered before, for a person to look at.

    Such names are legal, and most are honest: nothing follows from it by itself.
    """
    groups = in_transaction(
        settings_or_exit(), Role.MODERATOR, lookalikes, failing="they are not found"
    )
    if as_json:
        print_json(groups)
    else:
        for group in groups:
            console.print_line("  ".join(group))
