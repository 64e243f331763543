"""What the last turn left, read from outside and carried into a query that names nothing itself.

Spec: ROUTER §3, §4.3.
"""

from __future__ import annotations

from pydantic import ValidationError

from ragkit.errors import InvalidInput
from ragkit.routing.contract import Anchor, AnchorSpan, ConversationState

CARRIED = "conversation"


def conversation_state_from_json(obj: object) -> ConversationState | None:
    """The state that `obj` describes; None stands for no conversation.

    Raises: InvalidInput `state_field` with the dotted name of the field and what was found there.
    """
    if obj is None:
        return None
    try:
        return ConversationState.model_validate(obj)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "state"
        raise InvalidInput("state_field", field=field, found=repr(first.get("input"))[:80]) from error


def is_topic(anchor: Anchor) -> bool:
    """Whether an anchor says what a query is about; a plain key term does not."""
    return anchor.type != "KEY_TERM" or "endpoint" in (anchor.subtype or "")


def carried_anchors(state: ConversationState, factor: float) -> tuple[Anchor, ...]:
    """The topic anchors of the last turn, marked, span 0–0, confidence times `factor`; once each, in their order."""
    carried: dict[tuple[str, str], Anchor] = {}
    for anchor in state.anchors:
        if not is_topic(anchor):
            continue
        subtype = anchor.subtype or ""
        if not subtype.startswith(CARRIED):
            subtype = f"{CARRIED}:{subtype}" if subtype else CARRIED
        carried.setdefault(
            (anchor.type, anchor.value),
            Anchor(
                type=anchor.type,
                value=anchor.value,
                subtype=subtype,
                span=AnchorSpan(start=0, end=0),
                confidence=round(anchor.confidence * factor, 4),
            ),
        )
    return tuple(carried.values())
