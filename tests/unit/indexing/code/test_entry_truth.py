"""The entry points of a small application against a truth written by hand: `tests/cases/code_entries`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import tests
from ragkit.document import SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]
Found = dict[str, set[tuple[str, str, str]]]
"""Type of entry → (path, what calls it, handler)."""

CASES = Path(tests.__file__).parent / "cases" / "code_entries"
TYPES = ("http_route", "websocket", "cli_command", "task", "schedule", "message_handler", "main")
LEAST = 0.95
"""Precision and recall that each type must have."""


@pytest.fixture(scope="module")
def found(code: CodeIndexingPipeline, source: Make) -> Found:
    entries: Found = defaultdict(set)
    for path in sorted((CASES / "app").iterdir()):
        for row in code.index_file(source(f"app/{path.name}", path.read_text("utf-8"))).rows:
            if row.layer is Layer.C3_ENTRYPOINTS:
                handler = cast("str", row.attributes["handler_symbol_id"] or "").rpartition("::")[2]
                entries[cast("str", row.attributes["entry_type"])].add((row.path, row.title, handler))
    return entries


@pytest.fixture(scope="module")
def expected() -> Found:
    truth: Found = defaultdict(set)
    for path, entry_type, title, handler in json.loads((CASES / "expected.json").read_text("utf-8")):
        truth[entry_type].add((path, title, handler))
    return truth


@pytest.mark.parametrize("entry_type", TYPES)
def test_precision_and_recall(found: Found, expected: Found, entry_type: str) -> None:
    given, wanted = found[entry_type], expected[entry_type]
    precision, recall = (len(given & wanted) / len(side) for side in (given, wanted))
    # Shown by `pytest -s`; README's table is made of it.
    print(f"\n{entry_type}: precision {precision:.2f}, recall {recall:.2f}, {len(wanted)} expected")  # noqa: T201
    assert precision >= LEAST, sorted(given - wanted)
    assert recall >= LEAST, sorted(wanted - given)


def test_no_other_type_is_found(found: Found, expected: Found) -> None:
    assert {name for name, entries in found.items() if entries} == set(expected) == set(TYPES)
