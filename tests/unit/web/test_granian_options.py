"""A web process by itself is the web process of `serve`, wherever it is started."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.cli.service.supervise import parts_of_service
from registry.web.__main__ import main
from registry.web.granian_options import ALLOCATOR

DEPLOYED = Path(__file__).parents[3] / "deploy"


class Replaced(Exception):
    """Stands for the end of the program that becomes another."""


def test_it_becomes_what_serve_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    replaced: list[Any] = []

    def become(*program: Any) -> None:
        replaced.extend(program)
        raise Replaced

    monkeypatch.setattr(os, "execve", become)
    for name, value in (("HOST", "0.0.0.0"), ("PORT", "81"), ("WORKERS", "3")):
        monkeypatch.setenv(f"FAIR_REGISTRY_{name}", value)
    with pytest.raises(Replaced):
        main()
    path, arguments, environment = replaced
    parts = parts_of_service("0.0.0.0", 81, 3)
    of_serve = next(part.arguments for part in parts if part.name == "web")
    assert path == sys.executable
    assert arguments[1:] == of_serve
    assert ALLOCATOR.items() <= environment.items()
    assert environment["FAIR_REGISTRY_PORT"] == "81"


def test_options_of_the_web_server_stand_nowhere_else() -> None:
    """A copy of them in compose.yaml had turned WebSockets off and heads large."""
    for file in DEPLOYED.iterdir():
        assert "granian" not in file.read_text(), file.name


def test_compose_starts_each_part_as_serve_does() -> None:
    text = (DEPLOYED / "compose.yaml").read_text()
    modules = re.findall(r"command: \[python, -m, ([\w.]+)\]", text)
    parts = parts_of_service("127.0.0.1", 8080, 1, witnessed=True)
    started = {part.arguments[1] for part in parts}
    assert sorted(modules) == sorted(started - {"granian"} | {"registry.web"})
