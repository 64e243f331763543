"""Plans for code, out of the contract's `retrieval_spec`. Source: system.md §3, D2."""

from __future__ import annotations

from dataclasses import replace

from ragkit.messages import Reason
from ragkit.policy.plan import PlanFilters, RetrievalPlan
from ragkit.policy.policy import Policy
from ragkit.policy.resolver import Forced, RetrievalPolicyResolver
from ragkit.routing.contract import Intent, RouterContract
from ragkit.routing.route import RouteResult


def code_plan(contract: RouterContract, route: RouteResult, policy: Policy) -> RetrievalPlan:
    """The plan that searches code; `find_files` of the route turns a question into a lookup."""
    profile = _profile(contract.intent, route, policy)
    chosen = policy.profiles[profile]
    given = contract.retrieval_spec.filters
    return RetrievalPlan(
        profile=profile,
        layers=chosen.layers,
        limit=chosen.limit,
        filters=PlanFilters(
            path_scope=given.path_scope,
            language=given.language or None,
            test_policy=given.test_policy,
        ),
    )


def plans(
    contract: RouterContract,
    route: RouteResult,
    policy: Policy,
    *,
    families: frozenset[str],
    limit: int | None = None,
    forced: Forced | None = None,
) -> tuple[tuple[RetrievalPlan, ...], tuple[Reason, ...]]:
    """One plan for each domain that the contract names, documentation first, and what had to be bent.

    `families` are those that the session holds. Where it lacks all that the contract names, the plan falls back to
    what exists (reason `plan.family_absent`). `limit` replaces the limit of each plan (reason `plan.limit_replaced`).
    `forced` signals are for counterfactuals.
    """
    asked = [domain for domain in ("DOCS", "CODE") if domain in contract.retrieval_spec.domains]
    there = [domain for domain in asked if domain in families]
    reasons: list[Reason] = []
    if not there and families:
        there = sorted(families, reverse=True)[:1]
        reasons.append(Reason(code="plan.family_absent", params={"asked": asked, "used": there}))
    made = tuple(
        RetrievalPolicyResolver(policy, forced=forced).resolve(route)
        if domain == "DOCS"
        else code_plan(contract, route, policy)
        for domain in there or asked
    )
    if limit is None:
        return made, tuple(reasons)
    reasons.append(Reason(code="plan.limit_replaced", params={"limit": limit, "was": [plan.limit for plan in made]}))
    return tuple(replace(plan, limit=limit) for plan in made), tuple(reasons)


def _profile(intent: Intent, route: RouteResult, policy: Policy) -> str:
    if intent == "GENERATE_DOCS_FROM_CODE":
        return policy.code.generate_docs
    if intent == "PROJECT_MISC":
        return policy.code.project
    return policy.code.file_lookup if route.subintent == "FIND_FILES" else policy.code.code_qa
