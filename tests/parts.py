"""Every test, in parts that run side by side: what `make test` does.

A part is a pytest process with files of its own. It collects and imports those alone,
where each worker of pytest-xdist collects all tests and reports each by five messages.
What a part prints is shown when it has ended, and the sum of all in the end.
"""

import argparse
import asyncio
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent
WHOLE = (  # what costs most comes first, so that little is left for a single core
    ("faults",),
    ("api", "browser", "contract"),  # they ask one running registry
    ("cli", "demo"),
    ("architecture", "bench", "crawler"),
)
"""Folders that share costly fixtures. All other files are dealt out."""
DEALT = 4
NO_TESTS = 5
"""pytest's exit code: "not slow" leaves nothing of some parts."""
Part = tuple[str, list[Path]]


def test_files(folders: Iterable[str]) -> list[Path]:
    return sorted(
        path for name in folders for path in (FOLDER / name).rglob("test_*.py")
    )


def parts() -> list[Part]:
    """Return the name and the files of each part; each file is in a single part."""
    whole = [(", ".join(names), test_files(names)) for names in WHOLE]
    taken = {name for names in WHOLE for name in names}
    rest = [
        path
        for path in test_files([""])
        if path.relative_to(FOLDER).parts[0] not in taken
    ]
    dealt = [
        (f"the rest, {number + 1} of {DEALT}", rest[number::DEALT])
        for number in range(DEALT)
    ]
    return [*whole, *dealt]


async def run_part(part: Part, arguments: Sequence[str]) -> tuple[int, str]:
    """Run it, and show what it printed. Return its exit code, and pytest's summary."""
    name, files = part
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", *arguments, *map(str, files)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
        code = await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    text, summary = up_to_summary(output.decode(errors="replace"))
    show(f"\n--- {name}, with exit code {code}\n{text}")
    return code, summary


def up_to_summary(text: str) -> tuple[str, str]:
    """Return the text as far as pytest's summary, and that line.

    Libraries in C complain behind it, when the process ends. Whole, and "" where it has
    no summary.
    """
    summaries = list(re.finditer(r"^(?:=+ )?\d+ .* in [0-9.]+s.*$", text, re.MULTILINE))
    if not summaries:
        return text.rstrip(), ""
    return text[: summaries[-1].end()], summaries[-1].group()


def show(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def run_all(at_once: int, arguments: Sequence[str]) -> int:
    """Run all parts and show their sum. Return the exit code."""
    loop, own = asyncio.get_running_loop(), asyncio.current_task()
    assert own
    loop.add_signal_handler(signal.SIGTERM, own.cancel)
    began_s = time.monotonic()
    free = asyncio.Semaphore(at_once)

    async def take_turn(part: Part) -> tuple[int, str]:
        async with free:
            return await run_part(part, arguments)

    ended = await asyncio.gather(*map(take_turn, parts()))
    counts = sum_up(summary for _, summary in ended)
    summary = f"{counts or 'no tests ran'} in {time.monotonic() - began_s:.2f}s"
    show(f"\n==== {summary} ====")
    return exit_code(code for code, _ in ended)


def exit_code(codes: Iterable[int]) -> int:
    """Return 0 only if no part failed. codes: negative of who was killed by a signal."""
    return max(map(abs, set(codes) - {NO_TESTS}), default=NO_TESTS)


def sum_up(lines: Iterable[str]) -> str:
    """Add up pytest's summaries: "= 3 passed, 1 skipped in 2.00s ="."""
    counts = Counter[str]()
    for line in lines:
        for number, outcome in re.findall(
            r"(\d+) ([a-z]+(?: [a-z]+)?)(?=,| in )", line
        ):
            counts[outcome] += int(number)
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.items())


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--at-once", type=int, default=8, help="parts, default 8")
    given, arguments = reader.parse_known_args()
    sys.exit(asyncio.run(run_all(given.at_once, arguments)))


if __name__ == "__main__":
    main()
