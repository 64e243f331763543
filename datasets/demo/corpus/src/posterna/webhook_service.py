"""Use cases of webhook subscriptions. Документация: docs/api/webhooks-api.md."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from uuid import UUID, uuid4

from posterna.domain.webhook import MAX_SUBSCRIPTIONS, Webhook
from posterna.errors import WebhookLimitReached, WebhookNotFound
from posterna.persistence_backoffice import MerchantRepository, WebhookRepository


def new_secret() -> str:
    """32 random bytes as hex, shown to the partner once."""
    return secrets.token_hex(32)


class WebhookService:
    """Create, list, switch and re-key the subscriptions of one partner."""

    def __init__(
        self, webhooks: WebhookRepository, merchants: MerchantRepository, clock: Callable[[], datetime]
    ) -> None:
        self._webhooks = webhooks
        self._merchants = merchants
        self._clock = clock

    def create(self, merchant_id: str, url: str, event_types: frozenset[str]) -> Webhook:
        """Raises: MerchantSuspended, WebhookLimitReached."""
        self._merchants.get(merchant_id).ensure_active()
        if len(self._webhooks.of_merchant(merchant_id)) >= MAX_SUBSCRIPTIONS:
            raise WebhookLimitReached("too many subscriptions", limit=MAX_SUBSCRIPTIONS)
        webhook = Webhook(
            webhook_id=uuid4(), merchant_id=merchant_id, url=url, event_types=event_types, secret=new_secret()
        )
        self._webhooks.save(webhook)
        return webhook

    def subscriptions(self, merchant_id: str) -> list[Webhook]:
        """All subscriptions of the partner, disabled ones included."""
        return self._webhooks.of_merchant(merchant_id)

    def disable(self, merchant_id: str, webhook_id: UUID) -> Webhook:
        """Остановить доставку."""
        return self._save(self._own(merchant_id, webhook_id).disable())

    def enable(self, merchant_id: str, webhook_id: UUID) -> Webhook:
        """Возобновить доставку. Raises: MerchantSuspended."""
        self._merchants.get(merchant_id).ensure_active()
        return self._save(self._own(merchant_id, webhook_id).enable())

    def rotate_secret(self, merchant_id: str, webhook_id: UUID) -> Webhook:
        """A new secret; the previous one still signs for 24 hours."""
        return self._save(self._own(merchant_id, webhook_id).rotate(new_secret(), self._clock()))

    def _own(self, merchant_id: str, webhook_id: UUID) -> Webhook:
        webhook = self._webhooks.find(webhook_id)
        if webhook is None or webhook.merchant_id != merchant_id:
            raise WebhookNotFound("no such webhook", webhook_id=str(webhook_id))
        return webhook

    def _save(self, webhook: Webhook) -> Webhook:
        self._webhooks.save(webhook)
        return webhook
