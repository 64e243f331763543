"""What was found against what an answer needs. Spec: ROUTER §8."""

from __future__ import annotations

import pytest

from ragkit.layers import Layer
from ragkit.retrieval.evidence import check_evidence
from ragkit.retrieval.trace import Hit
from ragkit.routing.contract import EVIDENCE_OF, EvidencePolicy


def hit(layer: Layer) -> Hit:
    return Hit(
        rank=1,
        plan="p",
        id=f"id of {layer.value}",
        path="a",
        line_start=1,
        line_end=1,
        layer=layer,
        title="t",
        score=1.0,
        parts={},
        found_by=(),
        text="",
    )


@pytest.mark.parametrize(
    ("flag", "layer", "satisfied"),
    [
        ("require_def", Layer.C1_SYMBOL_CATALOG, True),
        ("require_def", Layer.C4_PUBLIC_API, True),
        ("require_def", Layer.C0_SOURCE_CHUNKS, False),
        ("require_flow", Layer.C2_DEPENDENCY_GRAPH, True),
        ("require_flow", Layer.C3_ENTRYPOINTS, True),
        ("require_flow", Layer.D4_WORKFLOW_INDEX, True),
        ("require_flow", Layer.C1_SYMBOL_CATALOG, False),
        ("require_spec", Layer.D0_DOC_CHUNKS, True),
        ("require_spec", Layer.D4_POLICY_INDEX, True),
        ("require_spec", Layer.C1_SYMBOL_CATALOG, False),
    ],
)
def test_layer_satisfies_flag(flag: str, layer: Layer, satisfied: bool) -> None:
    found = check_evidence(EvidencePolicy(**{flag: True}), [hit(layer)])
    assert found.satisfied is found.may_answer is satisfied
    assert found.to_json()["checks"] == [
        {"flag": flag, "satisfied": satisfied, "by": [f"id of {layer.value}"] if satisfied else []}
    ]


def test_all_flags_must_hold() -> None:
    found = check_evidence(EVIDENCE_OF["CODE_QA"], [hit(Layer.C1_SYMBOL_CATALOG)])
    assert [(check.flag, check.satisfied) for check in found.checks] == [("require_def", True), ("require_flow", False)]
    assert found.satisfied is found.may_answer is False


def test_a_policy_may_allow_an_answer_without_evidence() -> None:
    found = check_evidence(EVIDENCE_OF["PROJECT_MISC"], [])
    assert (found.checks, found.satisfied, found.may_answer) == ((), True, True)
    strict = EvidencePolicy(require_spec=True, allow_answer_without_evidence=True)
    assert (check_evidence(strict, []).satisfied, check_evidence(strict, []).may_answer) == (False, True)
