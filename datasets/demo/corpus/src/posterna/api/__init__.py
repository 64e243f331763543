"""HTTP API. This module holds what the routers share: the service, the partner, the idempotency key."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Request

from posterna.errors import IdempotencyKeyRequired
from posterna.service import ParcelService


def get_service(request: Request) -> ParcelService:
    """The service that ``create_app`` built."""
    service: ParcelService = request.app.state.service
    return service


def idempotency_key(key: Annotated[str | None, Header(alias="Idempotency-Key", max_length=64)] = None) -> str:
    """Value of ``Idempotency-Key``.

    Raises:
        IdempotencyKeyRequired: the header is missing or empty.
    """
    if not key:
        raise IdempotencyKeyRequired("header Idempotency-Key is required")
    return key


ServiceDependency = Annotated[ParcelService, Depends(get_service)]
MerchantId = Annotated[str, Header(alias="X-Merchant-Id", description="Set by the gateway from the access token")]
IdempotencyKey = Annotated[str, Depends(idempotency_key)]
