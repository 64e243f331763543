"""Router of claims: ``/v1/claims``. Описание: docs/api/claims-api.md."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Request, status
from pydantic import BaseModel, ConfigDict, Field, model_validator

from posterna.api import MerchantId
from posterna.claim_service import ClaimService
from posterna.domain.claim import Claim, ClaimKind, ClaimState

router = APIRouter(prefix="/v1/claims", tags=["claims"])


def get_claim_service(request: Request) -> ClaimService:
    """The service that ``create_app`` was given."""
    service: ClaimService = request.app.state.claims
    return service


Claims = Annotated[ClaimService, Depends(get_claim_service)]
EmployeeId = Annotated[str, Header(alias="X-Employee-Id", description="Set by the gateway for support")]


class ClaimRequest(BaseModel):
    """Что и на какую сумму требует партнёр."""

    model_config = ConfigDict(extra="forbid")

    parcel_id: UUID
    kind: ClaimKind
    amount_kopecks: int = Field(gt=0)


class DecisionRequest(BaseModel):
    """An employee's consent or refusal."""

    model_config = ConfigDict(extra="forbid")

    approved: bool
    amount_kopecks: int = Field(default=0, ge=0)
    comment: str = Field(min_length=3, max_length=500)

    @model_validator(mode="after")
    def _sum_with_consent(self) -> DecisionRequest:
        if self.approved and not self.amount_kopecks:
            raise ValueError("a consent needs amount_kopecks")
        return self


class ClaimResponse(BaseModel):
    """The claim as partner and support see it; names of employees stay inside."""

    claim_id: UUID
    parcel_id: UUID
    kind: ClaimKind
    state: ClaimState
    amount_kopecks: int
    approved_kopecks: int
    decide_by: datetime
    comment: str

    @classmethod
    def of(cls, claim: Claim) -> ClaimResponse:
        """Public fields of the domain object."""
        return cls(
            claim_id=claim.claim_id,
            parcel_id=claim.parcel_id,
            kind=claim.kind,
            state=claim.state,
            amount_kopecks=claim.amount_kopecks,
            approved_kopecks=claim.approved_kopecks,
            decide_by=claim.decide_by,
            comment=claim.comment,
        )


@router.post("", status_code=status.HTTP_201_CREATED)
def create_claim(body: ClaimRequest, claims: Claims, merchant_id: MerchantId) -> ClaimResponse:
    """Подать претензию. Повтор отсекает правило «одна незавершённая претензия на посылку»."""
    return ClaimResponse.of(claims.open(merchant_id, body.parcel_id, body.kind, body.amount_kopecks))


@router.get("/{claim_id}")
def get_claim(claim_id: UUID, claims: Claims, merchant_id: MerchantId) -> ClaimResponse:
    """State of the partner's own claim."""
    return ClaimResponse.of(claims.get(claim_id, merchant_id))


@router.post("/{claim_id}/withdraw")
def withdraw_claim(claim_id: UUID, claims: Claims, merchant_id: MerchantId) -> ClaimResponse:
    """Отозвать претензию до решения."""
    return ClaimResponse.of(claims.withdraw(claim_id, merchant_id))


@router.post("/{claim_id}/review")
def review_claim(claim_id: UUID, claims: Claims, employee_id: EmployeeId) -> ClaimResponse:
    """Взять претензию в разбор."""
    return ClaimResponse.of(claims.take_into_review(claim_id))


@router.post("/{claim_id}/decision")
def decide_claim(claim_id: UUID, body: DecisionRequest, claims: Claims, employee_id: EmployeeId) -> ClaimResponse:
    """Согласие или отказ одного сотрудника; крупную сумму подтверждают двое."""
    if body.approved:
        return ClaimResponse.of(claims.approve(claim_id, body.amount_kopecks, employee_id, body.comment))
    return ClaimResponse.of(claims.reject(claim_id, body.comment))
