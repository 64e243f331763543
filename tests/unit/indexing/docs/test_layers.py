"""Small documents of both languages and the rows that they give, worked by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragkit.document import Extraction, RagDocument, SourceFile
from ragkit.indexing.catalog import catalog_entries
from ragkit.indexing.docs.pieces import plain
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
            "branches": ["Если испорчена — отказать."],
            "error_paths": ["Если испорчена — отказать."],
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
            "branches": ["alt: цела", "else: испорчена"],
            "error_paths": ["[else: испорчена] Магазин → Покупатель: отказ"],
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`['*']` and **bold**", "['*'] and bold"),
        ("`__debug__`, __bold__", "__debug__, bold"),
        ("`a<b>` <b>c</b>", "a<b> c"),
        ("resource&#x2011;group", "resource\u2011group"),
        ("[`f()`](x.md) ![i](p.png)", "f()"),
        ("``a ` b``", "a ` b"),
        ("`a \\| b`", "a | b"),
        ("\ue0000\ue001 `x`", "0\ue001 x"),
    ],
)
def test_code_keeps_its_characters(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("- 2024-01-10: first draft\n- 2024-02-02: more\n", []),
        ("- Январь: начали\n- Март: продолжили\n", []),
        ("- Market: open\n- Separator: comma\n", [("term", "Market — open"), ("term", "Separator — comma")]),
        ("- **Pros**: fast\n- **Cons**: dear\n", []),
        ("- 👍: fast\n- 👎: dear\n", []),
        ("## History\n\n- **One**: a\n- **Two**: b\n", []),
        (
            "- `a`: has keys:\n    - `b`: c\n- `def run()`: runs\n",
            [("term", "a — has keys: b: c"), ("term", "run() — runs")],
        ),
        (
            "| State | File |\n|-|-|\n| done | `a.go` |\n| done | `b.go` |\n",
            [("attribute", "a.go — State: done"), ("attribute", "b.go — State: done")],
        ),
        ("| Date | Notes |\n|-|-|\n| 2020-Mar-31 | first |\n| 2021 | second |\n", []),
        ("## Terms\n\n**Holder**: who holds.\n", [("term", "Holder — who holds.")]),
    ],
)
def test_labels_and_dates_are_no_terms(rows: Rows, text: str, facts: list[tuple[str, str]]) -> None:
    found = rows("a.md", f"# T\n\n{text}", Layer.D2_FACT_INDEX)
    assert [(row.attributes["predicate"], row.attributes["object"]) for row in found] == facts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A *scan* is one tile. A *slide* is the glass.", [("scan",), ("slide",)]),
        ("**Рейс** (trip) — это путь автобуса.", [("Рейс", "trip")]),
        ("**Рейс** — путь автобуса.", []),
        ("**Note** is the first word. **This** is it. *Every day* is new.", []),
        ("## Lease\n\n```go\ntype L int\n```\n\nA lease (also called a *term*) is a right.", [("Lease", "term")]),
        ("## Running\n\nRunning it is easy.", []),
        ("## Terms\n\n### Slot\n\nSlot — a place.\n\n- **Size** — its size.\n", [("Slot",)]),
        ("```{glossary}\nrotor\nwheel\n  What turns.\n\npin\n  What holds.\n```", [("rotor", "wheel"), ("pin",)]),
    ],
)
def test_entities_of_defining_sentences(rows: Rows, text: str, names: list[tuple[str, ...]]) -> None:
    assert [row.names for row in rows("a.md", f"# T\n\n{text}\n", Layer.D3_ENTITY_CATALOG)] == names


def test_mentions_are_the_other_lines_of_a_name(rows: Rows) -> None:
    text = "# Т\n\n**Рейс** (trip) — это путь.\n\nДва рейса. Нет рейсов.\n\n```\ntrips = 2\n```\n\nРейсмус другой.\n"
    (row,) = rows("a.md", text, Layer.D3_ENTITY_CATALOG)
    assert (row.line_start, row.attributes["mention_lines"]) == (3, [5, 8])


@pytest.mark.parametrize(
    ("text", "workflows"),
    [
        ("## Step 1: ask\n\nx\n\n### More\n\ny\n\n## Step 2: wait\n\nz\n", [("T", ["ask", "wait"], 3, 13)]),
        ("## Stage 1 (1.35)\n\nx\n\n## Stage 2\n\nz\n", [("T", ["Stage 1 (1.35)", "Stage 2"], 3, 9)]),
        ("## Step 1\n\nx\n\n## Other\n\ny\n\n## Step 2\n\nz\n", []),
        ("## Diagnosis\n\n- Check it.\n- Look at it.\n", [("Diagnosis", ["Check it.", "Look at it."], 5, 6)]),
        ("## Diagnosis\n\n- It is blue.\n- It is red.\n", []),
        (
            "It runs every hour:\n\n- it loads,\n- it adds,\n- it ends.\n",
            [("T", ["it loads,", "it adds,", "it ends."], 5, 7)],
        ),
        ("## Set up\n\nThen:\n\n- Click.\n- Draw.\n- Press.\n", [("Set up", ["Click.", "Draw.", "Press."], 7, 9)]),
        ("## Uses\n\nThen:\n\n- Click.\n- Draw.\n- Press.\n", []),
        ("## Goals\n\n1. Add tests.\n2. Remove tests.\n3. Write tests.\n", []),
        ("## How can it fail?\n\n1. It is old.\n2. It is new.\n", []),
        (
            "## Начало работы\n\n1. Получите ключ.\n2. Готово.\n",
            [("Начало работы", ["Получите ключ.", "Готово."], 5, 6)],
        ),
    ],
)
def test_what_is_a_process(rows: Rows, text: str, workflows: list[tuple[str, list[str], int, int]]) -> None:
    found = rows("a.md", f"# T\n\n{text}", Layer.D4_WORKFLOW_INDEX)
    assert [
        (row.attributes["title"], row.attributes["steps"], row.line_start, row.line_end) for row in found
    ] == workflows


@pytest.mark.parametrize(
    ("path", "text", "rules"),
    [
        ("a.md", "Workers MUST:\n\n- wait\n- log\n", ["Workers MUST: wait", "Workers MUST: log"]),
        ("a.md", "Don't worry. Do not open the door. Не забудьте ключ. Не открывайте дверь.",
         ["Do not open the door.", "Не открывайте дверь."]),
        ("a.md", "You **must** wait. It **must not** be red. It is **required** here.",
         ["You must wait.", "It must not be red."]),
        ("a.md", "An operator MAY free it. Results MAY be missing. In MAY 2024.", ["An operator MAY free it."]),
        ("a.md", "{/* It MUST NOT show. */}\n", []),
        ("a.md", "IN NO EVENT SHALL THE COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM OR DAMAGES.", []),
        ("CHANGELOG.md", "Don't drop empty values. It MUST stay.", []),
        ("a.md", "> [!WARNING]\n> You MUST NOT retry.\n", ["You MUST NOT retry."]),
        ("a.md", '!!! warning "Stop"\n\n    You MUST NOT retry.\n', ["You MUST NOT retry."]),
        ("policies/a.md", "## What we expect\n\n1. Lock the screen at night.\n", ["Lock the screen at night."]),
        ("policies/a.md", "## Steps\n\n1. Lock the screen at night.\n", []),
        ("policies/a.md", "## Terms\n\n- **Loan**: at most 30 days of use.\n", []),
        ("policies/a.md", "Nobody may lend it. May is warm.", ["Nobody may lend it."]),
        ("a.md", "## Limits\n\n- At most five of them.\n- It is blue.\n", ["At most five of them."]),
        ("a.md", "A key must be unique. You must see it.", ["A key must be unique."]),
        ("a.md", "{% raw %}\nA key must be unique.\n{% endraw %}", ["A key must be unique."]),
        ("style.md", "## Style guide rules\n\n### Do not mutate state\n\nIt breaks.\n", ["Do not mutate state"]),
    ],
)  # fmt: skip
def test_where_rules_stand(rows: Rows, path: str, text: str, rules: list[str]) -> None:
    found = rows(path, f"# T\n\n{text}\n", Layer.D4_POLICY_INDEX)
    assert [rule for row in found for rule in row.attributes["rules"]] == rules  # type: ignore[attr-defined]
