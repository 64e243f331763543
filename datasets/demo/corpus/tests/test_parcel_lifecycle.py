"""Life cycle of a parcel and the choice of its cell: pure rules, no database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from posterna.domain.locker import (
    AllocationRules,
    Cell,
    CellSize,
    CellState,
    Locker,
    LockerStatus,
    choose_cell,
)
from posterna.domain.parcel import TRANSITIONS, Dimensions, Parcel, ParcelState
from posterna.errors import (
    CellOccupied,
    ExtensionLimitReached,
    LockerUnavailable,
    NoFreeCell,
    ParcelStateConflict,
    ParcelTooLarge,
)

NOW = datetime(2024, 3, 4, 12, 0, tzinfo=UTC)
SMALL = Dimensions(height_mm=80, width_mm=200, depth_mm=300, weight_g=900)
RULES = AllocationRules(buffer_cells=1, max_upsize_steps=2, max_weight_g=20_000)


@pytest.fixture
def reserved() -> Parcel:
    return Parcel(
        parcel_id=UUID(int=1),
        merchant_id="knizhny-dvor",
        merchant_ref="KD-1001",
        locker_code="PL-0417",
        cell_no=7,
        dimensions=SMALL,
        phone_tail="1234",
        state=ParcelState.RESERVED,
        reserved_until=NOW + timedelta(hours=12),
    )


def cell(number: int, size: CellSize, state: CellState = CellState.FREE, openings: int = 0) -> Cell:
    return Cell(locker_code="PL-0417", cell_no=number, size=size, state=state, openings=openings)


def test_deposit_starts_free_storage(reserved: Parcel) -> None:
    stored = reserved.deposit(NOW, timedelta(hours=72))
    assert stored.state is ParcelState.STORED
    assert stored.storage_until == NOW + timedelta(hours=72)


@pytest.mark.parametrize("state", [ParcelState.COLLECTED, ParcelState.RETURNED, ParcelState.CANCELLED])
def test_final_states_have_no_way_out(reserved: Parcel, state: ParcelState) -> None:
    assert state.is_final
    for target in ParcelState:
        with pytest.raises(ParcelStateConflict):
            replace(reserved, state=state).move_to(target)


def test_every_state_has_a_row_of_transitions() -> None:
    assert set(TRANSITIONS) == set(ParcelState)


def test_extension_counts_from_the_old_end(reserved: Parcel) -> None:
    stored = reserved.deposit(NOW, timedelta(hours=72))
    extended = stored.extend(timedelta(hours=24), max_extensions=2)
    assert extended.storage_until == NOW + timedelta(hours=96)
    assert extended.extensions == 1


def test_third_extension_is_refused(reserved: Parcel) -> None:
    stored = replace(reserved.deposit(NOW, timedelta(hours=72)), extensions=2)
    with pytest.raises(ExtensionLimitReached):
        stored.extend(timedelta(hours=24), max_extensions=2)


def test_smallest_then_least_worn_cell_wins() -> None:
    cells = [
        cell(1, CellSize.L),
        cell(2, CellSize.S, openings=40),
        cell(3, CellSize.S, openings=5),
        cell(4, CellSize.S, CellState.OCCUPIED),
    ]
    assert choose_cell(cells, SMALL, LockerStatus.ONLINE, RULES).cell_no == 3


def test_buffer_cell_is_not_given_away() -> None:
    with pytest.raises(NoFreeCell):
        choose_cell([cell(1, CellSize.S)], SMALL, LockerStatus.ONLINE, RULES)


def test_small_parcel_never_takes_an_xl_cell() -> None:
    with pytest.raises(NoFreeCell):
        choose_cell([cell(1, CellSize.XL), cell(2, CellSize.XL)], SMALL, LockerStatus.ONLINE, RULES)


def test_too_heavy_parcel_is_refused() -> None:
    heavy = replace(SMALL, weight_g=20_001)
    with pytest.raises(ParcelTooLarge):
        choose_cell([cell(1, CellSize.S), cell(2, CellSize.S)], heavy, LockerStatus.ONLINE, RULES)


def test_offline_locker_takes_nothing() -> None:
    with pytest.raises(LockerUnavailable):
        choose_cell([cell(1, CellSize.S), cell(2, CellSize.S)], SMALL, LockerStatus.OFFLINE, RULES)


def test_reserved_cell_cannot_be_blocked() -> None:
    with pytest.raises(CellOccupied):
        cell(1, CellSize.S, CellState.RESERVED).block("замок заедает")


def test_silence_makes_a_locker_offline() -> None:
    locker = Locker(locker_code="PL-0417", address="Заречная, 4", last_heartbeat=NOW - timedelta(seconds=181))
    assert locker.status([cell(1, CellSize.S)], NOW, timedelta(seconds=180)) is LockerStatus.OFFLINE
