"""What was found against what an answer needs. Spec: ROUTER §8."""

from __future__ import annotations

import pytest

from ragkit.layers import Layer
from ragkit.retrieval.evidence import check_evidence
from ragkit.retrieval.trace import Hit
from ragkit.routing.contract import EVIDENCE_OF, EvidencePolicy, Intent


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


@pytest.mark.parametrize(
    ("policy", "layers", "allowance", "missing"),
    [
        ("CODE_QA", [Layer.C1_SYMBOL_CATALOG, Layer.C3_ENTRYPOINTS], "answer", []),
        ("CODE_QA", [Layer.C1_SYMBOL_CATALOG], "say_missing", ["require_flow"]),
        ("CODE_QA", [Layer.D0_DOC_CHUNKS], "say_missing", ["require_def", "require_flow"]),
        ("CODE_QA", [], "say_nothing_found", ["require_def", "require_flow"]),
        ("DOCS_QA", [Layer.D0_DOC_CHUNKS], "answer", []),
        ("DOCS_QA", [Layer.C0_SOURCE_CHUNKS], "say_missing", ["require_spec"]),
        ("GENERATE_DOCS_FROM_CODE", [Layer.C1_SYMBOL_CATALOG], "answer", []),
        ("GENERATE_DOCS_FROM_CODE", [Layer.C0_SOURCE_CHUNKS], "say_missing", ["require_def"]),
        ("PROJECT_MISC", [], "answer_freely", []),
    ],
)
def test_what_an_answerer_may_do(policy: Intent, layers: list[Layer], allowance: str, missing: list[str]) -> None:
    """Spec: ROUTER §8, each intent's flags."""
    found = check_evidence(EVIDENCE_OF[policy], [hit(layer) for layer in layers])
    assert (found.allowance, found.reason.code) == (allowance, f"allowance.{allowance}")
    assert found.reason.params == {"missing": missing}
    assert found.may_answer is (allowance in ("answer", "answer_freely"))


def test_gaps_are_named_where_an_answer_is_allowed_all_the_same() -> None:
    strict = EvidencePolicy(require_spec=True, allow_answer_without_evidence=True)
    found = check_evidence(strict, [])
    assert (found.allowance, found.reason.params, found.may_answer) == (
        "answer_with_gaps",
        {"missing": ["require_spec"]},
        True,
    )


def test_each_check_names_its_rows_in_the_order_of_the_answer() -> None:
    rows = [hit(Layer.C3_ENTRYPOINTS), hit(Layer.C1_SYMBOL_CATALOG), hit(Layer.C2_DEPENDENCY_GRAPH)]
    checks = {check.flag: check.by for check in check_evidence(EVIDENCE_OF["CODE_QA"], rows).checks}
    assert checks == {
        "require_def": ("id of C1_SYMBOL_CATALOG",),
        "require_flow": ("id of C3_ENTRYPOINTS", "id of C2_DEPENDENCY_GRAPH"),
    }
