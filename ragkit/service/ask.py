"""One question and how it is to be answered."""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.routing.contract import ConversationState, Intent


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question and how it is to be answered."""

    query: str
    session: str
    policy: str = "spec"
    """Name, or path of a file."""
    state: ConversationState | None = None
    limit: int | None = None
    """Replaces the limit of each plan."""
    intent: Intent | None = None
    """Forces the intent; the Trace says so."""
    explain: bool = False
    """The Trace gets SQL, filters with their rows, EXPLAIN and what would bring other profiles."""
    expected: tuple[str, ...] = ()
    """Public ids of documents that ought to be found; the Trace gets a verdict on each. What would bring it in takes
    searches of its own: see `RagService.why`."""
