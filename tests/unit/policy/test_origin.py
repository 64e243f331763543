"""Where filters come from, against every case of the resolver. Spec: POLICY §9."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragkit import bundle
from ragkit.policy.code_plan import code_plan
from ragkit.policy.origin import FilterOrigin, filter_origins
from ragkit.policy.plan import RetrievalPlan
from ragkit.policy.policy import Policy
from ragkit.policy.resolver import RetrievalPolicyResolver
from ragkit.routing.route import RouteAnchors, RouteIntent, RouteResult, Subintent, route_from_json
from ragkit.service import router

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "policy.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def spec() -> Policy:
    return bundle.policy("spec", Path("unused")).policy


@pytest.fixture(scope="module")
def distinct(spec: Policy) -> Policy:
    """The specification's policy with values that no two of its sources share."""
    own = {"summary_prefer": "prefer", "summary_hard": "hard", "find_files": "find"}
    signals = {
        name: rule.model_copy(update={key: (f"{name}/{word}/",) for key, word in own.items()})
        for name, rule in spec.signals.items()
    }
    return spec.model_copy(
        update={
            "signals": signals,
            "summary": spec.summary.model_copy(update={"default_prefer": ("summary/default/",)}),
            "find_files": spec.find_files.model_copy(update={"default_prefixes": ("find/default/",)}),
        }
    )


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_every_filter_has_an_origin_that_holds(case: dict[str, object], distinct: Policy) -> None:
    """One said to come from signals goes when they are silenced; one from an anchor, when the anchor is emptied."""
    route = route_from_json(case["route"])
    plan = resolved(distinct, route)
    origins = filter_origins(plan, route, distinct)
    assert list(origins) == list(plan.filters.to_json())
    for name, origin in origins.items():
        before = plan.filters.to_json()[name]
        if origin.kind == "policy":
            assert all(part in distinct.model_dump() for part in {by.split(".")[0] for by in origin.by})
        elif origin.kind == "anchor" and before:
            assert origin.by
            fields = [by for by in origin.by if by in RouteAnchors.__slots__]
            empty = {field: () if isinstance(getattr(route.anchors, field), tuple) else None for field in fields}
            anchors = {field: getattr(route.anchors, field) for field in RouteAnchors.__slots__} | empty
            bare = RouteResult(intent=route.intent, subintent=route.subintent, anchors=RouteAnchors(**anchors))
            assert resolved(distinct, bare).filters.to_json().get(name) != before, name
        elif origin.kind == "signal":
            silent = RetrievalPolicyResolver(distinct, forced=dict.fromkeys(distinct.signals, False)).resolve(route)
            assert silent.filters.to_json().get(name) != before, name


def resolved(spec: Policy, route: RouteResult) -> RetrievalPlan:
    return RetrievalPolicyResolver(spec).resolve(route)


@pytest.mark.parametrize(
    ("intent", "subintent", "anchors", "name", "expected"),
    [
        ("DOCS_QA", "SUMMARY", {"endpoint_paths": ("/v1/a",)}, "path_prefixes", ("signal", ("API_ENDPOINT",))),
        ("DOCS_QA", "SUMMARY", {}, "prefer_path_prefixes", ("policy", ("summary.default_prefer",))),
        ("DOCS_QA", "SUMMARY", {"process_domain": "shop"}, "metadata.domain", ("anchor", ("process_domain",))),
        ("DOCS_QA", "FIND_FILES", {}, "path_prefixes", ("policy", ("find_files.default_prefixes",))),
        (
            "DOCS_QA",
            "FIND_FILES",
            {"target_doc_hints": ("docs/a/b.md",)},
            "path_prefixes",
            ("anchor", ("target_doc_hints",)),
        ),
        ("DOCS_QA", "FIND_FILES", {"file_names": ("docs/a/b.md",)}, "path_prefixes", ("anchor", ("file_names",))),
        ("DOCS_QA", "FIND_FILES", {"entity_names": ("Cell",)}, "path_prefixes", ("signal", ("DOMAIN_ENTITY",))),
        (
            "DOCS_QA",
            "FIND_FILES",
            {"target_doc_hints": ("docs/a/b.md",), "entity_names": ("Cell",)},
            "prefer_like_patterns",
            ("anchor", ("target_doc_hints",)),
        ),
        (
            "DOCS_QA",
            "FIND_FILES",
            {"process_domain": "shop"},
            "prefer_path_prefixes",
            ("policy", ("find_files.default_prefixes", "find_files.domain_prefer")),
        ),
        ("GENERAL_QA", "SUMMARY", {}, "prefer_like_patterns", ("policy", ("general.prefer_like_patterns",))),
    ],
)
def test_origins(
    spec: Policy,
    intent: RouteIntent,
    subintent: Subintent,
    anchors: dict[str, object],
    name: str,
    expected: tuple[str, tuple[str, ...]],
) -> None:
    route = RouteResult(intent=intent, subintent=subintent, anchors=RouteAnchors(**anchors))  # pyright: ignore
    found = filter_origins(RetrievalPolicyResolver(spec).resolve(route), route, spec)[name]
    assert (found.kind, found.by) == expected


def test_filters_of_code_come_from_the_contract(spec: Policy) -> None:
    routing = router().route("what does Foo.bar() in src/a.py do")
    plan = code_plan(routing.contract, routing.route, spec)
    found = filter_origins(plan, routing.route, spec)
    assert found["test_policy"] == FilterOrigin(kind="contract", by=("retrieval_spec.filters.test_policy",))
    assert {origin.kind for origin in found.values()} == {"contract"}
