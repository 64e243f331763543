"""MODULE's small door. Spec: MODULE §3, §6; system.md §1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from ragkit import service
from ragkit.routing.contract import Intent
from ragkit.service import RagQueryRouter
from ragkit.service.query_router import MODE_OF


@pytest.fixture(scope="module")
def door() -> RagQueryRouter:
    return RagQueryRouter(service.router())


def test_modes_by_intent() -> None:
    assert MODE_OF == {
        "CODE_QA": "code",
        "GENERATE_DOCS_FROM_CODE": "code",
        "DOCS_QA": "docs",
        "PROJECT_MISC": "docs",
    }


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("Сколько хранится посылка?", "docs"),
        ("GET /v1/orders", "docs"),
        ("Где в коде выбирается ячейка?", "code"),
        ("What does OrderService.place() do?", "code"),
    ],
)
def test_resolve_mode(door: RagQueryRouter, query: str, mode: str) -> None:
    assert door.resolve_mode(query) == mode


def test_layers_in_the_order_of_the_specification(door: RagQueryRouter) -> None:
    assert [layer.value for layer in door.layers_for_mode("docs")] == [
        "D1_DOCUMENT_CATALOG",
        "D2_FACT_INDEX",
        "D0_DOC_CHUNKS",
        "D4_POLICY_INDEX",
    ]
    assert [layer.value for layer in door.layers_for_mode("code")] == [
        "C3_ENTRYPOINTS",
        "C1_SYMBOL_CATALOG",
        "C2_DEPENDENCY_GRAPH",
        "C0_SOURCE_CHUNKS",
    ]


CASES = (Path(__file__).parents[2] / "cases" / "routing_queries.jsonl").read_text(encoding="utf-8").splitlines()


def test_the_mode_follows_from_the_intent_in_every_case() -> None:
    """Code for questions about it and for documentation from it, else docs: general questions too (system.md §1)."""
    plain = service.router()
    small = RagQueryRouter(plain)
    seen: set[str] = set()
    for line in CASES:
        query = json.loads(line)["query"]
        intent = plain.route(query).contract.intent
        seen.add(intent)
        assert small.resolve_mode(query) == ("code" if intent in ("CODE_QA", "GENERATE_DOCS_FROM_CODE") else "docs")
    assert seen == set(get_args(Intent))
