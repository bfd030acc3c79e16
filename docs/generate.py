"""Write settings.md and problems.md from the code.

--check: compare only, and print the problem types as JSON.
"""

import json
import pkgutil
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, asdict, fields
from importlib import import_module
from pathlib import Path
from types import ModuleType

import crawler
import registry
from registry.errors import ProblemType, read_problem_types
from registry.settings import PREFIX, Settings

DOCS = Path(__file__).parent

SETTINGS_HEAD = f"""\
# Settings

Every setting is an environment variable: `{PREFIX}` and the name. There is no settings file. `serve` and `demo` take some of them as options too; an option wins.

| variable | default | |
|---|---|---|
"""

PROBLEMS_HEAD = """\
# Problems

Every refusal is an RFC 9457 problem document with a stable `code`; each code has a page at `/problems/CODE`. A registration lists the problems that the crawler found in the same form.

"""

CHAPTERS = {
    "registry.interfaces": "Requests",
    "registry.usecases": "The registry's state",
    "registry.identity": "Keys, statements and signatures",
    "registry.sites": "Hosts and places",
    "registry.refusals": "JSON",
    "registry.formats": "Discovery documents",
    "crawler": "Fetching a site",
    "registry.records": "Records and promises",
    "registry.reports.archive": "The audit archive",
    "registry.tlog": "The log",
}


def settings_page() -> str:
    does = tomllib.loads((DOCS.parent / "registry" / "settings.toml").read_text())
    rows = []
    for field in fields(Settings):
        missing = field.default in (MISSING, None, "", False)
        default = "" if missing else field.default
        shown = f"`{default}`" if str(default) else ""
        rows.append(
            f"| `{PREFIX}{field.name.upper()}` | {shown} | {does[field.name]} |\n"
        )
    return SETTINGS_HEAD + "".join(rows)


def problems_page() -> str:
    page = PROBLEMS_HEAD
    for prefix, chapter in CHAPTERS.items():
        kinds = sorted((kind for _, kind in problem_types(prefix)), key=_code)
        rows = "".join(
            f"| `{kind.code}` | {_cell(kind.title)} | {_cell(kind.fix)} |\n"
            for kind in kinds
        )
        page += f"## {chapter}\n\n| code | what is wrong | what to do |\n|---|---|---|\n{rows}\n"
    return page.rstrip("\n") + "\n"


def problem_types(prefix: str = "") -> Iterator[tuple[str, ProblemType]]:
    """Yield each constant with its full name, from the module that declares it."""
    for module in modules():
        if module.__name__.startswith(prefix):
            for name, kind in _declared(module):
                yield f"{module.__name__}.{name}", kind


def _declared(module: ModuleType) -> Iterator[tuple[str, ProblemType]]:
    """Yield the kinds of the package's table."""
    if Path(str(module.__file__)).name == "refusals.py":
        yield from read_problem_types(str(module.__package__)).items()


def modules() -> Iterator[ModuleType]:
    for package in (registry, crawler):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                yield import_module(module.name)


def _code(kind: ProblemType) -> str:
    return kind.code


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    is_check = "--check" in sys.argv
    if is_check:
        listed = [[name, asdict(kind)] for name, kind in problem_types()]
        json.dump(listed, sys.stdout)
    stale = []
    for name, page in (
        ("settings.md", settings_page()),
        ("problems.md", problems_page()),
    ):
        path = DOCS / name
        if not path.exists() or path.read_text() != page:
            stale.append(name)
            if not is_check:
                path.write_text(page)
    if stale and is_check:
        sys.exit(f"not as the code says, run `make docs`: {', '.join(stale)}")


if __name__ == "__main__":
    main()
