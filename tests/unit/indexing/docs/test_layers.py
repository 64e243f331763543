"""Small documents of both languages and the rows that they give, worked by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragkit.document import Extraction, RagDocument, SourceFile
from ragkit.indexing.catalog import catalog_entries
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.passages import Lines
from ragkit.layers import ATTRIBUTES, Layer
from ragkit.routing.catalog import CatalogEntry

Make = Callable[[str, str], SourceFile]
Rows = Callable[[str, str, Layer], list[RagDocument]]

ABOVE_D1 = (
    Layer.D2_FACT_INDEX,
    Layer.D3_ENTITY_CATALOG,
    Layer.D4_WORKFLOW_INDEX,
    Layer.D4_POLICY_INDEX,
    Layer.D5_RELATION_GRAPH,
)


@pytest.fixture(scope="module")
def rows(docs: DocsIndexingPipeline, source: Make) -> Rows:
    def of_layer(path: str, text: str, layer: Layer) -> list[RagDocument]:
        return [row for row in docs.index_file(source(path, text)).rows if row.layer is layer]

    return of_layer


ENTITY = """\
---
id: domain.order
type: domain_entity
aliases: [Заказ]
status: active
reads_db:
  - orders
  - carts
links: [docs/api/orders.md, ../cart.md, https://example.org/x, logic.pay]
---
# Order

An order is what a customer wants.

## Terms

Cart (корзина, basket)
: What was chosen. Also called “trolley”.

## Fields

| Field | Type |
| --- | --- |
| `id` | UUID |
| `state` | `NEW` \\| `PAID` |

See [carts](../cart.md#top), [site](https://example.org) and [here](#fields).
"""


def test_facts_of_front_matter_tables_and_definitions(rows: Rows) -> None:
    found = rows("docs/domains/shop/order.md", ENTITY, Layer.D2_FACT_INDEX)
    assert [
        (
            row.attributes["predicate"],
            row.attributes["object"],
            row.line_start,
            row.line_end,
            row.attributes["confidence"],
        )
        for row in found
    ] == [
        ("type", "domain_entity", 3, 3, 1.0),
        ("status", "active", 5, 5, 1.0),
        ("reads_db", "orders", 7, 7, 1.0),
        ("reads_db", "carts", 8, 8, 1.0),
        ("links", "docs/api/orders.md", 9, 9, 1.0),
        ("links", "../cart.md", 9, 9, 1.0),
        ("links", "https://example.org/x", 9, 9, 1.0),
        ("links", "logic.pay", 9, 9, 1.0),
        ("definition", "Cart (корзина, basket) — What was chosen. Also called “trolley”.", 17, 18, 0.9),
        ("attribute", "id — Type: UUID", 24, 24, 0.9),
        ("attribute", "state — Type: NEW | PAID", 25, 25, 0.9),
    ]
    assert dict(found[-2].attributes) == {
        "fact_id": "docs/domains/shop/order.md#fact:attribute/id",
        "subject_id": "domain.order",
        "predicate": "attribute",
        "object": "id — Type: UUID",
        "object_ref": None,
        "source_path": "docs/domains/shop/order.md",
        "anchor": "order/fields",
        "line_start": 24,
        "line_end": 24,
        "confidence": 0.9,
        "tags": ["table"],
    }
    assert found[-2].text == "| `id` | UUID |"
    assert found[-2].context == "Order › Fields\nField | Type"


def test_entities_and_their_catalog_entries(rows: Rows) -> None:
    path = "docs/domains/shop/order.md"
    found = rows(path, ENTITY, Layer.D3_ENTITY_CATALOG)
    assert [(row.names, row.attributes["definition"], row.line_start, row.line_end) for row in found] == [
        (("Order", "Заказ"), "An order is what a customer wants.", 13, 13),
        (("Cart", "корзина", "basket", "trolley"), "What was chosen. Also called “trolley”.", 17, 18),
    ]
    assert (found[1].public_id, found[1].attributes["documents"]) == (f"{path}#entity:cart", [path])
    entries = catalog_entries(found)
    assert CatalogEntry(kind="entity", name="Cart", target=f"{path}#entity:cart", source_path=path) in entries
    assert CatalogEntry(kind="alias", name="корзина", target=f"{path}#entity:cart", source_path=path) in entries


def test_relations_are_resolved_as_far_as_one_file_tells(rows: Rows) -> None:
    path = "docs/domains/shop/order.md"
    found = rows(path, ENTITY, Layer.D5_RELATION_GRAPH)
    assert [
        (row.attributes["edge_type"], row.attributes["dst_ref"], row.attributes["dst_id"], row.attributes["resolution"])
        for row in found
    ] == [
        ("reads_db", "orders", None, "unresolved: a name"),
        ("reads_db", "carts", None, "unresolved: a name"),
        ("links_to", "docs/api/orders.md", "docs/api/orders.md", "path"),
        ("links_to", "../cart.md", "docs/domains/cart.md", "path"),
        ("links_to", "https://example.org/x", None, "external"),
        ("links_to", "logic.pay", None, "unresolved: a name"),
    ]
    assert {row.attributes["src_id"] for row in found} == {path}


@pytest.mark.parametrize(
    ("target", "dst", "resolution"),
    [
        ("b.md", "docs/b.md", "path"),
        ("./b%20c.md?x=1#y", "docs/b c.md", "path"),
        ("/README.md", "README.md", "path"),
        ("../../../etc/passwd.md", None, "unresolved: outside of what is indexed"),
        ("../tutorial/", None, "unresolved: a page or folder, no file"),
        ("{{site.url}}/x.md", None, "unresolved: filled in by a template"),
    ],
)
def test_links(rows: Rows, target: str, dst: str | None, resolution: str) -> None:
    (row,) = rows("docs/a.md", f"# A\n\n[x]({target})\n\n```\n[y](z.md)\n```\n", Layer.D5_RELATION_GRAPH)
    assert (row.attributes["dst_id"], row.attributes["resolution"]) == (dst, resolution)
    assert (row.text, row.line_start) == (f"[x]({target})", 3)


PROCESS = """\
# Возврат

## Порядок возврата

Когда покупатель вернул вещь:

1. Проверить вещь.
   - Если испорчена — отказать.
2. Вернуть деньги:

   ```
   refund 1
   ```

## Диаграмма

```mermaid
sequenceDiagram
    participant B as Покупатель
    participant S as Магазин
    B->>+S: вещь
    alt цела
        S-->>-B: деньги
    else испорчена
        S--xB: отказ
    end
    Note over B,S: конец
    непонятная строка
```

## Three things to know

1. The shop is small.
2. It is blue.
3. It is open.

## Правила

- Продавец обязан ответить за 7 дней. Почему нельзя позже?
- Цвет синий.
- По умолчанию деньги идут на карту.

## Прочее

День, до которого мы обязаны ответить, указан в чеке. Вещь без чека принимать запрещено.
"""


def test_workflows_of_lists_and_diagrams(rows: Rows) -> None:
    found = rows("docs/return.md", PROCESS, Layer.D4_WORKFLOW_INDEX)
    assert [dict(row.attributes) for row in found] == [
        {
            "workflow_id": "docs/return.md#workflow:возврат/порядок-возврата",
            "title": "Порядок возврата",
            "trigger": "Когда покупатель вернул вещь",
            "steps": ["Проверить вещь. Если испорчена — отказать.", "Вернуть деньги:"],
            "participants": [],
            "source_path": "docs/return.md",
            "confidence": 0.9,
        },
        {
            "workflow_id": "docs/return.md#workflow:возврат/диаграмма",
            "title": "Диаграмма",
            "trigger": "вещь",
            "steps": [
                "Покупатель → Магазин: вещь",
                "[alt: цела] Магазин → Покупатель: деньги",
                "[else: испорчена] Магазин → Покупатель: отказ",
            ],
            "participants": ["Покупатель", "Магазин"],
            "source_path": "docs/return.md",
            "confidence": 0.9,
        },
    ]
    assert [(row.line_start, row.line_end) for row in found] == [(7, 13), (17, 29)]


def test_rules_and_defaults(rows: Rows) -> None:
    found = rows("docs/return.md", PROCESS, Layer.D4_POLICY_INDEX)
    assert [(dict(row.attributes), row.line_start, row.line_end) for row in found] == [
        (
            {
                "policy_id": "docs/return.md#policy:возврат/правила",
                "applies_to": ["Продавец"],
                "rules": ["Продавец обязан ответить за 7 дней."],
                "default_behaviors": [],
                "source_path": "docs/return.md",
            },
            39,
            39,
        ),
        (
            {
                "policy_id": "docs/return.md#policy:возврат/правила~2",
                "applies_to": ["Возврат"],
                "rules": [],
                "default_behaviors": ["По умолчанию деньги идут на карту."],
                "source_path": "docs/return.md",
            },
            41,
            41,
        ),
        (
            {
                "policy_id": "docs/return.md#policy:возврат/прочее",
                "applies_to": ["Прочее"],
                "rules": ["Вещь без чека принимать запрещено."],
                "default_behaviors": [],
                "source_path": "docs/return.md",
            },
            45,
            45,
        ),
    ]


@pytest.mark.parametrize(
    ("path", "text", "rules"),
    [
        ("a.md", "A client MUST NOT retry. It must be blue.", ["A client MUST NOT retry."]),
        ("policies/a.md", "A client must wait.\n\n- Paths are plural.\n", ["A client must wait.", "Paths are plural."]),
        ("a.md", "Write `MUST` in capitals.", []),
        ("a.md", "Модуль не должен знать базу. Тут вы должны увидеть ответ.", ["Модуль не должен знать базу."]),
        ("a.md", "Подпись нужна, чтобы запрос нельзя было повторить.", []),
    ],
)
def test_what_is_a_rule(rows: Rows, path: str, text: str, rules: list[str]) -> None:
    found = rows(path, f"# T\n\n{text}\n", Layer.D4_POLICY_INDEX)
    assert [rule for row in found for rule in row.attributes["rules"]] == rules  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("| Код | HTTP |\n|-|-|\n| `NO_CELL` | 409 |\n", [("error_code", "NO_CELL — HTTP: 409")]),
        ("| Method | Path | What |\n|-|-|-|\n| GET | /a | reads |\n", [("endpoint", "GET /a — What: reads")]),
        ("| Name | Stars |\n|-|-|\n", []),
        ("| When | Who |\n|-|-|\n| today | we |\n", []),
        ("- **Цвет** — синий\n- `size`: 5\n", [("term", "Цвет — синий"), ("term", "size — 5")]),
        ("- Color: blue\n- Size: 5\n", [("term", "Color — blue"), ("term", "Size — 5")]),
        ("- Color: blue\n- no term at all\n", []),
        ("- Source: [a](b.md)\n- See: [c](d.md)\n", []),
    ],
)
def test_facts_of_tables_and_lists(rows: Rows, text: str, facts: list[tuple[str, str]]) -> None:
    found = rows("a.md", f"# T\n\n{text}", Layer.D2_FACT_INDEX)
    assert [(row.attributes["predicate"], row.attributes["object"]) for row in found] == facts


def test_definitions_of_restructured_text(rows: Rows) -> None:
    text = "Glossary\n========\n\nCart\n   What was chosen.\n\nOrder\n   What was paid.\n"
    found = rows("glossary.rst", text, Layer.D3_ENTITY_CATALOG)
    assert [(row.names, row.attributes["definition"], row.line_start, row.line_end) for row in found] == [
        (("Cart",), "What was chosen.", 4, 5),
        (("Order",), "What was paid.", 7, 8),
    ]


def test_flow_and_state_diagrams(rows: Rows) -> None:
    text = (
        "# T\n\n```mermaid\nflowchart TD\n"
        "  a[One] & b{{Two}} -->|yes| c([Three]) -. no .-> d\n  subgraph x\n  end\n```\n\n"
        "```mermaid\nstateDiagram-v2\n  [*] --> NEW: made\n  NEW --> [*]\n```\n"
    )
    found = rows("a.md", text, Layer.D4_WORKFLOW_INDEX)
    assert [row.attributes["steps"] for row in found] == [
        ["One → Three: yes", "Two → Three: yes", "Three → d: no"],
        ["[*] → NEW: made", "NEW → [*]"],
    ]
    edges = rows("a.md", text, Layer.D5_RELATION_GRAPH)
    assert [(row.attributes["src_id"], row.attributes["dst_ref"], row.line_start) for row in edges] == [
        ("One", "Three", 5),
        ("Two", "Three", 5),
        ("Three", "d", 5),
    ]


PIECES = [
    "# Как", "## Правила", "обязан MUST", "- **a** — b", "  - inner", "> quote", "```mermaid", "```", "flowchart LR",
    "sequenceDiagram", "a-->b", "a->>b: c", "alt x", "end", "| a | b |", "| - | - |", "| `A_B` | 404 |", "", "", "---",
    "links: [a, ../b.md]", "type: policy", "steps: [a, b]", ": text", "1. one", "2. two", "[r]: x", "[a](b.md)",
    "a" * 5000, "{% if a %}", "\\", "|", "[*] --> a", "term", "   indented",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=40).map("\n".join),
        st.text(st.characters(exclude_characters="\r"), max_size=300),
    ),
    st.sampled_from(["docs/domains/a.md", "policies/a.md", "logic/a.rst", "glossary.txt"]),
)
@example("---\ntype: policy\nlinks: |\n  a\n  b\n---\n- a\n", "a.md")
def test_every_row_is_its_lines(docs: DocsIndexingPipeline, source: Make, text: str, path: str) -> None:
    extraction = docs.index_file(source(path, text))
    assert extraction == docs.index_file(source(path, text))
    assert len({row.public_id for row in extraction.rows}) == len(extraction.rows)
    order = list(dict.fromkeys(row.layer for row in extraction.rows))
    assert order == [layer for layer in (Layer.D0_DOC_CHUNKS, Layer.D1_DOCUMENT_CATALOG, *ABOVE_D1) if layer in order]
    lines = Lines(text)
    for row in extraction.rows:
        if row.layer in ABOVE_D1:
            assert row.text == lines.text(row.line_start - 1, row.line_end)
            assert tuple(row.attributes) == ATTRIBUTES[row.layer]


def test_a_large_file_costs_its_size_alone(docs: DocsIndexingPipeline, source: Make) -> None:
    extraction = docs.index_file(source("a.md", PROCESS * 400))
    assert isinstance(extraction, Extraction)
    assert max(sum(row.layer is layer for row in extraction.rows) for layer in ABOVE_D1) <= 500
