"""What would lead to another profile: each answer is applied to the resolver, and no smaller one does it."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest

from ragkit import bundle
from ragkit.policy.code_plan import plans
from ragkit.policy.counterfactual import ProfileChange, profile_changes, profiles_under
from ragkit.policy.policy import SIGNALS, Policy
from ragkit.policy.resolver import RetrievalPolicyResolver
from ragkit.policy.signals import anchor_signal_types
from ragkit.routing.contract import Intent
from ragkit.routing.route import RouteAnchors, RouteResult, route_from_json
from ragkit.routing.router import Routing
from ragkit.service import router

BOTH = frozenset({"DOCS", "CODE"})
QUERIES = (
    "How long is a parcel kept in the locker?",
    "POST /v1/pickups",
    "in which file is the pickup code described",
    "docs/architecture/overview.md and docs/api/orders.md",
    "what does PickupCode.verify() do",
    "what is this project about",
    "write documentation for PickupCode from the code",
)
CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "policy.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def spec() -> Policy:
    return bundle.policy("spec", Path("unused")).policy


def changes(query: str, spec: Policy) -> tuple[Routing, dict[str, ProfileChange]]:
    routing = router().route(query)
    found = profile_changes(routing.contract, routing.route, spec, families=BOTH)
    return routing, {change.profile: change for change in found}


@pytest.mark.parametrize("query", QUERIES)
def test_every_other_profile_can_be_reached(query: str, spec: Policy) -> None:
    routing, found = changes(query, spec)
    chosen = {p.profile for p in plans(routing.contract, routing.route, spec, families=BOTH)[0]}
    assert set(found) == set(spec.profiles) - chosen


@pytest.mark.parametrize("query", QUERIES)
def test_a_change_applied_gives_the_profile_and_no_smaller_one_does(query: str, spec: Policy) -> None:
    routing, found = changes(query, spec)
    for change in found.values():
        flipped = (*change.fires, *change.silent)
        intent = change.intent or routing.contract.intent
        applied = profiles_under(routing.contract, routing.route, spec, intent, flipped, families=BOTH)
        assert change.profile in applied
        for other in get_args(Intent):
            for count in range(change.size - (other != routing.contract.intent)):
                for flip in combinations(SIGNALS, count):
                    smaller = profiles_under(routing.contract, routing.route, spec, other, flip, families=BOTH)
                    assert change.profile not in smaller, (other, flip)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_forced_as_they_are_signals_change_nothing(case: dict[str, object], spec: Policy) -> None:
    route = route_from_json(case["route"])
    fired = anchor_signal_types(route, spec)
    forced = {signal: signal in fired for signal in SIGNALS}
    assert RetrievalPolicyResolver(spec, forced=forced).resolve(route) == RetrievalPolicyResolver(spec).resolve(route)


def test_one_signal_leads_from_the_generic_summary_to_its_own(spec: Policy) -> None:
    """Spec: POLICY §7: exactly one meaningful signal gives its profile."""
    _, found = changes("How long is a parcel kept in the locker?", spec)
    assert found["docs_summary_logic_flow"].fires == ("LOGIC_FLOW",)
    assert found["docs_summary_logic_flow"].silent == ()
    (reason,) = found["docs_summary_logic_flow"].reasons
    assert reason.code == "change.signal_on"
    assert reason.params["markers"] == ["/logic/", "logic", "workflow", "flow", "process"]
    (reason,) = found["docs_summary_api_endpoint"].reasons
    assert (reason.code, reason.params["fields"]) == ("change.signal_on_by_field", ["endpoint_paths"])


def test_a_signal_that_fires_must_be_silent_for_another_profile(spec: Policy) -> None:
    _, found = changes("POST /v1/pickups", spec)
    change = found["docs_summary_architecture"]
    assert (change.fires, change.silent) == (("ARCHITECTURE",), ("API_ENDPOINT",))
    assert change.reasons[1].params == {"signal": "API_ENDPOINT", "by": ["endpoint_paths: /v1/pickups"]}
    assert found["docs_summary_generic"].silent == ("API_ENDPOINT",)
    assert found["file_lookup"].fires == ("FIND_FILES",)


def test_code_needs_another_intent(spec: Policy) -> None:
    _, found = changes("How long is a parcel kept in the locker?", spec)
    assert (found["code_qa"].intent, found["code_qa"].size) == ("CODE_QA", 1)
    assert (found["code_file_lookup"].intent, found["code_file_lookup"].fires) == ("CODE_QA", ("FIND_FILES",))
    assert found["project_code_overview"].intent == "PROJECT_MISC"


def test_a_session_without_code_reaches_no_profile_of_code(spec: Policy) -> None:
    routing = router().route("How long is a parcel kept in the locker?")
    found = profile_changes(routing.contract, routing.route, spec, families=frozenset({"DOCS"}))
    assert not any(change.profile.startswith(("code_", "project_")) for change in found)


def test_two_signals_are_told_by_what_they_fire(spec: Policy) -> None:
    anchors = RouteAnchors(target_doc_hints=("docs/architecture/api.md",))
    route = RouteResult(intent="DOCS_QA", anchors=anchors)
    contract = router().route("overview").contract
    found = {c.profile: c for c in profile_changes(contract, route, spec, families=BOTH)}
    assert found["docs_summary_architecture"].silent == ("API_ENDPOINT",)
    assert found["docs_summary_architecture"].reasons[0].params["by"] == [
        "target_doc_hints: docs/architecture/api.md (api)"
    ]
