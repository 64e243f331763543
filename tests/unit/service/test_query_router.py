"""MODULE's small door. Spec: MODULE §3, §6; system.md §1."""

from __future__ import annotations

import pytest

from ragkit import service
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
