"""What stands in `deploy/` agrees with itself and with the project; no engine is needed."""

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

WAY_OUT = {"crawler", "witnesses"}


@pytest.fixture(scope="module")
def compose(root: Path) -> dict[str, Any]:
    text = (root / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    parsed: dict[str, Any] = yaml.safe_load(text)
    return parsed


@pytest.fixture(scope="module")
def containerfile(root: Path) -> str:
    return (root / "deploy" / "Containerfile").read_text(encoding="utf-8")


def test_image_has_what_links_of_the_package_lead_to(
    root: Path, containerfile: str
) -> None:
    """The wheel is built in the image of nothing but these."""
    copied = [
        root / source
        for sources in re.findall(r"^COPY (?!--)(.+) \S+$", containerfile, re.MULTILINE)
        for source in sources.split()
    ]
    links = [
        link
        for folder in copied
        if folder.is_dir()
        for link in folder.rglob("*")
        if link.is_symlink()
    ]

    assert links, "policy.md of the ranking"
    for link in links:
        assert any(link.resolve().is_relative_to(path) for path in copied), link


def test_what_the_image_copies_is_sent_to_the_engine(
    root: Path, containerfile: str
) -> None:
    rules = (root / "deploy" / "Containerfile.dockerignore").read_text(encoding="utf-8")
    sent = [line[1:] for line in rules.splitlines() if line.startswith("!")]
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", containerfile, re.MULTILINE)

    for source in " ".join(copied).split():
        assert any(fnmatch(source, rule) for rule in sent), source


def test_only_what_fetches_has_a_way_out(compose: dict[str, Any]) -> None:
    """A network without masquerade lets answers of a published port through alone."""
    masquerade = "com.docker.network.bridge.enable_ip_masquerade"
    closed = {
        name
        for name, network in compose["networks"].items()
        if (network or {}).get("internal")
        or (network or {}).get("driver_opts", {}).get(masquerade) == "false"
    }
    services = compose["services"]

    assert {
        name
        for name, service in services.items()
        if service.get("network_mode") != "none"
        and not closed >= {*service["networks"]}
    } == WAY_OUT
    assert services["web"]["dns"] == ["127.0.0.1"], "names, too, lead out"


def test_services_write_into_volumes_of_the_compose_file_alone(
    compose: dict[str, Any], containerfile: str
) -> None:
    """A volume of the image would be one more, anonymous and writable."""
    assert not re.search(r"^VOLUME", containerfile, re.MULTILINE)
    for name, service in compose["services"].items():
        if service["image"] == "fair-registry":
            assert service["read_only"], name
            assert service["cap_drop"] == ["ALL"], name


def test_the_databases_log_shows_no_rows(compose: dict[str, Any]) -> None:
    assert "log_error_verbosity=terse" in compose["services"]["postgres"]["command"]
