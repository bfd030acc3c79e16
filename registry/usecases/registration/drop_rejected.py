"""Dropping the bytes of rejected statements.

Anybody can send a statement that no key of the site signed. Its digest stays; its bytes
are evidence of nothing once nobody asks any more why it was rejected.
"""

from datetime import timedelta

from registry.db.engine.engines import Engine
from registry.db.registration import registrations
from registry.usecases.ids import Clock

REJECTED_KEPT = timedelta(days=7)
"""Age at which the schema's trigger `keep_statement` lets them go."""


async def drop_rejected_statements(engine: Engine, clock: Clock) -> int:
    """Drop those of which the rejection is a week old, and return their number.

    engine: of the reporter's role.
    """
    async with engine.begin() as connection:
        before = clock() - REJECTED_KEPT
        return await registrations.drop_rejected_tokens(connection, before)
