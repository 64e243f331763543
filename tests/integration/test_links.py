"""What files say together, on a real server: kept true by every change. Spec: system.md §5 (Link)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragkit.service import Ask, RagService
from tests.conftest import OpenService

Tree = Callable[[dict[str, str | None]], Path]

FILES: dict[str, str | None] = {
    "app/users.py": "from fastapi import APIRouter\nrouter = APIRouter(prefix='/users')\n"
    "@router.get('/{id}')\ndef one(id):\n    return load(id)\n\ndef load(id):\n    return id\n",
    "app/main.py": "from fastapi import FastAPI\nfrom app import users\napp = FastAPI()\n"
    "app.include_router(users.router, prefix='/v1')\n\ndef start():\n    return users.load(1)\n",
    "docs/glossary.md": "# Glossary\n\n| Term | Meaning |\n| --- | --- |\n| Lamp | It shines. |\n",
    "docs/lamp.md": "---\nid: domain.lamp\ntype: domain\n---\n# Lamp\n\nA lamp is what a shop sells.\n",
    "docs/shop.md": "---\nuses_logic: [domain.lamp]\n---\n# Shop\n\nSee [lamps](lamp.md).\n",
}


@pytest.fixture
def engine(database_url: str, open_service: OpenService, tree: Tree) -> RagService:
    engine = open_service(database_url)
    engine.index_snapshot("s", tree(FILES))
    return engine


def attributes(engine: RagService, path: str, layer: str, name: str) -> list[object]:
    return [row["attributes"][name] for row in engine.show("s", path)["rows"] if row["layer"] == layer]


def targets(engine: RagService) -> list[object]:
    return attributes(engine, "app/main.py", "C2_DEPENDENCY_GRAPH", "dst_symbol_id")


def test_edges_routes_facts_and_entities_know_other_files(engine: RagService) -> None:
    assert "app/users.py::load" in targets(engine)
    assert attributes(engine, "app/users.py", "C3_ENTRYPOINTS", "route_or_command") == ["/v1/users/{id}"]
    assert attributes(engine, "docs/shop.md", "D2_FACT_INDEX", "object_ref")[0] == "docs/lamp.md"
    assert attributes(engine, "docs/lamp.md", "D3_ENTITY_CATALOG", "documents") == [
        ["docs/lamp.md", "docs/glossary.md"]
    ]
    assert attributes(engine, "docs/glossary.md", "D3_ENTITY_CATALOG", "name") == []


def test_the_joined_route_is_found_as_written(engine: RagService) -> None:
    trace = engine.answer(Ask(query="where is GET /v1/users/{id} implemented in the code?", session="s"))
    assert trace.rows[0].path == "app/users.py"


def test_a_deleted_target_leaves_an_unresolved_edge(engine: RagService, tree: Tree) -> None:
    job = engine.index_snapshot("s", tree({"app/users.py": None}))
    assert (job.files["deleted"], job.files["indexed"], job.files["relinked"]) == (1, 0, 1)
    assert set(targets(engine)) == {None}
    engine.index_snapshot("s", tree({"app/users.py": FILES["app/users.py"]}))
    assert "app/users.py::load" in targets(engine)


def test_a_prefix_changed_elsewhere_changes_the_route(engine: RagService, tree: Tree) -> None:
    moved = (FILES["app/main.py"] or "").replace("/v1", "/v2")
    job = engine.index_snapshot("s", tree({"app/main.py": moved}))
    assert (job.files["indexed"], job.files["relinked"]) == (1, 1)
    assert attributes(engine, "app/users.py", "C3_ENTRYPOINTS", "route_or_command") == ["/v2/users/{id}"]
    trace = engine.answer(Ask(query="where is GET /v2/users/{id} implemented in the code?", session="s"))
    assert trace.rows[0].path == "app/users.py"


def test_an_entity_goes_back_when_the_better_description_goes(engine: RagService, tree: Tree) -> None:
    engine.index_snapshot("s", tree({"docs/lamp.md": None}))
    assert attributes(engine, "docs/glossary.md", "D3_ENTITY_CATALOG", "documents") == [["docs/glossary.md"]]
    assert attributes(engine, "docs/shop.md", "D2_FACT_INDEX", "object_ref")[0] is None


def test_a_changed_body_relinks_nothing(engine: RagService, tree: Tree) -> None:
    same_names = (FILES["app/users.py"] or "").replace("return id", "return [id]")
    job = engine.index_snapshot("s", tree({"app/users.py": same_names}))
    assert (job.files["indexed"], job.files["relinked"]) == (1, 0)


def test_links_hold_without_the_cache_and_are_left_when_the_file_is_another(
    engine: RagService, database_url: str, tree: Tree
) -> None:
    """The relinked file is read again where the cache has lost it."""
    import psycopg

    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DELETE FROM rag_extraction_cache")
    job = engine.index_snapshot("s", tree({"app/users.py": None}))
    assert job.files["relinked"] == 1
    assert set(targets(engine)) == {None}


def test_whoever_documents_a_symbol_gets_its_definition_callers_and_callees(
    database_url: str, open_service: OpenService, tree: Tree
) -> None:
    """Spec: system.md §3 (D2, `code_generate_docs`)."""
    files: dict[str, str | None] = {
        "app/price.py": 'def total_price(order, rate: float) -> float:\n    """Price of an order with tax."""\n'
        "    return add_tax(order.sum, rate)\n\n\ndef add_tax(value, rate):\n    return value * (1 + rate)\n",
        "app/api.py": "from fastapi import FastAPI\nfrom app.price import total_price\napp = FastAPI()\n\n"
        "@app.get('/price')\ndef price(order):\n    return total_price(order, 0.2)\n",
        "app/report.py": "from app import price\n\n\ndef monthly(orders):\n"
        "    return sum(price.total_price(order, 0.2) for order in orders)\n",
        **{f"app/noise_{n}.py": f"def price_{n}(order):\n    return order.price_{n}\n" for n in range(30)},
    }
    engine = open_service(database_url)
    engine.index_snapshot("s", tree(files))
    trace = engine.answer(Ask(query="Generate documentation from code for total_price", session="s"))
    assert trace.plans[0].profile == "code_generate_docs"
    rows = {row.id: row for row in trace.rows}
    edges = [row for row in trace.rows if row.layer.value == "C2_DEPENDENCY_GRAPH" and "calls" in row.title]
    assert "app/price.py::total_price" in rows
    assert {(row.path, "add_tax" in row.title) for row in edges} >= {
        ("app/price.py", True),
        ("app/api.py", False),
        ("app/report.py", False),
    }
    assert all(row.parts["graph"] == 0.6 for row in edges[:3])
    assert "graph" in edges[0].found_by
    step = next(step for step in trace.steps if step.name == "graph")
    assert step.notes[0].params["nodes"] == ["app/price.py::total_price"]
    assert all(abs(sum(row.parts.values()) - row.score) < 1e-9 for row in trace.rows)
    plain = engine.answer(Ask(query="total_price", session="s", intent="CODE_QA"))
    assert "graph" not in [step.name for step in plain.steps]
