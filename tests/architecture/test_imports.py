"""What may import what: the contracts hold, and break when they are violated."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PARTS_WITH_EGRESS = {
    *("__main__", "auditor", "bench", "cli", "client", "demo", "terminal"),
}
NO_CLIENT = (
    *("aiohttp", "crawler", "dns", "h11", "httpcore", "httpx", "requests"),
    *("registry.bench", "registry.client", "registry.demo", "registry.cli"),
    "registry.terminal",
)
EGRESS = re.compile(
    r"\b(urllib\.request|http\.client|open_connection|create_connection"
    r"|create_datagram_endpoint|open_unix_connection|sock_connect)\b"
)

# contract, the file that violates it, and how
VIOLATIONS = (
    ("registry-layers", "registry/sites/place.py", "import registry.usecases"),
    ("registry-layers", "registry/index/query/top_k.py", "import registry.interfaces"),
    ("index-layers", "registry/index/columns/rows.py", "import registry.index.query"),
    ("crawler-layers", "crawler/http/guard.py", "import crawler.tasks.crawl"),
    (
        "crawler-tasks-layers",
        "crawler/tasks/crawl_findings.py",
        "import crawler.tasks.crawl",
    ),
    ("crawler-http-layers", "crawler/http/guard.py", "import crawler.http.fetch"),
    (
        "crawler-apart",
        "registry/usecases/search/answer_search.py",
        "import crawler.http.fetch",
    ),
    ("no-web-in-crawler", "crawler/worker.py", "import registry.index.query.search"),
    ("no-egress", "registry/interfaces/rest/sites/sites.py", "import httpx"),
    ("no-egress", "registry/usecases/search/select.py", "import registry.client"),
    ("no-egress", "registry/db/sites/listed_sites.py", "import socket"),
    ("one-fetcher", "crawler/probes/http_probe.py", "import h11"),
    ("sql-in-db", "registry/usecases/search/select.py", "import sqlalchemy"),
    ("bench-apart", "registry/cli/service/serve.py", "import registry.bench.load"),
    ("bench-apart", "crawler/once.py", "import registry.bench.scratch"),
    (
        "parquet-in-archive",
        "registry/usecases/reports/write_archive.py",
        "import duckdb",
    ),
    (
        "settings-at-the-edge",
        "registry/usecases/search/select.py",
        "import registry.settings",
    ),
    ("pure", "registry/ranking/freshness.py", "import time"),
    ("pure", "registry/reports/window/aggregate.py", "import random"),
    ("pure", "crawler/frontier/schedule.py", "import asyncio"),
    ("pure", "crawler/probes/outcome.py", "import socket"),
    (
        "formats-independent",
        "registry/formats/wab/discovery.py",
        "import registry.formats.awp.awp_manifest",
    ),
    (
        "factors-independent",
        "registry/ranking/freshness.py",
        "import registry.ranking.quality",
    ),
    (
        "audits-without-database",
        "registry/usecases/sites/site_profiler.py",
        "import registry.db.sites",
    ),
    (
        "audits-without-database",
        "registry/usecases/reports/shadow.py",
        "import registry.db.reports",
    ),
    ("audits-by-one-client", "registry/terminal/output.py", "import httpx"),
    (
        "no-labels-in-ranking",
        "registry/ranking/score.py",
        "import registry.sites.label",
    ),
    (
        "no-labels-in-ranking",
        "registry/index/query/search.py",
        "import registry.db.labels",
    ),
    ("acyclic", "registry/errors.py", "import registry.sites"),
)


@pytest.fixture(scope="module")
def copy(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The service's sources and contracts, to be violated."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copy(root / "pyproject.toml", folder)
    for package in ("registry", "crawler"):
        shutil.copytree(
            root / package,
            folder / package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    return folder


# One process for all: each file is violated, linted and put back, and of the others
# what was parsed is remembered.
LINT_VIOLATED = """
import contextlib, io, json, sys
from pathlib import Path
from importlinter.cli import lint_imports

def lint(*contracts):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = lint_imports(
            limit_to_contracts=contracts, cache_dir="parsed", no_logo=True
        )
    return code, output.getvalue()

results = [lint()]
for contract, file, line in json.load(sys.stdin):
    path = Path(file)
    sound = path.read_text()
    path.write_text(f"{sound}\\n{line}\\n")
    results.append(lint(contract))
    path.write_text(sound)
json.dump(results, sys.stdout)
"""


@pytest.fixture(scope="module")
def linted(copy: Path) -> dict[tuple[str, ...], tuple[int, str]]:
    """Exit code and output by violation; by () those of the sound sources."""
    done = subprocess.run(
        [sys.executable, "-c", LINT_VIOLATED],
        cwd=copy,
        input=json.dumps(VIOLATIONS),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip([(), *VIOLATIONS], json.loads(done.stdout), strict=True))


def contracts(root: Path) -> dict[str, dict[str, list[str]]]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    return {
        contract["id"]: contract
        for contract in project["tool"]["importlinter"]["contracts"]
    }


def test_every_contract_is_kept(linted: dict[tuple[str, ...], tuple[int, str]]) -> None:
    code, output = linted[()]

    assert code == 0, output


@pytest.mark.parametrize("violation", VIOLATIONS, ids=" ".join)
def test_a_planted_violation_breaks_its_contract(
    linted: dict[tuple[str, ...], tuple[int, str]], violation: tuple[str, ...]
) -> None:
    code, output = linted[violation]

    assert code == 1, output
    assert "1 broken" in output


def test_every_contract_has_a_planted_violation(root: Path) -> None:
    assert {contract for contract, _, _ in VIOLATIONS} == set(contracts(root))


def test_the_contract_against_egress_covers_every_part_of_the_service(
    root: Path,
) -> None:
    covered = set(contracts(root)["no-egress"]["source_modules"])
    parts = {
        path.stem
        for path in (root / "registry").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }

    assert covered == {
        f"registry.{part}" for part in parts - PARTS_WITH_EGRESS - {"__init__"}
    }


def test_the_web_application_loads_no_client_of_any_kind() -> None:
    script = "import sys, registry.app; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()

    assert "registry.interfaces.rest.search.search" in loaded
    assert [name for name in loaded if name.startswith(NO_CLIENT)] == []


def test_no_part_of_the_service_opens_a_connection_by_the_standard_library(
    sources: dict[Path, str],
) -> None:
    result = [
        f"{path}: {match.group()}"
        for path, source in sources.items()
        if path.parts[0] == "registry"
        and path.with_suffix("").parts[1] not in PARTS_WITH_EGRESS
        for match in EGRESS.finditer(source)
    ]

    assert result == []


def test_only_the_log_and_the_migration_commit_by_hand(
    sources: dict[Path, str],
) -> None:
    committing = {
        path.as_posix() for path, source in sources.items() if ".commit()" in source
    }

    assert committing == {
        "registry/usecases/log/sequence.py",
        "registry/db/schema/migrate.py",
    }
