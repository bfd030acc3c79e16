"""A fetcher that counts what comes of its requests; see `metrics`."""

from typing_extensions import override

from crawler import metrics
from crawler.http.exchange import Fetched, NotModified, Wanted
from crawler.http.fetch import Fetcher, Permit
from crawler.refusals import UnexpectedStatus
from crawler.stopwatch import Stopwatch
from registry.errors import Refused


class WatchedFetcher(Fetcher):
    @override
    async def fetch(
        self,
        url: str,
        wanted: Wanted,
        *,
        permit: Permit | None = None,
        watch: Stopwatch | None = None,
    ) -> Fetched | NotModified:
        watch = watch or Stopwatch()
        outcome = "broken_off"
        try:
            answer = await super().fetch(url, wanted, permit=permit, watch=watch)
            outcome = _outcome(answer)
        except Refused as refused:
            outcome = _code(refused)
            raise
        else:
            return answer
        finally:
            metrics.labelled(metrics.FETCHES, outcome).inc()
            metrics.FETCH_SECONDS.observe(watch.elapsed_ms / 1000)


def _outcome(answer: Fetched | NotModified) -> str:
    if isinstance(answer, NotModified):
        return "not_modified"
    metrics.BYTES.inc(len(answer.body))
    return "ok"


def _code(refused: Refused) -> str:
    """Return the label of a refusal; of a status its hundreds, for there are a thousand."""
    if isinstance(refused, UnexpectedStatus):
        return f"status_{min(refused.status // 100, 9)}xx"
    return refused.code
