"""Webhook subscriptions of partners: signature, retries, automatic switch-off.

Документация: docs/logic/webhook-delivery.md.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

MAX_SUBSCRIPTIONS = 5
"""Subscriptions of one partner, disabled ones included."""

MAX_FAILURES_IN_A_ROW = 20
"""Given-up deliveries after which a subscription is disabled."""

SECRET_OVERLAP = timedelta(hours=24)
"""How long the previous secret still signs after a rotation."""

DELIVERY_DELAYS = (60, 300, 1800, 7200, 21_600, 86_400)
"""Seconds before each retry; after the last one the delivery is given up."""


class WebhookStatus(StrEnum):
    """Whether deliveries are made."""

    ACTIVE = "ACTIVE"
    DISABLED = "DISABLED"


class Verdict(StrEnum):
    """What a partner's answer means for the delivery."""

    DELIVERED = "DELIVERED"
    RETRY = "RETRY"
    GONE = "GONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where one partner wants to get which events."""

    webhook_id: UUID
    merchant_id: str
    url: str
    event_types: frozenset[str]
    secret: str
    previous_secret: str | None = None
    previous_secret_until: datetime | None = None
    status: WebhookStatus = WebhookStatus.ACTIVE
    failures_in_a_row: int = 0

    def rotate(self, secret: str, now: datetime) -> Webhook:
        """Новый секрет; прежний подписывает ещё сутки, чтобы партнёр успел переключиться."""
        return replace(self, secret=secret, previous_secret=self.secret, previous_secret_until=now + SECRET_OVERLAP)

    def signature(self, body: bytes, now: datetime) -> str:
        """Value of ``X-Posterna-Signature``: the moment and one ``v1`` for each secret in force."""
        moment = int(now.timestamp())
        secrets = [self.secret]
        if self.previous_secret and self.previous_secret_until and now < self.previous_secret_until:
            secrets.append(self.previous_secret)
        signed = f"{moment}.".encode() + body
        digests = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in secrets]
        return ",".join([f"t={moment}", *(f"v1={digest}" for digest in digests)])

    def after_success(self) -> Webhook:
        """One accepted delivery forgives all earlier failures."""
        return replace(self, failures_in_a_row=0)

    def after_giving_up(self) -> Webhook:
        """One more delivery was given up; too many in a row switch the subscription off."""
        failures = self.failures_in_a_row + 1
        status = WebhookStatus.DISABLED if failures >= MAX_FAILURES_IN_A_ROW else self.status
        return replace(self, failures_in_a_row=failures, status=status)

    def disable(self) -> Webhook:
        """Stop deliveries; waiting ones are given up."""
        return replace(self, status=WebhookStatus.DISABLED)

    def enable(self) -> Webhook:
        """Start again with a clean count; events of the pause are not sent afterwards."""
        return replace(self, status=WebhookStatus.ACTIVE, failures_in_a_row=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event on its way to one subscription."""

    delivery_id: UUID
    webhook_id: UUID
    event_type: str
    body: bytes
    attempts: int = 0


def judge(http_status: int | None) -> Verdict:
    """Meaning of the partner's status; ``None`` stands for a lost connection or no answer in time.

    A redirect counts as a failure: a signed body is never sent to an address that nobody registered.
    """
    if http_status is not None and 200 <= http_status < 300:
        return Verdict.DELIVERED
    return Verdict.GONE if http_status == 410 else Verdict.RETRY


def next_attempt(attempts: int, now: datetime) -> datetime | None:
    """When to try again after the attempt number ``attempts``; None: give the delivery up."""
    if attempts > len(DELIVERY_DELAYS):
        return None
    return now + timedelta(seconds=DELIVERY_DELAYS[attempts - 1])
