"""Partners: who may register parcels, and on which terms.

Документация: docs/domains/merchant-desk/merchant.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from posterna.errors import MerchantSuspended

VOLUME_THRESHOLD = 3000
"""Parcels stored in one month from which the next month is billed by the plan VOLUME."""


class MerchantStatus(StrEnum):
    """Whether the contract with the partner is in force."""

    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    CLOSED = "CLOSED"


class TariffPlan(StrEnum):
    """Which discount applies to storage fees."""

    BASE = "BASE"
    VOLUME = "VOLUME"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merchant:
    """One contract; a shop with two legal bodies is two merchants."""

    merchant_id: str
    title: str
    contract_no: str
    billing_email: str
    status: MerchantStatus = MerchantStatus.ACTIVE
    plan: TariffPlan = TariffPlan.BASE

    def ensure_active(self) -> None:
        """Raises: MerchantSuspended for a suspended or closed contract."""
        if self.status is not MerchantStatus.ACTIVE:
            raise MerchantSuspended(f"merchant is {self.status}", status=self.status.value)

    def with_plan_for(self, stored_last_month: int) -> Merchant:
        """Тариф следующего месяца: он зависит только от числа посылок в закрытом месяце."""
        plan = TariffPlan.VOLUME if stored_last_month >= VOLUME_THRESHOLD else TariffPlan.BASE
        return replace(self, plan=plan)
