from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.errors import InvalidInput
from ragkit.layers import Layer
from ragkit.messages import Reason
from ragkit.routing.contract import (
    DOMAINS_OF,
    EVIDENCE_OF,
    GRAPH_OF,
    RERANK_OF,
    Anchor,
    AnchorSpan,
    ConversationState,
    Intent,
    RouterContract,
)
from ragkit.routing.router import IntentRouter, RepoContext

SPEC_EXAMPLE = """
{ "schema_version": "1.1", "intent": "CODE_QA", "graph_id": "CodeQAGraph", "conversation_mode": "CONTINUE",
  "query_plan": { "raw": "", "normalized": "", "expansions": [], "keyword_hints": [], "anchors": [] },
  "retrieval_spec": { "domains": [], "layer_queries": [], "filters": {}, "rerank_profile": "" },
  "evidence_policy": { "require_def": false, "require_flow": false, "require_spec": false,
                       "allow_answer_without_evidence": false } }
"""
"""ROUTER §5 as written."""


def codes(reasons: tuple[Reason, ...]) -> list[str]:
    return [reason.code for reason in reasons]


def test_contract_has_the_fields_of_the_specification(router: IntentRouter) -> None:
    example: dict[str, Any] = json.loads(SPEC_EXAMPLE)
    contract = router.route("Что делает класс OrderService?").to_json()["contract"]
    assert isinstance(contract, dict)
    assert contract.keys() == example.keys()
    for part in ("query_plan", "retrieval_spec", "evidence_policy"):
        assert contract[part].keys() == example[part].keys()
    assert contract["retrieval_spec"]["filters"].keys() == {"test_policy", "path_scope", "language"}
    assert contract["query_plan"]["anchors"][0].keys() == {"type", "value", "subtype", "span", "confidence"}


@pytest.mark.parametrize("intent", get_args(Intent))
def test_intent_fixes_graph_domains_profile_and_evidence(router: IntentRouter, intent: Intent) -> None:
    """Spec: ROUTER §7.2, §8; MODULE §6."""
    routing = router.route("заказы", intent=intent)
    contract = routing.contract
    assert contract.intent == intent
    assert contract.graph_id == GRAPH_OF[intent]
    assert contract.retrieval_spec.domains == DOMAINS_OF[intent]
    assert contract.retrieval_spec.rerank_profile == RERANK_OF[intent]
    assert contract.evidence_policy == EVIDENCE_OF[intent]
    assert "route.intent_forced" in codes(routing.reasons)


@pytest.mark.parametrize(
    ("intent", "layers"),
    [
        ("DOCS_QA", ["D1_DOCUMENT_CATALOG", "D2_FACT_INDEX", "D0_DOC_CHUNKS", "D4_POLICY_INDEX"]),
        ("CODE_QA", ["C3_ENTRYPOINTS", "C1_SYMBOL_CATALOG", "C2_DEPENDENCY_GRAPH", "C0_SOURCE_CHUNKS"]),
    ],
)
def test_layers_come_in_the_order_of_the_module(router: IntentRouter, intent: Intent, layers: list[str]) -> None:
    spec = router.route("заказы", intent=intent).contract.retrieval_spec
    assert [query.layer_id for query in spec.layer_queries] == layers


def test_only_layers_that_exist_are_named(router: IntentRouter) -> None:
    context = RepoContext(layers=(Layer.D0_DOC_CHUNKS,))
    routing = router.route("Какие статусы у заказа?", context=context)
    assert [query.layer_id for query in routing.contract.retrieval_spec.layer_queries] == ["D0_DOC_CHUNKS"]
    assert "route.layers_absent" in codes(routing.reasons)
    code = router.route("где реализован OrderService", context=context)
    assert code.contract.intent == "CODE_QA"
    assert "route.family_absent" in codes(code.reasons)


def test_cues_are_reasons_with_spans_sums_and_margin(router: IntentRouter) -> None:
    query = "Где реализован класс OrderService?"
    reasons = router.route(query).reasons
    spans = {reason.code: reason.span for reason in reasons if reason.code.startswith("cue.")}
    symbol = spans["cue.symbol"]
    assert symbol is not None
    assert query[symbol.start : symbol.end] == "OrderService"
    sums = next(reason for reason in reasons if reason.code == "route.intent_sums")
    assert sums.params["intent"] == "CODE_QA"
    assert sums.params["runner_up"] == "DOCS_QA"
    weights = sum(
        float(str(r.params["weight"])) for r in reasons if r.params.get("intent") == "CODE_QA" and "weight" in r.params
    )
    assert sums.params["margin"] == pytest.approx(weights - 1.0)


@pytest.mark.parametrize("query", ["", "   ", "\n\t\u00a0"])
def test_blank_query_is_refused(router: IntentRouter, query: str) -> None:
    with pytest.raises(InvalidInput) as error:
        router.route(query)
    assert error.value.code == "query_empty"


@pytest.mark.parametrize(
    "query",
    ["?!", "```\ncode\n```", "\x00\x01", "\ud800", "\u202eשלום", "מה זה", "```", "a" * 1_000_000, "🙂", "()"],
    ids=lambda query: ascii(query[:12]),
)
def test_odd_queries_give_a_valid_contract(router: IntentRouter, query: str) -> None:
    contract = router.route(query).contract
    assert RouterContract.model_validate_json(contract.model_dump_json()) == contract


@given(st.text(min_size=1, alphabet=st.characters(codec=None)))
@settings(deadline=None, max_examples=150)
def test_any_text_gives_exact_spans_and_the_same_bytes_twice(router: IntentRouter, text: str) -> None:
    if not text.strip():
        return
    routing = router.route(text)
    plan = routing.contract.query_plan
    for anchor in plan.anchors:
        assert plan.raw[anchor.span.start : anchor.span.end] == anchor.value
    again = json.dumps(router.route(text).to_json(), ensure_ascii=False).encode("utf-8")
    assert json.dumps(routing.to_json(), ensure_ascii=False).encode("utf-8") == again


@given(
    st.lists(
        st.sampled_from(
            [
                "src/a.py",
                "`",
                "```",
                "GET",
                "/v1/x",
                "класс",
                "Track",
                "foo.bar()",
                'File "a.py", line 1, in f',
                "«",
                "»",
                "\n",
                "раздел",
                "https://github.com/a/b/blob/m/x.py#L1",
                "a.b",
                "..",
                "//",
                "_",
                "@",
                "(",
                ")",
                "и",
                "у",
                "Depends/Query",
                "arguments",
                "1.2",
                "C:\\x\\y.py",
            ]
        ),
        min_size=1,
        max_size=12,
    ).map(" ".join)
)
@settings(deadline=None, max_examples=150)
def test_anchor_soup_keeps_spans_exact_and_apart(router: IntentRouter, text: str) -> None:
    if not text.strip():
        return
    plan = router.route(text).contract.query_plan
    taken: set[int] = set()
    for anchor in plan.anchors:
        assert plan.raw[anchor.span.start : anchor.span.end] == anchor.value
        if anchor.type in ("FILE_PATH", "SYMBOL") or anchor.subtype == "endpoint":
            place = set(range(anchor.span.start, anchor.span.end))
            assert taken.isdisjoint(place)
            taken |= place


@pytest.mark.parametrize(
    ("query", "expansions"),
    [
        ("что в классе?", ["class"]),
        ("сколько методов", ["method"]),
        ("какой функцией", ["function", "def"]),
        ("в модулях", ["module"]),
        ("пакетами", ["package"]),
        ("файлов нет", ["file"]),
        ("покрыто юнит-тестами", ["test", "unit test"]),
        ("тесты", ["test", "unit test"]),
    ],
)
def test_russian_terms_expand_in_every_form(router: IntentRouter, query: str, expansions: list[str]) -> None:
    """Spec: ROUTER §4.2."""
    plan = router.route(query).contract.query_plan
    assert list(plan.expansions) == expansions
    assert not any(word in plan.normalized for word in expansions)


def test_symbols_and_paths_are_hints_and_scope(router: IntentRouter) -> None:
    """Spec: ROUTER §7.3."""
    contract = router.route("что делает load_rates в src/jobs/rates.py?").contract
    assert contract.query_plan.keyword_hints == ("load_rates", "src/jobs/rates.py")
    assert contract.retrieval_spec.filters.path_scope == ("src/jobs/rates.py", "src/jobs/")
    assert contract.retrieval_spec.filters.language == ("python",)


def test_an_endpoint_is_no_path(router: IntentRouter) -> None:
    routing = router.route("Что отвечает GET /v1/orders?")
    assert routing.contract.intent == "DOCS_QA"
    assert routing.contract.retrieval_spec.filters.path_scope == ()
    assert routing.route.anchors.endpoint_paths == ("/v1/orders",)
    assert routing.route.anchors.file_names == ()


@pytest.mark.parametrize(
    ("query", "policy"),
    [
        ("как работает OrderService", "EXCLUDE"),
        ("почему OrderService падает в тесте", "INCLUDE"),
        ("что в tests/unit/test_orders.py", "INCLUDE"),
        ("какие тесты есть у OrderService", "ONLY"),
        ("and the tests?", "ONLY"),
        ("как настроить тестовый контур", "EXCLUDE"),
    ],
)
def test_test_policy(router: IntentRouter, query: str, policy: str) -> None:
    assert router.route(query).contract.retrieval_spec.filters.test_policy == policy


@pytest.mark.parametrize(
    ("query", "languages"),
    [
        ("клиент на Go", ("go",)),
        ("Python exceptions", ()),
        ("a helper in Python", ("python",)),
        ("let it go", ()),
        ("код на питоне", ("python",)),
    ],
)
def test_language_filter(router: IntentRouter, query: str, languages: tuple[str, ...]) -> None:
    assert router.route(query).contract.retrieval_spec.filters.language == languages


def test_a_language_that_the_session_lacks_filters_nothing(router: IntentRouter) -> None:
    routing = router.route("что делает a.go?", context=RepoContext(languages=("python",)))
    assert routing.contract.retrieval_spec.filters.language == ()
    assert "route.language_absent" in codes(routing.reasons)


STATE = ConversationState(
    active_intent="CODE_QA",
    anchors=(
        Anchor(type="FILE_PATH", value="src/a.py", subtype="file", span=AnchorSpan(start=3, end=11), confidence=0.9),
        Anchor(type="KEY_TERM", value="класс", subtype="class", span=AnchorSpan(start=0, end=5), confidence=0.6),
        Anchor(type="KEY_TERM", value="GET /x", subtype="endpoint", span=AnchorSpan(start=0, end=6), confidence=1.0),
    ),
)


def test_anchors_of_the_conversation_carry_over(router: IntentRouter) -> None:
    plan = router.route("а тесты?", STATE).contract.query_plan
    carried = [anchor for anchor in plan.anchors if (anchor.subtype or "").startswith("conversation")]
    assert [(anchor.value, anchor.subtype) for anchor in carried] == [
        ("src/a.py", "conversation:file"),
        ("GET /x", "conversation:endpoint"),
    ]
    assert all(anchor.span == AnchorSpan(start=0, end=0) for anchor in carried)
    assert carried[0].confidence == pytest.approx(0.45)
    again = ConversationState(active_intent="CODE_QA", anchors=plan.anchors)
    later = router.route("а ещё?", again).contract.query_plan
    assert [anchor.subtype for anchor in later.anchors if anchor.type == "FILE_PATH"] == ["conversation:file"]


def test_a_query_with_its_own_topic_or_a_new_one_carries_nothing(router: IntentRouter) -> None:
    own = router.route("а в b.py?", STATE).contract.query_plan
    assert [anchor.value for anchor in own.anchors if anchor.type == "FILE_PATH"] == ["b.py"]
    switched = router.route("Сменим тему: какие есть отпуска?", STATE).contract
    assert switched.conversation_mode == "SWITCH"
    assert not any(anchor.subtype == "conversation:file" for anchor in switched.query_plan.anchors)
