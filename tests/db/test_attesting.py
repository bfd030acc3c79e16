"""An auditor's attestation: verified, by somebody known, about what is logged, once."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from registry.db.engine.engines import Role
from registry.errors import Conflict, Forbidden, Refused, RegistryError
from registry.records.attestation import Rescoring
from registry.records.packing import unpack
from registry.records.promise import verify_promise
from registry.records.record import parse_record
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from registry.usecases.log.attest import accept_attestation
from registry.usecases.log.promiser import Promised
from registry.usecases.log.sequence import Sequencer, load_edge
from tests.db.scene import PROMISE_KEY, Scene
from tests.db.test_sequencing import SIGNER, accept

AUDITOR, STRANGER = (
    Signer(
        name=f"{name}.example",
        algorithm=NoteAlgorithm.ED25519,
        private=Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32)),
    )
    for name in ("auditor", "stranger")
)
SIZE = 9
ORIGIN = "registry.test"


@pytest.fixture(autouse=True)
async def log_of_nine(scene: Scene) -> None:
    publisher = scene.engines[Role.PUBLISHER]
    async with publisher.connect() as connection:
        edge = await load_edge(connection)
        await connection.commit()
        if edge.size < SIZE:
            await accept(scene, range(SIZE - edge.size))
            await Sequencer(publisher, SIGNER, scene.clock).step(connection, edge)
    await scene.sql("ALTER TABLE audit.attestation DISABLE TRIGGER USER")
    await scene.sql("TRUNCATE audit.attestation, audit.pending")


def rescoring(signer: Signer = AUDITOR, **changes: int) -> Rescoring:
    basis = Rescoring(
        auditor=format_vkey(signer.verifier_key),
        audience=ORIGIN,
        first_index=0,
        last_index=SIZE - 1,
        checked_count=4,
        mismatch_count=0,
    )
    return replace(basis, **changes)


def signed(signer: Signer = AUDITOR, **changes: int) -> Rescoring:
    return rescoring(signer, **changes).signed(signer.private)


async def put_on_record(scene: Scene, attestation: Rescoring) -> Promised:
    async with scene.api.begin() as connection:
        return await accept_attestation(
            connection,
            attestation,
            auditors={format_vkey(AUDITOR.verifier_key)},
            origin=ORIGIN,
            promiser=scene.promiser,
            ids=scene.ids,
        )


async def bodies(scene: Scene) -> list[bytes]:
    rows = await scene.sql("SELECT body FROM audit.pending WHERE kind = 'rescore'")
    return [unpack(row.body) for row in rows]


async def test_attestation_is_on_record_for_anyone_to_verify(scene: Scene) -> None:
    attested = await put_on_record(scene, signed(mismatch_count=1))
    (body,) = await bodies(scene)
    logged = Rescoring.parse(parse_record(body))
    logged.verify()
    assert logged == signed(mismatch_count=1)
    public = PROMISE_KEY.public_key().public_bytes_raw()
    verify_promise(attested.promise, attested.record.leaf_hash, public)


@pytest.mark.parametrize(
    ("attestation", "error", "code"),
    [
        pytest.param(signed(STRANGER), Forbidden, "auditor_unknown", id="a stranger's"),
        pytest.param(
            replace(signed(), mismatch_count=3),
            Refused,
            "attestation_invalid",
            id="changed after it was signed",
        ),
        pytest.param(
            signed(last_index=SIZE),
            Refused,
            "attestation_beyond_log",
            id="of the future",
        ),
        pytest.param(
            signed(checked_count=SIZE + 1),
            Refused,
            "record_field_invalid",
            id="of more rankings than leaves",
        ),
        pytest.param(
            signed(first_index=5, last_index=2, checked_count=0),
            Refused,
            "record_field_invalid",
            id="backwards",
        ),
    ],
)
async def test_attestation_that_can_not_stand_leaves_no_record(
    scene: Scene, attestation: Rescoring, error: type[RegistryError], code: str
) -> None:
    with pytest.raises(error, match=code):
        await put_on_record(scene, attestation)
    assert await bodies(scene) == []


async def test_replayed_attestation_is_on_record_once(scene: Scene) -> None:
    """It stands in a public log: anyone could send it again and again."""
    await put_on_record(scene, signed())
    with pytest.raises(Conflict, match="attestation_known"):
        await put_on_record(scene, signed())
    await put_on_record(scene, signed(first_index=1))
    assert len(await bodies(scene)) == 2
