"""Statements that auditors sign: a line that names the kind, and canonical JSON.

Who is known as an auditor is decided elsewhere; this says only that the named key signed.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from msgspec import Meta

from registry.errors import ProblemType, Refused
from registry.identity import base64url
from registry.records.canonical import JsonValue, canonical_json
from registry.tlog.note import parse_vkey

Signature = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{86}$")]
_OMITTED: tuple[JsonValue, ...] = (None, {}, [], ())


class AuditorStatement(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the statements; each is its JSON, in the log and to the API.

    kind: in the signed line. invalid: what is refused. auditor: a C2SP verifier key.
    audience: origin of the log that it is for, so that none of another one is put on
    record; None in statements of before 2026-11-28.
    sig: base64url, by Ed25519 over `statement`; "" before it is signed.
    """

    kind: ClassVar[str]
    invalid: ClassVar[ProblemType]

    auditor: Annotated[str, Meta(max_length=256)]
    audience: Annotated[str, Meta(max_length=256)] | None = msgspec.field(
        default=None, name="aud"
    )
    sig: Signature = ""

    @classmethod
    def parse(cls, members: Mapping[str, JsonValue]) -> Self:
        """members: of a record, or as signed for one. Raises: Refused."""
        with Refused.on(msgspec.ValidationError, cls.invalid, str):
            return msgspec.convert(members, cls)

    @property
    def members(self) -> dict[str, JsonValue]:
        """Return what is signed: the members that say something."""
        members: dict[str, JsonValue] = msgspec.to_builtins(self)
        return {
            name: value
            for name, value in members.items()
            if name != "sig" and value not in _OMITTED
        }

    @property
    def signed_members(self) -> dict[str, JsonValue]:
        return {**self.members, "sig": self.sig}

    @property
    def statement(self) -> bytes:
        """Return the bytes that are signed."""
        line = f"fair-registry/{self.kind}/v1\n"
        return line.encode() + canonical_json(self.members)

    def signed(self, private: Ed25519PrivateKey) -> Self:
        """private: of the key that it names as its auditor."""
        sig = base64url.encode(private.sign(self.statement))
        return msgspec.structs.replace(self, sig=sig)

    def verify_for(self, audience: str) -> None:
        """Verify that it was signed for the log of this origin. Raises: Refused."""
        if self.audience != audience:
            detail = f"aud is not {audience}, this log's origin"
            raise Refused(self.invalid, detail, pointer="/aud")
        self.verify()

    def verify(self) -> None:
        """Raises: Refused."""
        public = Ed25519PublicKey.from_public_bytes(parse_vkey(self.auditor).public)
        with Refused.on((InvalidSignature, ValueError), self.invalid):
            public.verify(base64url.decode(self.sig), self.statement)
