"""Sources that try to break the extractors: each costs only itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tests
from ragkit.document import SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.links.linked_rows import link_session
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]
LAYERS = [Layer.C2_DEPENDENCY_GRAPH, Layer.C3_ENTRYPOINTS, Layer.C4_PUBLIC_API]
SOURCES = sorted((Path(tests.__file__).parent / "cases" / "code_edges").rglob("*.py"))
LINES = [line for path in SOURCES for line in path.read_text("utf-8").split("\n")]
PIECES = [
    "x", "self", "super()", ".a", "()", "[0]", " = ", " or ", "@app.get('/x')\n", "def f(self, x: y):\n ", "*", ",",
    "class C(C):\n ", "from . import *\n", "import a.b as c\n", "lambda x: ", "await ", "__all__ = ['x', 1]\n",
    "global x\n", "\n", "    ", "del x.y\n", "with x as y.z: pass\n", "x: 'a.b[c]' = 1\n", "\x00", "f'{x}'",
]  # fmt: skip


def _check(code: CodeIndexingPipeline, file: SourceFile) -> None:
    extraction = code.index_file(file)
    rows = extraction.rows
    lines = file.text.split("\n")
    ids = [row.public_id for row in rows if row.layer in LAYERS]
    assert len(ids) == len(set(ids))
    for row in rows:
        if row.layer in LAYERS:
            assert 1 <= row.line_start <= row.line_end <= len(lines)
            assert "\n".join(lines[row.line_start - 1 : row.line_end]).startswith(row.text)
    linked = link_session({file.path: extraction})[file.path]
    assert [row.public_id for row in linked if row.layer not in LAYERS] == [
        row.public_id for row in rows if row.layer not in LAYERS
    ]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(LINES), max_size=25), st.sampled_from(["a/b.py", "a/__init__.py", "__init__.py"]))
def test_lines_in_any_order(code: CodeIndexingPipeline, source: Make, lines: list[str], path: str) -> None:
    _check(code, source(path, "\n".join(lines)))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_pieces_in_any_order(code: CodeIndexingPipeline, source: Make, text: str) -> None:
    _check(code, source("a/b.py", text))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_scripts_of_any_text(code: CodeIndexingPipeline, source: Make, text: str) -> None:
    code.index_file(source("pyproject.toml", f"[project.scripts]\n{text}"))


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 10_000 + ")" * 10_000,
        "x" + ".a" * 3_000 + "()",
        "x" + "()" * 3_000,
        "x = " + "+".join(["a"] * 20_000),
        "x = [" + "f(1, a.b)," * 60_000 + "]",
        "x = '" + "a" * 300_000 + "'; f(x)",
        "f(" * 90 + ")" * 90,
        "".join(" " * depth + "def f():\n" for depth in range(95)) + " " * 95 + "f()",
        "a = b\nb = a\n\n\ndef f(): a.go(); b()",
        "class A(B): ...\nclass B(A):\n    def f(self): self.g()",
        "def f(:",
        "print 'two'",
        "",
        "@app.get(" + "'/' + " * 2_000 + "'x')\ndef f(): ...",
    ],
)
def test_sources_made_to_hurt(code: CodeIndexingPipeline, source: Make, text: str) -> None:
    _check(code, source("a/b.py", text))


def test_a_file_that_does_not_parse_keeps_its_symbols_and_imports(code: CodeIndexingPipeline, source: Make) -> None:
    rows = code.index_file(source("a.py", "import x\n\ndef g():\n    y()\n\ndef f(:\n")).rows
    assert [(row.layer.value[:2], row.title) for row in rows if row.layer is not Layer.C0_SOURCE_CHUNKS] == [
        ("C1", "g"),
        ("C1", "f"),
        ("C2", "a imports x"),
    ]


def test_the_same_file_gives_the_same_rows(code: CodeIndexingPipeline, source: Make) -> None:
    for path in SOURCES:
        file = source(path.name, path.read_text("utf-8"))
        assert code.index_file(file) == code.index_file(file)
