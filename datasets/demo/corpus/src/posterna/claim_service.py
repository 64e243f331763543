"""Use cases of claims: open, withdraw, review, decide. Документация: docs/logic/claim-handling.md."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID, uuid4

from posterna.domain.claim import Claim, ClaimKind, ClaimRules, ClaimState, open_claim
from posterna.errors import ClaimAlreadyOpen, ClaimNotFound, ParcelNotFound
from posterna.persistence_backoffice import ClaimRepository
from posterna.service import ParcelService
from posterna.settings import Settings


class ClaimService:
    """Everything that happens to a claim except its payment, which the monthly invoice makes."""

    def __init__(
        self, claims: ClaimRepository, parcels: ParcelService, settings: Settings, clock: Callable[[], datetime]
    ) -> None:
        self._claims = claims
        self._parcels = parcels
        self._clock = clock
        self._rules = ClaimRules(
            window=settings.claim_window,
            decision_term=settings.claim_decision_term,
            max_kopecks=settings.claim_max_kopecks,
        )

    def open(self, merchant_id: str, parcel_id: UUID, kind: ClaimKind, amount_kopecks: int) -> Claim:
        """A new claim about one of the partner's own parcels.

        Raises: ParcelNotFound, ParcelStateConflict, ClaimTooLate, ClaimAmountExceeded, ClaimAlreadyOpen.
        """
        parcel = self._parcels.get(parcel_id)
        if parcel.merchant_id != merchant_id:
            raise ParcelNotFound("no such parcel", parcel_id=str(parcel_id))
        if self._claims.unfinished(parcel_id) is not None:
            raise ClaimAlreadyOpen("this parcel has an unfinished claim", parcel_id=str(parcel_id))
        claim = open_claim(uuid4(), parcel, kind, amount_kopecks, self._clock(), self._rules)
        self._claims.save(claim)
        return claim

    def get(self, claim_id: UUID, merchant_id: str | None = None) -> Claim:
        """The claim; with ``merchant_id`` someone else's claim is not found. Raises: ClaimNotFound."""
        claim = self._claims.find(claim_id)
        if claim is None or merchant_id not in (None, claim.merchant_id):
            raise ClaimNotFound("no such claim", claim_id=str(claim_id))
        return claim

    def withdraw(self, claim_id: UUID, merchant_id: str) -> Claim:
        """Партнёр отзывает претензию, пока решения нет."""
        return self._save(self.get(claim_id, merchant_id).move_to(ClaimState.WITHDRAWN))

    def take_into_review(self, claim_id: UUID) -> Claim:
        """Сотрудник поддержки начинает разбор."""
        return self._save(self.get(claim_id).move_to(ClaimState.REVIEW))

    def approve(self, claim_id: UUID, amount_kopecks: int, approver: str, comment: str) -> Claim:
        """One consent. Raises: ClaimStateConflict, ClaimAmountExceeded."""
        return self._save(self.get(claim_id).approve(amount_kopecks, approver, comment))

    def reject(self, claim_id: UUID, comment: str) -> Claim:
        """Raises: ClaimStateConflict."""
        return self._save(self.get(claim_id).reject(comment))

    def _save(self, claim: Claim) -> Claim:
        self._claims.save(claim)
        return claim
