"""Scheduled task ``deliver_webhooks``: sends waiting events to partners.

Runs every ten seconds on each node; due rows are read with ``SKIP LOCKED``.
Документация: docs/logic/webhook-delivery.md.
"""

from __future__ import annotations

import logging
from datetime import datetime

import httpx

from posterna.domain.webhook import Delivery, Verdict, Webhook, judge, next_attempt
from posterna.persistence_backoffice import WebhookRepository
from posterna.settings import Settings

logger = logging.getLogger(__name__)

SIGNATURE_HEADER = "X-Posterna-Signature"


def run(webhooks: WebhookRepository, http: httpx.Client, settings: Settings, now: datetime) -> int:
    """One batch; how many deliveries the partners accepted. ``http`` must not follow redirects."""
    delivered = 0
    for delivery in webhooks.due(now, settings.webhook_batch_size):
        webhook = webhooks.find(delivery.webhook_id)
        if webhook is None:
            webhooks.finish(delivery.delivery_id, delivered=False)
            continue
        delivered += _settle(webhooks, webhook, delivery, _send(http, webhook, delivery, settings, now), now)
    return delivered


def _send(http: httpx.Client, webhook: Webhook, delivery: Delivery, settings: Settings, now: datetime) -> Verdict:
    headers = {
        "Content-Type": "application/json",
        "X-Posterna-Event": delivery.event_type,
        "X-Posterna-Delivery": str(delivery.delivery_id),
        SIGNATURE_HEADER: webhook.signature(delivery.body, now),
    }
    try:
        answer = http.post(
            webhook.url, content=delivery.body, headers=headers, timeout=settings.webhook_timeout_seconds
        )
    except httpx.TransportError:
        return judge(None)
    return judge(answer.status_code)


def _settle(webhooks: WebhookRepository, webhook: Webhook, delivery: Delivery, verdict: Verdict, now: datetime) -> int:
    """Write down what the answer means; 1 for an accepted delivery."""
    if verdict is Verdict.DELIVERED:
        webhooks.finish(delivery.delivery_id, delivered=True)
        if webhook.failures_in_a_row:
            webhooks.save(webhook.after_success())
        return 1
    if verdict is Verdict.GONE:
        webhooks.finish(delivery.delivery_id, delivered=False)
        webhooks.save(webhook.disable())
        logger.warning("webhook %s answered 410 and was disabled", webhook.webhook_id)
        return 0
    again = next_attempt(delivery.attempts + 1, now)
    if again is not None:
        webhooks.reschedule(delivery.delivery_id, again)
        return 0
    webhooks.finish(delivery.delivery_id, delivered=False)
    webhooks.save(webhook.after_giving_up())
    logger.error("delivery %s to webhook %s was given up", delivery.delivery_id, webhook.webhook_id)
    return 0
