"""Use cases of the service: each public method is one transaction and, where it matters, one door.

HTTP, command line and scheduled tasks all call these methods; none of them touches a repository.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol
from uuid import UUID, uuid4

from posterna.domain.locker import AllocationRules, Cell, CellState, LockerStatus, choose_cell
from posterna.domain.parcel import Dimensions, Parcel, ParcelState
from posterna.domain.pickup_code import CodeRules, PickupCode, issue
from posterna.errors import (
    CellNotFound,
    DoorNotOpened,
    ParcelStateConflict,
    PaymentDeclined,
    PickupCodeInvalid,
)
from posterna.events import Event, EventType
from posterna.persistence import UnitOfWork, UnitOfWorkFactory
from posterna.settings import Settings

Clock = Callable[[], datetime]


class DoorController(Protocol):
    """Gateway to the lockers' controllers («Засов»)."""

    def open_door(self, locker_code: str, cell_no: int, timeout_seconds: int) -> bool:
        """True when the sensor saw the door open within the time."""
        ...


class PaymentGateway(Protocol):
    """Charges for paid storage («Монетница»)."""

    def charge(self, parcel_id: UUID, amount_kopecks: int, key: str) -> bool:
        """False when the charge was refused; the same key never charges twice."""
        ...


class Notifier(Protocol):
    """Messages to recipients («Голубь»): the only system that knows full phone numbers."""

    def register_contact(self, parcel_id: UUID, phone: str) -> None: ...

    def send_code(self, parcel_id: UUID, code: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NewParcel:
    """What a partner sends to register a parcel."""

    merchant_id: str
    merchant_ref: str
    locker_code: str
    dimensions: Dimensions
    recipient_phone: str


class ParcelService:
    """Everything that happens to a parcel between registration and its final state."""

    def __init__(
        self,
        unit_of_work: UnitOfWorkFactory,
        doors: DoorController,
        payments: PaymentGateway,
        notifier: Notifier,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._unit_of_work = unit_of_work
        self._doors = doors
        self._payments = payments
        self._notifier = notifier
        self._settings = settings
        self._clock = clock
        self._code_rules = CodeRules(
            length=settings.pickup_code_length,
            max_attempts=settings.pickup_code_max_attempts,
            lock=settings.code_lock,
            max_reissues=settings.max_reissues,
            pepper=settings.pickup_code_pepper,
        )
        self._allocation_rules = AllocationRules(
            buffer_cells=settings.buffer_cells,
            max_upsize_steps=settings.max_upsize_steps,
            max_weight_g=settings.max_weight_g,
        )

    def register(self, new: NewParcel, key: str, fingerprint: str) -> Parcel:
        """Reserve a cell and create the parcel in state RESERVED.

        A repeated request with the same key gets the parcel that the first one made.

        Raises: LockerNotFound, LockerUnavailable, ParcelTooLarge, NoFreeCell, IdempotencyKeyReused.
        """
        now = self._clock()
        with self._unit_of_work() as work:
            known = work.idempotency.find(key, fingerprint)
            if known is not None:
                return work.parcels.get(known)
            locker = work.lockers.get(new.locker_code)
            cells = work.lockers.cells(new.locker_code, lock=True)
            status = locker.status(cells, now, self._settings.heartbeat_timeout)
            cell = choose_cell(cells, new.dimensions, status, self._allocation_rules)
            parcel = Parcel(
                parcel_id=uuid4(),
                merchant_id=new.merchant_id,
                merchant_ref=new.merchant_ref,
                locker_code=new.locker_code,
                cell_no=cell.cell_no,
                dimensions=new.dimensions,
                phone_tail=new.recipient_phone[-4:],
                state=ParcelState.RESERVED,
                reserved_until=now + self._settings.reservation_ttl,
            )
            work.lockers.save_cell(replace(cell, state=CellState.RESERVED))
            work.parcels.add(parcel)
            work.idempotency.remember(key, fingerprint, parcel.parcel_id)
            self._emit(work, EventType.PARCEL_RESERVED, parcel, now, cell_no=cell.cell_no)
            self._notifier.register_contact(parcel.parcel_id, new.recipient_phone)
            work.commit()
        return parcel

    def get(self, parcel_id: UUID) -> Parcel:
        """Raises: ParcelNotFound."""
        with self._unit_of_work() as work:
            return work.parcels.get(parcel_id)

    def deposit(self, parcel_id: UUID) -> Parcel:
        """Курьер у постамата: открыть зарезервированную ячейку и начать срок хранения.

        The door comes first: when it does not open, nothing is saved.
        """
        now = self._clock()
        with self._unit_of_work() as work:
            parcel = work.parcels.get(parcel_id).deposit(now, self._settings.free_storage)
            cell = self._cell(work, parcel.locker_code, parcel.cell_no)
            self._open(cell)
            work.parcels.save(parcel)
            work.lockers.save_cell(replace(cell, state=CellState.OCCUPIED, openings=cell.openings + 1))
            code, stored = issue(parcel_id, self._code_rules)
            work.codes.save(stored)
            self._emit(work, EventType.PARCEL_STORED, parcel, now, storage_until=_iso(parcel.storage_until))
            work.commit()
        self._notifier.send_code(parcel_id, code)
        return parcel

    def extend(self, parcel_id: UUID, key: str) -> Parcel:
        """Charge for one more day of storage and move its end.

        The state is checked before the charge, so that nobody pays for an extension that cannot be given.
        """
        now = self._clock()
        with self._unit_of_work() as work:
            parcel = work.parcels.get(parcel_id)
            if parcel.is_overdue(now):
                raise ParcelStateConflict("storage has already ended", current=parcel.state.value)
            extended = parcel.extend(self._settings.extension, self._settings.max_extensions)
            if not self._payments.charge(parcel_id, self._settings.extension_price_kopecks, key):
                raise PaymentDeclined("payment was refused")
            work.parcels.save(extended)
            self._emit(work, EventType.PARCEL_EXTENDED, extended, now, storage_until=_iso(extended.storage_until))
            work.commit()
        return extended

    def cancel(self, parcel_id: UUID) -> Parcel:
        """The partner takes the order back before the courier came: the cell becomes free."""
        with self._unit_of_work() as work:
            cancelled = self._release(work, work.parcels.get(parcel_id), ParcelState.CANCELLED, "merchant")
            work.commit()
        return cancelled

    def take_back(self, parcel_id: UUID) -> Parcel:
        """Курьер забирает просроченную посылку: EXPIRED → RETURNED, ячейка свободна."""
        with self._unit_of_work() as work:
            parcel = work.parcels.get(parcel_id)
            returned = parcel.move_to(ParcelState.RETURNED)
            cell = self._cell(work, parcel.locker_code, parcel.cell_no)
            self._open(cell)
            work.parcels.save(returned)
            work.lockers.save_cell(replace(cell, state=CellState.FREE, openings=cell.openings + 1))
            self._emit(work, EventType.PARCEL_RETURNED, returned, self._clock())
            work.commit()
        return returned

    def reissue_code(self, parcel_id: UUID) -> None:
        """Revoke the current code and send a new one. Raises: ReissueLimitReached, ParcelStateConflict."""
        with self._unit_of_work() as work:
            parcel = work.parcels.get(parcel_id)
            if parcel.state is not ParcelState.STORED:
                raise ParcelStateConflict("no code without a stored parcel", current=parcel.state.value)
            previous = work.codes.latest(parcel_id)
            code, stored = issue(parcel_id, self._code_rules, previous)
            if previous is not None:
                work.codes.save(previous.revoke())
            work.codes.save(stored)
            work.commit()
        self._notifier.send_code(parcel_id, code)

    def collect(self, locker_code: str, phone_tail: str, candidate: str) -> Parcel:
        """Выдача: проверить код, открыть дверь, завершить хранение.

        A wrong code counts against every active code behind the same phone tail, and the count is committed
        before the error leaves: otherwise a rollback would give the attempts back.
        """
        now = self._clock()
        with self._unit_of_work() as work:
            codes = work.codes.active(locker_code, phone_tail)
            open_codes = [code for code in codes if not code.is_locked(now)]
            if codes and not open_codes:
                codes[0].ensure_unlocked(now)
            match = next((c for c in open_codes if c.matches(candidate, self._code_rules.pepper)), None)
            if match is None:
                self._count_failures(work, locker_code, open_codes, now)
                work.commit()
                raise PickupCodeInvalid("phone tail or code is wrong")
            parcel = work.parcels.get(match.parcel_id)
            if parcel.is_overdue(now):
                raise ParcelStateConflict("storage has ended", current=parcel.state.value)
            collected = parcel.move_to(ParcelState.COLLECTED)
            cell = self._cell(work, parcel.locker_code, parcel.cell_no)
            self._open(cell)
            work.parcels.save(collected)
            work.codes.save(match.use())
            work.lockers.save_cell(replace(cell, state=CellState.FREE, openings=cell.openings + 1))
            self._emit(work, EventType.PARCEL_COLLECTED, collected, now)
            work.commit()
        return collected

    def expire_overdue(self, limit: int) -> int:
        """STORED → EXPIRED for up to ``limit`` parcels; their codes are revoked, the cells stay occupied."""
        now = self._clock()
        with self._unit_of_work() as work:
            overdue = work.parcels.overdue(now, limit)
            for parcel in overdue:
                expired = parcel.move_to(ParcelState.EXPIRED)
                work.parcels.save(expired)
                code = work.codes.latest(parcel.parcel_id)
                if code is not None:
                    work.codes.save(code.revoke())
                self._emit(work, EventType.PARCEL_EXPIRED, expired, now)
            work.commit()
        return len(overdue)

    def release_reservations(self, limit: int) -> int:
        """RESERVED → CANCELLED for up to ``limit`` parcels that the courier never brought."""
        with self._unit_of_work() as work:
            lapsed = work.parcels.lapsed_reservations(self._clock(), limit)
            for parcel in lapsed:
                self._release(work, parcel, ParcelState.CANCELLED, "reservation_ttl")
            work.commit()
        return len(lapsed)

    def locker_overview(self, locker_code: str) -> tuple[LockerStatus, list[Cell]]:
        """Status of the locker as of now and its cells by number."""
        with self._unit_of_work() as work:
            locker = work.lockers.get(locker_code)
            cells = work.lockers.cells(locker_code)
            return locker.status(cells, self._clock(), self._settings.heartbeat_timeout), cells

    def set_blocked(self, locker_code: str, cell_no: int, reason: str | None) -> Cell:
        """Block the cell for ``reason``, or unblock it when ``reason`` is None."""
        with self._unit_of_work() as work:
            before = self._cell(work, locker_code, cell_no)
            after = before.unblock() if reason is None else before.block(reason)
            if after != before:
                work.lockers.save_cell(after)
                kind = EventType.CELL_UNBLOCKED if reason is None else EventType.CELL_BLOCKED
                key = f"{locker_code}/{cell_no}"
                work.emit(
                    Event(event_type=kind, aggregate_id=key, occurred_at=self._clock(), payload={"reason": reason})
                )
            work.commit()
        return after

    def heartbeat(self, locker_code: str, at: datetime) -> None:
        """Consumer of ``locker.heartbeat``: an old message never moves the time back."""
        with self._unit_of_work() as work:
            work.lockers.touch(locker_code, at)
            work.commit()

    def _cell(self, work: UnitOfWork, locker_code: str, cell_no: int) -> Cell:
        work.lockers.get(locker_code)
        for cell in work.lockers.cells(locker_code, lock=True):
            if cell.cell_no == cell_no:
                return cell
        raise CellNotFound("no such cell", locker_code=locker_code, cell_no=cell_no)

    def _open(self, cell: Cell) -> None:
        if not self._doors.open_door(cell.locker_code, cell.cell_no, self._settings.door_timeout_seconds):
            raise DoorNotOpened("door was not confirmed open", cell_no=cell.cell_no)

    def _release(self, work: UnitOfWork, parcel: Parcel, target: ParcelState, reason: str) -> Parcel:
        moved = parcel.move_to(target)
        cell = self._cell(work, parcel.locker_code, parcel.cell_no)
        work.parcels.save(moved)
        work.lockers.save_cell(replace(cell, state=CellState.FREE))
        self._emit(work, EventType.PARCEL_CANCELLED, moved, self._clock(), reason=reason)
        return moved

    def _count_failures(self, work: UnitOfWork, locker_code: str, codes: list[PickupCode], now: datetime) -> None:
        for code in codes:
            failed = code.register_failure(now, self._code_rules)
            work.codes.save(failed)
            if failed.is_locked(now):
                work.emit(
                    Event(
                        event_type=EventType.PICKUP_CODE_LOCKED,
                        aggregate_id=str(code.parcel_id),
                        occurred_at=now,
                        payload={"locker_code": locker_code, "locked_until": _iso(failed.locked_until)},
                    )
                )

    @staticmethod
    def _emit(work: UnitOfWork, kind: EventType, parcel: Parcel, now: datetime, **extra: object) -> None:
        payload = {"state": parcel.state.value, "locker_code": parcel.locker_code, **extra}
        work.emit(Event(event_type=kind, aggregate_id=str(parcel.parcel_id), occurred_at=now, payload=payload))


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
