"""The client for asynchronous programs; `sync_client` is the same for others."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import httpx
import msgspec

from registry.calls.api_call import ApiCall, RetryRule, post_jose, post_json
from registry.calls.failures import ProblemAnswered, ProofFailed
from registry.calls.results import (
    ChallengeGiven,
    Json,
    LogKeys,
    ProvenInclusion,
    RankedResult,
    RecordProof,
    RecordReceipt,
    RegistrationState,
    SearchPage,
    ShortSite,
    SiteList,
    WholeSite,
    WirePage,
)
from registry.client.calling import ApiConnection
from registry.client.statements import KeyOrFile, key_of, sign_statement
from registry.errors import RegistryError
from registry.formats.writing.forms import Form
from registry.records.promise import parse_promise, verify_promise
from registry.tlog.note import parse_vkey
from registry.tlog.proof import parse_log_proof, verify_log_proof

DEFAULT_URL = "http://127.0.0.1:8080"
POLL_S = 0.25
PENDING = "record_pending"  # durable, and not yet under a signed checkpoint
Detail = Literal["brief", "full"]


class AsyncClient(ApiConnection):
    """A registry, from the side of those who use it.

    With `promises` answers are asked for in full, since those in brief hold none.
    log_key, promise_key: the registry's verifier keys, where you know them; without
    them its own word is taken.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        *,
        timeout_s: float = 30.0,
        retries: RetryRule | None = None,
        operator: httpx.Auth | None = None,
        promises: Path | None = None,
        log_key: str = "",
        promise_key: str = "",
    ) -> None:
        super().__init__(
            base_url,
            timeout_s=timeout_s,
            retries=retries or RetryRule(),
            operator=operator,
            promises=promises,
        )
        self._log_key = log_key
        self._promise_key = promise_key

    # --- agents -----------------------------------------------------------------------

    async def search(
        self,
        /,
        q: str,
        *,
        city: str | None = None,
        country: str | None = None,
        detail: Detail | None = None,
        first_rank: int = 1,
        **parameters: Any,
    ) -> SearchPage:
        """Ask for ranked sites.

        detail: brief (how to call what matches) or full (each factor with its facts, and
        the promise, which is checked). parameters: whatever else a search takes, by the
        names of the API: lat, lon, category, limit, cursor, nonce and the filters.
        first_rank: of the page, in what a cursor continues.
        """
        query = {
            "q": q,
            "city": city,
            "country": country,
            "detail": detail or ("full" if self._promises else "brief"),
            **parameters,
        }
        sent = {name: value for name, value in query.items() if value is not None}
        # Asked again, there is one more record, which harms nobody.
        call = replace(post_json("/v1/search", sent), is_repeatable=True)
        wire = await self.call(call, WirePage)
        await self._keep(wire.ranking)
        return wire.page(first_rank)

    async def pages(self, /, q: str, **parameters: Any) -> AsyncIterator[SearchPage]:
        """Yield the pages of an answer until there is no further one."""
        rank, cursor = 1, None
        while True:
            page = await self.search(q, first_rank=rank, cursor=cursor, **parameters)
            yield page
            rank, cursor = rank + len(page), page.next_cursor
            if cursor is None or not page.results:
                return

    async def select(
        self,
        answer: SearchPage | RecordReceipt,
        chosen: RankedResult | str | None,
        *,
        outcome: str | None = None,
    ) -> RecordReceipt:
        """Report which site of the answer was chosen; None: none of them.

        outcome: one word, e.g. succeeded. However often it is sent, it counts once.
        """
        ranking = answer.ranking if isinstance(answer, SearchPage) else answer
        host = chosen.host if isinstance(chosen, RankedResult) else chosen
        body = {"rankingId": ranking.id, "siteId": host}
        if outcome is not None:
            body["outcome"] = outcome
        call = post_json("/v1/selections", body, key=str(uuid.uuid4()))
        receipt = await self.call(call, RecordReceipt)
        await self._keep(receipt)
        return receipt

    async def explain(self, ranking: RecordReceipt | str) -> Json:
        """Return the record of a ranking, with what it discloses to the asker."""
        return await self.get_as(f"/v1/rankings/{_id_of(ranking)}", Json)

    async def erase(self, ranking: RecordReceipt | str) -> Json:
        """Erase for good what the asker disclosed; the record's proof stays sound."""
        path = f"/v1/rankings/{_id_of(ranking)}/erase"
        return await self.call(ApiCall(method="POST", path=path), Json)

    # --- sites ------------------------------------------------------------------------

    async def site(self, host: str) -> WholeSite:
        """Return the entry of a site. Raises: NotListed."""
        return await self.get_as(f"/v1/sites/{quote(host, safe='')}", WholeSite)

    async def document(self, host: str, form: Form) -> Json:
        """Return all that is listed of a site as one document of that form."""
        path = f"/v1/sites/{quote(host, safe='')}/document"
        return await self.get_as(path, Json, {"as": form})

    async def sites(
        self, *, category: str | None = None, country: str | None = None
    ) -> AsyncIterator[ShortSite]:
        """Yield the listed sites in the order of their registration, page by page."""
        filters = {"category": category, "country": country}
        params: Json = {name: value for name, value in filters.items() if value}
        while True:
            page = await self.get_as("/v1/sites", SiteList, {**params, "limit": 100})
            for site in page.results:
                yield site
            if page.next_cursor is None or not page.results:
                return
            params["cursor"] = page.next_cursor

    # --- owners -----------------------------------------------------------------------

    async def register(
        self, /, host: str, key: KeyOrFile, *, wait_s: float = 30.0, **declared: Any
    ) -> RegistrationState:
        """State that the site exists, and wait for the decision.

        key: the site's, whose public half the site publishes. declared: members of the
        statement, such as category, location, docs.
        """
        return await self.state(host, key, "register", wait_s=wait_s, **declared)

    async def update(
        self, /, host: str, key: KeyOrFile, *, wait_s: float = 30.0, **declared: Any
    ) -> RegistrationState:
        """Replace the site's statement with a new one, as a whole."""
        return await self.state(host, key, "update", wait_s=wait_s, **declared)

    async def withdraw(
        self, host: str, key: KeyOrFile, *, wait_s: float = 30.0
    ) -> RegistrationState:
        return await self.state(host, key, "withdraw", wait_s=wait_s)

    async def rotate(
        self, host: str, key: KeyOrFile, next_kid: str, *, wait_s: float = 30.0
    ) -> RegistrationState:
        """Hand over to the key of that thumbprint, which the site publishes too."""
        return await self.state(host, key, "rotate", wait_s=wait_s, next_kid=next_kid)

    async def revoke(
        self, host: str, key: KeyOrFile, revoked_kid: str, *, wait_s: float = 30.0
    ) -> RegistrationState:
        """Revoke the key of that thumbprint for good."""
        return await self.state(
            host, key, "revoke", wait_s=wait_s, revoked_kid=revoked_kid
        )

    async def state(
        self, host: str, key: KeyOrFile, act: str, *, wait_s: float, **members: Any
    ) -> RegistrationState:
        """Send a signed statement and wait for its decision, at most wait_s.

        What is not decided by then is `verifying`, and not lost.
        """
        challenge = await self.call(
            post_json("/v1/challenges", {"host": host}), ChallengeGiven
        )
        token = sign_statement(
            challenge,
            key_of(key),
            host=host,
            origin=self.base_url,
            act=act,
            now=int(time.time()),
            members=members,
        )
        state = await self.call(
            post_jose("/v1/registrations", token), RegistrationState
        )
        return await self.decided(state, wait_s=wait_s)

    async def decided(
        self, state: RegistrationState, *, wait_s: float = 30.0
    ) -> RegistrationState:
        path = f"/v1/registrations/{quote(state.id, safe='')}"
        deadline = time.monotonic() + wait_s
        while not state.is_decided and time.monotonic() < deadline:
            await asyncio.sleep(POLL_S)
            state = await self.get_as(path, RegistrationState)
        return state

    # --- trust ------------------------------------------------------------------------

    async def keys(self) -> LogKeys:
        """Return the keys to verify by: those that were given, else the registry's."""
        if self._log_key and self._promise_key:
            return LogKeys(verifier_key=self._log_key, promise_key=self._promise_key)
        named = await self.get_as("/v1/log", LogKeys)
        self._log_key = self._log_key or named.verifier_key
        self._promise_key = self._promise_key or named.promise_key
        return await self.keys()

    async def verify(
        self, receipt: RecordReceipt, *, wait_s: float = 30.0
    ) -> ProvenInclusion:
        """Check that the record stands in the signed log, as was promised.

        Waits while it is not published, at most wait_s. Raises: ProofFailed.
        """
        proof = await self._proof_of(receipt.public_id, wait_s)
        leaf_hash = receipt.leaf_hash or proof.leaf_hash
        keys = await self.keys()
        return verify_inclusion_of(leaf_hash, proof.proof, keys.verifier_key)

    async def _proof_of(self, record_id: str, wait_s: float) -> RecordProof:
        path = f"/v1/records/{quote(record_id, safe='')}/proof"
        call = ApiCall(method="GET", path=path, headers={"Accept": "application/json"})
        deadline = time.monotonic() + wait_s
        while True:
            try:
                return await self.call(call, RecordProof)
            except ProblemAnswered as answered:
                if answered.code != PENDING or time.monotonic() >= deadline:
                    raise
            await asyncio.sleep(POLL_S)

    async def _keep(self, receipt: RecordReceipt) -> None:
        """Check the promise, if the answer holds one, and keep it. Raises: ProofFailed."""
        if receipt.promise is None:
            return
        verify_receipt(receipt, (await self.keys()).promise_key)
        self._keep_promise(msgspec.to_builtins(receipt))


def _id_of(ranking: RecordReceipt | str) -> str:
    text = ranking if isinstance(ranking, str) else ranking.id
    return quote(text, safe=".")


def verify_receipt(receipt: RecordReceipt, promise_key: str) -> None:
    """Check the promise's signature over the leaf hash. Raises: ProofFailed."""
    promise = receipt.promise
    if promise is None:
        raise ProofFailed("the answer holds no promise; ask with detail=full")
    members = {
        "time": promise.time,
        "keyId": promise.key_id,
        "signature": promise.signature,
    }
    try:
        leaf, public = bytes.fromhex(receipt.leaf_hash), parse_vkey(promise_key).public
        verify_promise(parse_promise(members), leaf, public)
    except (RegistryError, ValueError) as error:
        raise ProofFailed(f"the promise does not hold: {error}") from error


def verify_inclusion_of(leaf_hash: str, proof: str, log_key: str) -> ProvenInclusion:
    """Check that the leaf stands below a checkpoint signed by the key.

    proof: a c2sp.org/tlog-proof@v1. Raises: ProofFailed.
    """
    try:
        parsed = parse_log_proof(proof.encode())
        key = parse_vkey(log_key)
        head = verify_log_proof(parsed, bytes.fromhex(leaf_hash), key)
    except (RegistryError, ValueError) as error:
        raise ProofFailed(f"the proof does not hold: {error}") from error
    return ProvenInclusion(
        leaf_index=parsed.index,
        tree_size=head.checkpoint.size,
        origin=head.checkpoint.origin,
    )
