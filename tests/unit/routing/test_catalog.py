from __future__ import annotations

import random

import pytest

from ragkit.routing.catalog import CatalogEntry, CatalogKind, CatalogMatcher
from ragkit.routing.route import RouteAnchors
from ragkit.routing.router import IntentRouter, RepoContext, Routing
from ragkit.text import Analyzer


def entry(
    kind: CatalogKind, name: str, path: str, target: str | None = None, *, declared: bool = False
) -> CatalogEntry:
    return CatalogEntry(kind=kind, name=name, target=target or path, source_path=path, declared=declared)


ENTRIES = (
    entry("title", "Возврат товара", "docs/logic/refund.md"),
    entry("title", "Возврат", "docs/domains/refund.md"),
    entry("title", "Overview of the API", "docs/api/overview.md"),
    entry("module_id", "billing-core", "docs/architecture/billing.md"),
    entry("entity", "Заявка на возврат", "docs/domains/request.md", "docs/domains/request.md#entity"),
    entry("alias", "рекламация", "docs/domains/request.md", "docs/domains/request.md#entity"),
    entry("domain", "billing", "docs/logic/refund.md", "Billing", declared=True),
    entry("domain", "logistics", "docs/domains/logistics/a.md", "logistics"),
    entry("subdomain", "refunds", "docs/logic/refund.md", "refunds", declared=True),
    entry("heading", "Сроки", "docs/logic/refund.md"),
    entry("heading", "Порядок согласования скидок", "docs/logic/discount.md"),
    entry("symbol", "OrderService", "src/orders.py"),
    entry("symbol", "run", "src/run.py"),
    entry("symbol", "Track", "src/track.py"),
    entry("file", "refund.md", "docs/logic/refund.md"),
    entry("file", "refund.md", "docs/domains/refund.md"),
    entry("file", "orders.py", "src/orders.py"),
    entry("file", "README.md", "README.md"),
)


@pytest.fixture(scope="module")
def catalog(analyzer: Analyzer) -> CatalogMatcher:
    return CatalogMatcher(ENTRIES, analyzer)


def names(catalog: CatalogMatcher, analyzer: Analyzer, query: str) -> list[str]:
    return [found.name for match in catalog.matches(analyzer.tokens(query)) for found in match.entries]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("порядок возврата товаров", ["Возврат товара"]),
        ("про возвраты", ["Возврат"]),
        ("order service и order_service", ["OrderService", "OrderService"]),
        ("what does Track do", ["Track"]),
        ("let it run", []),
        ("какие сроки", []),
        ("порядок согласования скидок", ["Порядок согласования скидок"]),
        ("refund.md", ["refund.md", "refund.md"]),
        ("the billing-core module", ["billing-core"]),
        ("what is the overview", []),
        ("", []),
    ],
)
def test_names_are_found_in_any_form_the_longest_first(
    catalog: CatalogMatcher, analyzer: Analyzer, query: str, found: list[str]
) -> None:
    assert names(catalog, analyzer, query) == found


def test_spans_are_those_of_the_query(catalog: CatalogMatcher, analyzer: Analyzer) -> None:
    query = "Как идёт «возврат товара» сейчас?"
    match = catalog.matches(analyzer.tokens(query))[0]
    assert query[match.start : match.end] == "возврат товара"


def test_candidates_of_a_name_come_in_the_stated_order(analyzer: Analyzer) -> None:
    same = [
        entry("alias", "Счёт", "b.md"),
        entry("title", "Счёт", "c.md"),
        entry("title", "Счет", "a.md"),
        entry("domain", "счета", "z.md", "счета"),
        entry("domain", "счета", "y.md", "счета", declared=True),
    ]
    random.Random(1).shuffle(same)
    match = CatalogMatcher(same, analyzer).matches(analyzer.tokens("счёт"))[0]
    assert [(found.kind, found.source_path) for found in match.entries] == [
        ("title", "a.md"),
        ("title", "c.md"),
        ("alias", "b.md"),
        ("domain", "y.md"),
        ("domain", "z.md"),
    ]


def test_a_word_of_many_names_tells_nothing(analyzer: Analyzer) -> None:
    many = [entry("title", f"Заказ номер{i}", f"{i}.md") for i in range(20)]
    catalog = CatalogMatcher([*many, entry("title", "Заказ", "x.md")], analyzer)
    assert names(catalog, analyzer, "мой заказ") == []
    assert names(catalog, analyzer, "заказ номер7") == ["Заказ номер7"]


def test_paths_are_matched_by_whole_segments_from_the_end(catalog: CatalogMatcher) -> None:
    assert catalog.paths_of("refund.md") == ("docs/domains/refund.md", "docs/logic/refund.md")
    assert catalog.paths_of("logic\\Refund.md") == ("docs/logic/refund.md",)
    assert catalog.paths_of("und.md") == ()
    assert catalog.paths_of("./src/orders.py") == ("src/orders.py",)


def route(router: IntentRouter, catalog: CatalogMatcher, query: str) -> RouteAnchors:
    return routing(router, catalog, query).route.anchors


def routing(router: IntentRouter, catalog: CatalogMatcher, query: str) -> Routing:
    return router.route(query, context=RepoContext(catalog=catalog))


def test_which_name_feeds_which_field(router: IntentRouter, catalog: CatalogMatcher) -> None:
    """The table of system.md §2, row by row."""
    assert route(router, catalog, "что в refund.md и a/b.py:3?").file_names == ("refund.md", "a/b.py")
    assert route(router, catalog, "DELETE /v1/x и /v1/y").endpoint_paths == ("/v1/x", "/v1/y")
    assert route(router, catalog, "что в logic/refund.md?").target_doc_hints == ("docs/logic/refund.md",)
    assert route(router, catalog, "что в src/orders.py?").target_doc_hints == ()
    assert route(router, catalog, "раздел «Сроки»").target_doc_hints == ("docs/logic/refund.md",)
    assert route(router, catalog, "что в README?").target_doc_hints == ("README.md",)
    assert route(router, catalog, "про возврат товара").target_doc_hints == ("docs/logic/refund.md",)
    assert route(router, catalog, "billing-core").target_doc_hints == ("docs/architecture/billing.md",)
    assert route(router, catalog, "статусы заявки на возврат").entity_names == ("Заявка на возврат",)
    assert route(router, catalog, "как закрыть рекламацию").entity_names == ("Заявка на возврат",)
    assert route(router, catalog, "как закрыть рекламацию").matched_aliases == ("рекламация",)
    assert route(router, catalog, "где OrderService").entity_names == ()
    assert route(router, catalog, "где OrderService").matched_aliases == ()
    assert route(router, catalog, "правила billing").process_domain == "billing"
    assert route(router, catalog, "правила logistics").process_domain is None
    assert route(router, catalog, "правила logistics").matched_aliases == ("logistics",)
    assert route(router, catalog, "refunds rules").process_subdomain == "refunds"
    terms = routing(router, catalog, "как ускорить возврат товара в b.py").route.target_terms
    assert terms == ("ускорить",)


def test_a_capitalised_symbol_of_the_catalog_is_an_anchor_but_decides_nothing_alone(
    router: IntentRouter, catalog: CatalogMatcher
) -> None:
    inside = routing(router, catalog, "Which statuses does a Track have?").contract
    assert [anchor.value for anchor in inside.query_plan.anchors if anchor.type == "SYMBOL"] == ["Track"]
    assert inside.intent == "DOCS_QA"
    first = routing(router, catalog, "Track and trace: what is it?").contract
    assert [anchor for anchor in first.query_plan.anchors if anchor.type == "SYMBOL"] == []
    code = routing(router, catalog, "Which exception does Track raise in the code?").contract
    assert code.intent == "CODE_QA"


def test_without_a_catalog_fewer_anchors(router: IntentRouter) -> None:
    anchors = router.route("что в docs/a.md про возврат?").route.anchors
    assert anchors.target_doc_hints == ("docs/a.md",)
    assert anchors.matched_aliases == ()


def test_ambiguity_is_a_reason(router: IntentRouter, catalog: CatalogMatcher) -> None:
    reasons = routing(router, catalog, "что в refund.md").reasons
    found = next(reason for reason in reasons if reason.code == "route.catalog_ambiguous")
    assert found.params["candidates"] == ["file docs/domains/refund.md", "file docs/logic/refund.md"]
