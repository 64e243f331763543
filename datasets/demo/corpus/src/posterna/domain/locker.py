"""Lockers, cells and the choice of a cell for a parcel.

Документация: docs/domains/lockers/locker-and-cell.md, docs/logic/cell-allocation.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, StrEnum

from posterna.domain.parcel import Dimensions
from posterna.errors import CellOccupied, LockerUnavailable, NoFreeCell, ParcelTooLarge

DEGRADED_SHARE = 0.2
"""Share of blocked cells above which a locker counts as DEGRADED."""


class CellSize(Enum):
    """Inner size of a cell in millimetres: height × width × depth. Members go from small to large."""

    S = (100, 400, 600)
    M = (200, 400, 600)
    L = (400, 400, 600)
    XL = (600, 400, 600)

    def fits(self, dimensions: Dimensions) -> bool:
        """True when the parcel goes in, turned as it may be."""
        return all(side <= room for side, room in zip(dimensions.sorted_sides(), sorted(self.value), strict=True))

    @property
    def order(self) -> int:
        """0 for S, 3 for XL."""
        return list(CellSize).index(self)


class CellState(StrEnum):
    """What a cell is doing."""

    FREE = "FREE"
    RESERVED = "RESERVED"
    OCCUPIED = "OCCUPIED"
    BLOCKED = "BLOCKED"


class LockerStatus(StrEnum):
    """Whether a locker can be used."""

    ONLINE = "ONLINE"
    DEGRADED = "DEGRADED"
    OFFLINE = "OFFLINE"
    RETIRED = "RETIRED"

    @property
    def accepts_parcels(self) -> bool:
        """New reservations are made in such lockers only."""
        return self in (LockerStatus.ONLINE, LockerStatus.DEGRADED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One door of a locker."""

    locker_code: str
    cell_no: int
    size: CellSize
    state: CellState
    openings: int = 0
    """How often the door was opened since the lock was replaced: a measure of wear."""
    block_reason: str | None = None

    def block(self, reason: str) -> Cell:
        """Вывести ячейку из работы.

        Raises:
            CellOccupied: в ячейке лежит посылка или она ждёт курьера.
        """
        if self.state in (CellState.OCCUPIED, CellState.RESERVED):
            raise CellOccupied(f"cell {self.cell_no} is {self.state}", cell_no=self.cell_no)
        return replace(self, state=CellState.BLOCKED, block_reason=reason)

    def unblock(self) -> Cell:
        """Return the cell to work; harmless when it was not blocked."""
        if self.state is not CellState.BLOCKED:
            return self
        return replace(self, state=CellState.FREE, block_reason=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Locker:
    """A parcel locker: a cabinet with cells and one controller."""

    locker_code: str
    address: str
    retired: bool = False
    last_heartbeat: datetime | None = None

    def status(self, cells: Sequence[Cell], now: datetime, timeout: timedelta) -> LockerStatus:
        """Status worked out from facts; it is never stored, so it cannot be stale."""
        if self.retired:
            return LockerStatus.RETIRED
        if self.last_heartbeat is None or now - self.last_heartbeat > timeout:
            return LockerStatus.OFFLINE
        blocked = sum(cell.state is CellState.BLOCKED for cell in cells)
        if cells and blocked / len(cells) > DEGRADED_SHARE:
            return LockerStatus.DEGRADED
        return LockerStatus.ONLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationRules:
    """Limits of the allocation, from the settings."""

    buffer_cells: int
    max_upsize_steps: int
    max_weight_g: int


def choose_cell(cells: Sequence[Cell], dimensions: Dimensions, status: LockerStatus, rules: AllocationRules) -> Cell:
    """The cell to reserve: the smallest that fits, then the least worn, then the lowest number.

    Raises:
        LockerUnavailable: the locker takes no new parcels now.
        ParcelTooLarge: no cell size fits, or the parcel is too heavy.
        NoFreeCell: nothing suitable is free, or only the buffer is left.
    """
    if not status.accepts_parcels:
        raise LockerUnavailable(f"locker is {status}", status=status.value)
    fitting = [size for size in CellSize if size.fits(dimensions)]
    if not fitting or dimensions.weight_g > rules.max_weight_g:
        raise ParcelTooLarge("parcel does not fit any cell", max_weight_g=rules.max_weight_g)
    smallest = fitting[0].order
    free = [cell for cell in cells if cell.state is CellState.FREE]
    suitable = [cell for cell in free if smallest <= cell.size.order <= smallest + rules.max_upsize_steps]
    if not suitable or len(free) <= rules.buffer_cells:
        raise NoFreeCell("no suitable cell is free", needed_size=fitting[0].name)
    return min(suitable, key=lambda cell: (cell.size.order, cell.openings, cell.cell_no))
