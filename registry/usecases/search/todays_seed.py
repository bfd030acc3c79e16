"""The day's committed tie-break secret, read once a day."""

from datetime import date

from registry.db.engine.engines import Engine
from registry.db.log import policies, seeds
from registry.db.log.seeds import CommittedSeed

CACHED_DAYS = 3


class SeedReader:
    """Gives out a secret once its commitment, and the policy, stand in the log.

    Both must be there before the first ranking that uses them. code: digest of what
    ranks here, with which the policy must have been logged.
    """

    def __init__(self, engine: Engine, policy_digest: str, code: str) -> None:
        self._engine = engine
        self._policy_digest = policy_digest
        self._code = code
        self._cache: dict[date, CommittedSeed] = {}

    async def find(self, day: date) -> CommittedSeed | None:
        if day not in self._cache:
            async with self._engine.connect() as connection:
                seed = await seeds.committed_seed(connection, day)
                leaf = await policies.policy_leaf(
                    connection, self._policy_digest, self._code
                )
            if seed is None or leaf is None:
                return None
            while len(self._cache) >= CACHED_DAYS:
                self._cache.pop(min(self._cache))
            self._cache[day] = seed
        return self._cache[day]
