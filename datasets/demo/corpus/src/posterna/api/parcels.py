"""Router of parcels: ``/v1/parcels``. Описание для партнёров: docs/api/parcels-api.md."""

from __future__ import annotations

import hashlib
from datetime import datetime
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, ConfigDict, Field

from posterna.api import IdempotencyKey, MerchantId, ServiceDependency
from posterna.domain.parcel import Dimensions, Parcel, ParcelState
from posterna.errors import ParcelNotFound
from posterna.service import NewParcel

router = APIRouter(prefix="/v1/parcels", tags=["parcels"])


class ParcelRequest(BaseModel):
    """Тело запроса на регистрацию посылки."""

    model_config = ConfigDict(extra="forbid")

    merchant_ref: str = Field(min_length=1, max_length=40)
    locker_code: str = Field(pattern=r"^PL-\d{4}$")
    height_mm: int = Field(gt=0)
    width_mm: int = Field(gt=0)
    depth_mm: int = Field(gt=0)
    weight_g: int = Field(gt=0)
    recipient_phone: str = Field(pattern=r"^\+7\d{10}$")


class ParcelResponse(BaseModel):
    """Посылка, как её видит партнёр."""

    parcel_id: UUID
    merchant_ref: str
    locker_code: str
    cell_no: int
    state: ParcelState
    reserved_until: datetime
    storage_until: datetime | None
    extensions: int

    @classmethod
    def of(cls, parcel: Parcel) -> ParcelResponse:
        """Public fields of the domain object."""
        return cls(
            parcel_id=parcel.parcel_id,
            merchant_ref=parcel.merchant_ref,
            locker_code=parcel.locker_code,
            cell_no=parcel.cell_no,
            state=parcel.state,
            reserved_until=parcel.reserved_until,
            storage_until=parcel.storage_until,
            extensions=parcel.extensions,
        )


@router.post("", status_code=status.HTTP_201_CREATED)
def register_parcel(
    body: ParcelRequest, key: IdempotencyKey, service: ServiceDependency, merchant_id: MerchantId
) -> ParcelResponse:
    """Зарегистрировать посылку и зарезервировать ячейку."""
    new = NewParcel(
        merchant_id=merchant_id,
        merchant_ref=body.merchant_ref,
        locker_code=body.locker_code,
        dimensions=Dimensions(
            height_mm=body.height_mm, width_mm=body.width_mm, depth_mm=body.depth_mm, weight_g=body.weight_g
        ),
        recipient_phone=body.recipient_phone,
    )
    fingerprint = hashlib.sha256(body.model_dump_json().encode()).hexdigest()
    return ParcelResponse.of(service.register(new, f"{merchant_id}:{key}", fingerprint))


@router.get("/{parcel_id}")
def get_parcel(parcel_id: UUID, service: ServiceDependency, merchant_id: MerchantId) -> ParcelResponse:
    """Состояние посылки; чужая посылка неотличима от несуществующей."""
    parcel = service.get(parcel_id)
    if parcel.merchant_id != merchant_id:
        raise ParcelNotFound("no such parcel", parcel_id=str(parcel_id))
    return ParcelResponse.of(parcel)


@router.post("/{parcel_id}/deposit")
def deposit_parcel(parcel_id: UUID, service: ServiceDependency) -> ParcelResponse:
    """Курьер кладёт посылку: открыть дверь, начать хранение, отправить код получателю."""
    return ParcelResponse.of(service.deposit(parcel_id))


@router.post("/{parcel_id}/extend")
def extend_storage(parcel_id: UUID, key: IdempotencyKey, service: ServiceDependency) -> ParcelResponse:
    """Продлить хранение на сутки за плату."""
    return ParcelResponse.of(service.extend(parcel_id, key))


@router.post("/{parcel_id}/cancel")
def cancel_parcel(parcel_id: UUID, service: ServiceDependency, merchant_id: MerchantId) -> ParcelResponse:
    """Отменить посылку, которую ещё не положили в ячейку."""
    if service.get(parcel_id).merchant_id != merchant_id:
        raise ParcelNotFound("no such parcel", parcel_id=str(parcel_id))
    return ParcelResponse.of(service.cancel(parcel_id))


@router.post("/{parcel_id}/return")
def return_parcel(parcel_id: UUID, service: ServiceDependency) -> ParcelResponse:
    """Курьер забирает просроченную посылку."""
    return ParcelResponse.of(service.take_back(parcel_id))


@router.post("/{parcel_id}/pickup-code", status_code=status.HTTP_202_ACCEPTED)
def reissue_pickup_code(parcel_id: UUID, service: ServiceDependency) -> None:
    """Выпустить новый код выдачи; прежний перестаёт действовать."""
    service.reissue_code(parcel_id)
