"""Scheduled task ``close_billing_period``: invoices of the month that has just ended.

Runs on the first day of a month at 03:00 Moscow time, on one node; a second run adds nothing.
Документация: docs/logic/monthly-billing.md.
"""

from __future__ import annotations

import logging
from datetime import date, timedelta

from posterna.domain.claim import ClaimState
from posterna.domain.merchant import MerchantStatus
from posterna.domain.parcel import ParcelState
from posterna.domain.tariff import make_invoice
from posterna.persistence_backoffice import BillingRepository, ClaimRepository, MerchantRepository

logger = logging.getLogger(__name__)


def previous_month(today: date) -> tuple[date, date]:
    """First day of the month before ``today``, and the first day after it."""
    after = today.replace(day=1)
    return (after - timedelta(days=1)).replace(day=1), after


def run(merchants: MerchantRepository, billing: BillingRepository, claims: ClaimRepository, today: date) -> int:
    """Close the previous month for every partner; how many invoices were made.

    Подтверждённые претензии зачитываются в счёт и становятся PAID; после этого партнёру назначается тариф
    следующего месяца.
    """
    first, after = previous_month(today)
    made = 0
    for merchant in merchants.all():
        if merchant.status is MerchantStatus.CLOSED or billing.has_invoice(merchant.merchant_id, first):
            continue
        parcels = billing.billable(merchant.merchant_id, first, after)
        approved = claims.approved(merchant.merchant_id, after)
        invoice = make_invoice(parcels, merchant.plan, sum(claim.approved_kopecks for claim in approved))
        billing.add_invoice(merchant.merchant_id, first, invoice)
        for claim in approved:
            claims.save(claim.move_to(ClaimState.PAID))
        stored = sum(p.state in (ParcelState.COLLECTED, ParcelState.RETURNED) for p in parcels)
        merchants.save_plan(merchant.with_plan_for(stored))
        made += 1
    logger.info("close_billing_period: %s, invoices=%d", first.isoformat(), made)
    return made
