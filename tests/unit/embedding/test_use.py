"""The bundled embedder, with its real weights."""

from __future__ import annotations

import numpy as np
import pytest

from ragkit.embedding import Embedder, use
from ragkit.embedding.use import UseEmbedder
from ragkit.errors import EmbeddingError


def test_vectors_have_unit_length(embedder: Embedder) -> None:
    found = embedder.embed(["Сколько хранится посылка?", "how long is a parcel kept?", "x"])
    assert found.shape == (3, 512) == (3, embedder.dims)
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1, 1], abs=1e-3)


def test_a_question_is_nearer_to_its_translation_than_to_another(embedder: Embedder) -> None:
    ru, en, other = embedder.embed(
        ["Сколько хранится посылка?", "How long is a parcel stored?", "The weather is nice in Rome."]
    )
    assert ru @ en > ru @ other + 0.2


def test_order_of_texts_is_kept(embedder: Embedder) -> None:
    """It sorts by length inside; a batch more than 64 long crosses the border of two."""
    texts = [("слово " * (1 + n * 7 % 11)) + str(n) for n in range(70)]
    together = embedder.embed(texts)
    for place in (0, 7, 33, 69):
        assert together[place] == pytest.approx(embedder.embed([texts[place]])[0], abs=5e-3)


def test_blank_text_gives_a_zero_vector(embedder: Embedder) -> None:
    found = embedder.embed(["", "word", " \n\t ", "\0"])
    assert [bool(vector.any()) for vector in found] == [False, True, False, False]
    assert embedder.embed([]).shape == (0, 512)


@pytest.mark.parametrize("text", ["a\ud800b", "a\0b", "\udfff\udfff x", "😀", "ё" * 100_000, "a" * 100_000])
def test_any_text_can_be_embedded(embedder: Embedder, text: str) -> None:
    (vector,) = embedder.embed([text])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)


def test_weights_are_held_to_their_checksum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(EmbeddingError) as caught:
        UseEmbedder().embed(["x"])
    assert caught.value.code == "embedder_weights_differ"


def test_fingerprint_names_the_weights() -> None:
    assert UseEmbedder().fingerprint.startswith(f"use-multilingual-v3:{use.WEIGHTS_SHA256[:12]}")
