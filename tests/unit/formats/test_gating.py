from typing import Any

import pytest

from registry.formats.reading.gating import read_auth, read_confirmation
from registry.formats.reading.reader import DeviationLog, Reader


def _reader(value: Any) -> Reader:
    return Reader(value, "/auth", DeviationLog(url="https://site.example/"))


@pytest.mark.parametrize(
    ("declared", "required"),
    [
        (None, None),
        (True, True),
        (False, False),
        ("none", False),
        ("No-Auth", False),
        ("public-free", False),
        ("bearer", True),
        ("API key", True),
        ("OAuth 2.0", True),
        ("see our terms", None),
        ("", None),
        (7, None),
        ({}, None),
        ({"required": True}, True),
        ({"required": False, "type": "bearer"}, False),
        ({"required": "yes"}, None),
        ({"requires_login": False}, False),
        ({"type": "none"}, False),
        ({"type": "oauth2"}, True),
        ({"type": ["oauth2", "none"]}, False),
        ({"schemes": ["Bearer"]}, True),
        ({"schemes": ["none"]}, False),
        ({"schemes": []}, None),
        ({"schemes": [7, {}]}, None),
        ({"schemes": {"bearer": {}}}, None),
        ({"methods": ["oauth2"]}, None),
        (["bearer"], True),
        ([], None),
        ([["bearer"]], None),
    ],
)
def test_authentication_is_required_open_or_unknown(
    declared: Any, required: bool | None
) -> None:
    assert read_auth(_reader(declared)) is required


@pytest.mark.parametrize(
    ("action", "confirmation"),
    [
        ({}, None),
        ({"requiresConfirmation": True}, True),
        ({"requires_human_confirmation": False}, False),
        ({"confirmation_required": "always"}, None),
        ({"confirm": True}, None),
        (["requiresConfirmation"], None),
    ],
)
def test_a_persons_confirmation_is_declared_or_unknown(
    action: Any, confirmation: bool | None
) -> None:
    assert read_confirmation(_reader(action)) is confirmation
