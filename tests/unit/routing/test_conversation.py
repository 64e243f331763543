from __future__ import annotations

import pytest

from ragkit.errors import InvalidInput
from ragkit.routing.conversation import conversation_state_from_json

ANCHOR = {"type": "SYMBOL", "value": "A", "subtype": None, "span": {"start": 0, "end": 1}, "confidence": 1.0}


def test_missing_parts_are_empty() -> None:
    assert conversation_state_from_json(None) is None
    state = conversation_state_from_json({})
    assert state is not None
    assert state.active_intent is None
    assert state.anchors == ()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ([], "state"),
        ("CODE_QA", "state"),
        ({"active_intent": "CODE"}, "active_intent"),
        ({"anchors": "x"}, "anchors"),
        ({"anchors": [{**ANCHOR, "type": "PATH"}]}, "anchors.0.type"),
        ({"anchors": [{**ANCHOR, "confidence": 2}]}, "anchors.0.confidence"),
        ({"anchors": [{**ANCHOR, "span": {"start": 2, "end": 1}}]}, "anchors.0.span"),
        ({"topic": 1}, "topic"),
    ],
)
def test_a_malformed_state_is_refused_by_field(body: object, field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        conversation_state_from_json(body)
    assert error.value.code == "state_field"
    assert error.value.params["field"] == field
