"""Column types that PostgreSQL or the audit log has and SQLAlchemy has not."""

from uuid import UUID

from sqlalchemy import LargeBinary, Uuid
from sqlalchemy.types import TypeDecorator, UserDefinedType
from typing_extensions import override

from registry.records.packing import pack, unpack
from registry.sites.identifier import ULID_LENGTH, decode_base32, encode_base32


class Xid8(UserDefinedType[int]):
    """PostgreSQL's 64-bit transaction id."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "xid8"


class RecordId(TypeDecorator[str]):
    """A ULID in sixteen bytes: its characters would weigh twice that, in each index."""

    impl = Uuid
    cache_ok = True

    @override
    def process_bind_param(self, value: str | None, dialect: object) -> UUID | None:
        return None if value is None else uuid_of(value)

    @override
    def process_result_value(self, value: UUID | None, dialect: object) -> str | None:
        return None if value is None else ulid_of(value)


class Packed(TypeDecorator[bytes]):
    """A record's body; `records.packing` says how it is kept."""

    impl = LargeBinary
    cache_ok = True

    @override
    def process_bind_param(self, value: bytes | None, dialect: object) -> bytes | None:
        return None if value is None else pack(value)

    @override
    def process_result_value(
        self, value: bytes | None, dialect: object
    ) -> bytes | None:
        return None if value is None else unpack(value)


def uuid_of(record_id: str) -> UUID:
    """Raises: ValueError if it is no ULID."""
    return UUID(int=decode_base32(record_id))


def ulid_of(stored: UUID) -> str:
    return encode_base32(stored.int, ULID_LENGTH)
