"""The trace of a visit as lines for people.

What a site sent may be meant for the terminal: nothing of it is printed but printable
characters, and none of it is read as markup. Every line says in words what its colour
says.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rich.text import Text

from registry.terminal.printable import MAX_LINE, counted, printable
from registry.toml_table import read_table

_LABEL_WIDTH = 11
_ACTIONS_SHOWN = 12

Event = Mapping[str, Any]


def duration(seconds: float) -> str:
    for unit, length_s in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length_s:
            return f"{round(seconds / length_s)} {unit}"
    return f"{round(seconds)} s"


_ADDRESSES = frozenset({"url", "location", "page"})
_PLAIN = read_table("registry.cli.service", "trace_lines.toml", dict[str, list[str]])
"""Events of one line: its label, its words, and whether what they say is sound."""


class TraceWriter:
    """Turns events into lines; remembers what need not be repeated."""

    def __init__(self) -> None:
        self._origin = ""
        self._resolved: dict[str, Any] = {}
        self._robots_fetched: set[str] = set()
        self._lines: Mapping[str, Callable[[Event], Iterator[Text]]] = {
            "visit_begun": self._visit_begun,
            "resolved": self._resolved_line,
            "robots_fetched": self._robots_fetched_line,
            "robots_apply": self._robots_apply,
            "asked": self._request_line,
            "answered": self._answered,
            "absent": self._absent,
            "record_read": self._record_read,
            "understood": self._understood,
            "not_leased": self._not_leased,
            "scheduled": self._scheduled,
            **dict.fromkeys(_PLAIN, self._plain_line),
        }

    def lines(self, event: Event) -> Iterator[Text]:
        """Yield the lines of an event; none for one of a newer crawler."""
        format_lines = self._lines.get(str(event.get("event")))
        if format_lines:
            yield from format_lines(event)
        if event.get("fix"):
            yield _line("", f"what to do: {printable(event['fix'])}")

    def _plain_line(self, event: Event) -> Iterator[Text]:
        label, words, mark = _PLAIN[event["event"]]
        sound = mark == "sound" if mark else None
        shown = {name: self._shown(name, value) for name, value in event.items()}
        yield _line(label.format_map(shown), words.format_map(shown), sound=sound)

    def _shown(self, name: str, value: object) -> object:
        if not isinstance(value, str):
            return value
        return self._url(value) if name in _ADDRESSES else printable(value)

    def _url(self, url: str) -> str:
        return printable(url.removeprefix(self._origin) or url)

    # --- before the first address ---

    def _visit_begun(self, event: Event) -> Iterator[Text]:
        self._origin = f"https://{event['host']}"
        where = (
            f"asked for {len(event['declared'])} declared addresses"
            if event["declared"]
            else "asked at the places that the formats know"
        )
        yield Text(printable(f"{event['host']} is {where}"), style="bold")

    def _resolved_line(self, event: Event) -> Iterator[Text]:
        host, addresses = event["host"], event["addresses"]
        if self._resolved.get(host) == addresses:
            return  # it is looked up for each connection
        self._resolved[host] = addresses
        text = ", ".join(
            f"{printable(address['address'])} {'allowed' if address['allowed'] else 'NOT ALLOWED'}"
            for address in addresses
        )
        sound = all(address["allowed"] for address in addresses)
        yield _line("dns", f"{printable(host)}: {text or 'no address'}", sound=sound)

    def _robots_fetched_line(self, event: Event) -> Iterator[Text]:
        self._robots_fetched.add(event["host"])
        if event["code"]:
            reason = f"{event['code']}: {printable(event['detail'])}"
            yield _line("robots", f"{event['host']}: not read, {reason}")

    def _robots_apply(self, event: Event) -> Iterator[Text]:
        source = "" if event["host"] in self._robots_fetched else ", from the cache"
        group = f"its group for {event['agent']!r}" if event["agent"] else "no group"
        yield _line(
            "robots",
            f"{printable(group)} counts{source}: {event['rules']} rules, "
            f"which permit {event['permits']}",
            sound=event["permits"] != "nothing",
        )

    # --- addresses ---

    def _request_line(self, event: Event) -> Iterator[Text]:
        how = ", conditionally" if event["conditional"] else ""
        yield _line("ask", f"{self._url(event['url'])} ({event['found_by']}{how})")

    def _answered(self, event: Event) -> Iterator[Text]:
        moved = event["final_url"] != event["url"]
        at = f", found at {self._url(event['final_url'])}" if moved else ""
        what = "not modified"
        if event["status"] == 200:
            kind = printable(event["content_type"] or "no type", 80)
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

    # --- what they hold ---

    def _record_read(self, event: Event) -> Iterator[Text]:
        at = f", which lead to {self._url(event['endpoint'])}" * bool(event["endpoint"])
        name = printable(event["name"])
        yield _line("dns", f"{name}: {counted(event['records'], 'WAB record')}{at}")

    # --- what came of it ---

    def _understood(self, event: Event) -> Iterator[Text]:
        name = printable(event["name"] or "a site without a name", 80)
        category = printable(event["category"] or "no category", 80)
        yield _line(
            "understood",
            f"{name} ({category}), {counted(event['actions'], 'action')}, "
            f"{counted(event['problems'], 'problem')}",
            sound=True,
        )
        for document in event["documents"]:
            yield _line(
                "",
                f"{self._url(document['url'])}: {document['format']}, {document['conformance']}, "
                f"{counted(document['deviations'], 'deviation')}, {document['signature']}",
            )
        named = ", ".join(
            printable(name, 60) for name in event["named"][:_ACTIONS_SHOWN]
        )
        more = event["actions"] - min(len(event["named"]), _ACTIONS_SHOWN)
        if named:
            yield _line("", f"actions: {named}{f' and {more} more' if more else ''}")

    def _not_leased(self, event: Event) -> Iterator[Text]:
        why = {
            "not_listed": "is not listed here, so it has no task to be carried out",
            "leased": "is being visited by a crawler at this moment; try again soon",
        }[event["why"]]
        yield _line("refused", f"{printable(event['host'])} {why}", sound=False)

    def _scheduled(self, event: Event) -> Iterator[Text]:
        after = event["result"] + (f", {event['code']}" if event["code"] else "")
        earliest, latest = duration(event["earliest_s"]), duration(event["latest_s"])
        when = earliest if earliest == latest else f"{earliest} to {latest}"
        yield _line("next", f"in {when} (after this one: {printable(after)})")


def _line(label: str, text: str, *, sound: bool | None = None) -> Text:
    style = {True: "green", False: "red", None: "dim"}[sound]
    shown = printable(text, MAX_LINE)
    return Text.assemble("  ", (printable(label).ljust(_LABEL_WIDTH), style), shown)
