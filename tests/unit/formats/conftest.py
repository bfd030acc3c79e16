import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.errors import Problem
from registry.formats.detect import parse_document
from registry.formats.document import Document, Parsed, Rejected

SAMPLES = Path(__file__).parent / "samples"
URL = "https://site.example/.well-known/document.json"


@pytest.fixture
def sample() -> Callable[[str], dict[str, Any]]:
    """A fresh copy of a sample document, to be changed at will."""

    def load(name: str) -> dict[str, Any]:
        sample: dict[str, Any] = json.loads((SAMPLES / f"{name}.json").read_bytes())
        return sample

    return load


@pytest.fixture
def read() -> Callable[..., Document]:
    """The document that a JSON value is read as; fails if it is rejected."""

    def parse(value: Any, **where: str) -> Document:
        result = parse_document(json.dumps(value).encode(), **{"url": URL, **where})
        assert isinstance(result, Parsed), result
        return result.document

    return parse


@pytest.fixture
def refuse() -> Callable[..., Problem]:
    """Why a JSON value is rejected; fails if it is read."""

    def parse(value: Any, **where: str) -> Problem:
        result = parse_document(json.dumps(value).encode(), **{"url": URL, **where})
        assert isinstance(result, Rejected), result
        assert result.problem.detail
        assert result.problem.fix
        return result.problem

    return parse
