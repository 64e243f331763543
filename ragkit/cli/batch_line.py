"""What a line of a batch may say beside its question; it goes before the command's own options.

Wrong types are refused, not passed over: a limit of "5" that does nothing looks like an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast, get_args

from ragkit.cli.batch import reject
from ragkit.policy.plan import check_limit
from ragkit.routing.contract import ConversationState, Intent
from ragkit.routing.conversation import conversation_state_from_json

Line = Mapping[str, object]


def query_of(line: Line) -> str:
    """The question.

    Raises: InvalidInput `batch_field`, as the others.
    """
    found = line.get("query")
    if not isinstance(found, str):
        reject("query", found, "string")
    return found


def state_of(line: Line) -> ConversationState | None:
    """The conversation so far; InvalidInput `state_field` where it has another form."""
    return conversation_state_from_json(line.get("state"))


def intent_of(line: Line, otherwise: Intent | None) -> Intent | None:
    """The intent that the line forces, else that of the command."""
    found, known = line.get("intent"), get_args(Intent)
    if found is None:
        return otherwise
    if found not in known:
        reject("intent", found, *known)
    return cast("Intent", found)


def limit_of(line: Line, otherwise: int | None) -> int | None:
    """The line's limit; WrongUse `limit_invalid` for one out of bounds."""
    found = line.get("limit")
    if found is None:
        return otherwise
    if not isinstance(found, int) or isinstance(found, bool):
        reject("limit", found, "whole number")
    check_limit(found)
    return found


def policy_of(line: Line, otherwise: str) -> str:
    """The line's policy, by name or path."""
    found = line.get("policy")
    if found is None:
        return otherwise
    if not isinstance(found, str):
        reject("policy", found, "string")
    return found
