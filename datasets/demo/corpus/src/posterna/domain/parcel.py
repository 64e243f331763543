"""Parcel and its life cycle.

The table ``TRANSITIONS`` is the only place that knows which state may follow which; the API,
the scheduled task and the tests all go through ``Parcel.move_to``.
Документация: docs/logic/parcel-lifecycle.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID

from posterna.errors import ExtensionLimitReached, ParcelStateConflict


class ParcelState(StrEnum):
    """State of a parcel as the API shows it."""

    RESERVED = "RESERVED"
    STORED = "STORED"
    COLLECTED = "COLLECTED"
    EXPIRED = "EXPIRED"
    RETURNED = "RETURNED"
    CANCELLED = "CANCELLED"

    @property
    def is_final(self) -> bool:
        """True when no transition leads out of the state."""
        return not TRANSITIONS[self]


TRANSITIONS: Mapping[ParcelState, frozenset[ParcelState]] = MappingProxyType(
    {
        ParcelState.RESERVED: frozenset({ParcelState.STORED, ParcelState.CANCELLED}),
        ParcelState.STORED: frozenset({ParcelState.COLLECTED, ParcelState.EXPIRED}),
        ParcelState.EXPIRED: frozenset({ParcelState.RETURNED}),
        ParcelState.COLLECTED: frozenset(),
        ParcelState.RETURNED: frozenset(),
        ParcelState.CANCELLED: frozenset(),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimensions:
    """Outer size in millimetres and weight in grams."""

    height_mm: int
    width_mm: int
    depth_mm: int
    weight_g: int

    def sorted_sides(self) -> tuple[int, int, int]:
        """The three sides, shortest first: a parcel may be turned."""
        short, middle, long = sorted((self.height_mm, self.width_mm, self.depth_mm))
        return short, middle, long


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One shipment on its way through one locker. Immutable: every change gives a new value."""

    parcel_id: UUID
    merchant_id: str
    merchant_ref: str
    """The partner's own order number; unique together with ``merchant_id``."""
    locker_code: str
    cell_no: int
    dimensions: Dimensions
    phone_tail: str
    """Last four digits of the recipient's phone; the full number is kept by the notification service."""
    state: ParcelState
    reserved_until: datetime
    stored_at: datetime | None = None
    storage_until: datetime | None = None
    extensions: int = 0
    version: int = 0
    """Optimistic lock: grows by one with every saved change."""

    def move_to(self, target: ParcelState) -> Parcel:
        """The parcel in state ``target``.

        Raises:
            ParcelStateConflict: ``TRANSITIONS`` has no such step.
        """
        if target not in TRANSITIONS[self.state]:
            raise ParcelStateConflict(
                f"parcel is {self.state}, cannot become {target}",
                current=self.state.value,
                requested=target.value,
            )
        return replace(self, state=target)

    def deposit(self, now: datetime, free_storage: timedelta) -> Parcel:
        """Курьер положил посылку: с этого момента идёт срок бесплатного хранения."""
        stored = self.move_to(ParcelState.STORED)
        return replace(stored, stored_at=now, storage_until=now + free_storage)

    def extend(self, step: timedelta, max_extensions: int) -> Parcel:
        """The parcel with a later end of storage.

        The new term is counted from the old one, not from now: paying early loses nothing.

        Raises:
            ParcelStateConflict: the parcel is not in the cell.
            ExtensionLimitReached: all extensions are used.
        """
        if self.state is not ParcelState.STORED or self.storage_until is None:
            raise ParcelStateConflict(f"parcel is {self.state}, nothing to extend", current=self.state.value)
        if self.extensions >= max_extensions:
            raise ExtensionLimitReached("storage was extended the maximum number of times", limit=max_extensions)
        return replace(self, storage_until=self.storage_until + step, extensions=self.extensions + 1)

    def is_overdue(self, now: datetime) -> bool:
        """True when storage has ended and the parcel still lies in the cell."""
        return self.state is ParcelState.STORED and self.storage_until is not None and self.storage_until <= now

    def reservation_lapsed(self, now: datetime) -> bool:
        """True when the courier did not come in time."""
        return self.state is ParcelState.RESERVED and self.reserved_until <= now
