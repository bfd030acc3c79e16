"""Answers as their askers got them, held against what is on record."""

from collections.abc import Iterator, Mapping, Sequence

import click
import msgspec

from registry.calls.results import FactorShare, RecordReceipt, ShortSite
from registry.ranking.explain import Explanation
from registry.records.packed_scores import DisclosedScore
from registry.records.record_fields import Members

FACTOR_MEMBERS = Explanation.__struct_encode_fields__


class ReceivedResult(msgspec.Struct):
    """factors: by their names in answers; none where other members were picked."""

    site: ShortSite
    score: int
    factors: dict[str, FactorShare] = {}

    def differences(
        self, row: DisclosedScore, hosts: Mapping[str, str]
    ) -> Iterator[str]:
        host = hosts.get(row.site, self.site.host)
        if self.site.host != host:
            yield f"{row.site} was received as {self.site.host}, and is {host}"
        if self.site.url not in {"", f"https://{host}"}:
            yield f"{row.site} was received with the address {self.site.url}"
        factors = dict(zip(FACTOR_MEMBERS, row.factors, strict=True))
        if any(own.value != factors.get(name) for name, own in self.factors.items()):
            yield f"{row.site} was received with other factors than {row.factors}"


class ReceivedPlace(msgspec.Struct):
    cell: str


class ReceivedAnswer(msgspec.Struct):
    """Answer of /v1/search in full, as its asker got it. place: where a city was named."""

    ranking: RecordReceipt
    results: tuple[ReceivedResult, ...]
    place: ReceivedPlace | None = None

    def differences(
        self,
        record: Members,
        scores: Sequence[DisclosedScore],
        hosts: Mapping[str, str],
    ) -> Iterator[str]:
        """Hold the answer against its record.

        record: its members, and what they disclose. hosts: of sites, as known.
        """
        results = [(result.site.id, result.score) for result in self.results]
        if results != [(row.site, row.score) for row in scores]:
            yield "the results that were received are not those on record"
        for result, row in zip(self.results, scores, strict=False):
            yield from result.differences(row, hosts)
        receipt = self.ranking
        received: dict[str, object] = {"policy": receipt.policy, "opn": receipt.number}
        received |= {"eligible": receipt.eligible}
        received |= {"location": self.place.cell} if self.place else {}
        for name, value in received.items():
            if value != (own := record.get(name, value)):
                yield f"{name}: {value!r} was received, and {own!r} is on record"


def parse_answer(body: bytes) -> ReceivedAnswer:
    """Raises: click.ClickException."""
    try:
        return msgspec.json.decode(body, type=ReceivedAnswer)
    except msgspec.MsgspecError as error:
        raise click.ClickException(f"no answer in full: {error}") from error
