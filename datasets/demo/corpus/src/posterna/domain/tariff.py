"""What a partner pays: fees by size, discount, minimum. The rates of 2024.

Документация: docs/policies/partner-tariffs-2024.md, docs/logic/monthly-billing.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from posterna.domain.locker import CellSize
from posterna.domain.merchant import TariffPlan
from posterna.domain.parcel import Dimensions, ParcelState

STORAGE_FEES: Mapping[CellSize, int] = MappingProxyType(
    {CellSize.S: 3900, CellSize.M: 4900, CellSize.L: 6900, CellSize.XL: 9900}
)
"""Kopecks for one stored parcel, by the size that the parcel needs."""

RETURN_FEE = 2500
ABANDONED_FEE = 1000
"""For a reservation that nobody used until it lapsed."""
VOLUME_DISCOUNT_PERCENT = 12
MINIMUM_INVOICE = 150_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BillableParcel:
    """A parcel that reached a final state in the closed month."""

    dimensions: Dimensions
    state: ParcelState
    abandoned: bool = False
    """CANCELLED because the reservation lapsed, not because the partner asked for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """Sums of one partner for one month, in kopecks."""

    storage: int
    discount: int
    returns: int
    abandoned: int
    claims: int
    """Approved compensations, set off against the fees."""
    top_up: int
    """What is added to reach ``MINIMUM_INVOICE``; zero for a month without any parcel."""

    @property
    def total(self) -> int:
        """What the partner pays; negative when the compensations are larger than the fees."""
        return self.storage - self.discount + self.returns + self.abandoned + self.top_up - self.claims


def needed_size(dimensions: Dimensions) -> CellSize:
    """The smallest size that fits: a partner never pays for a larger cell that happened to be free."""
    return next(size for size in CellSize if size.fits(dimensions))


def make_invoice(parcels: Sequence[BillableParcel], plan: TariffPlan, claims: int = 0) -> Invoice:
    """Счёт за месяц. Скидка действует только на плату за хранение и округляется в пользу партнёра."""
    stored = [p for p in parcels if p.state in (ParcelState.COLLECTED, ParcelState.RETURNED)]
    storage = sum(STORAGE_FEES[needed_size(parcel.dimensions)] for parcel in stored)
    discount = -(-storage * VOLUME_DISCOUNT_PERCENT // 100) if plan is TariffPlan.VOLUME else 0
    returns = RETURN_FEE * sum(parcel.state is ParcelState.RETURNED for parcel in parcels)
    abandoned = ABANDONED_FEE * sum(parcel.abandoned for parcel in parcels)
    fees = storage - discount + returns + abandoned
    top_up = max(0, MINIMUM_INVOICE - fees) if parcels else 0
    return Invoice(
        storage=storage, discount=discount, returns=returns, abandoned=abandoned, claims=claims, top_up=top_up
    )
