"""`bench formats`: what the readers of foreign documents make of hostile ones."""

import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import click

from registry.bench.synthetic.mutations import mutations
from registry.demo.town.build_document import build_document, build_page
from registry.demo.town.member import CAST
from registry.demo.town.resource import json_resource
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import MAX_BODY_BYTES, Parsed, Rejected
from registry.formats.html.links import parse_links
from registry.terminal.output import console, json_option, print_json

URL = "https://site.example/"
REPEATS = 200
TYPICAL_BYTES = 5_000
SLOW_MS = 250.0

Outcome = Parsed | Rejected


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--documents", type=int, default=20_000, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@json_option
def formats(folder: Path | None, documents: int, seed: int, *, as_json: bool) -> None:
    """Read generated and mutated documents, those of FOLDER among the originals.

    Fails unless each ends as parsed or rejected, and the largest in 250 ms of CPU.
    """
    seeds = [*_town(), *_files(folder)]
    counts: Counter[str] = Counter()
    slowest = 0.0
    for body in mutations(seeds, documents, Random(seed)):  # noqa: S311 - no secret
        slowest = max(slowest, _try(body, counts))
    largest = max(_measure(body) for body in _large(seeds))
    figures = {
        "documents": documents,
        **{name: counts[name] for name in ("parsed", "rejected", "failed")},
        "slowest_ms": round(slowest, 1),
        "large_slowest_ms": round(largest, 1),
        "typical_ms": round(_typical_ms(seeds), 3),
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    if as_json:
        print_json(figures)
    else:
        for name, value in figures.items():
            console.print(f"{name:>18} {value}")
    if counts["failed"] or largest > SLOW_MS:
        raise SystemExit(1)


def _town() -> list[bytes]:
    """The documents and pages of the demo town."""
    written = [build_document(member) for member in CAST]
    documents = [
        json_resource(document).body for document in written if document is not None
    ]
    return [*documents, *(build_page(member).body for member in CAST[:12])]


def _files(folder: Path | None) -> list[bytes]:
    if folder is None:
        return []
    files = sorted(
        path for path in folder.rglob("*") if path.suffix in (".json", ".html")
    )
    return [path.read_bytes() for path in files]


def _read(body: bytes) -> Iterator[Outcome]:
    yield parse_document(body, url=URL)
    yield parse_page(body, url=URL)
    parse_links(body, url=URL)


def _try(body: bytes, counts: Counter[str]) -> float:
    """Milliseconds of CPU in all readers; counts what they made of it."""
    started = time.process_time()
    try:
        for outcome in _read(body):
            counts["parsed" if isinstance(outcome, Parsed) else "rejected"] += 1
    except Exception as error:  # noqa: BLE001 - that none comes is what is measured
        counts["failed"] += 1
        console.print(f"[red]{error!r}[/] for {body[:200]!r}")
    return (time.process_time() - started) * 1000


def _measure(body: bytes) -> float:
    """The best of three: what else the machine does is not the readers' work."""
    return min(_try(body, Counter()) for _ in range(3))


def _typical_ms(seeds: Sequence[bytes]) -> float:
    """Time a reading of the sound JSON document nearest to 5 KB, scaled to that."""
    sound = [
        document
        for document in seeds
        if isinstance(parse_document(document, url=URL), Parsed)
    ]
    body = min(sound, key=lambda document: abs(len(document) - TYPICAL_BYTES))
    started = time.process_time()
    for _ in range(REPEATS):
        parse_document(body, url=URL)
    took_ms = (time.process_time() - started) * 1000 / REPEATS
    return took_ms * TYPICAL_BYTES / len(body)


# --- the largest ----------------------------------------------------------------------


def _large(seeds: Sequence[bytes]) -> Iterator[bytes]:
    """Documents of 512 KiB that are as much work as their size allows."""
    for seed in seeds:
        yield (seed * (MAX_BODY_BYTES // max(1, len(seed)) + 1))[:MAX_BODY_BYTES]
    for opening, part, closing in _REPEATED:
        room = MAX_BODY_BYTES - len(opening) - len(closing)
        many = part if callable(part) else _same(part)
        yield opening + _fill(many, room) + closing


def _same(part: bytes) -> Callable[[int], bytes]:
    return lambda _number: part


def _fill(part: Callable[[int], bytes], room: int) -> bytes:
    parts: list[bytes] = []
    while room > 0:
        item = part(len(parts))
        room -= len(item)
        if room > 0:
            parts.append(item)
    return b"".join(parts).rstrip(b",")


_REPEATED: tuple[tuple[bytes, bytes | Callable[[int], bytes], bytes], ...] = (
    (b"", b"[", b""),
    (b"[", b"[],", b"]"),
    (b'["', b"\\\\", b'"]'),
    (b'["', b"\\u0041", b'"]'),
    (b"{", lambda n: b'"%d":0,' % n, b"}"),
    (b'{"wab_version":"1.0","provider":{},"actions":[', b"{},", b"]}"),
    (
        b'{"wab_version":"1.0","provider":{},"capabilities":{"commands":[',
        lambda n: b'{"name":"a%d","params":[%s]},' % (n, b'{"name":1},' * 60 + b"0"),
        b"]}}",
    ),
    (
        b'{"awp_version":"0.2","domain":"a.bc","intent":"x","actions":[',
        lambda n: b'{"id":"a%d","inputs":{"a":1,"b":{}}},' % n,
        b"]}",
    ),
    (
        b'{"awp_version":"0.2","domain":"a.b","intent":"","actions":[],"dependencies":{',
        lambda n: b'"a%d":["a%d","a%d"],' % (n, n + 1, n + 2),
        b"}}",
    ),
    (b'{"specVersion":"1.1","actions":[', b'{"id":"a","inputs":{"a":"b?"}},', b"]}"),
    (b'{"abp":"1","app":{},"capabilities":[', b'{"name":"a"},', b"]}"),
    (
        b'{"abp":"1","app":{},"capabilities":[{"name":"a","inputSchema":{"properties":{',
        lambda n: b'"p%d":{"enum":[1,2]},' % n,
        b"}}}]}",
    ),
    (b'{"tools":[', lambda n: b'{"name":"a%d","url":"/x"},' % n, b"]}"),
    (b'{"name":"a","skills":[', lambda n: b'{"id":"a%d"},' % n, b"]}"),
    (b"", b"<", b""),
    (b"", b"<p>", b""),
    (b"", b"<svg><p>", b""),
    (b"<script>", b"<!--<script></script>", b""),
    (b"", b"&#x41;", b""),
    (b"<form toolname=a tooldescription=b>", b"<input name=a>", b"</form>"),
    (b"", lambda n: b"<form toolname=t%d tooldescription=b>" % n, b""),
    (b"<input ", lambda n: b"a%d=b " % n, b">"),
    (b"", b"<label>a<select name=b><option>", b""),
    (b"", b"<!--", b""),
    (b"<script>navigator.modelContext.registerTool(", b"{a:[", b"</script>"),
    (b"<script>", b"navigator.modelContext.registerTool({name:'a'});", b"</script>"),
    (b"<script>navigator.modelContext.registerTool(", b"`${", b"</script>"),
    (b"<script>", b"modelContext=a/b;registerTool(", b"</script>"),
)
