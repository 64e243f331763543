"""Rows of tests/cases/routing_*.jsonl: one question, one row, one name in the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragkit.routing.contract import ConversationState
from ragkit.routing.conversation import conversation_state_from_json
from ragkit.routing.router import IntentRouter, Routing
from ragkit.routing.rules import RoutingRules

CASES = Path(__file__).parents[2] / "cases"


def rows(name: str) -> list[Any]:
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(row, id=row["id"]) for row in map(json.loads, lines)]


def values(routing: Routing, kind: str) -> list[str]:
    wanted = {"file_paths": "FILE_PATH", "symbols": "SYMBOL", "endpoints": "KEY_TERM"}[kind]
    return [
        anchor.value
        for anchor in routing.contract.query_plan.anchors
        if anchor.type == wanted and (kind != "endpoints" or anchor.subtype == "endpoint")
    ]


@pytest.mark.parametrize("row", rows("routing_queries.jsonl"))
def test_question_is_routed_as_labelled(router: IntentRouter, row: dict[str, Any]) -> None:
    routing = router.route(row["query"])
    assert routing.contract.intent in [row["intent"], *row.get("alt_intents", [])], routing.reasons
    assert routing.route.subintent == row.get("subintent", "SUMMARY")
    for kind in ("file_paths", "symbols", "endpoints"):
        assert set(values(routing, kind)) == set(row.get(kind, [])), kind
    if "test_policy" in row:
        assert routing.contract.retrieval_spec.filters.test_policy == row["test_policy"]


@pytest.mark.parametrize("row", rows("routing_anchors.jsonl"))
def test_anchors_stand_in_the_order_of_the_text(router: IntentRouter, row: dict[str, Any]) -> None:
    plan = router.route(row["query"]).contract.query_plan
    assert [[anchor.type, anchor.value] for anchor in plan.anchors] == row["anchors"]
    for anchor in plan.anchors:
        assert plan.raw[anchor.span.start : anchor.span.end] == anchor.value


@pytest.mark.parametrize("row", rows("routing_conversations.jsonl"))
def test_conversation_holds_its_topic(router: IntentRouter, row: dict[str, Any]) -> None:
    state: ConversationState | None = None
    for query, intent, mode in row["turns"]:
        contract = router.route(query, state).contract
        assert (query, contract.intent, contract.conversation_mode) == (query, intent, mode)
        anchors = [anchor.model_dump() for anchor in contract.query_plan.anchors]
        state = conversation_state_from_json({"active_intent": contract.intent, "anchors": anchors})


def test_every_cue_has_a_case(router: IntentRouter, rules: RoutingRules) -> None:
    questions = [row.values[0]["query"] for row in rows("routing_queries.jsonl")]
    questions += [turn[0] for row in rows("routing_conversations.jsonl") for turn in row.values[0]["turns"]]
    fired = {reason.code for question in questions for reason in router.route(question).reasons}
    needs_a_catalog = {"cue.known_name", "cue.documented_symbol"}
    assert {f"cue.{cue.code}" for cue in rules.cue} - fired == needs_a_catalog


def test_ids_are_unique() -> None:
    for name in ("routing_queries.jsonl", "routing_anchors.jsonl", "routing_conversations.jsonl"):
        ids = [row.id for row in rows(name)]
        assert len(ids) == len(set(ids))
