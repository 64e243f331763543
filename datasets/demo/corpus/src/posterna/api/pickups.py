"""Router of pickups: ``/v1/pickups``, called by the screen of a locker. Описание: docs/api/pickups-api.md."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from posterna.api import ServiceDependency

router = APIRouter(prefix="/v1/pickups", tags=["pickups"])


class PickupRequest(BaseModel):
    """What the recipient typed on the screen."""

    model_config = ConfigDict(extra="forbid")

    locker_code: str = Field(pattern=r"^PL-\d{4}$")
    phone_tail: str = Field(pattern=r"^\d{4}$")
    code: str = Field(pattern=r"^\d{6}$")


class PickupResponse(BaseModel):
    """Which door is open now."""

    parcel_id: UUID
    cell_no: int


@router.post("")
def pick_up(body: PickupRequest, service: ServiceDependency) -> PickupResponse:
    """Проверить код выдачи и открыть ячейку.

    The request carries no idempotency key: a code works once, and a repeated call after success
    answers PICKUP_CODE_INVALID. The terminal shows the open cell from the first answer.
    """
    parcel = service.collect(body.locker_code, body.phone_tail, body.code)
    return PickupResponse(parcel_id=parcel.parcel_id, cell_no=parcel.cell_no)
