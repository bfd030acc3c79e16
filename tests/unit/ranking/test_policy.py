import json
from dataclasses import fields, replace
from typing import Any

from registry.ranking.encoders.encoder import Encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL, REASONS, Policy

IDENTITY = {"name", "encoder", "encoder_digest", "dictionary", "dictionary_digest"}


def test_weights_are_those_of_wab_9_4_and_add_up() -> None:
    assert DEFAULT_POLICY.weights == (4000, 2000, 1500, 1500, 1000)
    assert sum(DEFAULT_POLICY.weights) == FULL


def test_every_constant_has_a_reason() -> None:
    constants = {field.name for field in fields(Policy)} - IDENTITY
    assert set(REASONS) == constants


def test_canonical_json_holds_integers_and_strings_only() -> None:
    for value in json.loads(DEFAULT_POLICY.canonical_json).values():
        words = value if isinstance(value, list) else [value]
        assert all(type(word) in (int, str) for word in words)


def test_every_constant_is_under_the_digest() -> None:
    assert DEFAULT_POLICY.digest.startswith("sha256:")
    digests = {DEFAULT_POLICY.digest}
    for field in fields(Policy):
        value: Any = getattr(DEFAULT_POLICY, field.name)
        other = value + 1 if isinstance(value, int) else (*value, "x")
        changes: dict[str, Any] = {field.name: "x" if isinstance(value, str) else other}
        digests.add(replace(DEFAULT_POLICY, **changes).digest)
    assert len(digests) == len(fields(Policy)) + 1


def test_policy_names_the_encoder_that_is_installed(encoder: Encoder) -> None:
    assert encoder.digest == DEFAULT_POLICY.encoder_digest
