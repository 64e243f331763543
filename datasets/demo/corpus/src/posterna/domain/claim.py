"""Claims of partners about damaged or missing goods, and their life cycle.

Документация: docs/domains/merchant-desk/claim.md, docs/logic/claim-handling.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID

from posterna.domain.parcel import Parcel
from posterna.errors import ClaimAmountExceeded, ClaimStateConflict, ClaimTooLate, ParcelStateConflict

SECOND_APPROVER_FROM = 500_000
"""Kopecks from which a second employee has to agree."""


class ClaimKind(StrEnum):
    """What went wrong, in the partner's words."""

    DAMAGED = "DAMAGED"
    MISSING_CONTENT = "MISSING_CONTENT"
    NOT_RECEIVED = "NOT_RECEIVED"


class ClaimState(StrEnum):
    """Where the claim stands."""

    OPEN = "OPEN"
    REVIEW = "REVIEW"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    WITHDRAWN = "WITHDRAWN"
    PAID = "PAID"


CLAIM_TRANSITIONS: Mapping[ClaimState, frozenset[ClaimState]] = MappingProxyType(
    {
        ClaimState.OPEN: frozenset({ClaimState.REVIEW, ClaimState.WITHDRAWN}),
        ClaimState.REVIEW: frozenset({ClaimState.APPROVED, ClaimState.REJECTED, ClaimState.WITHDRAWN}),
        ClaimState.APPROVED: frozenset({ClaimState.PAID}),
        ClaimState.REJECTED: frozenset(),
        ClaimState.WITHDRAWN: frozenset(),
        ClaimState.PAID: frozenset(),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRules:
    """Limits of claims, from the settings."""

    window: timedelta
    decision_term: timedelta
    max_kopecks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One demand for compensation about one parcel."""

    claim_id: UUID
    parcel_id: UUID
    merchant_id: str
    kind: ClaimKind
    amount_kopecks: int
    decide_by: datetime
    state: ClaimState = ClaimState.OPEN
    approved_kopecks: int = 0
    approvers: tuple[str, ...] = ()
    comment: str = ""

    def move_to(self, target: ClaimState) -> Claim:
        """Raises: ClaimStateConflict when ``CLAIM_TRANSITIONS`` has no such step."""
        if target not in CLAIM_TRANSITIONS[self.state]:
            raise ClaimStateConflict(f"claim is {self.state}", current=self.state.value, requested=target.value)
        return replace(self, state=target)

    def approve(self, amount_kopecks: int, approver: str, comment: str) -> Claim:
        """One employee's consent; the claim becomes APPROVED when there are enough of them.

        From ``SECOND_APPROVER_FROM`` on, the first consent leaves the claim in REVIEW.

        Raises:
            ClaimAmountExceeded: more than the partner asked for.
            ClaimStateConflict: not in REVIEW, or the same employee consents twice.
        """
        if self.state is not ClaimState.REVIEW or approver in self.approvers:
            raise ClaimStateConflict("this consent is not possible", current=self.state.value)
        if amount_kopecks > self.amount_kopecks:
            raise ClaimAmountExceeded("more than was claimed", limit=self.amount_kopecks)
        approvers = (*self.approvers, approver)
        agreed = replace(self, approved_kopecks=amount_kopecks, approvers=approvers, comment=comment)
        needed = 2 if amount_kopecks >= SECOND_APPROVER_FROM else 1
        return agreed.move_to(ClaimState.APPROVED) if len(approvers) >= needed else agreed

    def reject(self, comment: str) -> Claim:
        """Отказать; причина обязательна и видна партнёру."""
        if not comment.strip():
            raise ValueError("a rejection needs a reason")
        return replace(self.move_to(ClaimState.REJECTED), comment=comment)


def open_claim(
    claim_id: UUID, parcel: Parcel, kind: ClaimKind, amount_kopecks: int, now: datetime, rules: ClaimRules
) -> Claim:
    """Новая претензия о посылке, которая побывала в ячейке.

    The window counts from the deposit, because video of the locker is kept for two weeks only.

    Raises:
        ParcelStateConflict: the parcel never reached a cell.
        ClaimTooLate: the window is over.
        ClaimAmountExceeded: more than the ceiling of compensation.
    """
    if parcel.stored_at is None:
        raise ParcelStateConflict("parcel never reached a cell", current=parcel.state.value)
    if now - parcel.stored_at > rules.window:
        raise ClaimTooLate("the window for claims is over", stored_at=parcel.stored_at.isoformat())
    if amount_kopecks > rules.max_kopecks:
        raise ClaimAmountExceeded("more than the ceiling", limit=rules.max_kopecks)
    return Claim(
        claim_id=claim_id,
        parcel_id=parcel.parcel_id,
        merchant_id=parcel.merchant_id,
        kind=kind,
        amount_kopecks=amount_kopecks,
        decide_by=now + rules.decision_term,
    )
