"""Retrieval on a real server: filters hide, seeds come first, sessions stay apart, and the same gives the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ragkit import bundle, service
from ragkit.embedding import Embedder
from ragkit.errors import DatabaseError, RagkitError, UnknownName, WrongUse
from ragkit.layers import Layer
from ragkit.policy.plan import PlanFilters, RetrievalPlan
from ragkit.retrieval.adapter import FetchedRows
from ragkit.retrieval.search_query import search_query
from ragkit.retrieval.trace import Trace
from ragkit.service import Ask, RagService
from tests.conftest import OpenService
from tests.embedders import SilentEmbedder, WordEmbedder
from tests.servers import TestServer

Tree = Callable[[dict[str, str | None]], Path]

D0, D1 = Layer.D0_DOC_CHUNKS, Layer.D1_DOCUMENT_CATALOG
C0, C1 = Layer.C0_SOURCE_CHUNKS, Layer.C1_SYMBOL_CATALOG


def page(title: str, text: str, **front: str) -> str:
    header = "".join(f"{name}: {value}\n" for name, value in front.items())
    return (f"---\n{header}---\n\n" if front else "") + f"# {title}\n\n{text}\n"


SHOP: dict[str, str | None] = {
    "docs/api/orders.md": page("Order API", "An order is placed by one call.", domain="Billing", subdomain="Refunds"),
    "docs/guide/orders.md": page("Order guide", "How an order grows.", domain="shop"),
    "docs/guide/a_b.md": page("Under", "An order with an underscore."),
    "docs/guide/axb.md": page("Cross", "An order with a letter."),
    "Docs/Mixed/Case.md": page("Mixed", "An order in mixed case."),
    "README.md": page("Shop", "An order is what this shop is about."),
    "docs/other.md": page("Weather", "It rains in April."),
    "src/orders.py": "def place_order(order):\n    return order\n",
    "web/orders.js": "function placeOrder(order) {\n  return order;\n}\n",
    "tests/test_orders.py": "def test_place_order():\n    order = 1\n    assert order\n",
}
DOCS = {path for path in SHOP if path.endswith(".md")}


@pytest.fixture
def shop(database_url: str, open_service: OpenService, tree: Tree) -> RagService:
    engine = open_service(database_url)
    engine.index_snapshot("shop", tree(SHOP))
    return engine


def fetch(
    engine: RagService,
    filters: PlanFilters,
    *,
    query: str = "order",
    layers: tuple[Layer, ...] = (D1, D0),
    limit: int = 100,
    vector: bool = True,
    session: str = "shop",
) -> FetchedRows:
    """Rows of a plan made by hand, below the service: no route, no policy."""
    plan = RetrievalPlan(profile="by_hand", layers=layers, limit=limit, filters=filters)
    routing = service.router().route(query)
    embedded = WordEmbedder().embed([query])[0] if vector else None
    asked = search_query(routing.contract, routing.route, bundle.analyzer(), embedded)
    ranking = bundle.policy("spec", Path("unused")).policy.ranking.docs
    with engine._repository.database.reading() as connection:
        found = engine._repository.read_session(connection, session)
        return engine._adapter.fetch_rows(connection, found, plan, asked, ranking=ranking, depths={})


def paths(found: FetchedRows) -> set[str]:
    return {row.path for row in found.rows}


def without_timings(trace: Trace) -> bytes:
    body = trace.to_json()
    del body["timings"]
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


# --- hard filters hide


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (PlanFilters(), DOCS),
        (PlanFilters(path_prefixes=("docs/api/",)), {"docs/api/orders.md"}),
        (PlanFilters(path_prefixes=("docs/api/", "README")), {"docs/api/orders.md", "README.md"}),
        (PlanFilters(path_prefixes=("DOCS/mixed/",)), {"Docs/Mixed/Case.md"}),
        (PlanFilters(path_prefixes=("docs/guide/a_",)), {"docs/guide/a_b.md"}),
        (PlanFilters(path_prefixes=("%",)), set()),
        (PlanFilters(path_prefixes=()), set()),
        (PlanFilters(exclude_path_prefixes=("docs/",)), {"README.md"}),
        (PlanFilters(exclude_path_prefixes=("docs/guide/a_",)), DOCS - {"docs/guide/a_b.md"}),
        (PlanFilters(exclude_like_patterns=(r"%a\_b%",)), DOCS - {"docs/guide/a_b.md"}),
        (PlanFilters(exclude_like_patterns=("%a_b%",)), DOCS - {"docs/guide/a_b.md", "docs/guide/axb.md"}),
        (PlanFilters(exclude_like_patterns=("%order api%",)), DOCS - {"docs/api/orders.md"}),  # by its title
        (PlanFilters(metadata_domain="billing"), {"docs/api/orders.md"}),
        (PlanFilters(metadata_subdomain="refunds"), {"docs/api/orders.md"}),
        (PlanFilters(metadata_domain="shop", metadata_subdomain="refunds"), set()),
    ],
    ids=lambda value: str(value.to_json()) if isinstance(value, PlanFilters) else "",
)
@pytest.mark.parametrize("vector", [True, False], ids=["vector", "words"])
def test_hard_filters_hide(shop: RagService, filters: PlanFilters, expected: set[str], vector: bool) -> None:
    """With a vector every row is near in some way, so exactly the filter decides; without one words must match."""
    found = paths(fetch(shop, filters, vector=vector))
    assert found == (expected if vector else expected - {"docs/other.md"})


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (PlanFilters(test_policy="EXCLUDE"), {"src/orders.py", "web/orders.js"}),
        (PlanFilters(test_policy="ONLY"), {"tests/test_orders.py"}),
        (PlanFilters(test_policy="INCLUDE"), {"src/orders.py", "web/orders.js", "tests/test_orders.py"}),
        (PlanFilters(language=("python",)), {"src/orders.py", "tests/test_orders.py"}),
        (PlanFilters(language=("python",), test_policy="EXCLUDE"), {"src/orders.py"}),
        (PlanFilters(language=("cobol",)), set()),
        (PlanFilters(path_scope=("nowhere/x.py",)), {"src/orders.py", "web/orders.js", "tests/test_orders.py"}),
    ],
    ids=lambda value: str(value.to_json()) if isinstance(value, PlanFilters) else "",
)
def test_filters_of_code(shop: RagService, filters: PlanFilters, expected: set[str]) -> None:
    assert paths(fetch(shop, filters, layers=(C1, C0))) == expected


def test_only_the_plans_layers_are_searched(shop: RagService) -> None:
    assert {row.layer for row in fetch(shop, PlanFilters(), layers=(D1,)).rows} == {D1}
    assert {row.layer for row in fetch(shop, PlanFilters(), layers=(C0,)).rows} == {C0}


def test_nothing_left_is_said(shop: RagService) -> None:
    """Spec: system.md §3: a hard filter that leaves nothing is reported as such."""
    found = fetch(shop, PlanFilters(metadata_domain="nowhere"))
    assert found.rows == ()
    notes = {note.code: note.params for step in found.steps for note in step.notes}
    assert notes["step.nothing_left"] == {"filters": ["metadata.domain"]}


def test_empty_layers_are_said(shop: RagService) -> None:
    found = fetch(shop, PlanFilters(), layers=(Layer.D4_WORKFLOW_INDEX, Layer.D5_RELATION_GRAPH))
    assert found.rows == ()
    notes = {note.code for step in found.steps for note in step.notes}
    assert "step.layers_empty" in notes


def test_preferences_move_and_hide_nothing(shop: RagService) -> None:
    plain = fetch(shop, PlanFilters())
    moved = fetch(shop, PlanFilters(prefer_path_prefixes=("docs/guide/",), prefer_like_patterns=("%cross%",)))
    assert paths(plain) == paths(moved)
    for row in moved.rows:
        assert ("prefer_path" in row.parts) == row.path.startswith("docs/guide/")
        assert ("prefer_like" in row.parts) == (row.path == "docs/guide/axb.md")


# --- seeds


def test_hinted_document_comes_first_whatever_it_says(shop: RagService) -> None:
    found = fetch(shop, PlanFilters(target_doc_hints=("docs/other.md",)))
    assert found.rows[0].path == "docs/other.md"
    assert "exact_title" in found.rows[0].found_by  # a hint that the query does not name by its path


def test_document_that_the_query_names_by_its_path(shop: RagService) -> None:
    found = fetch(shop, PlanFilters(target_doc_hints=("docs/other.md",)), query="order in other.md")
    assert found.rows[0].path == "docs/other.md"
    assert "exact_path" in found.rows[0].found_by
    assert found.rows[0].parts["seed"] > 0


def test_hints_ignore_path_prefixes(shop: RagService) -> None:
    """Spec: system.md §6."""
    found = fetch(shop, PlanFilters(target_doc_hints=("docs/other.md",), path_prefixes=("docs/api/",)))
    assert paths(found) == {"docs/other.md", "docs/api/orders.md"}
    assert found.rows[0].path == "docs/other.md"


def test_hints_obey_other_hard_filters(shop: RagService) -> None:
    found = fetch(shop, PlanFilters(target_doc_hints=("docs/other.md",), metadata_domain="billing"))
    assert paths(found) == {"docs/api/orders.md"}


def test_missing_hint_is_sought_as_a_part_of_a_path(shop: RagService) -> None:
    found = fetch(shop, PlanFilters(target_doc_hints=("OTHER.md",)))
    assert found.rows[0].path == "docs/other.md"
    assert "path_substring" in found.rows[0].found_by
    steps = {step.name: step for step in found.steps}
    assert (steps["exact_files"].came_in, steps["exact_files"].went_out) == (1, 0)
    assert steps["path_substrings"].came_in == 1
    assert steps["path_substrings"].went_out == 2  # the document and its one passage
    (note,) = steps["exact_files"].notes
    assert note.params == {"hints": ["OTHER.md"]}


def test_exact_stands_before_substring(shop: RagService) -> None:
    found = fetch(shop, PlanFilters(target_doc_hints=("axb", "docs/other.md")))
    assert [row.path for row in found.rows[:4]] == ["docs/other.md"] * 2 + ["docs/guide/axb.md"] * 2


def test_hint_with_like_characters_is_plain_text(shop: RagService) -> None:
    found = fetch(shop, PlanFilters(target_doc_hints=("%",)))
    assert not any("seed" in row.parts for row in found.rows)
    found = fetch(shop, PlanFilters(target_doc_hints=("a_b",)))
    assert {row.path for row in found.rows if "seed" in row.parts} == {"docs/guide/a_b.md"}


def test_hints_count_in_the_limit(shop: RagService) -> None:
    found = fetch(shop, PlanFilters(target_doc_hints=("docs/other.md",)), limit=3)
    assert len(found.rows) == 3
    limit = next(step for step in found.steps if step.name == "limit")
    assert limit.went_out == 3
    assert limit.dropped == {"drop.below_limit": limit.came_in - 3}
    assert len(limit.dropped_rows) == limit.came_in - 3


def test_one_row_a_duplicate_content(database_url: str, open_service: OpenService, tree: Tree) -> None:
    engine = open_service(database_url)
    same = page("Copy", "An order copied by hand.")
    engine.index_snapshot("shop", tree({"docs/a.md": same, "docs/b.md": same}))
    found = fetch(engine, PlanFilters(), layers=(D0,))
    assert len(found.rows) == 1
    merge = next(step for step in found.steps if step.name == "merge")
    assert merge.dropped["drop.same_text"] == 1


def test_the_files_that_a_query_names_are_preferred(shop: RagService) -> None:
    """Whole segments from the end: `orders.py` finds `src/orders.py`, and not `tests/test_orders.py`."""
    trace = shop.answer(Ask(query="what does orders.py do", session="shop"))
    assert trace.rows[0].path == "src/orders.py"
    assert {row.path for row in trace.rows if "path" in row.parts} == {"src/orders.py"}


# --- the whole answer


QUERIES = (
    "Сколько раз можно продлить хранение и сколько это стоит?",
    "How long is a parcel kept in the locker?",
    "POST /v1/pickups",
    "Where in the code is a cell chosen?",
    "В каком файле описан код выдачи?",
    "what does PickupCode do in src/posterna/domain/pickup_code.py:10",
    "О чём этот проект?",
)


@pytest.mark.parametrize("query", QUERIES)
def test_answer_is_in_order_and_adds_up(demo: RagService, query: str) -> None:
    trace = demo.answer(Ask(query=query, session="demo"))
    assert trace.rows
    assert [row.rank for row in trace.rows] == list(range(1, len(trace.rows) + 1))
    for row in trace.rows:
        assert abs(sum(row.parts.values()) - row.score) < 1e-9
    profiles = [plan.profile for plan in trace.plans]
    assert [row.plan for row in trace.rows] == sorted((row.plan for row in trace.rows), key=profiles.index)
    for plan in trace.plans:
        scores = [row.score for row in trace.rows if row.plan == plan.profile]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) <= plan.limit
        assert {row.layer for row in trace.rows if row.plan == plan.profile and "seed" not in row.parts} <= set(
            plan.layers
        )


@pytest.mark.parametrize("query", QUERIES)
def test_counts_of_steps_follow_from_each_other(demo: RagService, query: str) -> None:
    trace = demo.answer(Ask(query=query, session="demo"))
    for plan in trace.plans:
        steps = {step.name: step for step in trace.steps if step.plan == plan.profile}
        for step in (steps["semantic"], steps["merge"], steps["limit"]):
            assert step.came_in - sum(step.dropped.values()) == step.went_out, step.name
        assert steps["merge"].went_out == steps["limit"].came_in
        assert steps["limit"].went_out == sum(row.plan == plan.profile for row in trace.rows)


def test_shown_text_is_that_of_the_lines(demo: RagService) -> None:
    trace = demo.answer(Ask(query="How long is a parcel kept in the locker?", session="demo"))
    passages = [row for row in trace.rows if row.layer is D0]
    assert passages
    for row in passages:
        lines = (bundle.demo_corpus() / row.path).read_text(encoding="utf-8").splitlines()
        assert row.text.strip() == "\n".join(lines[row.line_start - 1 : row.line_end]).strip()


def test_same_query_same_bytes(demo: RagService) -> None:
    for query in QUERIES:
        first = without_timings(demo.answer(Ask(query=query, session="demo")))
        assert without_timings(demo.answer(Ask(query=query, session="demo"))) == first


def test_fresh_indexing_gives_the_same_bytes(
    new_database: Callable[[], str], open_service: OpenService, embedder: Embedder
) -> None:
    """Ids of rows are made of content, not of the database. Two databases, two sessions, one folder."""
    answers = []
    for _ in range(2):
        engine = open_service(new_database(), embedder=embedder)
        engine.index_snapshot("docs", bundle.demo_corpus() / "docs" / "logic")
        answers.append([without_timings(engine.answer(Ask(query=query, session="docs"))) for query in QUERIES])
    assert answers[0] == answers[1]


def test_sessions_stay_apart(database_url: str, open_service: OpenService, tree: Tree, tmp_path: Path) -> None:
    engine = open_service(database_url)
    engine.index_snapshot("shop", tree(SHOP))
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.md").write_text(page("Secret", "An order of another session, zebra."), encoding="utf-8")
    engine.index_snapshot("other", other)
    for query in ("zebra", "secret.md", "`secret.md` zebra order", "where is secret.md"):
        found = engine.answer(Ask(query=query, session="shop", limit=100))
        assert {row.path for row in found.rows} <= set(SHOP)
        assert "zebra" not in json.dumps(found.to_json()["rows"])
    assert {row.path for row in engine.answer(Ask(query="order", session="other", limit=100)).rows} == {"secret.md"}
    assert paths(fetch(engine, PlanFilters(target_doc_hints=("secret.md",)))) <= set(SHOP)
    with pytest.raises(UnknownName):
        engine.show("shop", "secret.md")


def test_words_of_another_analysis_are_told(demo_url: str, demo: RagService) -> None:
    """Spec: system.md §6: a query under another version is refused."""
    with psycopg.connect(demo_url) as connection:
        connection.execute("UPDATE rag_session SET analysis_version = -1")
    with pytest.raises(WrongUse) as caught:
        demo.answer(Ask(query="parcel", session="demo"))
    assert (caught.value.code, caught.value.params["indexed"]) == ("analysis_differs", -1)


def test_limit(demo: RagService) -> None:
    trace = demo.answer(Ask(query="посылка", session="demo", limit=3))
    assert len(trace.rows) == 3
    assert any(reason.code == "plan.limit_replaced" for reason in trace.reasons)
    for wrong in (0, -1, 1001):
        with pytest.raises(WrongUse) as caught:
            demo.answer(Ask(query="посылка", session="demo", limit=wrong))
        assert caught.value.code == "limit_invalid"


def test_forced_intent_is_said(demo: RagService) -> None:
    trace = demo.answer(Ask(query="How long is a parcel kept?", session="demo", intent="CODE_QA"))
    assert (trace.contract.intent, [plan.profile for plan in trace.plans]) == ("CODE_QA", ["code_qa"])
    assert any(reason.code == "route.intent_forced" for reason in trace.reasons)


def test_absent_family_falls_back_and_says_so(database_url: str, open_service: OpenService, tree: Tree) -> None:
    """Spec: system.md §2: an answer is never silently empty."""
    engine = open_service(database_url)
    engine.index_snapshot("s", tree({"docs/a.md": page("Order", "An order.")}))
    trace = engine.answer(Ask(query="What does place_order() do in the code?", session="s"))
    assert trace.contract.intent == "CODE_QA"
    assert [plan.profile for plan in trace.plans] == ["docs_summary_generic"]
    assert [reason.params for reason in trace.reasons if reason.code == "plan.family_absent"] == [
        {"asked": ["CODE"], "used": ["DOCS"]}
    ]
    assert trace.rows


def test_without_an_embedder_words_answer(demo_url: str, open_service: OpenService, embedder: Embedder) -> None:
    engine = open_service(demo_url, embedder=SilentEmbedder(embedder))
    trace = engine.answer(Ask(query="How is an event retried by the outbox?", session="demo"))
    assert trace.rows
    assert not any("dense" in row.parts or "dense" in row.found_by for row in trace.rows)
    assert any(reason.code == "plan.embedder_silent" for reason in trace.reasons)
    assert any(note.code == "step.words_alone" for step in trace.steps for note in step.notes)
    prefix = engine.answer(Ask(query="POST /v1/pickups", session="demo"))
    assert all(row.path.startswith("docs/") for row in prefix.rows if "seed" not in row.parts)


# --- what must not break it


HOSTILE = (
    "'; DROP TABLE rag_session; --",
    "\"quoted\" 'single'",
    "100% of _ and \\ and \\\\",
    "%(session)s %s {} {filters} $1",
    "a\0b where is docs/\0.md",
    "lone \ud800 surrogate in docs/\udfff.md",
    "`docs/%.md` and docs/_____.md",
    "../../etc/passwd C:\\Windows\\system32\\x.py",
    "GET /v1/'%00\"",
    "�\u202e\u200b\u2066",
    "😀" * 50,
    "?",
    "a" * 100_000,
    "слово/путь.py " * 7_000,
    "x.y." * 20_000,
    "<script>alert(1)</script> ![x](http://example.org/x.png)",
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_query(demo: RagService, text: str) -> None:
    trace = demo.answer(Ask(query=text, session="demo"))
    told = text.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")  # what JSON and the database can carry
    assert trace.query == told
    assert json.loads(json.dumps(trace.to_json()))["query"] == told
    assert demo.list_sessions()[0].session == "demo"


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_empty_query(demo: RagService, text: str) -> None:
    with pytest.raises(RagkitError) as caught:
        demo.answer(Ask(query=text, session="demo"))
    assert caught.value.code == "query_empty"


def test_query_of_control_characters_finds_nothing(demo: RagService) -> None:
    """It is no blank question, so it gets a contract and an answer without rows, and says why."""
    trace = demo.answer(Ask(query="\0", session="demo"))
    assert trace.rows == ()
    assert "plan.nothing_to_embed" in [reason.code for reason in trace.reasons]


@pytest.mark.parametrize("text", ["\u200b", "\u2060\ufeff"])
def test_query_of_nothing_visible(demo: RagService, text: str) -> None:
    """White space and invisible characters alone are a blank question."""
    with pytest.raises(RagkitError) as caught:
        demo.answer(Ask(query=text, session="demo"))
    assert caught.value.code == "query_empty"


@pytest.mark.parametrize("name", [*HOSTILE[:10], "", "nothing", "demo\0", "DEMO"], ids=repr)
def test_unknown_session_is_told(demo: RagService, name: str) -> None:
    for ask in (
        lambda: demo.answer(Ask(query="x", session=name)),
        lambda: demo.layers(name),
        lambda: demo.show(name, "README.md"),
        lambda: demo.route("x", session=name),
    ):
        with pytest.raises(RagkitError) as caught:
            ask()
        assert caught.value.exit_status in (2, 3)


@pytest.mark.parametrize(
    "path", [*HOSTILE[:10], "", "/etc/passwd", "docs", "x" * 100_000], ids=lambda path: repr(path[:20])
)
def test_unknown_path_is_told(demo: RagService, path: str) -> None:
    with pytest.raises(RagkitError):
        demo.show("demo", path)


@pytest.mark.parametrize("term", [*HOSTILE[:10], "x" * 100_000], ids=lambda term: repr(term[:20]))
def test_hostile_filters(shop: RagService, term: str) -> None:
    """A plan may hold anything that a route held."""
    filters: dict[str, Any] = {
        "target_doc_hints": (term,),
        "exclude_path_prefixes": (term,),
        "prefer_path_prefixes": (term,),
        "prefer_like_patterns": (f"%{term}%",),
    }
    try:
        found = fetch(shop, PlanFilters(**filters))
    except RagkitError:
        return
    assert not any("seed" in row.parts for row in found.rows)
    assert fetch(shop, PlanFilters(metadata_domain=term)).rows == ()


# --- requests, and who may write


def kept(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [str(row[0]) for row in connection.execute("SELECT query FROM rag_request ORDER BY asked_at")]


def test_requests_are_kept_and_bounded(demo_url: str, open_service: OpenService, embedder: Embedder) -> None:
    """Spec: MODULE §1; system.md §5."""
    engine = open_service(demo_url, embedder=embedder, keep_requests=2)
    for text in ("one parcel", "two parcels", "three \0 \ud800 parcels"):
        engine.answer(Ask(query=text, session="demo"))
    assert kept(demo_url) == ["two parcels", "three  \ufffd parcels"]


def test_requests_may_be_switched_off(demo_url: str, open_service: OpenService, embedder: Embedder) -> None:
    open_service(demo_url, embedder=embedder, keep_requests=0).answer(Ask(query="parcel", session="demo"))
    assert kept(demo_url) == []


def test_read_only_engine_answers_and_refuses_to_write(
    demo_url: str, open_service: OpenService, embedder: Embedder, tmp_path: Path
) -> None:
    engine = open_service(demo_url, embedder=embedder, read_only=True)
    assert engine.answer(Ask(query="parcel", session="demo")).rows
    assert kept(demo_url) == []
    (tmp_path / "a.md").write_text("# A\n\nText.\n", encoding="utf-8")
    with pytest.raises(DatabaseError) as caught:
        engine.index_snapshot("new", tmp_path)
    assert caught.value.code == "read_only"


def test_the_reader_role_can_only_read(
    test_server: TestServer, demo_url: str, open_service: OpenService, embedder: Embedder
) -> None:
    if test_server.reader is None:
        pytest.skip("the server of RAGKIT_TEST_DATABASE_URL has no reader role")
    name = psycopg.conninfo.conninfo_to_dict(demo_url)["dbname"]
    reader = psycopg.conninfo.make_conninfo(test_server.reader, dbname=name)
    engine = open_service(reader, embedder=embedder, read_only=True)
    assert engine.answer(Ask(query="parcel", session="demo")).rows
    with psycopg.connect(reader, autocommit=True) as connection:
        tables = [row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        assert len(tables) > 9
        for statement in [
            *(f"DELETE FROM {table}" for table in tables),
            *(f"TRUNCATE {table}" for table in tables),
            "UPDATE rag_session SET name = 'x'",
            "INSERT INTO rag_schema_version (version, name) VALUES (7, 'x')",
            "CREATE TABLE mine (a int)",
            "DROP TABLE rag_request",
            "SELECT nextval('rag_file_id_seq')",
        ]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
