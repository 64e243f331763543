"""Does what was found satisfy the contract's evidence policy, and what may an answerer do? Spec: ROUTER §8. Pure.

`require_def`, `require_flow` and `require_spec` each ask for a row of a kind; `allow_answer_without_evidence` says
whether an answer may be given where one is missing. The layers of the rows decide: a row is what its layer says it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkit.layers import Layer
from ragkit.messages import Reason
from ragkit.retrieval.trace import Allowance, Evidence, EvidenceCheck, Hit
from ragkit.routing.contract import EvidencePolicy

SATISFIED_BY: Mapping[str, frozenset[Layer]] = {
    "require_def": frozenset({Layer.C1_SYMBOL_CATALOG, Layer.C4_PUBLIC_API}),
    "require_flow": frozenset({Layer.C2_DEPENDENCY_GRAPH, Layer.C3_ENTRYPOINTS, Layer.D4_WORKFLOW_INDEX}),
    "require_spec": frozenset(layer for layer in Layer if layer.value.startswith("D")),
}
"""Flag → layers whose rows show it: a definition, a flow, a specification."""


def check_evidence(policy: EvidencePolicy, rows: Sequence[Hit]) -> Evidence:
    """One check for each flag that is set; `may_answer` where all hold, or where the policy allows it without."""
    checks = tuple(_check(flag, rows) for flag in SATISFIED_BY if getattr(policy, flag))
    missing = [check.flag for check in checks if not check.satisfied]
    allowance = _allowance(policy, checks, missing, rows)
    return Evidence(
        checks=checks,
        satisfied=not missing,
        may_answer=not missing or policy.allow_answer_without_evidence,
        allowance=allowance,
        reason=Reason(code=f"allowance.{allowance}", params={"missing": missing}),
    )


def _check(flag: str, rows: Sequence[Hit]) -> EvidenceCheck:
    by = tuple(row.id for row in rows if row.layer in SATISFIED_BY[flag])
    return EvidenceCheck(flag=flag, satisfied=bool(by), by=by)


def _allowance(
    policy: EvidencePolicy, checks: Sequence[EvidenceCheck], missing: Sequence[str], rows: Sequence[Hit]
) -> Allowance:
    if not missing:
        return "answer" if checks else "answer_freely"
    if policy.allow_answer_without_evidence:
        return "answer_with_gaps"
    return "say_missing" if rows else "say_nothing_found"
