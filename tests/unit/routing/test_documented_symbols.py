"""A symbol that a heading of the session's documentation names is asked of the documentation first."""

from __future__ import annotations

import pytest

from ragkit import bundle
from ragkit.routing.catalog import CatalogEntry, CatalogMatcher
from ragkit.routing.router import IntentRouter, RepoContext

HEADINGS = ("Using `TestClient`", "The `app.dependency_overrides` attribute", "Body, single values")


@pytest.fixture(scope="module")
def router() -> IntentRouter:
    return IntentRouter(bundle.routing_rules().rules, bundle.analyzer())


@pytest.fixture(scope="module")
def context() -> RepoContext:
    entries = [
        CatalogEntry(kind="heading", name=name, target=f"docs/a.md#{place}", source_path="docs/a.md")
        for place, name in enumerate(HEADINGS)
    ]
    return RepoContext(catalog=CatalogMatcher(entries, bundle.analyzer()))


@pytest.mark.parametrize(
    "query",
    [
        "Startup events are skipped by TestClient for my app",
        "Why do overrides in app.dependency_overrides have no effect?",
        "можно ли передать заголовки в TestClient() один раз на все запросы?",
    ],
)
def test_a_documented_symbol_asks_the_documentation(router: IntentRouter, context: RepoContext, query: str) -> None:
    routing = router.route(query, None, context)
    assert routing.contract.intent == "DOCS_QA"
    codes = [reason.code for reason in routing.reasons]
    assert "cue.documented_symbol" in codes
    assert "cue.symbol" not in codes


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("Startup events are skipped by OtherClient for my app", "no heading names it"),
        ("TestClient", "a name alone asks for the symbol"),
        ("Where is TestClient implemented in the code?", "the question asks for the implementation"),
    ],
)
def test_other_symbols_ask_the_code(router: IntentRouter, context: RepoContext, query: str, why: str) -> None:
    assert router.route(query, None, context).contract.intent == "CODE_QA", why


def test_without_a_catalog_a_symbol_asks_the_code(router: IntentRouter) -> None:
    assert router.route("Startup events are skipped by TestClient for my app").contract.intent == "CODE_QA"
