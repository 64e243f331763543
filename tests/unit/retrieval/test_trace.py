"""The Trace's JSON holds what others rely on. Source: architecture.md."""

from __future__ import annotations

from ragkit.layers import Layer
from ragkit.messages import Reason
from ragkit.retrieval.trace import DroppedRow, Hit, Step


def test_row_keys() -> None:
    hit = Hit(
        rank=1, plan="p", id="a.md#B", path="a.md", line_start=1, line_end=2, layer=Layer.D0_DOC_CHUNKS, title="B",
        score=0.5, parts={"dense": 0.5}, found_by=("dense",), text="x",
    )  # fmt: skip
    assert hit.to_json() == {
        "rank": 1,
        "plan": "p",
        "id": "a.md#B",
        "path": "a.md",
        "line_start": 1,
        "line_end": 2,
        "layer": "D0_DOC_CHUNKS",
        "title": "B",
        "score": 0.5,
        "parts": {"dense": 0.5},
        "found_by": ["dense"],
        "text": "x",
        "words": [],
    }


def test_step_keys() -> None:
    step = Step(
        name="limit",
        plan="p",
        came_in=2,
        went_out=1,
        dropped={"drop.below_limit": 1},
        dropped_rows=(DroppedRow(id="a", reason=Reason(code="drop.below_limit", params={"score": 0.1, "limit": 1})),),
    )
    assert step.to_json() == {
        "name": "limit",
        "plan": "p",
        "in": 2,
        "out": 1,
        "dropped": {"drop.below_limit": 1},
        "dropped_rows": [{"id": "a", "reason": {"code": "drop.below_limit", "params": {"score": 0.1, "limit": 1}}}],
        "notes": [],
    }
