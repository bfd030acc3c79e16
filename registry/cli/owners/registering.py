"""`register` and the acts after it: each a challenge, a signed statement, a decision."""

import time
from pathlib import Path
from typing import Any

import click
import msgspec

from registry.calls.results import ChallengeGiven, RegistrationState
from registry.client import RegistryClient
from registry.client.statements import sign_statement
from registry.errors import RegistryError
from registry.identity.keys.private_keys import PrivateKey, public_key_of
from registry.identity.keys.public_keys import parse_thumbprint
from registry.identity.refusals import KEY_RECOVERY_NEEDS_DNS
from registry.sites.host import parse_host
from registry.terminal.key_files import FOLDER_SHOWN, KEY_FILE, key_file, load_key
from registry.terminal.options import joined
from registry.terminal.output import (
    console,
    errors,
    json_option,
    print_json,
    print_problem,
    registry_option,
)
from registry.terminal.registry_calls import with_client

LISTING_ACTS = ("register", "update")

act_options = joined(
    click.argument("host"),
    click.option(
        "--key",
        type=KEY_FILE,
        help=f"The site's private key. [default: {FOLDER_SHOWN}/HOST.pem]",
    ),
    registry_option,
    json_option,
)
declaring_options = joined(
    click.option(
        "--doc", "documents", multiple=True, help="URL of a discovery document."
    ),
    click.option("--category"),
    click.option("--city"),
    click.option("--country", help="Two capital letters, such as DE."),
    click.option("--size", type=click.Choice(["micro", "small", "medium", "large"])),
    click.option("--commission-rate", help='Such as "0%".'),
    click.option("--independent/--chain", default=None),
    click.option("--chain-id", help="Which chain, by its domain or another name."),
)
"""Options of the acts that list a site; see `_members`."""


@click.command()
@act_options
@declaring_options
@click.option(
    "--act",
    type=click.Choice([*LISTING_ACTS, "withdraw"]),
    default="register",
    help="The older way to say `update` and `withdraw`, which are commands.",
)
def register(host: str, key: Path | None, url: str, **options: Any) -> None:
    """Ask for a challenge, sign it with the site's key, and send the statement.

    The key set (see keygen and jwks) must be served by the site already.
    """
    act, as_json = options.pop("act"), options.pop("as_json")
    _state(host, _load(key, host), url, act, _members(options), as_json=as_json)


@click.command()
@act_options
@declaring_options
def update(
    host: str, key: Path | None, url: str, *, as_json: bool, **declared: Any
) -> None:
    """Replace the site's statement with a new one, as a whole.

    Repeat everything that should stay: documents, category, place and the rest.
    """
    members = _members(declared)
    _state(host, _load(key, host), url, "update", members, as_json=as_json)


@click.command()
@act_options
def withdraw(host: str, key: Path | None, url: str, *, as_json: bool) -> None:
    """Take the site out of all answers; a later register lists it again."""
    _state(host, _load(key, host), url, "withdraw", {}, as_json=as_json)


@click.command()
@act_options
@click.option("--next-key", type=KEY_FILE, help="The new private key.")
@click.option("--next-kid", metavar="KID", help="Or its thumbprint.")
def rotate(
    host: str,
    key: Path | None,
    url: str,
    *,
    next_key: Path | None,
    next_kid: str | None,
    as_json: bool,
) -> None:
    """Hand over to a new key, which the site publishes beside the old one.

    Both may sign afterwards, until the old one is revoked or no longer published.
    """
    kid = _kid_of(next_key, next_kid, "--next-key", "--next-kid")
    members = {"next_kid": kid}
    _state(host, _load(key, host), url, "rotate", members, as_json=as_json)


@click.command()
@act_options
@click.option("--revoked-key", type=KEY_FILE, help="The private key to be revoked.")
@click.option("--revoked-kid", metavar="KID", help="Or its thumbprint.")
def revoke(
    host: str,
    key: Path | None,
    url: str,
    *,
    revoked_key: Path | None,
    revoked_kid: str | None,
    as_json: bool,
) -> None:
    """Revoke a key of the site for good, wherever it is published."""
    kid = _kid_of(revoked_key, revoked_kid, "--revoked-key", "--revoked-kid")
    members = {"revoked_kid": kid}
    _state(host, _load(key, host), url, "revoke", members, as_json=as_json)


@click.command()
@act_options
def recover(host: str, key: Path | None, url: str, *, as_json: bool) -> None:
    """Recover a site whose key is lost: publish a new key, then run this.

    Run it again until the status is active. Beside the lost key, while that is
    published, the new one waits an hour; by itself it needs a DNS record, for three
    days. Nothing that the site declared is changed.
    """
    private = _load(key, host)
    # A key that names itself as the next one asks for trust, and for nothing else.
    kid = public_key_of(private).kid
    try:
        _state(host, private, url, "rotate", {"next_kid": kid}, as_json=as_json)
    except _Rejected as rejected:
        if KEY_RECOVERY_NEEDS_DNS.code in rejected.codes:
            errors.print(
                f'  _agent-registry.{rejected.host}. IN TXT "v=ar1; kid={kid}"',
                soft_wrap=True,
                highlight=False,
            )
        raise


class _Rejected(SystemExit):
    """Ends the command with exit code 1. codes: of the problems."""

    def __init__(self, state: RegistrationState) -> None:
        super().__init__(1)
        self.host = state.host
        self.codes = [problem.code for problem in state.problems]


def _state(
    host: str,
    key: PrivateKey,
    url: str,
    act: str,
    members: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Send the signed statement and tell its decision.

    Raises: SystemExit, click.BadParameter.
    """
    host = host_name(host)

    async def work(client: RegistryClient) -> RegistrationState:
        challenge = msgspec.convert(await client.challenge(host), ChallengeGiven)
        token = sign_statement(
            challenge,
            key,
            host=host,
            origin=url,
            act=act,
            now=int(time.time()),
            members=members,
        )
        submitted = await client.submit(token)
        try:
            registration = await client.decided(submitted["id"])
        except TimeoutError:
            registration = await client.get(submitted["statusUrl"])
        state = msgspec.convert(registration, RegistrationState)
        if as_json:
            print_json(registration)
        else:
            _print_registration(registration, url)
        return state

    state = with_client(url, work)
    if state.status == "rejected":
        raise _Rejected(state)
    if not state.is_decided:
        raise SystemExit(1)


def host_name(host: str) -> str:
    """Return the name in A-labels. Raises: click.BadParameter."""
    try:
        return parse_host(host, test_hosts=True).name
    except RegistryError as refused:
        raise click.BadParameter(str(refused), param_hint="HOST") from refused


def _print_registration(registration: dict[str, Any], url: str) -> None:
    console.print(f"{registration['host']}: [bold]{registration['status']}[/]")
    for problem in registration["problems"]:
        print_problem(problem)
    if registration["status"] == "active":
        site = f"{url.rstrip('/')}/v1/sites/{registration['host']}"
        errors.print_line(f"How it is listed: {site}; what would help: {site}/advice")
    if registration["status"] == "verifying":
        status_url = url.rstrip("/") + registration["statusUrl"]
        errors.print_line(
            f"Not decided yet, and not lost; see what becomes of it: {status_url}"
        )


def _load(key: Path | None, host: str) -> PrivateKey:
    return load_key(key or key_file(host))


def _kid_of(file: Path | None, kid: str | None, *options: str) -> str:
    """Return the thumbprint that one of two options gives. Raises: click.UsageError."""
    if (file is None) == (kid is None):
        raise click.UsageError(f"give {options[0]} or {options[1]}")
    if file is not None:
        return public_key_of(load_key(file)).kid
    try:
        return parse_thumbprint(kid or "")
    except (ValueError, RegistryError) as error:
        raise click.BadParameter(str(error), param_hint=options[1]) from error


def _members(declared: dict[str, Any]) -> dict[str, Any]:
    """Return the payload's members; what is not given is not declared.

    Raises: click.UsageError.
    """
    location = None
    if declared["city"] and not declared["country"]:
        raise click.UsageError("--city needs --country: cities share names")
    if declared["country"]:
        location = {"country": declared["country"], "city": declared["city"]}
        location = {name: value for name, value in location.items() if value}
    members = {
        "docs": [{"url": url} for url in declared["documents"]] or None,
        "category": declared["category"],
        "location": location,
        "size": declared["size"],
        "commission_rate": declared["commission_rate"],
        "is_independent": declared["independent"],
        "chain": declared["chain_id"],
    }
    return {name: value for name, value in members.items() if value is not None}
