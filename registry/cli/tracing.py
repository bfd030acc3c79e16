"""The trace of a visit as lines for people.

What a site sent may be meant for the terminal: nothing of it is printed but printable
characters, and none of it is read as markup. Every line says in words what its colour
says.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rich.text import Text

MAX_SHOWN = 300
MAX_LINE = 2_000
_LABEL_WIDTH = 11
_ACTIONS_SHOWN = 12

Event = Mapping[str, Any]


def harmless(text: object, limit: int = MAX_SHOWN) -> str:
    """Cut, and with an escape in place of each control, mark or odd space."""
    whole = str(text)
    shown = "".join(
        one if one.isprintable() else f"\\u{ord(one):04x}" for one in whole[:limit]
    )
    return shown if len(whole) <= limit else f"{shown}…"


def duration(seconds: float) -> str:
    for unit, length_s in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length_s:
            return f"{round(seconds / length_s)} {unit}"
    return f"{round(seconds)} s"


class Teller:
    """Turns events into lines; remembers what need not be said again."""

    def __init__(self) -> None:
        self._origin = ""
        self._resolved: dict[str, Any] = {}
        self._robots_fetched: set[str] = set()
        self._lines: Mapping[str, Callable[[Event], Iterator[Text]]] = {
            "visit_begun": self._visit_begun,
            "resolved": self._resolved_line,
            "robots_fetched": self._robots_fetched_line,
            "robots_apply": self._robots_apply,
            "asked": self._asked,
            "redirected": self._redirected,
            "answered": self._answered,
            "absent": self._absent,
            "not_taken": self._not_taken,
            "passed_over": self._passed_over,
            "recognised": self._recognised,
            "unrecognised": self._problem,
            "linked": self._linked,
            "record_read": self._record_read,
            "noted": self._problem,
            "visit_ended": self._visit_ended,
            "understood": self._understood,
            "not_understood": self._problem,
            "leased": self._leased,
            "not_leased": self._not_leased,
            "scheduled": self._scheduled,
        }

    def lines(self, event: Event) -> Iterator[Text]:
        """None for an event of a newer crawler."""
        tell = self._lines.get(str(event.get("event")))
        if tell:
            yield from tell(event)

    def _url(self, url: str) -> str:
        return harmless(url.removeprefix(self._origin) or url)

    # --- before the first address ---

    def _visit_begun(self, event: Event) -> Iterator[Text]:
        self._origin = f"https://{event['host']}"
        where = (
            f"asked for {len(event['declared'])} declared addresses"
            if event["declared"]
            else "asked at the places that the formats know"
        )
        yield Text(harmless(f"{event['host']} is {where}"), style="bold")

    def _resolved_line(self, event: Event) -> Iterator[Text]:
        host, found = event["host"], event["addresses"]
        if self._resolved.get(host) == found:
            return  # it is looked up for each connection
        self._resolved[host] = found
        told = ", ".join(
            f"{harmless(one['address'])} {'allowed' if one['allowed'] else 'NOT ALLOWED'}"
            for one in found
        )
        sound = all(one["allowed"] for one in found)
        yield _line("dns", f"{harmless(host)}: {told or 'no address'}", sound=sound)

    def _robots_fetched_line(self, event: Event) -> Iterator[Text]:
        self._robots_fetched.add(event["host"])
        if event["code"]:
            yield _line("robots", f"{event['host']}: not read, {_reason(event)}")

    def _robots_apply(self, event: Event) -> Iterator[Text]:
        source = "" if event["host"] in self._robots_fetched else ", from the cache"
        group = f"its group for {event['agent']!r}" if event["agent"] else "no group"
        yield _line(
            "robots",
            f"{harmless(group)} counts{source}: {event['rules']} rules, "
            f"which permit {event['permits']}",
            sound=event["permits"] != "nothing",
        )

    # --- addresses ---

    def _asked(self, event: Event) -> Iterator[Text]:
        how = ", conditionally" if event["conditional"] else ""
        yield _line("ask", f"{self._url(event['url'])} ({event['found_by']}{how})")

    def _redirected(self, event: Event) -> Iterator[Text]:
        yield _line(
            "redirect",
            f"{self._url(event['url'])} leads to {self._url(event['location'])}",
        )

    def _answered(self, event: Event) -> Iterator[Text]:
        moved = event["final_url"] != event["url"]
        at = f", found at {self._url(event['final_url'])}" if moved else ""
        what = "not modified"
        if event["status"] == 200:
            kind = harmless(event["content_type"] or "no type", 80)
            what = f"{kind}, {event['body_bytes']:,} bytes"
        yield _line(
            str(event["status"]),
            f"{self._url(event['url'])}: {what}, {event['elapsed_ms']} ms{at}",
            sound=True,
        )

    def _absent(self, event: Event) -> Iterator[Text]:
        soft = "a web page stands in its place (soft 404)"
        why = soft if event["soft"] else "there is none"
        yield _line(
            "absent", f"{self._url(event['url'])}: {why}, {event['elapsed_ms']} ms"
        )

    def _not_taken(self, event: Event) -> Iterator[Text]:
        yield _line(
            "refused",
            f"{self._url(event['url'])}: {_reason(event)}, {event['elapsed_ms']} ms",
            sound=False,
        )
        yield _line("", f"what to do: {harmless(event['fix'])}")

    def _passed_over(self, event: Event) -> Iterator[Text]:
        yield _line(
            "not asked", f"{self._url(event['url'])}: the host is left in peace by now"
        )

    # --- what they hold ---

    def _recognised(self, event: Event) -> Iterator[Text]:
        yield _line(
            event["format"],
            f"{self._url(event['url'])}: {event['conformance']} "
            f"({harmless(event['dialect'])}), "
            f"{event['actions']} actions, {event['deviations']} deviations",
            sound=True,
        )

    def _problem(self, event: Event) -> Iterator[Text]:
        at = f"{self._url(event['url'])}: " if "url" in event else ""
        label = {"unrecognised": "no format", "noted": "note"}.get(
            event["event"], "nothing"
        )
        yield _line(label, f"{at}{_reason(event)}", sound=False)
        if event["fix"]:
            yield _line("", f"what to do: {harmless(event['fix'])}")

    def _linked(self, event: Event) -> Iterator[Text]:
        yield _line(
            "link",
            f"{self._url(event['page'])} points to {self._url(event['url'])} "
            f"({event['format']})",
        )

    def _record_read(self, event: Event) -> Iterator[Text]:
        at = f", which lead to {self._url(event['endpoint'])}" * bool(event["endpoint"])
        name = harmless(event["name"])
        yield _line("dns", f"{name}: {event['records']} WAB records{at}")

    # --- what came of it ---

    def _visit_ended(self, event: Event) -> Iterator[Text]:
        yield _line(
            "visited",
            f"{event['documents']} taken, {event['unchanged']} unchanged, "
            f"{event['absent']} absent, {event['failures']} failed",
        )

    def _understood(self, event: Event) -> Iterator[Text]:
        name = harmless(event["name"] or "a site without a name", 80)
        category = harmless(event["category"] or "no category", 80)
        yield _line(
            "understood",
            f"{name} ({category}), {event['actions']} actions, "
            f"{event['problems']} problems",
            sound=True,
        )
        for one in event["documents"]:
            yield _line(
                "",
                f"{self._url(one['url'])}: {one['format']}, {one['conformance']}, "
                f"{one['deviations']} deviations, {one['signature']}",
            )
        named = ", ".join(harmless(one, 60) for one in event["named"][:_ACTIONS_SHOWN])
        more = event["actions"] - min(len(event["named"]), _ACTIONS_SHOWN)
        if named:
            yield _line("", f"actions: {named}{f' and {more} more' if more else ''}")

    def _leased(self, event: Event) -> Iterator[Text]:
        yield _line(
            "leased",
            f"site {event['site_id']} for {event['lease_s']} s, fence {event['fence']}",
        )

    def _not_leased(self, event: Event) -> Iterator[Text]:
        why = {
            "not_listed": "is not listed here, so it has no task to be carried out",
            "leased": "is being visited by a crawler at this moment; try again soon",
        }[event["why"]]
        yield _line("refused", f"{harmless(event['host'])} {why}", sound=False)

    def _scheduled(self, event: Event) -> Iterator[Text]:
        after = event["result"] + (f", {event['code']}" if event["code"] else "")
        earliest, latest = duration(event["earliest_s"]), duration(event["latest_s"])
        when = earliest if earliest == latest else f"{earliest} to {latest}"
        yield _line("next", f"in {when} (after this one: {harmless(after)})")


def _reason(event: Event) -> str:
    return f"{event['code']}: {harmless(event['detail'])}"


def _line(label: str, told: str, *, sound: bool | None = None) -> Text:
    style = {True: "green", False: "red", None: "dim"}[sound]
    shown = harmless(told, MAX_LINE)
    return Text.assemble("  ", (harmless(label).ljust(_LABEL_WIDTH), style), shown)
