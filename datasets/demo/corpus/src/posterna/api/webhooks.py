"""Router of webhook subscriptions: ``/v1/webhooks``. Описание: docs/api/webhooks-api.md."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Request, status
from pydantic import BaseModel, ConfigDict, Field

from posterna.api import MerchantId
from posterna.domain.webhook import Webhook, WebhookStatus
from posterna.webhook_service import WebhookService

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

EventName = Literal[
    "parcel.reserved",
    "parcel.stored",
    "parcel.extended",
    "parcel.collected",
    "parcel.expired",
    "parcel.returned",
    "parcel.cancelled",
]
"""What partners may subscribe to: events of parcels, never of codes or cells."""


def get_webhook_service(request: Request) -> WebhookService:
    """The service that ``create_app`` was given."""
    service: WebhookService = request.app.state.webhooks
    return service


Webhooks = Annotated[WebhookService, Depends(get_webhook_service)]


class WebhookRequest(BaseModel):
    """Куда и какие события присылать."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(pattern=r"^https://", max_length=500)
    event_types: list[EventName] = Field(min_length=1)


class WebhookResponse(BaseModel):
    """A subscription without its secret."""

    webhook_id: UUID
    url: str
    event_types: list[str]
    status: WebhookStatus
    failures_in_a_row: int

    @classmethod
    def of(cls, webhook: Webhook) -> WebhookResponse:
        """Public fields of the domain object."""
        return cls(
            webhook_id=webhook.webhook_id,
            url=webhook.url,
            event_types=sorted(webhook.event_types),
            status=webhook.status,
            failures_in_a_row=webhook.failures_in_a_row,
        )


class SecretResponse(BaseModel):
    """The secret, shown in this answer and never again."""

    webhook_id: UUID
    secret: str


@router.post("", status_code=status.HTTP_201_CREATED)
def create_webhook(body: WebhookRequest, webhooks: Webhooks, merchant_id: MerchantId) -> SecretResponse:
    """Создать подписку и получить её секрет."""
    made = webhooks.create(merchant_id, body.url, frozenset(body.event_types))
    return SecretResponse(webhook_id=made.webhook_id, secret=made.secret)


@router.get("")
def list_webhooks(webhooks: Webhooks, merchant_id: MerchantId) -> list[WebhookResponse]:
    """Все подписки партнёра."""
    return [WebhookResponse.of(webhook) for webhook in webhooks.subscriptions(merchant_id)]


@router.post("/{webhook_id}/disable")
def disable_webhook(webhook_id: UUID, webhooks: Webhooks, merchant_id: MerchantId) -> WebhookResponse:
    """Остановить доставку."""
    return WebhookResponse.of(webhooks.disable(merchant_id, webhook_id))


@router.post("/{webhook_id}/enable")
def enable_webhook(webhook_id: UUID, webhooks: Webhooks, merchant_id: MerchantId) -> WebhookResponse:
    """Возобновить доставку; события за время паузы не досылаются."""
    return WebhookResponse.of(webhooks.enable(merchant_id, webhook_id))


@router.post("/{webhook_id}/rotate-secret")
def rotate_secret(webhook_id: UUID, webhooks: Webhooks, merchant_id: MerchantId) -> SecretResponse:
    """Сменить секрет; прежний подписывает ещё сутки."""
    rotated = webhooks.rotate_secret(merchant_id, webhook_id)
    return SecretResponse(webhook_id=rotated.webhook_id, secret=rotated.secret)
