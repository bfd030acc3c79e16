"""The policy: every weight and constant that ranking depends on, each with its reason.

Owns all numbers and word lists of ranking; no other module of this package has any.
A policy is named by the hash of its canonical JSON (RFC 8785). That form has integers
and strings only, so fractions are basis points: 10,000 stands for 1.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import rfc8785

from registry.ranking.word_lists import vocabulary

FULL = 10_000
"""The unit of factors, weights and fractions: 1 in basis points."""


def _constant(value: int, reason: str) -> int:
    constant: int = field(default=value, metadata={"reason": reason})
    return constant


def _words(value: tuple[str, ...], reason: str) -> tuple[str, ...]:
    words: tuple[str, ...] = field(default=value, metadata={"reason": reason})
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Constants of the score. `_bp` is basis points, `_milli` thousandths."""

    name: str = "fair-2026.11"
    encoder: str = "wordllama-axes-84-use-multilingual-3-axes-192"
    encoder_digest: str = (
        "sha256:94ae375a88ecbd1f45d2f40f5a97bea5da6eea71b2644b3c6e9192acc77696f1"
    )

    # Weights of the factors
    weight_relevance: int = _constant(4000, "WAB 1.0 §9.4 gives relevance 40%")
    weight_proximity: int = _constant(2000, "WAB 1.0 §9.4 gives proximity 20%")
    weight_capability_depth: int = _constant(1500, "WAB 1.0 §9.4 gives depth 15%")
    weight_quality: int = _constant(1500, "WAB 1.0 §9.4 gives quality 15%")
    weight_freshness: int = _constant(1000, "WAB 1.0 §9.4 gives freshness 10%")

    # Text
    word_letters_max: int = _constant(40, "longer runs are keys and hashes, no words")
    name_words_max: int = _constant(12, "a name is a phrase; more is stuffing")
    description_words_max: int = _constant(
        64, "distinct words of two or three sentences; more is stuffing"
    )
    parameter_words_max: int = _constant(
        64, "distinct words of an action's parameters, as for its description"
    )
    site_words_max: int = _constant(
        96, "distinct words of a category and a short paragraph"
    )
    query_words_max: int = _constant(
        48, "bounds the work of one search; real requests end well before"
    )
    stop_words: tuple[str, ...] = _words(
        vocabulary.STOP_WORDS,
        "grammar, politeness and praise say nothing of what a site does",
    )
    act_words: tuple[str, ...] = _words(
        vocabulary.ACT_WORDS,
        "done at sites of every trade, it tells little; as written: books are no booking",
    )
    asking_words: tuple[str, ...] = _words(
        vocabulary.ASKING_WORDS,
        "they color what a request means: stop words that count in its meaning alone",
    )
    asking_speakers: tuple[str, ...] = _words(
        vocabulary.ASKING_SPEAKERS,
        "a dialogue asks what these say: lines that begin with one of them and a colon",
    )
    answering_speakers: tuple[str, ...] = _words(
        vocabulary.ANSWERING_SPEAKERS, "what these say in it is no request"
    )
    generic_words: tuple[str, ...] = _words(
        vocabulary.GENERIC_WORDS,
        "a plain noun of a trade is nobody's mark: it is not masked as a whole name",
    )
    everyday_words: tuple[str, ...] = _words(
        vocabulary.EVERYDAY_WORDS,
        "nor are these in a longer name; most the encoder's vocabulary has in one piece",
    )
    trade_words: tuple[str, ...] = _words(
        vocabulary.TRADE_WORDS,
        "the same in scripts of which the encoder's vocabulary has few words",
    )
    split_words: tuple[str, ...] = _words(
        vocabulary.SPLIT_WORDS,
        "in one word or in two, these count as one; with a hyphen here, if there is one",
    )
    name_parts: tuple[str, ...] = _words(
        vocabulary.NAME_PARTS,
        "words of three letters and of asking that occur in names run together",
    )
    linking_parts: tuple[str, ...] = _words(
        vocabulary.LINKING_PARTS,
        "these stand between two words of a name, never at its end",
    )
    compound_parts: tuple[str, ...] = _words(
        vocabulary.COMPOUND_PARTS, "nouns that German puts together freely"
    )
    closed_words: tuple[str, ...] = _words(
        vocabulary.CLOSED_WORDS, "a notebook is no book: these are never taken apart"
    )
    spelled_words: tuple[str, ...] = _words(
        vocabulary.SPELLED_WORDS,
        "common in requests, so that they are known and never taken apart",
    )
    dictionary: str = "pyspellchecker-0.9.1-en"
    dictionary_digest: str = (
        "sha256:97242583cbec76b95562c29bc5e4f8e79725934d52747e049e1820db02b1ff71"
    )
    correction_letters_min: int = _constant(4, "shorter words have too many near")
    correction_alone_letters_min: int = _constant(8, "it may be of any language")
    correction_occurrences_min: int = _constant(150, "rarer ones may be slips too")
    correction_english_bp: int = _constant(7500, "of the other words in a request")
    slip_doubled_weight: int = _constant(40, "how most words are misspelt")
    slip_swapped_weight: int = _constant(16, "two letters, typed too fast")
    slip_letter_weight: int = _constant(3, "a letter missing or too many")
    slip_replaced_weight: int = _constant(1, "a wrong letter makes another word")
    corrections_max: int = _constant(
        3, "more unknown words than that are another language"
    )
    correction_share_bp: int = _constant(
        7000, "of a word's weight; what was typed keeps the rest, as it may be a name"
    )

    # Relevance by words
    action_name_weight_milli: int = _constant(
        3000, "an action's name says most exactly what a site can do"
    )
    description_weight_milli: int = _constant(1000, "the unit of the field weights")
    parameter_weight_milli: int = _constant(
        500, "parameters name what an action needs, more than what it is for"
    )
    site_weight_milli: int = _constant(
        1000, "category and site description count like one action's description"
    )
    bm25_k1_milli: int = _constant(
        1600, "results are flat from 1.2 up; a round value carries over best"
    )
    bm25_b_bp: int = _constant(
        7500, "the usual correction: a long text matches more words by chance"
    )
    length_pivot_milli: int = _constant(
        40_000,
        "words of a usual site; with a mean each site's text would move all the others'",
    )
    scored_terms: int = _constant(
        8, "the rarest words carry a long request; nobody matches all of it"
    )

    # Relevance by meaning
    embedding_name_weight: int = _constant(4, "halves: an action's name counts twice")
    embedding_description_weight: int = _constant(2, "halves: the unit")
    embedding_parameter_weight: int = _constant(1, "halves: as in the words part")
    embedding_site_weight: int = _constant(2, "halves: as in the words part")
    embedding_word_weight: int = _constant(4, "quarters: the unit, of request and site")
    embedding_act_weight: int = _constant(
        1, "quarters: else whoever orders bread means everything that is ordered"
    )
    piece_letters_full: int = _constant(
        5, "strings that fall into crumbs are noise and must not resemble anything"
    )

    sentence_texts_max: int = _constant(16, "a site and fifteen actions; more blurs it")
    sentence_names_bp: int = _constant(2000, "of the names of actions beside the mean")
    sentence_pieces_max: int = _constant(96, "three long sentences; bounds the work")

    static_weight_bp: int = _constant(
        7000, "of the static part: more orders English better, judges requests worse"
    )
    static_share_min_bp: int = _constant(3000, "of other languages' words English has")
    static_share_full_bp: int = _constant(6000, "of English words are in one piece")

    # Relevance, fused
    lexical_share_base_bp: int = _constant(
        3500, "a short query is a topic: its meaning counts more than its words"
    )
    lexical_share_growth_bp: int = _constant(
        3500, "share gained over `lexical_share_terms` terms: long queries are exact"
    )
    lexical_share_terms: int = _constant(8, "see lexical_share_growth_bp")
    lexical_share_max_bp: int = _constant(
        7000, "meaning always keeps a say, for sites that use other words"
    )
    full_relevance_bp: int = _constant(
        7000,
        "reached by who says the request in an action's name and description: a full 1",
    )
    meaning_min_bp: int = _constant(
        4300, "what a site that shares a word with a request must mean of it as a whole"
    )
    meaning_only_min_bp: int = _constant(
        3350, "the same without one: a common word makes texts alike whatever they mean"
    )
    meaning_step_bp: int = _constant(
        100, "less for each further term: long texts differ"
    )
    meaning_beside_step_bp: int = _constant(250, "and for others once one site does")
    meaning_terms_min: int = _constant(3, "a phrase: it asks for one thing")
    meaning_terms_max: int = _constant(11, "from here on no longer text is less alike")
    relevance_min: int = _constant(
        0, "beside that words are not asked for; static vectors need them, see there"
    )
    relevance_min_step: int = _constant(
        0, "added for each term that a request has less than `relevance_min_terms`"
    )
    relevance_min_terms: int = _constant(
        6, "from here on one common word is too small a part to reach it alone"
    )

    # Proximity
    distance_scale_km: int = _constant(
        100, "a day trip: an hour's travel keeps half, 300 km keep a twentieth"
    )
    proximity_neutral: int = _constant(
        5000,
        "what does not depend on a place stands behind nearby sites and before far ones; "
        "a site of a local trade that hides its place is as far as any",
    )
    place_cooling_days: int = _constant(14, "nobody lends himself a city for a day")
    non_local_categories: tuple[str, ...] = _words(
        vocabulary.NON_LOCAL_CATEGORIES,
        "what these offer does not depend on where one is",
    )

    # Capability depth
    depth_cap_milli: int = _constant(
        25_000, "twenty-five fully described actions are deep; more is no better"
    )
    duplicate_action_bp: int = _constant(
        7000, "actions that share 70% of their words are one action"
    )
    richness_named_bp: int = _constant(2500, "an action that exists")
    richness_described_bp: int = _constant(3000, "an agent can tell what it does")
    richness_typed_bp: int = _constant(1500, "an agent can fill it in without guessing")
    richness_documented_bp: int = _constant(1500, "and knows what the values mean")
    richness_auth_bp: int = _constant(750, "it says whether a login is needed")
    richness_sensitivity_bp: int = _constant(750, "it says what it changes")
    described_words: int = _constant(3, "fewer words repeat the name")
    relevant_description_words: int = _constant(
        1, "a name alone is soon made like a request; it counts where there is no more"
    )

    # Quality
    quality_success_bp: int = _constant(5000, "half: did the probe get a right answer")
    quality_uptime_bp: int = _constant(3000, "was there an answer at all")
    quality_speed_bp: int = _constant(2000, "how soon")
    quality_half_ms: int = _constant(1000, "an answer in one second keeps half")
    quality_prior: int = _constant(
        7000, "unknown is neither good nor bad: a newcomer is given a fair chance"
    )
    quality_probes_min: int = _constant(
        6, "hourly probes of a quarter of a day; fewer are an anecdote"
    )

    # Freshness
    freshness_scale_days: int = _constant(
        180, "a document untouched for half a year keeps a third"
    )
    freshness_floor: int = _constant(
        2000, "what works need not change: age alone ruins nobody"
    )
    freshness_credit_days: int = _constant(
        30,
        "a change counts once a month at the most: to touch texts daily brings nothing",
    )

    # Sameness and samples
    duplicate_site_bp: int = _constant(
        8000, "one publisher's sites that share 80% of their words are one voice"
    )
    duplicate_signature_bytes: int = _constant(
        25, "of 32: who says three quarters of the same is one offer with it"
    )
    signature_site_weight: int = _constant(4, "shops of a platform share their actions")
    publisher_places_max: int = _constant(
        256, "bounds what one publisher can occupy, and the work of comparing"
    )
    tie_seed_form: int = _constant(
        2,
        "ties are drawn from the day's committed secret, the asker's nonce and the "
        "request itself (words, cell, filters and hour): nothing is left to pick",
    )
    shown_score_step: int = _constant(100_000, "people see tenths of a point of 100")
    shown_factor_step_bp: int = _constant(
        100,
        "and whole percents: among what they see as equal, 0% is first (WAB §9.5.3)",
    )
    publisher_answer_places: int = _constant(
        3, "different offers of one publisher are a choice; more would be its own page"
    )
    eligible_sample: int = _constant(
        20, "as many as an answer shows, so that both sides of a comparison are as sure"
    )

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
        constants = {item.name: getattr(self, item.name) for item in fields(self)}
        return rfc8785.dumps(
            {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in constants.items()
            }
        )

    @property
    def digest(self) -> str:
        return _digest_of(self)

    @property
    def reasons(self) -> dict[str, str]:
        """The reason of each constant, by its name."""
        return {
            item.name: item.metadata["reason"]
            for item in fields(self)
            if "reason" in item.metadata
        }


@lru_cache(maxsize=8)
def _digest_of(policy: Policy) -> str:
    return f"sha256:{hashlib.sha256(policy.canonical_json).hexdigest()}"


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
    changes: dict[str, Any] = {
        item.name: tuple(value) if isinstance(value, list) else value
        for item in fields(Policy)
        if (value := values.get(item.name)) is not None
    }
    return Policy(**changes)


DEFAULT_POLICY = Policy()
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
