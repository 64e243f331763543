"""The resolver against `tests/cases/policy.jsonl`: RouteResult in, exact plan out. Expected values are POLICY's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragkit import bundle
from ragkit.policy.policy import SIGNALS, Policy
from ragkit.policy.resolver import RetrievalPolicyResolver, escape_like
from ragkit.policy.signals import anchor_signal_types, read_signals
from ragkit.routing.route import RouteAnchors, RouteResult, route_from_json

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "policy.jsonl").read_text(encoding="utf-8").splitlines()
]

PROFILES = {
    "general_qa_grounded_summary",
    "file_lookup",
    "docs_summary_api_endpoint",
    "docs_summary_logic_flow",
    "docs_summary_domain_entity",
    "docs_summary_architecture",
    "docs_summary_generic",
}

MARKERS = {
    "API_ENDPOINT": ("/api/", "api", "endpoint"),
    "ARCHITECTURE": ("/architecture/", "architecture", "arch"),
    "LOGIC_FLOW": ("/logic/", "logic", "workflow", "flow", "process"),
    "DOMAIN_ENTITY": ("/domains/", "domain", "entity", "component"),
}
"""POLICY §6."""


@pytest.fixture(scope="module")
def spec() -> Policy:
    return bundle.policy("spec", Path("unused")).policy


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_route_gives_exactly_this_plan(case: dict[str, object], spec: Policy) -> None:
    route = route_from_json(case["route"])
    assert RetrievalPolicyResolver(spec).resolve(route).to_json() == case["plan"]


def test_cases_reach_every_profile() -> None:
    assert {case["plan"]["profile"] for case in CASES} == PROFILES


def test_intent_and_subintent_stay_as_they_are(spec: Policy) -> None:
    """Spec: POLICY §1."""
    route = RouteResult(intent="GENERAL_QA", subintent="FIND_FILES", anchors=RouteAnchors(file_names=("a.md",)))
    before = route.to_json()
    RetrievalPolicyResolver(spec).resolve(route)
    assert route.to_json() == before


@pytest.mark.parametrize("field", ["target_doc_hints", "file_names", "matched_aliases"])
@pytest.mark.parametrize(("signal", "marker"), [(name, m) for name, markers in MARKERS.items() for m in markers])
def test_every_marker_fires_in_every_marker_field(spec: Policy, field: str, signal: str, marker: str) -> None:
    """Spec: POLICY §6; upper case matches too, since the value is lower-cased."""
    anchors = RouteAnchors(**{field: (f"x{marker.upper()}x",)})
    assert signal in anchor_signal_types(RouteResult(intent="DOCS_QA", anchors=anchors), spec)


@pytest.mark.parametrize("field", ["process_domain", "process_subdomain"])
def test_domain_and_subdomain_fire_nothing(spec: Policy, field: str) -> None:
    """Spec: POLICY §6."""
    anchors = RouteAnchors(**{field: "api architecture workflow entity"})
    assert anchor_signal_types(RouteResult(intent="DOCS_QA", anchors=anchors), spec) == ()


@pytest.mark.parametrize(("field", "silent"), [("endpoint_paths", "LOGIC_FLOW"), ("entity_names", "API_ENDPOINT")])
def test_markers_are_not_sought_in_other_fields(spec: Policy, field: str, silent: str) -> None:
    """Spec: POLICY §6 names three fields for markers; `/process` is an endpoint and no logic."""
    value = "/process" if field == "endpoint_paths" else "ApiKey"
    anchors = RouteAnchors(**{field: (value,)})
    assert silent not in anchor_signal_types(RouteResult(intent="DOCS_QA", anchors=anchors), spec)


def test_signals_come_in_the_order_of_the_specification(spec: Policy) -> None:
    route = RouteResult(
        intent="DOCS_QA",
        subintent="FIND_FILES",
        anchors=RouteAnchors(entity_names=("Order",), endpoint_paths=("/x",), matched_aliases=("flow", "architecture")),
    )
    expected = ("FIND_FILES", "API_ENDPOINT", "ARCHITECTURE", "LOGIC_FLOW", "DOMAIN_ENTITY")
    assert anchor_signal_types(route, spec) == expected == SIGNALS


def test_signals_say_by_what_they_fired(spec: Policy) -> None:
    route = RouteResult(
        intent="DOCS_QA",
        anchors=RouteAnchors(endpoint_paths=("/orders",), target_doc_hints=("docs/API/orders.md",)),
    )
    readings = {reading.signal: reading.to_json() for reading in read_signals(route, spec)}
    assert list(readings) == list(SIGNALS)
    assert readings["API_ENDPOINT"] == {
        "signal": "API_ENDPOINT",
        "fired": True,
        "evidence": [
            {"field": "endpoint_paths", "value": "/orders", "marker": None},
            {"field": "target_doc_hints", "value": "docs/API/orders.md", "marker": "/api/"},
        ],
    }
    assert readings["FIND_FILES"] == {"signal": "FIND_FILES", "fired": False, "evidence": []}


@pytest.mark.parametrize(
    ("term", "escaped"), [("plain", "plain"), ("a_b", r"a\_b"), ("50%", r"50\%"), ("a\\b", r"a\\b"), (r"\%", r"\\\%")]
)
def test_like_escape(term: str, escaped: str) -> None:
    assert escape_like(term) == escaped


@pytest.fixture(scope="module")
def tuned() -> Policy:
    return bundle.policy("tuned", Path("unused")).policy


@pytest.mark.parametrize(
    ("value", "signals"),
    [
        ("Capital", ()),
        ("FastAPI", ()),
        ("Rapid start", ()),
        ("Search", ()),
        ("Overflow", ()),
        ("Subprocess", ()),
        ("Parched", ()),
        ("Order API", ("API_ENDPOINT",)),
        ("docs/api-keys.md", ("API_ENDPOINT",)),
        ("docs/api_keys.md", ("API_ENDPOINT",)),
        ("site/api/keys.md", ("API_ENDPOINT",)),
        ("All endpoints", ("API_ENDPOINT",)),
        ("API", ("API_ENDPOINT",)),
        ("capital api", ("API_ENDPOINT",)),  # the first place is none, the second is one
        ("Architectural decisions", ("ARCHITECTURE",)),
        ("arch.md", ("ARCHITECTURE",)),
        ("Billing workflows", ("LOGIC_FLOW",)),
        ("Process of return", ("LOGIC_FLOW",)),
        ("Domain entities", ("DOMAIN_ENTITY",)),
        ("api архитектура", ("API_ENDPOINT",)),
    ],
)
def test_markers_as_words(value: str, signals: tuple[str, ...], tuned: Policy) -> None:
    route = RouteResult(intent="DOCS_QA", subintent="SUMMARY", anchors=RouteAnchors(matched_aliases=(value,)))
    assert anchor_signal_types(route, tuned) == signals


def test_markers_as_substrings_stay_the_default(spec: Policy) -> None:
    """Spec: POLICY §6; system.md §3. «capital» holds `api`, «search» holds `arch`."""
    for value, signal in (("Capital", "API_ENDPOINT"), ("Search", "ARCHITECTURE"), ("Overflow", "LOGIC_FLOW")):
        route = RouteResult(intent="DOCS_QA", subintent="SUMMARY", anchors=RouteAnchors(matched_aliases=(value,)))
        assert anchor_signal_types(route, spec) == (signal,)


def hard(filters: dict[str, object]) -> set[str]:
    return {"path_prefixes", "metadata.domain", "metadata.subdomain"} & set(filters)


@pytest.mark.parametrize("subintent", ["SUMMARY", "FIND_FILES"])
def test_tuned_hides_nothing(subintent: str, spec: Policy, tuned: Policy) -> None:
    """An endpoint, a hinted page and a domain: hard filters under spec, preferences under tuned."""
    route = route_from_json(
        {
            "intent": "DOCS_QA",
            "subintent": subintent,
            "target_terms": [],
            "anchors": {
                "endpoint_paths": ["/v1/orders"],
                "target_doc_hints": ["guide/orders.md"],
                "process_domain": "Billing",
                "process_subdomain": "Refunds",
            },
        }
    )
    wanted = RetrievalPolicyResolver(spec).resolve(route).filters.to_json()
    given = RetrievalPolicyResolver(tuned).resolve(route).filters.to_json()
    assert hard(wanted) == {"path_prefixes", "metadata.domain", "metadata.subdomain"}
    assert hard(given) == set()
    assert given["prefer_path_prefixes"] == wanted["prefer_path_prefixes"]
    assert given["prefer_like_patterns"] == wanted["prefer_like_patterns"]
    if subintent == "SUMMARY":
        assert {"%billing%", "%refunds%"} <= set(given["prefer_like_patterns"])  # pyright: ignore[reportArgumentType]
