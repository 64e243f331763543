"""Does what was found satisfy the contract's evidence policy? Spec: ROUTER §8. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkit.layers import Layer
from ragkit.retrieval.trace import Evidence, EvidenceCheck, Hit
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
    satisfied = all(check.satisfied for check in checks)
    return Evidence(checks=checks, satisfied=satisfied, may_answer=satisfied or policy.allow_answer_without_evidence)


def _check(flag: str, rows: Sequence[Hit]) -> EvidenceCheck:
    by = tuple(row.id for row in rows if row.layer in SATISFIED_BY[flag])
    return EvidenceCheck(flag=flag, satisfied=bool(by), by=by)
