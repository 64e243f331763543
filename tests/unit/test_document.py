"""What the embedder reads of a row."""

from __future__ import annotations

import pytest

from ragkit.document import RagDocument, embedded_text
from ragkit.layers import Layer


def row(layer: Layer, text: str, context: str = "") -> RagDocument:
    return RagDocument(
        layer=layer, path="a.md", public_id="a.md", title="A", text=text, context=context, line_start=1, line_end=1
    )


def test_context_stands_before_the_text() -> None:
    assert embedded_text(row(Layer.D0_DOC_CHUNKS, "body", "A › B")) == "A › B\nbody"
    assert embedded_text(row(Layer.D0_DOC_CHUNKS, "body")) == "body"


@pytest.mark.parametrize("layer", [Layer.C2_DEPENDENCY_GRAPH, Layer.D5_RELATION_GRAPH, Layer.D2_FACT_INDEX])
def test_edges_and_facts_are_not_embedded(layer: Layer) -> None:
    assert embedded_text(row(layer, "a → b")) is None


def test_blank_rows_are_not_embedded() -> None:
    assert embedded_text(row(Layer.D0_DOC_CHUNKS, " \n\t ")) is None
