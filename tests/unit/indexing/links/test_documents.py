"""Facts, entities and relations across documents."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragkit.document import RagDocument, SourceFile
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.links.entities import merged_entities
from ragkit.indexing.links.linked_rows import link_session
from ragkit.indexing.links.part import DocsPart, EntityName, LinkPart
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]
Link = Callable[[dict[str, str]], dict[str, tuple[RagDocument, ...]]]


@pytest.fixture
def link(docs: DocsIndexingPipeline, source: Make) -> Link:
    return lambda files: link_session({path: docs.index_file(source(path, text)) for path, text in files.items()})


def _of(rows: tuple[RagDocument, ...], layer: Layer) -> list[RagDocument]:
    return [row for row in rows if row.layer is layer]


ORDER = """---
type: domain
id: domain.order
aliases: [Purchase]
calls_api: [api.billing]
---
# Order

An order is what a customer buys.
"""
BILLING = """---
id: api.billing
used_by: [domain.order, domain.ghost]
---
# Billing

See [orders](../domains/order.md), [a page](/domains/order/) and [nothing](gone.md).
"""
GLOSSARY = """# Glossary

| Term | Meaning |
| --- | --- |
| Order | A thing. |
| Purchase | Another word for an order. |
| Invoice | A paper. |
"""


def test_one_entity_of_three_descriptions_is_one_row(link: Link) -> None:
    linked = link({"domains/order.md": ORDER, "api/billing.md": BILLING, "glossary.md": GLOSSARY})
    entities = {row.names[0]: row for rows in linked.values() for row in _of(rows, Layer.D3_ENTITY_CATALOG)}
    assert sorted(entities) == ["Invoice", "Order"]
    order = entities["Order"]
    assert order.path == "domains/order.md"
    assert order.attributes["documents"] == ["domains/order.md", "glossary.md"]
    assert order.attributes["aliases"] == ["Purchase"]
    assert order.names == ("Order", "Purchase")


def test_facts_and_relations_know_their_targets(link: Link) -> None:
    linked = link({"domains/order.md": ORDER, "api/billing.md": BILLING})
    facts = {
        row.attributes["object"]: row.attributes["object_ref"]
        for row in _of(linked["api/billing.md"], Layer.D2_FACT_INDEX)
    }
    assert facts["domain.order"] == "domains/order.md"
    assert facts["domain.ghost"] is None
    edges = {
        row.attributes["dst_ref"]: (row.attributes["dst_id"], row.attributes["resolution"])
        for row in _of(linked["api/billing.md"], Layer.D5_RELATION_GRAPH)
    }
    assert edges == {
        "domain.order": ("domains/order.md", "document"),
        "domain.ghost": (None, "unresolved: a name"),
        "../domains/order.md": ("domains/order.md", "path"),
        "/domains/order/": ("domains/order.md", "path"),
        "gone.md": (None, "unresolved: no such file here"),
    }
    called = _of(linked["domains/order.md"], Layer.D5_RELATION_GRAPH)[0]
    assert (called.attributes["edge_type"], called.attributes["dst_id"]) == ("calls_api", "api/billing.md")


def test_a_name_that_two_documents_have_is_nobodys(link: Link) -> None:
    page = "# Setup\n\nText.\n"
    asks = "---\nuses_logic: [Setup]\n---\n# Other\n\nText.\n"
    edges = _of(link({"a/x.md": page, "b/x.md": page, "c.md": asks})["c.md"], Layer.D5_RELATION_GRAPH)
    assert [(row.attributes["dst_id"], row.attributes["resolution"]) for row in edges] == [
        (None, "unresolved: 2 things of this name")
    ]


def test_a_diagram_speaks_of_entities_of_other_files(link: Link) -> None:
    drawn = "# Flow\n\n```mermaid\nsequenceDiagram\nClient->>Purchase: pay\n```\n"
    linked = link({"domains/order.md": ORDER, "flow.md": drawn})
    edge = _of(linked["flow.md"], Layer.D5_RELATION_GRAPH)[0]
    entity = _of(linked["domains/order.md"], Layer.D3_ENTITY_CATALOG)[0]
    assert (edge.attributes["src_id"], edge.attributes["dst_id"]) == ("Client", entity.public_id)
    assert entity.attributes["mentions"] == ["flow.md"]


def test_descriptions_join_by_a_name_that_is_an_alias_not_by_two_aliases(link: Link) -> None:
    def glossary(name: str, alias: str) -> str:
        return f"# Glossary\n\n| Term | Meaning | Aliases |\n| --- | --- | --- |\n| {name} | Text. | {alias} |\n"

    linked = link({"a/glossary.md": glossary("Cell", "box"), "b/glossary.md": glossary("Crate", "box")})
    assert [len(_of(rows, Layer.D3_ENTITY_CATALOG)) for rows in linked.values()] == [1, 1]
    linked = link({"a/glossary.md": glossary("Cell", "box"), "b/glossary.md": glossary("Box", "crate")})
    assert [len(_of(rows, Layer.D3_ENTITY_CATALOG)) for rows in linked.values()] == [1, 0]
    assert _of(linked["a/glossary.md"], Layer.D3_ENTITY_CATALOG)[0].names == ("Cell", "box", "crate")


@pytest.mark.parametrize(
    ("confidences", "groups"),
    [((0.6, 0.6), 2), ((0.6, 0.9), 1), ((0.9, 0.9), 1)],
)
def test_a_word_defined_in_passing_is_one_entity_with_a_glossary_not_with_another_folder(
    confidences: tuple[float, float], groups: int
) -> None:
    parts = [
        LinkPart(path=path, docs=DocsPart(entities=(EntityName(f"{path}#State", "State", (), confidence, True, 1),)))
        for path, confidence in zip(("a/x.md", "b/y.md"), confidences, strict=True)
    ]
    assert len({entity.public_id for entity in merged_entities(parts).values()}) == groups


def test_two_words_defined_in_passing_mean_the_same_everywhere() -> None:
    parts = [
        LinkPart(path=path, docs=DocsPart(entities=(EntityName(f"{path}#e", "Order state", (), 0.6, True, 1),)))
        for path in ("a/x.md", "b/y.md")
    ]
    assert len({entity.public_id for entity in merged_entities(parts).values()}) == 1
