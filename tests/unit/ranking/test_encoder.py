from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.bench.synthetic.language import load_table
from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.encoders.meaning import SiteWords
from registry.ranking.encoders.static_encoder import (
    PROJECTION,
    load_tokenizer,
    project,
)
from registry.ranking.encoders.vectors import DIMENSIONS, SITE_BYTES, unpack_sites
from registry.ranking.policy import DEFAULT_POLICY, STATIC_POLICY
from tests.unit.ranking.make_projection import static_projection, static_vectors

WORDS = ["table", "dinner", "flight", "music", "qwrtz", "寿司"]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_encoder(STATIC_POLICY)


def request_of(encoder: Encoder, *words: str) -> np.ndarray:
    vector = encoder.encode_request(" ".join(words), words, words).vector
    return np.frombuffer(vector, np.int8).astype(int)


def site_of(encoder: Encoder, *words: str) -> bytes:
    words_of_site = SiteWords(about=words, names=[], descriptions=[], parameters=[])
    return encoder.encode_sites([words_of_site])[0]


def cosine(encoder: Encoder, item: str, other: str) -> float:
    a, b = request_of(encoder, item), request_of(encoder, other)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_words_of_like_meaning_are_nearer(encoder: Encoder) -> None:
    assert cosine(encoder, "movie", "film") > 2 * cosine(encoder, "movie", "bank")


@settings(max_examples=20)
@given(st.permutations(WORDS))
def test_order_of_words_changes_no_bit(words: list[str]) -> None:
    encoder = load_encoder(STATIC_POLICY)
    ordered = sorted(words)
    assert encoder.encode_request(
        " ".join(words), words, words
    ) == encoder.encode_request(" ".join(ordered), ordered, ordered)
    assert site_of(encoder, *words) == site_of(encoder, *ordered)


def test_vectors_have_their_sizes(encoder: Encoder) -> None:
    assert (
        len(encoder.encode_request("dinner", ["dinner"], ["dinner"]).vector)
        == DIMENSIONS
    )
    assert len(site_of(encoder, "dinner")) == SITE_BYTES


def test_a_site_and_a_request_of_one_word_point_the_same_way(encoder: Encoder) -> None:
    packed = np.frombuffer(site_of(encoder, "dinner"), np.uint8).reshape(1, -1)
    site, request = unpack_sites(packed)[0].astype(int), request_of(encoder, "dinner")
    alike = site @ request / np.linalg.norm(site) / np.linalg.norm(request)
    assert alike > 0.98


@pytest.mark.parametrize("word", ["", "12345", "q", "\U0001f642"])
def test_what_means_nothing_is_not_understood(encoder: Encoder, word: str) -> None:
    assert encoder.encode_request(word, [word], [word]).confidence_bp == 0


def test_crumbs_of_letters_are_understood_less_than_words(encoder: Encoder) -> None:
    words = ["qwrtz", "plimf"]
    nonsense = encoder.encode_request(" ".join(words), words, words).confidence_bp
    sense = encoder.encode_request("dinner", ["dinner"], ["dinner"]).confidence_bp
    assert nonsense < 3000 < sense


def test_grammar_means_nothing_and_asking_little(encoder: Encoder) -> None:
    plain = encoder.encode_request("bread", ["bread"], ["bread"])
    assert encoder.encode_request("the bread", ["the", "bread"], ["bread"]) == plain
    query = encoder.encode_request("find bread", ["find", "bread"], ["bread"])
    assert query.vector != plain.vector
    assert query.confidence_bp == plain.confidence_bp


def test_saying_a_word_again_changes_nothing(encoder: Encoder) -> None:
    site_words = SiteWords(
        about=[],
        names=[["bake"], ["bake"]],
        descriptions=[["bread"], ["bread", "cake"]],
        parameters=[[], []],
    )
    once = SiteWords(
        about=[],
        names=[["bake"]],
        descriptions=[["bread", "cake"]],
        parameters=[[]],
    )
    assert encoder.encode_sites([site_words]) == encoder.encode_sites([once])


def test_another_table_than_the_policys_is_refused() -> None:
    other = replace(DEFAULT_POLICY, encoder_digest="sha256:0")
    with pytest.raises(RuntimeError, match="another encoder"):
        load_encoder(other)


def test_a_word_of_the_vocabulary_is_one_piece_by_the_tokenizer() -> None:
    """So it needs no cutting."""
    tokenizer = load_tokenizer()
    words = {word for word in tokenizer.get_vocab() if word.startswith("\u2581")}
    cut = {
        word: [piece.value for piece in tokenizer.model.tokenize(word)]
        for word in words
    }
    assert cut == {word: [word] for word in words}


def test_the_shipped_projection_keeps_what_one_made_anew_would() -> None:
    """The energy of the listed words; the lists may have grown a little since."""
    vectors = static_vectors()
    shipped = np.linalg.qr(np.load(PROJECTION).astype(float))[0]
    anew = np.linalg.qr(static_projection().astype(float))[0]
    saved, best = (np.square(vectors @ axes).sum() for axes in (shipped, anew))
    assert saved > 0.98 * best


def test_leading_dimensions_hold_the_most() -> None:
    energy = np.square(static_vectors() @ np.load(PROJECTION).astype(float)).sum(axis=0)
    quarters = energy.reshape(4, -1).sum(axis=1)
    assert quarters.tolist() == sorted(quarters, reverse=True)


def test_projected_rows_do_not_depend_on_their_neighbours() -> None:
    table, projection = load_table()[:64], np.load(PROJECTION).astype(np.float64)
    whole = project(table, projection)
    alone = [project(table[row : row + 1], projection)[0] for row in range(64)]
    assert (whole == np.array(alone)).all()
