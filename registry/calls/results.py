"""Answers of the registry as typed values. Members that are new are passed over."""

from collections.abc import Iterator
from typing import Any

import msgspec

from registry.formats.invocations import Invocation
from registry.sites.action import Parameter

Json = dict[str, Any]
POINT = 1_000_000
"""Parts of a score that make a point of 100."""


class AnswerModel(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """Base of what a registry answers."""


class PromiseReceipt(AnswerModel, frozen=True):
    time: str
    key_id: str
    signature: str


class RecordReceipt(AnswerModel, frozen=True):
    """A record's name, its leaf hash, and the promise that it will be in the log.

    id: whole, with the half that is only the asker's. number: among the rankings of the
    operator that asked.
    """

    id: str
    leaf_hash: str = ""
    promise: PromiseReceipt | None = None
    policy: str = ""
    eligible: int = 0
    number: int | None = None

    @property
    def public_id(self) -> str:
        """The half by which anybody names the record."""
        return self.id.partition(".")[0]


class SiteProvider(AnswerModel, frozen=True):
    name: str = ""
    category: str = ""


class SiteCity(AnswerModel, frozen=True):
    city: str = ""
    country: str = ""


class ShortSite(AnswerModel, frozen=True):
    """A site's entry in short. id: the registry's. The words are the site's own."""

    host: str
    id: str = ""
    url: str = ""
    provider: SiteProvider = SiteProvider()
    location: SiteCity | None = None
    capabilities_summary: tuple[str, ...] = ()
    trust_level: str = ""


class DeclaredCall(AnswerModel, frozen=True):
    format: str
    transport: str
    method: str = ""
    target: str = ""
    operation: str = ""
    off_origin: bool = False


class DeclaredAction(AnswerModel, frozen=True):
    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    auth_required: bool | None = None
    sensitivity: str | None = None
    confirmation: bool | None = None
    calls: tuple[DeclaredCall, ...] = ()


class WholeSite(ShortSite, frozen=True):
    """A site's entry with all its actions."""

    description: str = ""
    status: str = ""
    conformance: str = ""
    actions: tuple[DeclaredAction, ...] = ()


class FactorShare(AnswerModel, frozen=True):
    """value, weight: 0..10000. contribution: parts of the score, POINT to a point."""

    value: int
    weight: int
    contribution: int
    facts: Json = {}


class RankedResult(AnswerModel, frozen=True):
    """A result. score: points of 100.

    actions: those that match, with how to call them; why: in words. Both only in brief.
    entry, factors: only in full.
    """

    host: str
    rank: int
    score: float
    why: str = ""
    city: str = ""
    actions: tuple[Invocation, ...] = ()
    entry: ShortSite | None = None
    factors: dict[str, FactorShare] = {}


class _WireResult(AnswerModel, frozen=True):
    """A result of either detail, as it comes, with the members that were picked."""

    site: ShortSite | str = ""
    score: float = 0
    rank: int = 0
    city: str = ""
    why: str = ""
    actions: tuple[Invocation, ...] = ()
    factors: dict[str, FactorShare] = {}

    def ranked(self, rank: int) -> RankedResult:
        if isinstance(self.site, str):
            return RankedResult(
                host=self.site,
                rank=rank,
                score=self.score,
                why=self.why,
                city=self.city,
                actions=self.actions,
            )
        place = self.site.location
        return RankedResult(
            host=self.site.host,
            rank=self.rank,
            score=self.score / POINT,
            city=place.city if place else "",
            entry=self.site,
            factors=self.factors,
        )


class NearWords(AnswerModel, frozen=True):
    """sites: listed sites of the category. words: in which to ask for what they do."""

    category: str
    sites: int
    words: tuple[str, ...]


class CityWords(AnswerModel, frozen=True):
    """A city among the words of the request, which moves nothing until it is given."""

    words: str
    city: str
    country: str


class _PageHead(AnswerModel, frozen=True):
    """Members of an answer to a search beside its results."""

    ranking: RecordReceipt
    next_cursor: str | None = None
    corrected: dict[str, str] = {}
    hints: tuple[CityWords, ...] = ()
    near: tuple[NearWords, ...] = ()


class WirePage(_PageHead, frozen=True, kw_only=True):
    """Answer to a search, as it comes."""

    results: tuple[_WireResult, ...]

    def page(self, first_rank: int) -> "SearchPage":
        ranked = (row.ranked(rank) for rank, row in enumerate(self.results, first_rank))
        return SearchPage(**{**msgspec.structs.asdict(self), "results": tuple(ranked)})


class SearchPage(_PageHead, frozen=True, kw_only=True):
    """A page of ranked sites, the best first; iterate over it, or take `results`.

    ranking: the receipt of its record, by which a choice is reported. hints: cities that
    the words name. corrected: what was looked for besides a mistyped word. near: of an
    empty answer, the nearest categories.
    """

    results: tuple[RankedResult, ...]

    def __iter__(self) -> Iterator[RankedResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: int) -> RankedResult:
        return self.results[index]


class SiteList(AnswerModel, frozen=True):
    """A page of listed sites in the order of their registration."""

    results: tuple[ShortSite, ...]
    next_cursor: str | None = None


class RegistrationProblem(AnswerModel, frozen=True):
    code: str
    detail: str = ""
    fix: str = ""
    pointer: str | None = None


class RegistrationState(AnswerModel, frozen=True):
    """A registration. status: verifying, active, rejected or withdrawn."""

    id: str
    host: str
    act: str
    status: str
    status_url: str
    problems: tuple[RegistrationProblem, ...] = ()

    @property
    def is_decided(self) -> bool:
        return self.status != "verifying"


class ProvenInclusion(AnswerModel, frozen=True):
    """A record that stands in the signed log: the proof was checked here."""

    leaf_index: int
    tree_size: int
    origin: str


class LogKeys(AnswerModel, frozen=True):
    """C2SP verifier keys of the log's checkpoints and of promises."""

    verifier_key: str
    promise_key: str


class RecordProof(AnswerModel, frozen=True):
    leaf_index: int
    tree_size: int
    leaf_hash: str
    proof: str


class ChallengeGiven(AnswerModel, frozen=True):
    nonce: str
    payload: Json
