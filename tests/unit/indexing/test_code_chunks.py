from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.document import IndexWarning, RagDocument, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.passages import Lines
from ragkit.layers import ATTRIBUTES, Layer

Make = Callable[[str, str], SourceFile]

MODULE = '''\
#!/usr/bin/env python
"""Orders."""

import os

LIMIT = 3


# Why it is so.
@cache
def total(
    items: list[int],
) -> int:
    return sum(items)
class Cart:
    """A cart."""

    def add(self, item): ...


if __name__ == "__main__":
    total([])
'''


def _chunks(code: CodeIndexingPipeline, file: SourceFile) -> list[RagDocument]:
    return [row for row in code.index_file(file).rows if row.layer is Layer.C0_SOURCE_CHUNKS]


def _outline(rows: list[RagDocument]) -> list[tuple[int, int, object, object]]:
    return [(row.line_start, row.line_end, row.attributes["chunk_type"], row.attributes["symbol_id"]) for row in rows]


def test_definitions_are_chunks_and_the_rest_stands_between(code: CodeIndexingPipeline, source: Make) -> None:
    assert _outline(_chunks(code, source("src/shop/orders.py", MODULE))) == [
        (1, 8, "module", None),
        (9, 14, "function", "src/shop/orders.py::total"),
        (15, 20, "class", "src/shop/orders.py::Cart"),
        (21, 22, "module", None),
    ]


def test_attributes_and_context(code: CodeIndexingPipeline, source: Make) -> None:
    row = _chunks(code, source("src/shop/orders.py", MODULE))[1]
    assert row.attributes == {
        "lang": "python",
        "path": "src/shop/orders.py",
        "span": "L9-L14",
        "title": "total",
        "module_or_unit": "shop.orders",
        "chunk_type": "function",
        "symbol_id": "src/shop/orders.py::total",
        "hash": hashlib.sha256(row.text.encode()).hexdigest(),
    }
    assert set(row.attributes) == set(ATTRIBUTES[Layer.C0_SOURCE_CHUNKS]) - {"repo_id", "commit_sha", "text"}
    assert (row.public_id, row.title, row.lang) == ("src/shop/orders.py:L9-L14", "total", "code")
    assert row.context == "shop orders total items list int"
    assert row.names == ("total",)


def test_a_long_class_is_split_into_its_methods(code: CodeIndexingPipeline, source: Make) -> None:
    method = "    def m{0}(self):\n" + "        x = 1\n" * 20
    text = "class A(B):\n    x: int = 1\n\n" + "".join(method.format(n) for n in range(3)) + "    y = 2\n"
    assert _outline(_chunks(code, source("a.py", text))) == [
        (1, 3, "class_header", "a.py::A"),
        (4, 24, "method", "a.py::A.m0"),
        (25, 45, "method", "a.py::A.m1"),
        (46, 66, "method", "a.py::A.m2"),
        (67, 67, "class_header", "a.py::A"),
    ]


def test_a_long_function_is_split_between_statements(code: CodeIndexingPipeline, source: Make) -> None:
    branch = "    if a:\n" + "        f(a, b, c)\n" * 24
    rows = _chunks(code, source("a.py", "def f():\n" + branch * 4))
    assert _outline(rows) == [
        (1, 51, "part", "a.py::f"),
        (52, 101, "part", "a.py::f"),
    ]
    assert [row.names for row in rows] == [("f",), ()]


def test_an_elif_chain_of_any_length(code: CodeIndexingPipeline, source: Make) -> None:
    extraction = code.index_file(source("a.py", "if a:\n    pass\n" + "elif b:\n    pass\n" * 700))
    assert extraction.warnings == ()
    assert all(row.line_start % 2 == 1 for row in extraction.rows)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("x = 1\ndef f(:\n    pass\n", 2, "invalid syntax"),
        ("print 'x'\n", 1, "Missing parentheses in call to 'print'. Did you mean print(...)?"),
        ("x = " + "[" * 10_000 + "\n", 1, "too many nested parentheses"),
        ("x = " + "+".join(["1"] * 50_000) + "\n", 1, "RecursionError"),
        ("x = " + "-" * 50_000 + "1\n", 1, "MemoryError"),
        ("if a: pass\n" + "elif b: pass\n" * 5_000, 1, "RecursionError"),
    ],
)
def test_unparsable_python_keeps_its_lines_and_is_told(
    code: CodeIndexingPipeline, source: Make, text: str, line: int, problem: str
) -> None:
    extraction = code.index_file(source("a.py", text))
    params = {"path": "a.py", "line": line, "problem": problem}
    assert extraction.warnings[0] == IndexWarning(code="python_syntax", path="a.py", line=line, params=params)
    chunks = [row for row in extraction.rows if row.layer is Layer.C0_SOURCE_CHUNKS]
    assert "".join(row.text for row in chunks).replace("\n", "") == text.replace("\n", "")


def test_warnings_of_the_parser_are_not_ours(code: CodeIndexingPipeline, source: Make) -> None:
    assert code.index_file(source("a.py", "x = '\\d'\nif 1 is 1: pass\n")).warnings == ()


def test_a_long_line_is_cut_and_told(code: CodeIndexingPipeline, source: Make) -> None:
    extraction = code.index_file(source("a.py", "x = '" + "word " * 60_000 + "'\n"))
    chunks = [row for row in extraction.rows if row.layer is Layer.C0_SOURCE_CHUNKS]
    assert [(warning.code, warning.line) for warning in extraction.warnings] == [("long_line", 1)]
    assert [row.public_id for row in chunks[:2]] == ["a.py:L1-L1", "a.py:L1-L1~2"]


def test_other_languages_are_cut_at_blank_lines(code: CodeIndexingPipeline, source: Make) -> None:
    part = "function f() {\n" + "  call();\n" * 28 + "}\n\n"
    rows = _chunks(code, source("web/a.php", part * 3))
    assert _outline(rows) == [(1, 31, "lines", None), (32, 62, "lines", None), (63, 93, "lines", None)]
    assert rows[0].attributes["lang"] == "php"
    assert rows[0].context == "web a"


STATEMENTS = [
    "import a",
    "x = 1; y = 2",
    "# comment",
    "",
    "\f",
    "def f(): pass",
    "def g(a):\n    return a",
    "@d\nclass A:\n    x = 1",
    "class B:\n    # note\n    def m(self):\n        pass\n\n    def n(self): ...",
    "if x:\n    def h():\n        pass\nelse:\n    z = 1",
    "try:\n    pass\nexcept E:\n    pass\n# after\nfinally:\n    pass",
    "s = '''\n# no comment\n'''",
    "async def k():\n    await x",
    "match x:\n    case 1:\n        pass",
    "x = \\\n  1",
    "v = '" + "w " * 3000 + "'",
    "def long():\n" + "    call(a, b, c, d)\n" * 90 + "    return 1",
    "class Long:\n" + "".join(f"    def m{n}(self):\n        return {n}\n\n" for n in range(30)) + "    pass",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(STATEMENTS), max_size=12).map("\n".join))
def test_every_line_is_in_exactly_one_chunk(code: CodeIndexingPipeline, source: Make, text: str) -> None:
    file = source("a.py", text)
    extraction = code.index_file(file)
    chunks = [row for row in extraction.rows if row.layer is Layer.C0_SOURCE_CHUNKS]
    assert not [warning for warning in extraction.warnings if warning.code == "python_syntax"]
    assert len({row.public_id for row in extraction.rows}) == len(extraction.rows)
    lines = Lines(text)
    whole = [row for row in chunks if row.text == lines.text(row.line_start - 1, row.line_end)]
    cut = {row.line_start for row in chunks} - {row.line_start for row in whole}
    counts = Counter(line for row in whole for line in range(row.line_start, row.line_end + 1))
    for number in range(1, len(lines) + 1):
        assert counts[number] == 1 or number in cut or lines.is_blank(number - 1)
    assert extraction == code.index_file(file)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_an_extraction(code: CodeIndexingPipeline, source: Make, text: str) -> None:
    for path in ["a.py", "a.rs"]:
        assert code.index_file(source(path, text)) == code.index_file(source(path, text))


def test_a_licence_comment_is_a_chunk_of_its_own(code: CodeIndexingPipeline, source: Make) -> None:
    header = "/*\n * Copyright (c) 2020 A\n */\n"
    rows = _chunks(code, source("a/b.java", header + "\n/** Doc. */\nclass B {}\n"))
    assert _outline(rows) == [(1, 4, "license", None), (5, 6, "module", None)]
    assert [row.context for row in rows] == ["", "a b"]
    assert [row.title for row in rows] == ["b.java", "b.java"]
    rows = _chunks(code, source("a.py", "# SPDX-License-Identifier: MIT\n\n\ndef f(): pass\n"))
    assert _outline(rows) == [(1, 3, "license", None), (4, 4, "function", "a.py::f")]


@pytest.mark.parametrize("text", ["# About orders.\nx = 1\n", "/* Copyright */ int a;\n", "// a\n", "/* license", ""])
def test_other_comments_are_no_licence(code: CodeIndexingPipeline, source: Make, text: str) -> None:
    assert "license" not in {row.attributes["chunk_type"] for row in _chunks(code, source("a.c", text))}
