from __future__ import annotations

import json
from collections.abc import Callable
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.document import Extraction, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.openapi_nodes import is_openapi
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.pipeline import extract
from ragkit.layers import ATTRIBUTES, Family, Layer

Make = Callable[[str, str], SourceFile]

YAML = """\
openapi: 3.0.3
info:
  title: Shop
  version: "1.2"
  description: Orders of a shop.
tags:
  - name: orders
paths:
  /orders/{id}:
    parameters:
      - {name: id, in: path, required: true}
    get:
      tags: [orders]
      operationId: get_order
      summary: Заказ по номеру
      responses:
        "200":
          description: Found
          content:
            application/json:
              schema: {$ref: "#/components/schemas/Order"}
        "404": {$ref: "#/components/responses/Missing"}

    # what follows changes things
    post:
      deprecated: true
      description: Changes an order.
      requestBody:
        content:
          application/json:
            schema: {type: array, items: {$ref: "#/components/schemas/Change"}}
      responses:
        "204": {description: Done}
components: {}
"""


def _extraction(docs: DocsIndexingPipeline, source: Make, text: str, path: str = "api/shop.yaml") -> Extraction:
    assert docs.supports(path, text)
    return docs.index_file(source(path, text))


def test_operations_are_documents(docs: DocsIndexingPipeline, source: Make) -> None:
    rows = _extraction(docs, source, YAML).rows
    assert [(row.layer, row.public_id, row.title, row.line_start, row.line_end) for row in rows[:5]] == [
        (Layer.D0_DOC_CHUNKS, "api/shop.yaml#get-orders-id", "GET /orders/{id}", 12, 22),
        (Layer.D0_DOC_CHUNKS, "api/shop.yaml#post-orders-id", "POST /orders/{id}", 25, 33),
        (Layer.D1_DOCUMENT_CATALOG, "api/shop.yaml", "Shop", 2, 5),
        (
            Layer.D1_DOCUMENT_CATALOG,
            "api/shop.yaml#operation:get-orders-id",
            "GET /orders/{id}",
            12,
            22,
        ),
        (Layer.D1_DOCUMENT_CATALOG, "api/shop.yaml#operation:post-orders-id", "POST /orders/{id}", 25, 33),
    ]
    operation = rows[3].attributes
    assert {name: operation[name] for name in ("module_id", "type", "tags", "summary_text", "status")} == {
        "module_id": "get_order",
        "type": "api_operation",
        "tags": ["orders"],
        "summary_text": "Заказ по номеру",
        "status": None,
    }
    assert (rows[4].attributes["status"], rows[2].attributes["version"]) == ("deprecated", "1.2")
    assert rows[0].context == "Shop › GET /orders/{id}\nЗаказ по номеру · orders · get_order"
    for row in rows:
        assert row.text == "\n".join(YAML.split("\n")[row.line_start - 1 : row.line_end])
        expected = set(ATTRIBUTES[row.layer]) - {"content", "embedding"}
        assert set(row.attributes) - {"declared"} == expected


def test_facts_of_operations(docs: DocsIndexingPipeline, source: Make) -> None:
    facts = [row for row in _extraction(docs, source, YAML).rows if row.layer is Layer.D2_FACT_INDEX]
    assert [
        (
            row.attributes["subject_id"],
            row.attributes["predicate"],
            row.attributes["object"],
            row.line_start,
            row.line_end,
        )
        for row in facts
    ] == [
        ("get_order", "parameter", "id (path)", 11, 11),
        ("get_order", "response", "200 — Found", 17, 21),
        ("get_order", "response_schema", "200 — Order", 17, 21),
        ("get_order", "response", "404 — Missing", 22, 22),
        ("POST /orders/{id}", "parameter", "id (path)", 11, 11),
        ("POST /orders/{id}", "request_schema", "[Change]", 29, 31),
        ("POST /orders/{id}", "response", "204 — Done", 33, 33),
    ]


def test_swagger_2_as_json_on_one_line(docs: DocsIndexingPipeline, source: Make) -> None:
    body = {"in": "body", "name": "order", "schema": {"$ref": "#/definitions/Order"}}
    document = {
        "swagger": "2.0",
        "info": {"title": "Shop", "version": "1"},
        "paths": {
            f"/a{n}": {"put": {"parameters": [body], "responses": {"200": {"description": "x" * 900}}}}
            for n in range(9)
        },
    }
    text = json.dumps(document)
    rows = _extraction(docs, source, text, "swagger.json").rows
    assert [row.title for row in rows if row.layer is Layer.D0_DOC_CHUNKS] == [f"PUT /a{n}" for n in range(9)]
    assert all(row.text in text and len(row.text) <= 1_500 and row.line_start == row.line_end == 1 for row in rows)
    assert "Order" in {row.attributes["object"] for row in rows if row.layer is Layer.D2_FACT_INDEX}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openapi: 3.1.0\n", True),
        ("# comment\n---\nswagger: '2.0'\n", True),
        ('{\n  "openapi": "3.0.0"\n}', True),
        ('{"info": {"title": "x"}, "swagger": "2.0"}', True),
        ("dependencies:\n  openapi: 3.1.0\n", False),
        ('{"dependencies": {"a": {"openapi": "3.1.0"}}}', False),
        ("name: openapi\n", False),
        ("", False),
    ],
)
def test_told_by_its_content(text: str, expected: bool) -> None:
    assert is_openapi(text) is expected


def test_families_never_mix(docs: DocsIndexingPipeline, code: CodeIndexingPipeline, source: Make) -> None:
    for path, text, family in [
        ("a.yaml", YAML, Family.DOCS),
        ("a.yaml", "key: value\n", Family.CODE),
        ("a.py", 'x = """\nopenapi: 3.0.0\n"""\n', Family.CODE),
        ("a.md", "openapi: 3.0.0\n", Family.DOCS),
    ]:
        extraction = extract(source(path, text), docs=docs, code=code)
        assert isinstance(extraction, Extraction)
        assert extraction.family is family


BOMB = "openapi: 3.0.0\na: &a [x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{f'*{chr(97 + n)},' * 99}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("openapi: 3.0.0\npaths: [\n", 3),
        ("openapi: 3.0.0\nx: " + "[" * 500 + "\n", 2),
        (BOMB, 8),
        ("openapi: 3.0.0\n\tx: y\n", 2),
    ],
)
def test_what_cannot_be_read_costs_itself_alone(docs: DocsIndexingPipeline, source: Make, text: str, line: int) -> None:
    extraction = _extraction(docs, source, text)
    (warning,) = [warning for warning in extraction.warnings if warning.code == "openapi_invalid"]
    assert warning.line == line
    assert {row.layer for row in extraction.rows} == {Layer.D0_DOC_CHUNKS}


PIECES = [
    "paths:",
    "  /a:",
    "    get:",
    "      responses: {}",
    "    post: [",
    "  /b: &x",
    "    put: *x",
    "info: 1",
    "'",
    "é\x85",
    "- a",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map(lambda pieces: "openapi: 3.0.0\n" + "\n".join(pieces)))
def test_never_fails(docs: DocsIndexingPipeline, source: Make, text: str) -> None:
    extraction = docs.index_file(source("a.yaml", text))
    lines = text.split("\n")
    assert len({row.public_id for row in extraction.rows}) == len(extraction.rows)
    assert all(1 <= row.line_start <= row.line_end <= len(lines) for row in extraction.rows)


REFERENCES = """\
openapi: 3.1.0
info: {title: Shop}
paths:
  /a/{id}:
    parameters:
      - $ref: '#/components/parameters/Id'
      - {name: trace, in: header}
    get:
      parameters:
        - {name: id, in: path, description: said again}
        - $ref: '#/components/parameters/First'
        - $ref: '#/components/parameters/Round'
        - $ref: 'other.yaml#/Size'
      requestBody: {$ref: '#/components/requestBodies/New'}
      responses:
        "404": {$ref: '#/components/responses/a~1b%20c'}
  /b: {$ref: '#/components/pathItems/B'}
webhooks:
  arrived:
    post: {responses: {"200": {description: Taken}}}
components:
  parameters:
    Id: {name: id, in: path}
    First: {$ref: '#/components/parameters/Second'}
    Second: {name: limit, in: query}
    Round: {$ref: '#/components/parameters/Trip'}
    Trip: {$ref: '#/components/parameters/Round'}
  requestBodies:
    New: {content: {a/b: {schema: {oneOf: [{$ref: '#/x/Cat'}, {$ref: '#/x/Dog'}]}}}}
  responses:
    a/b c: {description: Gone}
  pathItems:
    B:
      delete: {summary: Away}
---
a: second document
"""


def test_what_is_referred_to_is_looked_up(docs: DocsIndexingPipeline, source: Make) -> None:
    extraction = _extraction(docs, source, REFERENCES)
    assert extraction.warnings == ()
    operations = [
        (row.title, row.line_start, row.line_end) for row in extraction.rows if "#operation:" in row.public_id
    ]
    assert operations == [("GET /a/{id}", 8, 16), ("DELETE /b", 34, 34), ("POST webhook arrived", 20, 20)]
    facts = [row.attributes for row in extraction.rows if row.layer is Layer.D2_FACT_INDEX]
    assert [(fact["predicate"], fact["object"], fact["line_start"]) for fact in facts] == [
        ("parameter", "trace (header)", 7),
        ("parameter", "id (path)", 10),
        ("parameter", "limit (query)", 11),
        ("parameter", "Round", 12),
        ("parameter", "Size", 13),
        ("request_schema", "Cat", 14),
        ("request_schema", "Dog", 14),
        ("response", "404 — Gone", 16),
        ("response", "200 — Taken", 20),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# licence\n" * 400 + "openapi: 3.0.0\npaths: {}\n", True),
        ("info:\n  description: |\n" + "    text\n" * 600 + "openapi: 3.0.0\npaths: {}\n", True),
        ("a:\n" + "  - text\n" * 600 + "  openapi: 3.0.0\npaths: {}\n", False),
        ("a:\n" + "  - text\n" * 600 + "openapi: 3.0.0\n", False),
        ('{\n  "info": "' + "text " * 600 + '",\n  "openapi": "3.0.0",\n  "paths": {}\n}', True),
        ('{\n  "info": "' + "text " * 600 + '",\n      "openapi": "3.0.0",\n  "paths": {}\n}', False),
    ],
)
def test_told_by_an_outer_key_further_below(text: str, expected: bool) -> None:
    assert is_openapi(text) is expected


def test_aliases_cannot_multiply_rows(docs: DocsIndexingPipeline, source: Make) -> None:
    parameters = ",".join("{name: q, in: query}" for _ in range(300))
    paths = "".join(f"  /b{n}: *a\n" for n in range(450))
    text = f"openapi: 3.0.0\npaths:\n  /a: &a {{get: {{parameters: [{parameters}]}}}}\n{paths}"
    assert sum(row.layer is Layer.D2_FACT_INDEX for row in _extraction(docs, source, text).rows) == 20_000


@pytest.mark.parametrize(
    "text",
    [
        "openapi: 3.0.0\nx0: &x0 [a, a]\n"
        + "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 30))
        + "paths: {/a: {get: {tags: *x29, parameters: *x29, responses: *x29}}}\n",
        "openapi: 3.0.0\ninfo: &i {title: *i}\npaths: &p\n  /a: *p\n  get: *p\n",
        "openapi: 3.0.0\npaths: {/a: " + "[" * 50_000,
        '{"openapi": "3.0.0", "paths": ' + '{"a":' * 50_000,
        "openapi: 3.0.0\npaths: [a]\ninfo: []\ntags: {}\n",
        "openapi: 3.0.0\npaths: {/a: {get: , post: []}, ? [x] : y}\n",
        "openapi: 3.0.0\ninfo: !!python/object/apply:os.system ['false']\npaths: {/a: !x {get: {}}}\n",
    ],
)
def test_bombs_and_oddities_cost_little(docs: DocsIndexingPipeline, source: Make, text: str) -> None:
    started = perf_counter()
    assert len(_extraction(docs, source, text).rows) < 3_000
    assert perf_counter() - started < 5
