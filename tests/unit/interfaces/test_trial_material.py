"""A day's material that many read slowly."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest
from litestar.response import Stream

from registry.db.engine.engines import Engine
from registry.db.reports import invariance_runs
from registry.interfaces.http.services import Services
from registry.interfaces.http.streams import LimitedStream
from registry.interfaces.rest.reports import invariance
from registry.usecases.reports.trial_materials import PIECE_BYTES, TrialMaterials

DAY = "2026-11-28"
BODY = bytes(range(256)) * 4_000


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The days that were loaded from the database."""
    loaded: list[object] = []

    async def find_material(_: object, day: object) -> bytes:
        loaded.append(day)
        return bytes(bytearray(BODY))

    monkeypatch.setattr(invariance_runs, "find_material", find_material)
    return loaded


@pytest.fixture
def services() -> Services:
    @asynccontextmanager
    async def connect() -> AsyncIterator[None]:
        yield

    engine = cast("Engine", SimpleNamespace(connect=connect))
    return cast("Services", SimpleNamespace(trial_materials=TrialMaterials(engine)))


async def request(services: Services) -> Stream:
    return await invariance.get_trial_material.fn(DAY, services)


def pieces_of(stream: Stream) -> AsyncIterator[bytes]:
    return cast("AsyncIterator[bytes]", stream.iterator)


async def test_who_reads_beside_another_costs_a_piece_and_no_copy(
    services: Services, loads: list[object]
) -> None:
    readers = [await request(services) for _ in range(20)]
    first = [await anext(pieces_of(reader)) for reader in readers]
    assert len(loads) == 1
    assert {len(piece) for piece in first} == {PIECE_BYTES}


async def test_it_is_given_whole_and_goes_with_its_last_reader(
    services: Services, loads: list[object]
) -> None:
    reader = await request(services)
    assert b"".join([piece async for piece in pieces_of(reader)]) == BODY
    assert reader.headers["Content-Length"] == str(len(BODY))
    del reader
    gc.collect()
    await request(services)
    assert len(loads) == 2


def test_a_reader_holds_a_slot() -> None:
    middleware: Any = invariance.get_trial_material.middleware
    assert any(isinstance(layer, LimitedStream) for layer in middleware)
