"""The policy: every weight and constant that ranking depends on.

Owns all numbers and word lists of ranking; no other module of this package has any. They
stand in policy.toml, each with its reason.
A policy is named by the hash of its canonical JSON (RFC 8785). That form has integers
and strings only, so fractions are basis points: 10,000 stands for 1.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import msgspec
import rfc8785

from registry.ranking.word_lists.vocabulary import words_in
from registry.toml_table import read_table

FULL = 10_000
"""The unit of factors, weights and fractions: 1 in basis points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Constants of the score. `_bp` is basis points, `_milli` thousandths."""

    name: str
    encoder: str
    encoder_digest: str

    # Weights of the factors
    weight_relevance: int
    weight_proximity: int
    weight_capability_depth: int
    weight_quality: int
    weight_freshness: int

    # Text
    word_letters_max: int
    name_words_max: int
    description_words_max: int
    parameter_words_max: int
    site_words_max: int
    query_words_max: int
    stop_words: tuple[str, ...]
    act_words: tuple[str, ...]
    asking_words: tuple[str, ...]
    asking_speakers: tuple[str, ...]
    answering_speakers: tuple[str, ...]
    generic_words: tuple[str, ...]
    everyday_words: tuple[str, ...]
    trade_words: tuple[str, ...]
    split_words: tuple[str, ...]
    name_parts: tuple[str, ...]
    linking_parts: tuple[str, ...]
    compound_parts: tuple[str, ...]
    closed_words: tuple[str, ...]
    spelled_words: tuple[str, ...]
    dictionary: str
    dictionary_digest: str
    correction_letters_min: int
    correction_alone_letters_min: int
    correction_occurrences_min: int
    correction_english_bp: int
    slip_doubled_weight: int
    slip_swapped_weight: int
    slip_letter_weight: int
    slip_replaced_weight: int
    corrections_max: int
    correction_share_bp: int

    # Relevance by words
    action_name_weight_milli: int
    description_weight_milli: int
    parameter_weight_milli: int
    site_weight_milli: int
    bm25_k1_milli: int
    bm25_b_bp: int
    length_pivot_milli: int
    scored_terms: int

    # Relevance by meaning
    embedding_name_weight: int
    embedding_description_weight: int
    embedding_parameter_weight: int
    embedding_site_weight: int
    embedding_word_weight: int
    embedding_act_weight: int
    piece_letters_full: int
    sentence_texts_max: int
    sentence_names_bp: int
    sentence_pieces_max: int
    static_weight_bp: int
    static_share_min_bp: int
    static_share_full_bp: int

    # Relevance, fused
    lexical_share_base_bp: int
    lexical_share_growth_bp: int
    lexical_share_terms: int
    lexical_share_max_bp: int
    full_relevance_bp: int
    meaning_min_bp: int
    meaning_only_min_bp: int
    meaning_step_bp: int
    meaning_beside_step_bp: int
    meaning_terms_min: int
    meaning_terms_max: int
    relevance_min: int
    relevance_min_step: int
    relevance_min_terms: int

    # Proximity
    distance_scale_km: int
    proximity_neutral: int
    place_cooling_days: int
    non_local_categories: tuple[str, ...]

    # Capability depth
    depth_cap_milli: int
    duplicate_action_bp: int
    richness_named_bp: int
    richness_described_bp: int
    richness_typed_bp: int
    richness_documented_bp: int
    richness_auth_bp: int
    richness_sensitivity_bp: int
    described_words: int
    relevant_description_words: int

    # Quality
    quality_success_bp: int
    quality_uptime_bp: int
    quality_speed_bp: int
    quality_half_ms: int
    quality_prior: int
    quality_probes_min: int

    # Freshness
    freshness_scale_days: int
    freshness_floor: int
    freshness_credit_days: int

    # Sameness and samples
    duplicate_site_bp: int
    duplicate_signature_bytes: int
    signature_site_weight: int
    publisher_places_max: int
    tie_seed_form: int
    shown_score_step: int
    shown_factor_step_bp: int
    publisher_answer_places: int
    eligible_sample: int

    def __hash__(self) -> int:
        """Hash the name alone, as every search looks up caches by policy."""
        return hash(self.name)

    @property
    def weights(self) -> tuple[int, int, int, int, int]:
        """The weights in the order of `Factors`; they add up to FULL."""
        return (
            self.weight_relevance,
            self.weight_proximity,
            self.weight_capability_depth,
            self.weight_quality,
            self.weight_freshness,
        )

    @property
    def canonical_json(self) -> bytes:
        """RFC 8785 bytes of every constant; the reasons are prose and stay out."""
        return _canonical(self)[0]

    @property
    def digest(self) -> str:
        return _canonical(self)[1]


@lru_cache(maxsize=8)
def _canonical(policy: Policy) -> tuple[bytes, str]:
    """Make 40 KB and their digest once: an audit asks for them for each ranking."""
    body = rfc8785.dumps(
        {row.name: getattr(policy, row.name) for row in fields(policy)}
    )
    return body, f"sha256:{hashlib.sha256(body).hexdigest()}"


class _Constant(msgspec.Struct, forbid_unknown_fields=True):
    """A constant of the table: its value, or the lists of words that it takes together."""

    value: int | str | None = None
    lists: tuple[str, ...] = ()
    reason: str = ""


_TABLE = read_table(__package__, "policy.toml", dict[str, _Constant])
REASONS: Mapping[str, str] = {
    name: constant.reason for name, constant in _TABLE.items() if constant.reason
}
"""The reason of each constant, by its name."""

_TODAY: Mapping[str, Any] = {
    name: words_in(*constant.lists) if constant.lists else constant.value
    for name, constant in _TABLE.items()
}
_NONE_BEFORE: Mapping[str, Any] = {
    **dict.fromkeys(("meaning_step_bp", "meaning_beside_step_bp"), 0),
    **dict.fromkeys(("asking_speakers", "answering_speakers"), ()),
    **dict.fromkeys(("dictionary", "dictionary_digest"), ""),
    # Steps by which the score alone orders: every factor is shown as 0.
    "shown_score_step": 1,
    "shown_factor_step_bp": 4 * FULL,
}


def parse_policy(text: str) -> Policy:
    """Return the policy of a record; what it does not name is as today, or `_NONE_BEFORE`.

    Raises: ValueError, TypeError.
    """
    values = {**_NONE_BEFORE, **json.loads(text)}
    stated = {
        name: tuple(value) if isinstance(value, list) else value
        for name in _TODAY
        if (value := values.get(name)) is not None
    }
    return Policy(**{**_TODAY, **stated})


DEFAULT_POLICY = Policy(**_TODAY)
STATIC_POLICY = replace(
    DEFAULT_POLICY,
    name=f"{DEFAULT_POLICY.name}-static",
    encoder="wordllama-l2_supercat-256-axes-128",
    encoder_digest=(
        "sha256:f1ec9c9d84cf6b8b2c14234cf693bf6b4b6342e7fe61dfd2e02cec00a347c785"
    ),
    meaning_min_bp=0,
    meaning_only_min_bp=3000,
    meaning_step_bp=0,
    meaning_beside_step_bp=0,
    relevance_min=1300,
    relevance_min_step=400,
)
"""Policy of registries that want requests read in a tenth of a millisecond, in English.

Static vectors know single words, not whole requests, so words decide with them.
"""

POLICIES: Mapping[str, Policy] = {
    "multilingual": DEFAULT_POLICY,
    "static": STATIC_POLICY,
}
"""Policies by the encoder that an operator chooses."""
POLICY_BY_DIGEST = {policy.digest: policy for policy in POLICIES.values()}
