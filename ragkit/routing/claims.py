"""Which characters of a query already belong to an anchor: the first finder to take them keeps them."""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.routing.contract import AnchorType


@dataclass(frozen=True, slots=True)
class Found:
    """An anchor before it becomes part of the contract: what, which kind, where, how sure."""

    type: AnchorType
    subtype: str
    start: int
    end: int
    confidence: float


class Claims:
    """A map of the text, one byte a character."""

    def __init__(self, length: int) -> None:
        """Everything free."""
        self._taken = bytearray(length)

    def is_free(self, start: int, end: int) -> bool:
        """Whether nobody has any of `text[start:end]`."""
        return self._taken.find(1, start, end) < 0

    def take(self, start: int, end: int) -> bool:
        """Claim `text[start:end]`; False, and no claim, where part of it is taken."""
        if end <= start or not self.is_free(start, end):
            return False
        self._taken[start:end] = b"\x01" * (end - start)
        return True
