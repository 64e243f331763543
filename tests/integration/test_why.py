"""Why a document is in the answer or not, on a real server: every cause is planted once, and the verdict names it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import psycopg
import pytest

from ragkit import bundle, service
from ragkit.messages import Language
from ragkit.policy.policy import Policy
from ragkit.retrieval.diagnosis import Diagnosis, VerdictCode, reason_sentence, remedy_reasons, verdict_sentence
from ragkit.retrieval.trace import Trace
from ragkit.service import Ask, RagService
from ragkit.settings import Settings
from tests.embedders import SilentEmbedder, WordEmbedder
from tests.servers import TestServer

Tree = Callable[[dict[str, str | None]], Path]

ORDERS = 85
"""More passages of documentation than any layer's depth."""
QUESTION = "How does an order grow?"
GENERIC = "docs_summary_generic"


def page(title: str, text: str, **front: str) -> str:
    header = "".join(f"{name}: {value}\n" for name, value in front.items())
    return (f"---\n{header}---\n\n" if front else "") + f"# {title}\n\n{text}\n"


SHOP: dict[str, str] = {
    "README.md": page("Shop", "What this shop is about: one call, POST /v1/orders."),
    "docs/api/orders.md": page("Order calls", "An order is placed by one call, POST /v1/orders."),
    "docs/best.md": page("How an order grows", "How does an order grow? An order grows by lines."),
    "docs/copy_a.md": page("Twins", "How does an order grow? Twice."),
    "docs/copy_b.md": page("Twins", "How does an order grow? Twice."),
    "docs/lost.md": page("Lost", "An order that once had a vector."),
    "docs/picture.png": "\0\0\0",
    "docs/zz_weather.md": page("Weather", "Rain falls in April."),
    "src/orders.py": "def place_order(order):\n    return order\n",
    **{f"docs/many/{n:03}.md": page(f"Order {n}", f"An order of number {n} grows.") for n in range(ORDERS)},
}


@pytest.fixture(scope="module")
def shop(
    test_server: TestServer, schema_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RagService]:
    """An engine on the shop, of which one file lost its vectors; indexed once, for nothing here writes."""
    root = tmp_path_factory.mktemp("shop")
    for path, text in SHOP.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    name = test_server.create(schema_template, stem="why")
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("data"),
        database_url=test_server.conninfo(name),
        index_workers=1,
        keep_requests=0,
    )
    with service.opened(settings, embedder=WordEmbedder()) as engine:
        engine.index_snapshot("shop", root)
        with psycopg.connect(test_server.conninfo(name)) as connection:
            connection.execute("DELETE FROM rag_vector WHERE path = 'docs/lost.md'")
        yield engine
    test_server.drop(name)


PLANTED: list[tuple[str, str, str, str, dict[str, object]]] = [
    (QUESTION, "docs/none.md", "unknown_path", "index", {"path": "docs/none.md", "near": [], "unnamed": 0}),
    (QUESTION, "other/orders.md", "unknown_path", "index", {"near": ["docs/api/orders.md"]}),
    (QUESTION, "docs/picture.png", "not_indexed", "index", {"reason": "binary"}),
    (QUESTION, "docs/best.md#gone", "stale", "index", {"lacks": "item", "path": "docs/best.md"}),
    (QUESTION, "docs/lost.md", "stale", "index", {"lacks": "vector"}),
    (
        QUESTION,
        "src/orders.py",
        "layer_not_asked",
        "plan",
        {
            "asked": ["D1_DOCUMENT_CATALOG", "D0_DOC_CHUNKS"],
            "layers": ["C0_SOURCE_CHUNKS", "C1_SYMBOL_CATALOG", "C4_PUBLIC_API"],
        },
    ),
    (
        "POST /v1/orders",
        "README.md",
        "hard_filter",
        "filter",
        {
            "filter": "path_prefixes",
            "value": ["docs/api/", "docs/"],
            "origin": {"kind": "signal", "by": ["API_ENDPOINT"]},
            "rows": 2,
            "alone": True,
            "others": [],
        },
    ),
    (QUESTION, "docs/zz_weather.md", "below_leg", "semantic", {"leg": "dense"}),
    (QUESTION, "docs/copy_b.md", "merged", "merge", {"shown": True}),
    (QUESTION, "docs/many/050.md", "below_limit", "limit", {"limit": 8}),
    (QUESTION, "docs/best.md", "found", "answer", {"rank": 1}),
    (QUESTION, "docs/best.md#how-an-order-grows", "found", "answer", {"rank": 1}),
]


@pytest.mark.parametrize(
    ("query", "path", "code", "stage", "params"), PLANTED, ids=[f"{c}-{p}" for _, p, c, *_ in PLANTED]
)
def test_each_cause_is_named(
    shop: RagService, query: str, path: str, code: str, stage: str, params: dict[str, object]
) -> None:
    found = shop.why(Ask(query=query, session="shop"), path)
    verdict = found.verdict
    assert (verdict.code, verdict.stage) == (code, stage)
    assert {name: verdict.params[name] for name in params} == params
    assert found.id == path
    assert (verdict.plan is None) == (stage == "index" and params.get("lacks") != "vector")
    assert json.loads(json.dumps(found.to_json()))["verdict"] == {"code": code, "params": dict(verdict.params)}


def test_every_code_but_the_reserved_ones_is_planted() -> None:
    """`lost_by_index` needs an approximate index; `no_leg` needs a question without a vector: see below."""
    assert {code for _, _, code, *_ in PLANTED} == set(get_args(VerdictCode)) - {"lost_by_index", "no_leg"}


@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_sentence_is_whole(shop: RagService, language: Language) -> None:
    """No placeholder is left, no code stands for words, in verdict, reasons and remedies."""
    messages = bundle.messages()
    told: list[str] = []
    for query, path, *_ in PLANTED:
        found = shop.why(Ask(query=query, session="shop"), path)
        reasons = [*found.verdict.reasons, *(r for remedy in found.remedies for r in remedy_reasons(remedy))]
        told.append(verdict_sentence(found.verdict, messages, language))
        told += [reason_sentence(reason, messages, language) for reason in reasons]
    assert len(told) >= 15
    for sentence in told:
        assert not re.search(r"[{}]|\b(why|remedy|origin|lacks)\.", sentence), sentence


def test_nothing_finds_a_page_without_vector_or_word(shop: RagService) -> None:
    engine = service.open(shop.settings, embedder=SilentEmbedder(WordEmbedder()))
    try:
        found = engine.why(Ask(query=QUESTION, session="shop"), "docs/zz_weather.md")
    finally:
        engine.close()
    assert (found.verdict.code, found.verdict.stage) == ("no_leg", "semantic")
    assert found.verdict.params["has_vector"] is False
    assert set(found.verdict.params["words"]) <= {"How", "does", "an", "order", "grow"}
    assert [reason.code for reason in found.verdict.reasons] == ["step.words_alone"]
    assert found.remedies == ()


def test_who_outranks_and_by_what(shop: RagService) -> None:
    """Each named row stands above with the score it is said to have, and its gains and losses make the difference."""
    found = shop.why(Ask(query=QUESTION, session="shop"), "docs/many/050.md").verdict
    every = shop.answer(Ask(query=QUESTION, session="shop"))
    assert found.params["above"][0]["rank"] == found.params["limit"] == 8
    assert found.params["above"][0]["id"] == every.rows[7].id
    assert found.params["above"][0]["score"] == every.rows[7].score
    for above in found.params["above"]:
        parts = dict(found.params["parts"])
        assert above["rank"] < found.params["rank"]
        assert above["score"] >= found.params["score"]
        assert sum(above["wins"].values()) + 1e-9 >= above["score"] - found.params["score"]
        assert all(gain > 0 for gain in above["wins"].values())
        assert parts.keys() >= {"dense", "lexical"}


def test_the_plan_that_got_furthest_speaks(shop: RagService) -> None:
    """A question about the project asks documentation and code: what the first plan never sees, the second finds."""
    found = shop.why(Ask(query="What is this project about?", session="shop"), "src/orders.py::place_order").verdict
    assert (found.code, found.plan) == ("found", "project_code_overview")
    assert [(r.code, r.params["plan"], r.params["verdict"]) for r in found.reasons] == [
        ("why.other_plan", "general_qa_grounded_summary", "layer_not_asked")
    ]
    trace = shop.answer(Ask(query="What is this project about?", session="shop"))
    assert trace.rows[found.params["rank"] - 1].path == "src/orders.py"


def test_a_trace_judges_expected_documents(shop: RagService) -> None:
    paths = ("docs/best.md", "src/orders.py", "docs/none.md", "docs/best.md")
    trace = shop.answer(Ask(query=QUESTION, session="shop", expected=paths))
    assert [(d.id, d.verdict.code) for d in trace.expected] == [
        ("docs/best.md", "found"),
        ("src/orders.py", "layer_not_asked"),
        ("docs/none.md", "unknown_path"),
        ("docs/best.md", "found"),
    ]
    assert trace.to_json()["expected"][0]["stage"] == "answer"
    assert without_timings(trace) == without_timings(shop.answer(Ask(query=QUESTION, session="shop", expected=paths)))


@pytest.mark.parametrize("path", ["", "#", "::", "a\0b", "lone \ud800.md", "%", "_", "docs/", "x" * 10_000, "'; --"])
def test_hostile_paths(shop: RagService, path: str) -> None:
    found = shop.why(Ask(query=QUESTION, session="shop"), path)
    assert found.verdict.code == "unknown_path"


# --- what would bring it in


def applied(policy: Policy, found: Diagnosis, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy's own document with a remedy's changes made, and the changes that no policy file holds."""
    body = policy.model_dump(mode="json", exclude_none=True)
    rest: dict[str, Any] = {}
    for change in found.remedies[number].changes:
        if change.kind in ("filter", "depth"):
            rest[change.name] = change.becomes
            continue
        *parents, last = change.name.split(".")
        place = body
        for name in parents:
            place = place[name]
        assert place[last] == change.was
        place[last] = change.becomes
    return body, rest


@pytest.mark.parametrize(
    ("query", "path"),
    [
        (QUESTION, "docs/many/050.md"),
        (QUESTION, "docs/zz_weather.md"),
        ("Which calls does an order take?", "docs/api/orders.md"),
        ("How does an order grow, number 7?", "README.md"),
    ],
)
def test_remedies_work_as_a_policy(shop: RagService, query: str, path: str, tmp_path: Path) -> None:
    """Written into a policy file and asked again, each remedy gives the rank that it promised."""
    spec = bundle.policy("spec", Path("unused")).policy
    found = shop.why(Ask(query=query, session="shop", limit=None), path)
    tried = 0
    for number, remedy in enumerate(found.remedies):
        body, rest = applied(spec, found, number)
        if rest:
            continue
        file = tmp_path / f"{number}.toml"
        file.write_text(toml(body), encoding="utf-8")
        again = shop.why(Ask(query=query, session="shop", policy=str(file)), path)
        assert (again.verdict.code, again.verdict.params["rank"]) == ("found", remedy.rank), remedy
        tried += 1
    assert tried or found.verdict.is_found


def toml(body: dict[str, Any]) -> str:
    """Tables of values that JSON and TOML write alike."""
    lines: list[str] = []

    def write(table: dict[str, Any], name: str) -> None:
        if name:
            lines.append(f"[{name}]")
        lines.extend(f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, dict))
        for key, value in table.items():
            if isinstance(value, dict):
                write(value, f"{name}.{key}" if name else key)

    write(body, "")
    return "\n".join(lines)


def test_dropping_the_filter_is_offered(shop: RagService) -> None:
    found = shop.why(Ask(query="POST /v1/orders", session="shop", limit=200), "README.md")
    (remedy,) = found.remedies
    (change,) = remedy.changes
    assert (change.kind, change.name, change.was, change.becomes) == (
        "filter",
        "path_prefixes",
        ["docs/api/", "docs/"],
        None,
    )


def test_adding_the_layer_is_offered(shop: RagService, tmp_path: Path) -> None:
    """A plan of code that asks symbols alone, and a document of which only the public API is meant."""
    spec = bundle.policy("spec", Path("unused")).policy
    body = spec.model_dump(mode="json", exclude_none=True)
    body["profiles"]["code_qa"]["layers"] = ["C3_ENTRYPOINTS"]
    file = tmp_path / "narrow.toml"
    file.write_text(toml(body), encoding="utf-8")
    ask = Ask(query="what does place_order() in the code do", session="shop", policy=str(file))
    found = shop.why(ask, "src/orders.py")
    assert found.verdict.code == "layer_not_asked"
    assert {tuple(change.kind for change in remedy.changes) for remedy in found.remedies} == {("layer",)}
    assert found.remedies[0].changes[0].becomes == ["C3_ENTRYPOINTS", "C0_SOURCE_CHUNKS"]


def test_the_way_to_a_profile_that_asks_its_layers(shop: RagService) -> None:
    """Code that a question about documentation never sees: by another intent; applied, it is found."""
    found = shop.why(Ask(query=QUESTION, session="shop"), "src/orders.py")
    first = found.profiles[0]
    assert (first.profile, first.intent, first.fires, first.silent) == ("code_qa", "CODE_QA", (), ())
    assert {change.profile for change in found.profiles} == {
        "code_qa",
        "code_file_lookup",
        "code_generate_docs",
        "project_code_overview",
    }
    sizes = [change.size for change in found.profiles]
    assert sizes == sorted(sizes)
    assert shop.why(Ask(query=QUESTION, session="shop", intent=first.intent), "src/orders.py").verdict.is_found
    assert shop.why(Ask(query=QUESTION, session="shop"), "docs/many/050.md").profiles == ()


# --- the explanation


EXPLAINED = (
    QUESTION,
    "POST /v1/orders",
    "What is this project about?",
    "what does place_order() in src/orders.py do",
    "write documentation from code for place_order()",
)


@pytest.mark.parametrize("query", EXPLAINED)
def test_the_statement_runs_as_it_is_printed(shop: RagService, query: str) -> None:
    """Without ragkit's adapters, on a plain connection; its rows are as many as the step says."""
    trace = shop.answer(Ask(query=query, session="shop", explain=True))
    assert trace.explanation is not None
    for plan in trace.explanation.plans:
        steps = {step.name: step for step in trace.steps if step.plan == plan.plan}
        assert set(plan.statements) == steps.keys() - {"merge", "limit"}
        with psycopg.connect(shop.settings.database_url) as plain:
            for name, text in plan.statements.items():
                assert len(plain.execute(text).fetchall()) == steps[name].went_out, name


@pytest.mark.parametrize("query", EXPLAINED)
def test_rows_of_filters_are_counted(shop: RagService, query: str) -> None:
    trace = shop.answer(Ask(query=query, session="shop", explain=True))
    assert trace.explanation is not None
    for plan, explained in zip(trace.plans, trace.explanation.plans, strict=True):
        assert {view.name: view.value for view in explained.filters} == plan.filters.to_json()
        left = explained.rows_in_layers
        assert left == next(s.came_in for s in trace.steps if (s.name, s.plan) == ("semantic", plan.profile))
        for view in explained.filters:
            assert (view.cumulative is None) == (view.alone is None)
            if view.cumulative is None or view.alone is None:
                continue
            assert view.is_hard
            assert view.sql
            assert view.cumulative.before == left >= view.cumulative.after
            assert view.alone.before == explained.rows_in_layers >= view.alone.after >= view.cumulative.after
            left = view.cumulative.after


def test_a_filter_in_numbers(shop: RagService) -> None:
    trace = shop.answer(Ask(query="POST /v1/orders", session="shop", explain=True))
    assert trace.explanation is not None
    (plan,) = trace.explanation.plans
    view = next(view for view in plan.filters if view.name == "path_prefixes")
    assert view.alone is not None
    assert view.alone.before - view.alone.after == 2  # the page and the passage of README.md
    assert view.to_json()["origin"] == {"kind": "signal", "by": ["API_ENDPOINT"]}
    assert view.sql == "r.path LIKE ANY ('{docs/api/%,docs/%}'::text[])"
    assert "Execution Time" in plan.analyzed
    assert "Buffers:" in plan.analyzed


def test_an_explanation_is_the_same_bytes_but_for_what_was_measured(shop: RagService) -> None:
    for query in EXPLAINED:
        ask = Ask(query=query, session="shop", explain=True, expected=("docs/many/050.md", "src/orders.py"))
        assert without_timings(shop.answer(ask)) == without_timings(shop.answer(ask))


def test_an_explanation_changes_no_answer(shop: RagService) -> None:
    for query in EXPLAINED:
        ask = Ask(query=query, session="shop")
        plain = shop.answer(ask).to_json()
        told = shop.answer(replace(ask, explain=True, expected=("docs/none.md",))).to_json()
        for body in (plain, told):
            for name in ("timings", "analyzed", "explain", "expected"):
                body.pop(name, None)
        assert told == plain


@pytest.mark.parametrize("query", EXPLAINED)
def test_timings_add_up(shop: RagService, query: str) -> None:
    for ask in (Ask(query=query, session="shop"), Ask(query=query, session="shop", explain=True, expected=("a.md",))):
        timings = dict(shop.answer(ask).timings)
        total = timings.pop("total")
        assert sum(timings.values()) == pytest.approx(total, rel=0.05)
        assert {"explain", "why"} & timings.keys() == ({"explain", "why"} if ask.explain else set())


@pytest.mark.parametrize(("query", "statements"), [(QUESTION, 10), ("POST /v1/orders", 10)])
def test_the_default_depth_runs_no_statement_more(
    shop: RagService, query: str, statements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two connections (each checked, each a snapshot, each a look at the session), then words, search, texts of the
    rows, ids of what was dropped."""
    shop.answer(Ask(query=query, session="shop"))  # the catalog is read once a revision

    def count(ask: Ask) -> int:
        ran: list[object] = []
        plain = psycopg.Cursor.execute

        def execute(self: Any, statement: Any, *values: Any, **more: Any) -> Any:
            ran.append(statement)
            return plain(self, statement, *values, **more)

        with monkeypatch.context() as patched:
            patched.setattr(psycopg.Cursor, "execute", execute)
            shop.answer(ask)
        return len(ran)

    shop_ask = Ask(query=query, session="shop")
    assert count(shop_ask) == statements
    assert count(replace(shop_ask, explain=True)) > statements
    assert count(replace(shop_ask, expected=("docs/none.md",))) > statements


def without_timings(trace: Trace) -> bytes:
    body = trace.to_json()
    for measured in ("timings", "analyzed"):
        body.pop(measured, None)
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
