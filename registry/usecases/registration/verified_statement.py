"""A statement whose signature holds under a key that the host publishes."""

from dataclasses import dataclass

from registry.db.registration.registrations import Registration
from registry.errors import Refused
from registry.identity.keys.key_source import KeyReference
from registry.identity.refusals import KEY_NOT_PUBLISHED
from registry.identity.statements.jws import CompactJws, parse_compact, verify_jws
from registry.identity.statements.registration import SiteStatement, parse_statement
from registry.usecases.registration.published_keys import PublishedKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedStatement:
    """signer: the key and where it stands; whether it is trusted is not decided yet."""

    registration: Registration
    jws: CompactJws
    statement: SiteStatement
    signer: KeyReference
    published: PublishedKeys


def verify_signature(
    registration: Registration, published: PublishedKeys, *, test_hosts: bool
) -> VerifiedStatement:
    """Raises: Refused."""
    jws = parse_compact(registration.token)
    signing_key = published.find(jws.kid)
    if signing_key is None:
        raise Refused(KEY_NOT_PUBLISHED, f"No key has the thumbprint {jws.kid}.")
    signer, key = signing_key
    verify_jws(jws, key)
    return VerifiedStatement(
        registration=registration,
        jws=jws,
        statement=parse_statement(jws.payload, test_hosts=test_hosts),
        signer=signer,
        published=published,
    )
