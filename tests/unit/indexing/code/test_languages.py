"""Languages that `tree-sitter` reads, against outlines checked line by line: `tests/cases/code_languages`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tests
from ragkit.document import RagDocument, SourceFile
from ragkit.indexing.code import tree_source
from ragkit.indexing.code.grammars import GRAMMARS, grammar_of
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.code.tree_source import read_tree
from ragkit.indexing.passages import Lines
from ragkit.layers import ATTRIBUTES, Layer

Make = Callable[[str, str], SourceFile]
CASES = Path(tests.__file__).parent / "cases" / "code_languages"
EXPECTED: Mapping[str, Mapping[str, list[list[object]]]] = json.loads((CASES / "expected.json").read_text("utf-8"))
PATHS = {
    "javascript": "a.js", "typescript": "a.ts", "tsx": "a.tsx", "go": "a.go", "java": "A.java", "rust": "a.rs",
    "c": "a.c", "cpp": "a.cpp", "sql": "a.sql", "python": "a.py",
}  # fmt: skip


def _rows(code: CodeIndexingPipeline, file: SourceFile, layer: Layer) -> list[RagDocument]:
    return [row for row in code.index_file(file).rows if row.layer is layer]


def _file(source: Make, name: str) -> SourceFile:
    return source(f"src/{name}", (CASES / name).read_text("utf-8"))


def _own(row: RagDocument, attribute: str) -> str:
    return cast("str", row.attributes[attribute] or "").removeprefix(f"{row.path}::")


@pytest.mark.parametrize("name", EXPECTED)
def test_symbols(code: CodeIndexingPipeline, source: Make, name: str) -> None:
    found = [
        [
            row.public_id.removeprefix(f"src/{name}::"),
            *(row.attributes[key] for key in ("kind", "visibility", "decl.start_line", "decl.end_line", "signature")),
            row.attributes["docstring_or_javadoc"],
        ]
        for row in _rows(code, _file(source, name), Layer.C1_SYMBOL_CATALOG)
    ]
    assert found == EXPECTED[name]["symbols"]


@pytest.mark.parametrize("name", EXPECTED)
def test_imports(code: CodeIndexingPipeline, source: Make, name: str) -> None:
    rows = _rows(code, _file(source, name), Layer.C2_DEPENDENCY_GRAPH)
    found = [[_own(row, "src_symbol_id"), row.attributes["dst_ref"], row.line_start] for row in rows]
    assert found == EXPECTED[name]["imports"]
    for row in rows:
        assert (row.attributes["edge_type"], row.attributes["resolution"]) == ("imports", "import")
        assert row.attributes["dst_symbol_id"] is None
        assert cast("dict[str, object]", row.attributes["lang_payload"])["confidence"] == 1.0


@pytest.mark.parametrize("name", EXPECTED)
def test_chunks(code: CodeIndexingPipeline, source: Make, name: str) -> None:
    rows = _rows(code, _file(source, name), Layer.C0_SOURCE_CHUNKS)
    found = [[row.line_start, row.line_end, row.attributes["chunk_type"], _own(row, "symbol_id")] for row in rows]
    assert found == EXPECTED[name]["chunks"]


def test_every_language_has_a_case() -> None:
    kinds = {path.suffix for path in CASES.iterdir()}
    assert kinds >= {Path(path).suffix for path in PATHS.values()} - {".cpp"} | {".hpp"}
    assert set(PATHS) == set(GRAMMARS)


def test_attributes_of_a_method(code: CodeIndexingPipeline, source: Make) -> None:
    rows = _rows(code, _file(source, "ParcelController.java"), Layer.C1_SYMBOL_CATALOG)
    row = next(row for row in rows if row.title == "ParcelController.show")
    assert row.attributes == {
        "lang": "java",
        "symbol_id": "src/ParcelController.java::ParcelController.show",
        "qname": "ParcelController.show",
        "kind": "method",
        "decl.path": "src/ParcelController.java",
        "decl.start_line": 24,
        "decl.end_line": 30,
        "visibility": "public",
        "signature": "public Parcel show(@PathVariable long id) throws NotFound",
        "decorators_or_annotations": ['GetMapping("/{id}")'],
        "docstring_or_javadoc": "One parcel.",
        "parent_symbol_id": "src/ParcelController.java::ParcelController",
        "package_or_module": "org.posterna.web",
        "is_entry_candidate": True,
        "lang_payload": {},
    }
    assert set(row.attributes) == set(ATTRIBUTES[Layer.C1_SYMBOL_CATALOG]) - {"repo_id", "commit_sha", "text"}
    assert (row.line_start, row.line_end) == (23, 25)
    assert row.names == ("show", "ParcelController.show", "org.posterna.web.ParcelController.show")
    assert row.context == "parcel controller show path variable long id throws not found"


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("ParcelController.java", ["ParcelController.show", "ParcelController.main"]),
        ("parcels.ts", ["ParcelService.show"]),
        ("routes.go", ["main"]),
        ("cells.rs", ["main"]),
        ("lockers.js", ["main"]),
        ("old.py", ["main"]),
    ],
)
def test_entry_candidates(code: CodeIndexingPipeline, source: Make, name: str, entries: list[str]) -> None:
    rows = _rows(code, _file(source, name), Layer.C1_SYMBOL_CATALOG)
    assert [row.title for row in rows if row.attributes["is_entry_candidate"]] == entries


def test_members_know_their_type_wherever_they_stand(code: CodeIndexingPipeline, source: Make) -> None:
    for name, member, parent in [
        ("routes.go", "Planner.Plan", "Planner"),
        ("cells.rs", "Cell.open", "Cell"),
        ("scale.hpp", "posterna.scales.Scale.weigh~2", "posterna.scales.Scale"),
        ("scale.c", "weight_t.grams", "weight_t"),
    ]:
        rows = {_own(row, "symbol_id"): row for row in _rows(code, _file(source, name), Layer.C1_SYMBOL_CATALOG)}
        assert _own(rows[member], "parent_symbol_id") == parent


def test_names_are_found_as_the_language_writes_them(code: CodeIndexingPipeline, source: Make) -> None:
    rows = _rows(code, _file(source, "cells.rs"), Layer.C1_SYMBOL_CATALOG)
    assert next(row.names for row in rows if row.title == "Cell.new") == ("new", "Cell.new", "Cell::new")


def test_an_impl_of_a_type_of_another_file_belongs_to_no_symbol(code: CodeIndexingPipeline, source: Make) -> None:
    text = "impl Other {\n    fn a() {}\n    fn b() {}\n}\n"
    (row,) = _rows(code, source("a.rs", text), Layer.C0_SOURCE_CHUNKS)
    assert (row.title, row.attributes["chunk_type"], row.attributes["symbol_id"]) == ("Other", "impl", None)


def test_a_header_with_classes_is_read_as_cpp() -> None:
    assert grammar_of("a.h", "c", "int f(void);\n") is GRAMMARS["c"]
    assert grammar_of("a.h", "c", "#pragma once\nnamespace a {\n}\n") is GRAMMARS["cpp"]
    assert grammar_of("a.tsx", "typescript", "") is GRAMMARS["tsx"]
    assert grammar_of("go.mod", "go", "module a\n") is None
    assert grammar_of("a.rb", "ruby", "") is None


def test_a_long_class_is_split_into_its_methods(code: CodeIndexingPipeline, source: Make) -> None:
    method = "  /** Does it. */\n  m{0}() {{\n" + "    call(a, b);\n" * 20 + "  }}\n"
    text = "export class A extends B {\n  x = 1;\n\n" + "".join(method.format(n) for n in range(3)) + "}\n"
    rows = _rows(code, source("a.ts", text), Layer.C0_SOURCE_CHUNKS)
    assert [(row.line_start, row.line_end, row.attributes["chunk_type"], _own(row, "symbol_id")) for row in rows] == [
        (1, 3, "class_header", "A"),
        (4, 26, "method", "A.m0"),
        (27, 49, "method", "A.m1"),
        (50, 73, "method", "A.m2"),
    ]


def test_a_long_function_is_split_between_statements(code: CodeIndexingPipeline, source: Make) -> None:
    branch = "  if (a) {\n" + "    call(a, b, c);\n" * 24 + "  }\n"
    rows = _rows(code, source("a.js", "function f() {\n" + branch * 4 + "}\n"), Layer.C0_SOURCE_CHUNKS)
    assert [(row.line_start, row.line_end, row.attributes["chunk_type"]) for row in rows] == [
        (1, 53, "part"),
        (54, 106, "part"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "warned"),
    [
        ("a.js", "let a = 1;\nfunction f( {\n", [("syntax_errors", 2)]),
        ("a.go", "package a\n\nfunc (\n", [("syntax_errors", 3)]),
        ("a.js", "let a = 1;\n", []),
        ("a.c", "BEGIN_DECLS int f(void) __attr;\n", []),  # macros are no fault
        ("a.sql", "DECLARE @x INT\nGO\n", []),  # nor are dialects
        ("a.py", "x = 1\nprint 'a'\n", [("python_syntax", 2)]),
        ("a.rb", "def f(\n", []),
    ],
)
def test_errors_are_told_with_their_line(
    code: CodeIndexingPipeline, source: Make, path: str, text: str, warned: list[tuple[str, int]]
) -> None:
    assert [(warning.code, warning.line) for warning in code.index_file(source(path, text)).warnings] == warned


def test_a_source_that_takes_too_many_steps_is_cut_by_lines(
    code: CodeIndexingPipeline, source: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_source, "_MIN_STEPS", 3)
    monkeypatch.setattr(tree_source, "_STEPS_PER_BYTE", 0)
    extraction = code.index_file(source("a.js", "f(1, 2);\n\n" * 500))
    assert [warning.code for warning in extraction.warnings] == ["syntax_unread"]
    assert {row.attributes["chunk_type"] for row in extraction.rows} == {"lines"}


def test_nodes_that_begin_and_end_together_keep_their_order(code: CodeIndexingPipeline, source: Make) -> None:
    """A statement of SQL and the one thing in it: whichever came first would say what is inside what."""
    file = _file(source, "schema.sql")
    first = code.index_file(file)
    kept: list[object] = []  # trees that stay alive put the next one elsewhere in memory
    for _ in range(30):
        kept.append(read_tree(Lines(file.text), GRAMMARS["sql"]))
        assert code.index_file(file) == first


LINES = {
    language: [
        line
        for path in sorted(CASES.iterdir())
        if path.suffix == Path(PATHS[language]).suffix or (language == "cpp" and path.suffix in (".c", ".hpp"))
        for line in path.read_text("utf-8").split("\n")
    ]
    for language in PATHS
}
TOKENS = [
    "(", ")", "{", "}", "[", "]", "<", ">", ";", ",", ".", ":", "::", "=", "=>", "->", "*", "/", "/*", "*/", "//",
    "\"", "'", "`", "#", "@", "$$", "\\", "\n", "\n\n", " ", "\t", "class ", "fn ", "func ", "def ", "import ", "use ",
    "#if ", "export ", "return ", "create table ", "x", "Имя", "1", "\f", "\x00", "\u2028", "\ud800", "😀",
]  # fmt: skip


def _check(code: CodeIndexingPipeline, file: SourceFile) -> None:
    extraction = code.index_file(file)
    lines = Lines(file.text)
    ids = [row.public_id for row in extraction.rows]
    assert len(ids) == len(set(ids))
    chunks = [row for row in extraction.rows if row.layer is Layer.C0_SOURCE_CHUNKS]
    whole = [row for row in chunks if row.text == lines.text(row.line_start - 1, row.line_end)]
    counts = Counter(line for row in whole for line in range(row.line_start, row.line_end + 1))
    cut = {row.line_start for row in chunks} - {row.line_start for row in whole}
    for number in range(1, len(lines) + 1):
        assert counts[number] == 1 or number in cut or (counts[number] == 0 and lines.is_blank(number - 1))
    for row in extraction.rows:
        assert 1 <= row.line_start <= row.line_end <= max(len(lines), 1)
        assert lines.text(row.line_start - 1, row.line_end).startswith(row.text) or row.line_start in cut
    assert code.index_file(file) == extraction


@pytest.mark.parametrize("language", PATHS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_lines_in_any_order(code: CodeIndexingPipeline, source: Make, language: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(LINES[language]), max_size=40))
    _check(code, source(PATHS[language], "\n".join(lines)))


@pytest.mark.parametrize("language", PATHS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_tokens_in_any_order(code: CodeIndexingPipeline, source: Make, language: str, data: st.DataObject) -> None:
    tokens = data.draw(st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), max_size=60))
    _check(code, source(PATHS[language], "".join(tokens)))
