"""The edges of a small package against a truth written by hand: `tests/cases/code_edges`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import tests
from ragkit.document import RagDocument, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.links.linked_rows import link_session
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]
Found = dict[str, set[tuple[str, str, str]]]
"""Type of edge → (path, source, target)."""

CASES = Path(tests.__file__).parent / "cases" / "code_edges"
LEAST = {
    "imports": (1.0, 1.0),
    "calls": (0.95, 0.75),
    "inherits": (1.0, 1.0),
    "instantiates": (0.95, 0.9),
    "decorates": (1.0, 1.0),
    "reads_state": (0.95, 0.9),
    "writes_state": (0.95, 0.9),
}
"""Precision and recall that each type must have inside one project."""


def _found(rows: list[RagDocument]) -> Found:
    found: Found = defaultdict(set)
    for row in rows:
        if row.layer is not Layer.C2_DEPENDENCY_GRAPH:
            continue
        payload = cast("dict[str, object]", row.attributes["lang_payload"])
        target = cast("str | None", row.attributes["dst_symbol_id"] or payload.get("dst_path"))
        if target is not None:
            source = cast("str | None", row.attributes["src_symbol_id"]) or ""
            edge_type = cast("str", row.attributes["edge_type"])
            found[edge_type].add((row.path, source.removeprefix(f"{row.path}::"), target))
    return found


@pytest.fixture(scope="module")
def found(code: CodeIndexingPipeline, source: Make) -> Found:
    paths = sorted(CASES.rglob("*.py"))
    files = [source(path.relative_to(CASES).as_posix(), path.read_text("utf-8")) for path in paths]
    linked = link_session({file.path: code.index_file(file) for file in files})
    return _found([row for rows in linked.values() for row in rows])


@pytest.fixture(scope="module")
def expected() -> Found:
    truth: Found = defaultdict(set)
    for path, name, edge_type, target in json.loads((CASES / "expected.json").read_text("utf-8")):
        truth[edge_type].add((path, name, target))
    return truth


@pytest.mark.parametrize("edge_type", LEAST)
def test_precision_and_recall(found: Found, expected: Found, edge_type: str) -> None:
    given, wanted = found[edge_type], expected[edge_type]
    precision, recall = (len(given & wanted) / len(side) for side in (given, wanted))
    # Shown by `pytest -s`; README has the table.
    print(f"\n{edge_type}: precision {precision:.2f}, recall {recall:.2f}, {len(wanted)} expected")  # noqa: T201
    least_precision, least_recall = LEAST[edge_type]
    assert precision >= least_precision, sorted(given - wanted)
    assert recall >= least_recall, sorted(wanted - given)


def test_every_type_has_a_truth(expected: Found) -> None:
    assert set(expected) == set(LEAST)
