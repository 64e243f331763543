"""Webhooks: signature, rotation of the secret, retries, automatic switch-off."""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest

from posterna.domain.webhook import Delivery, Verdict, Webhook, WebhookStatus, judge, next_attempt
from posterna.jobs import deliver_webhooks
from posterna.settings import Settings

NOW = datetime(2024, 3, 4, 12, 0, tzinfo=UTC)
BODY = b'{"event_type": "parcel.stored"}'


def subscription(**changes: object) -> Webhook:
    values: dict[str, object] = {
        "webhook_id": UUID(int=3),
        "merchant_id": "knizhny-dvor",
        "url": "https://shop.example/hooks",
        "event_types": frozenset({"parcel.stored"}),
        "secret": "new",
        **changes,
    }
    return Webhook(**values)  # type: ignore[arg-type]


class FakeWebhooks:
    """One subscription with one waiting delivery."""

    def __init__(self, webhook: Webhook, attempts: int = 0) -> None:
        self.webhook = webhook
        self.delivery = Delivery(
            delivery_id=UUID(int=4),
            webhook_id=webhook.webhook_id,
            event_type="parcel.stored",
            body=BODY,
            attempts=attempts,
        )
        self.finished: bool | None = None
        self.again: datetime | None = None

    def find(self, webhook_id: UUID) -> Webhook | None:
        return self.webhook

    def of_merchant(self, merchant_id: str) -> list[Webhook]:
        return [self.webhook]

    def save(self, webhook: Webhook) -> None:
        self.webhook = webhook

    def due(self, now: datetime, limit: int) -> list[Delivery]:
        return [self.delivery]

    def finish(self, delivery_id: UUID, *, delivered: bool) -> None:
        self.finished = delivered

    def reschedule(self, delivery_id: UUID, at: datetime) -> None:
        self.again = at


def deliver(storage: FakeWebhooks, status: int) -> int:
    client = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(status)))
    return deliver_webhooks.run(storage, client, Settings(), NOW)


def test_signature_covers_moment_and_body() -> None:
    moment = int(NOW.timestamp())
    expected = hmac.new(b"new", f"{moment}.".encode() + BODY, hashlib.sha256).hexdigest()
    assert subscription().signature(BODY, NOW) == f"t={moment},v1={expected}"


def test_both_secrets_sign_for_a_day_after_rotation() -> None:
    rotated = subscription(secret="old").rotate("new", NOW)
    assert rotated.signature(BODY, NOW + timedelta(hours=23)).count("v1=") == 2
    assert rotated.signature(BODY, NOW + timedelta(hours=24)).count("v1=") == 1


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, Verdict.DELIVERED),
        (204, Verdict.DELIVERED),
        (302, Verdict.RETRY),
        (410, Verdict.GONE),
        (None, Verdict.RETRY),
    ],
)
def test_meaning_of_an_answer(status: int | None, verdict: Verdict) -> None:
    assert judge(status) is verdict


def test_seventh_attempt_is_the_last() -> None:
    assert next_attempt(6, NOW) == NOW + timedelta(hours=24)
    assert next_attempt(7, NOW) is None


def test_failure_is_tried_again_after_a_minute() -> None:
    storage = FakeWebhooks(subscription())
    assert deliver(storage, 500) == 0
    assert storage.again == NOW + timedelta(minutes=1)


def test_success_forgives_earlier_failures() -> None:
    storage = FakeWebhooks(subscription(failures_in_a_row=19))
    assert deliver(storage, 200) == 1
    assert storage.webhook.failures_in_a_row == 0


def test_twentieth_given_up_delivery_disables_the_subscription() -> None:
    storage = FakeWebhooks(subscription(failures_in_a_row=19), attempts=6)
    deliver(storage, 500)
    assert storage.finished is False
    assert storage.webhook.status is WebhookStatus.DISABLED


def test_gone_disables_at_once() -> None:
    storage = FakeWebhooks(subscription())
    deliver(storage, 410)
    assert storage.webhook.status is WebhookStatus.DISABLED
