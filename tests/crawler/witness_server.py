"""A witness (C2SP tlog-witness) on loopback: strict, and in its ill-bred variants."""

import asyncio
from base64 import b64decode
from dataclasses import dataclass, field
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import RegistryError
from registry.tlog.checkpoint import Checkpoint, verify_checkpoint
from registry.tlog.merkle import verify_consistency
from registry.tlog.note import (
    NoteAlgorithm,
    Signer,
    VerifierKey,
    cosign_text,
    format_note,
    parse_note,
)
from registry.tlog.witness import Witness

NOW_S = 1_767_000_000


def witness_signer(name: str) -> Signer:
    seed = sha256(name.encode()).digest()
    return Signer(
        name=name,
        algorithm=NoteAlgorithm.COSIGNATURE_V1,
        private=Ed25519PrivateKey.from_private_bytes(seed),
    )


def answer(status: str, body: bytes, content_type: str = "text/plain") -> bytes:
    head = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


class Refusal(Exception):
    """The refusal as bytes."""


@dataclass
class WitnessServer:
    """log_key: of the one log that it knows. seen: the checkpoint it cosigned last.

    delay_s: before each answer; always: instead of any; signer: who cosigns in fact.
    """

    name: str
    log_key: VerifierKey
    seen: Checkpoint | None = None
    delay_s: float = 0.0
    always: bytes | None = None
    signer: Signer | None = None
    statuses: list[int] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)

    @property
    def witness(self) -> Witness:
        key = witness_signer(self.name).verifier_key
        return Witness(key=key, prefix=f"https://{self.host}/log")

    @property
    def host(self) -> str:
        return self.name.partition("/")[0]

    async def __call__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:  # kept connections are used again
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            line, *fields = head.rstrip().split("\r\n")
            named = dict(field.lower().split(": ", 1) for field in fields)
            body = await reader.readexactly(int(named["content-length"]))
            assert line == "POST /log/add-checkpoint HTTP/1.1"
            self.requests.append(body)
            await asyncio.sleep(self.delay_s)
            reply = self.always or self._reply(body)
            self.statuses.append(int(reply.split()[1]))
            writer.write(reply)
            await writer.drain()

    def _reply(self, body: bytes) -> bytes:
        try:
            text = self._cosign(body)
        except Refusal as refusal:
            reply: bytes = refusal.args[0]
            return reply
        signer = self.signer or witness_signer(self.name)
        note = format_note(text, [cosign_text(text, signer, NOW_S)])
        return answer("200 OK", note[len(text.encode()) + 1 :])

    def _cosign(self, body: bytes) -> str:
        """The checks of tlog-witness in their order. Raises: Refusal."""
        lines, blank, note = body.partition(b"\n\n")
        first, *proof = lines.decode("ascii").split("\n")
        if not blank or not first.startswith("old ") or len(proof) > 63:
            raise Refusal(answer("400 Bad Request", b""))
        old_size = int(first.removeprefix("old "))
        try:
            new = verify_checkpoint(note, self.log_key).checkpoint
        except RegistryError as error:
            raise Refusal(answer("403 Forbidden", b"")) from error
        if old_size > new.size:
            raise Refusal(answer("400 Bad Request", b""))
        known = self.seen.size if self.seen else 0
        is_other = (
            self.seen and self.seen.size == new.size and self.seen.root != new.root
        )
        if old_size != known or is_other:
            size = f"{known}\n".encode()
            raise Refusal(answer("409 Conflict", size, "text/x.tlog.size"))
        hashes = [b64decode(item, validate=True) for item in proof]
        self._verify(new, hashes)
        self.seen = new
        return parse_note(note).text

    def _verify(self, new: Checkpoint, hashes: list[bytes]) -> None:
        if self.seen is None:
            if hashes:
                raise Refusal(answer("422 Unprocessable Entity", b""))
            return
        try:
            verify_consistency(
                hashes,
                old_size=self.seen.size,
                new_size=new.size,
                old_root=self.seen.root,
                new_root=new.root,
            )
        except RegistryError as error:
            raise Refusal(answer("422 Unprocessable Entity", b"")) from error
