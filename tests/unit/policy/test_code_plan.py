"""Plans of code, and which plans a contract gets. Source: system.md §2–§3, D2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragkit import bundle
from ragkit.policy.code_plan import code_plan, plans
from ragkit.policy.policy import Policy
from ragkit.routing.contract import (
    DOMAINS_OF,
    EVIDENCE_OF,
    GRAPH_OF,
    RERANK_OF,
    ContractFilters,
    Intent,
    QueryPlan,
    RetrievalSpec,
    RouterContract,
)
from ragkit.routing.route import RouteResult

BOTH = frozenset({"DOCS", "CODE"})
ROUTE_INTENT: dict[Intent, Any] = {
    "CODE_QA": "CODE_QA",
    "DOCS_QA": "DOCS_QA",
    "GENERATE_DOCS_FROM_CODE": "GENERATE_DOCS_FROM_CODE",
    "PROJECT_MISC": "GENERAL_QA",
}
CODE_LAYERS = ["C3_ENTRYPOINTS", "C1_SYMBOL_CATALOG", "C2_DEPENDENCY_GRAPH", "C0_SOURCE_CHUNKS"]


@pytest.fixture(scope="module")
def spec() -> Policy:
    return bundle.policy("spec", Path("unused")).policy


def contract(
    intent: Intent, *, test_policy: Any = "EXCLUDE", scope: tuple[str, ...] = (), language: tuple[str, ...] = ()
) -> RouterContract:
    return RouterContract(
        intent=intent,
        graph_id=GRAPH_OF[intent],
        conversation_mode="START",
        query_plan=QueryPlan(raw="q", normalized="q", expansions=(), keyword_hints=(), anchors=()),
        retrieval_spec=RetrievalSpec(
            domains=DOMAINS_OF[intent],
            layer_queries=(),
            filters=ContractFilters(test_policy=test_policy, path_scope=scope, language=language),
            rerank_profile=RERANK_OF[intent],
        ),
        evidence_policy=EVIDENCE_OF[intent],
    )


def route(intent: Intent, subintent: Any = "SUMMARY") -> RouteResult:
    return RouteResult(intent=ROUTE_INTENT[intent], subintent=subintent)


@pytest.mark.parametrize(
    ("intent", "subintent", "profile", "layers", "limit"),
    [
        ("CODE_QA", "SUMMARY", "code_qa", CODE_LAYERS, 12),
        ("CODE_QA", "FIND_FILES", "code_file_lookup", ["C3_ENTRYPOINTS", "C1_SYMBOL_CATALOG", "C0_SOURCE_CHUNKS"], 12),
        ("GENERATE_DOCS_FROM_CODE", "SUMMARY", "code_generate_docs", CODE_LAYERS, 20),
        ("GENERATE_DOCS_FROM_CODE", "FIND_FILES", "code_generate_docs", CODE_LAYERS, 20),
        ("PROJECT_MISC", "SUMMARY", "project_code_overview", ["C3_ENTRYPOINTS", "C1_SYMBOL_CATALOG"], 4),
    ],
)
def test_profile_of_a_code_plan(
    spec: Policy, intent: Intent, subintent: str, profile: str, layers: list[str], limit: int
) -> None:
    plan = code_plan(contract(intent), route(intent, subintent), spec)
    assert (plan.profile, [layer.value for layer in plan.layers], plan.limit) == (profile, layers, limit)


def test_filters_come_from_the_contract(spec: Policy) -> None:
    given = contract("CODE_QA", test_policy="ONLY", scope=("src/a.py", "src/"), language=("python",))
    assert code_plan(given, route("CODE_QA"), spec).filters.to_json() == {
        "path_scope": ["src/a.py", "src/"],
        "language": ["python"],
        "test_policy": "ONLY",
    }


def test_no_language_means_no_filter(spec: Policy) -> None:
    filters = code_plan(contract("CODE_QA"), route("CODE_QA"), spec).filters.to_json()
    assert filters == {"path_scope": [], "test_policy": "EXCLUDE"}


@pytest.mark.parametrize(
    ("intent", "profiles"),
    [
        ("DOCS_QA", ["docs_summary_generic"]),
        ("CODE_QA", ["code_qa"]),
        ("GENERATE_DOCS_FROM_CODE", ["code_generate_docs"]),
        ("PROJECT_MISC", ["general_qa_grounded_summary", "project_code_overview"]),
    ],
)
def test_one_plan_for_each_domain_documentation_first(spec: Policy, intent: Intent, profiles: list[str]) -> None:
    made, reasons = plans(contract(intent), route(intent), spec, families=BOTH)
    assert [plan.profile for plan in made] == profiles
    assert reasons == ()


@pytest.mark.parametrize(
    ("intent", "there", "profile", "params"),
    [
        ("CODE_QA", "DOCS", "docs_summary_generic", {"asked": ["CODE"], "used": ["DOCS"]}),
        ("DOCS_QA", "CODE", "code_qa", {"asked": ["DOCS"], "used": ["CODE"]}),
    ],
)
def test_absent_family_falls_back_and_says_so(
    spec: Policy, intent: Intent, there: str, profile: str, params: dict[str, object]
) -> None:
    made, reasons = plans(contract(intent), route(intent), spec, families=frozenset({there}))
    assert [plan.profile for plan in made] == [profile]
    assert [(reason.code, reason.params) for reason in reasons] == [("plan.family_absent", params)]


@pytest.mark.parametrize(
    ("there", "profile"), [("DOCS", "general_qa_grounded_summary"), ("CODE", "project_code_overview")]
)
def test_project_question_takes_the_family_that_is_there(spec: Policy, there: str, profile: str) -> None:
    made, _ = plans(contract("PROJECT_MISC"), route("PROJECT_MISC"), spec, families=frozenset({there}))
    assert [plan.profile for plan in made] == [profile]


def test_limit_replaces_that_of_each_plan_and_says_so(spec: Policy) -> None:
    made, reasons = plans(contract("PROJECT_MISC"), route("PROJECT_MISC"), spec, families=BOTH, limit=3)
    assert [plan.limit for plan in made] == [3, 3]
    assert [(r.code, r.params) for r in reasons] == [("plan.limit_replaced", {"limit": 3, "was": [8, 4]})]


def test_intent_stays_what_the_words_say(spec: Policy) -> None:
    given = contract("CODE_QA")
    plans(given, route("CODE_QA"), spec, families=frozenset({"DOCS"}))
    assert given.intent == "CODE_QA"
