"""Storage: protocols that the service works against, and their PostgreSQL implementation.

One unit of work is one transaction. Everything a use case changes, the outbox record included,
is committed together or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, LiteralString, Protocol, Self
from uuid import UUID

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from posterna.domain.locker import Cell, CellSize, CellState, Locker
from posterna.domain.parcel import Dimensions, Parcel, ParcelState
from posterna.domain.pickup_code import CodeStatus, PickupCode
from posterna.errors import IdempotencyKeyReused, LockerNotFound, ParcelNotFound, ParcelStateConflict
from posterna.events import Event, EventType, OutboxRecord

Row = dict[str, Any]


class ParcelRepository(Protocol):
    """Parcels by id and by what is due."""

    def get(self, parcel_id: UUID) -> Parcel:
        """Raises: ParcelNotFound."""
        ...

    def add(self, parcel: Parcel) -> None: ...

    def save(self, parcel: Parcel) -> None:
        """Raises: ParcelStateConflict when somebody else saved in between."""
        ...

    def overdue(self, now: datetime, limit: int) -> list[Parcel]:
        """STORED parcels whose storage has ended, locked; rows that another worker holds are skipped."""
        ...

    def lapsed_reservations(self, now: datetime, limit: int) -> list[Parcel]:
        """RESERVED parcels that the courier did not bring in time, locked in the same way."""
        ...


class LockerRepository(Protocol):
    """Lockers and their cells."""

    def get(self, locker_code: str) -> Locker:
        """Raises: LockerNotFound."""
        ...

    def in_service(self) -> list[Locker]:
        """All lockers that are not retired, by code."""
        ...

    def cells(self, locker_code: str, *, lock: bool = False) -> list[Cell]:
        """Cells by number; ``lock=True`` holds the rows until the end of the transaction."""
        ...

    def save_cell(self, cell: Cell) -> None: ...

    def touch(self, locker_code: str, at: datetime) -> None:
        """Record a heartbeat."""
        ...


class PickupCodeRepository(Protocol):
    """Pickup codes: digests alone."""

    def latest(self, parcel_id: UUID) -> PickupCode | None: ...

    def active(self, locker_code: str, phone_tail: str) -> list[PickupCode]:
        """ACTIVE codes of parcels STORED in the locker for phones that end in ``phone_tail``."""
        ...

    def save(self, code: PickupCode) -> None: ...


class IdempotencyRepository(Protocol):
    """Remembered answers of requests that must not run twice."""

    def find(self, key: str, fingerprint: str) -> UUID | None:
        """Parcel that the first request made. Raises: IdempotencyKeyReused for another body."""
        ...

    def remember(self, key: str, fingerprint: str, parcel_id: UUID) -> None: ...


class UnitOfWork(Protocol):
    """A transaction with its repositories; leaving the block without ``commit`` rolls back."""

    parcels: ParcelRepository
    lockers: LockerRepository
    codes: PickupCodeRepository
    idempotency: IdempotencyRepository

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def emit(self, event: Event) -> None:
        """Write the event into the outbox of this transaction."""
        ...

    def commit(self) -> None: ...


UnitOfWorkFactory = Callable[[], UnitOfWork]

_PARCEL_COLUMNS = """
    parcel_id, merchant_id, merchant_ref, locker_code, cell_no, height_mm, width_mm, depth_mm, weight_g,
    phone_tail, state, reserved_until, stored_at, storage_until, extensions, version
"""


def _parcel(row: Row) -> Parcel:
    sides = {name: row.pop(name) for name in ("height_mm", "width_mm", "depth_mm", "weight_g")}
    return Parcel(**{**row, "state": ParcelState(row["state"]), "dimensions": Dimensions(**sides)})


def _parcel_parameters(parcel: Parcel) -> Mapping[str, object]:
    return {
        "parcel_id": parcel.parcel_id,
        "merchant_id": parcel.merchant_id,
        "merchant_ref": parcel.merchant_ref,
        "locker_code": parcel.locker_code,
        "cell_no": parcel.cell_no,
        "height_mm": parcel.dimensions.height_mm,
        "width_mm": parcel.dimensions.width_mm,
        "depth_mm": parcel.dimensions.depth_mm,
        "weight_g": parcel.dimensions.weight_g,
        "phone_tail": parcel.phone_tail,
        "state": parcel.state.value,
        "reserved_until": parcel.reserved_until,
        "stored_at": parcel.stored_at,
        "storage_until": parcel.storage_until,
        "extensions": parcel.extensions,
        "version": parcel.version,
    }


class SqlParcelRepository:
    """Parcels in the table ``parcels``."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def get(self, parcel_id: UUID) -> Parcel:
        row = self._connection.execute(
            f"SELECT {_PARCEL_COLUMNS} FROM parcels WHERE parcel_id = %(parcel_id)s FOR UPDATE",
            {"parcel_id": parcel_id},
        ).fetchone()
        if row is None:
            raise ParcelNotFound("no such parcel", parcel_id=str(parcel_id))
        return _parcel(row)

    def add(self, parcel: Parcel) -> None:
        self._connection.execute(
            f"""
            INSERT INTO parcels ({_PARCEL_COLUMNS})
            VALUES (%(parcel_id)s, %(merchant_id)s, %(merchant_ref)s, %(locker_code)s, %(cell_no)s,
                    %(height_mm)s, %(width_mm)s, %(depth_mm)s, %(weight_g)s, %(phone_tail)s, %(state)s,
                    %(reserved_until)s, %(stored_at)s, %(storage_until)s, %(extensions)s, %(version)s)
            """,
            _parcel_parameters(parcel),
        )

    def save(self, parcel: Parcel) -> None:
        cursor = self._connection.execute(
            """
            UPDATE parcels
               SET state = %(state)s, stored_at = %(stored_at)s, storage_until = %(storage_until)s,
                   extensions = %(extensions)s, version = version + 1,
                   finished_at = CASE WHEN %(state)s IN ('COLLECTED', 'RETURNED', 'CANCELLED') THEN now() END
             WHERE parcel_id = %(parcel_id)s AND version = %(version)s
            """,
            _parcel_parameters(parcel),
        )
        if cursor.rowcount != 1:
            raise ParcelStateConflict("parcel was changed by another request", parcel_id=str(parcel.parcel_id))

    def overdue(self, now: datetime, limit: int) -> list[Parcel]:
        return self._due("state = 'STORED' AND storage_until <= %(now)s ORDER BY storage_until", now, limit)

    def lapsed_reservations(self, now: datetime, limit: int) -> list[Parcel]:
        return self._due("state = 'RESERVED' AND reserved_until <= %(now)s ORDER BY reserved_until", now, limit)

    def _due(self, condition: LiteralString, now: datetime, limit: int) -> list[Parcel]:
        rows = self._connection.execute(
            f"SELECT {_PARCEL_COLUMNS} FROM parcels WHERE {condition} LIMIT %(limit)s FOR UPDATE SKIP LOCKED",
            {"now": now, "limit": limit},
        )
        return [_parcel(row) for row in rows]


class SqlLockerRepository:
    """Tables ``lockers`` and ``cells``."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def get(self, locker_code: str) -> Locker:
        row = self._connection.execute(
            "SELECT locker_code, address, retired, last_heartbeat FROM lockers WHERE locker_code = %(code)s",
            {"code": locker_code},
        ).fetchone()
        if row is None:
            raise LockerNotFound("no such locker", locker_code=locker_code)
        return Locker(**row)

    def in_service(self) -> list[Locker]:
        rows = self._connection.execute(
            "SELECT locker_code, address, retired, last_heartbeat FROM lockers WHERE NOT retired ORDER BY locker_code"
        )
        return [Locker(**row) for row in rows]

    def cells(self, locker_code: str, *, lock: bool = False) -> list[Cell]:
        rows = self._connection.execute(
            "SELECT locker_code, cell_no, size, state, openings, block_reason FROM cells"
            " WHERE locker_code = %(code)s ORDER BY cell_no" + (" FOR UPDATE" if lock else ""),
            {"code": locker_code},
        )
        return [Cell(**{**row, "size": CellSize[row["size"]], "state": CellState(row["state"])}) for row in rows]

    def save_cell(self, cell: Cell) -> None:
        self._connection.execute(
            """
            UPDATE cells SET state = %(state)s, openings = %(openings)s, block_reason = %(reason)s
             WHERE locker_code = %(code)s AND cell_no = %(cell_no)s
            """,
            {
                "state": cell.state.value,
                "openings": cell.openings,
                "reason": cell.block_reason,
                "code": cell.locker_code,
                "cell_no": cell.cell_no,
            },
        )

    def touch(self, locker_code: str, at: datetime) -> None:
        self._connection.execute(
            """
            UPDATE lockers SET last_heartbeat = greatest(last_heartbeat, %(at)s) WHERE locker_code = %(code)s
            """,
            {"at": at, "code": locker_code},
        )


class SqlPickupCodeRepository:
    """Table ``pickup_codes``: one row for each issued code."""

    _COLUMNS = "c.parcel_id, c.digest, c.status, c.failed_attempts, c.locked_until, c.reissues"

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def latest(self, parcel_id: UUID) -> PickupCode | None:
        row = self._connection.execute(
            f"SELECT {self._COLUMNS} FROM pickup_codes c WHERE c.parcel_id = %(parcel_id)s"
            " ORDER BY c.reissues DESC LIMIT 1 FOR UPDATE",
            {"parcel_id": parcel_id},
        ).fetchone()
        return None if row is None else _code(row)

    def active(self, locker_code: str, phone_tail: str) -> list[PickupCode]:
        rows = self._connection.execute(
            f"""
            SELECT {self._COLUMNS}
              FROM pickup_codes c JOIN parcels p USING (parcel_id)
             WHERE p.locker_code = %(locker_code)s AND p.phone_tail = %(phone_tail)s
               AND p.state = 'STORED' AND c.status = 'ACTIVE'
             ORDER BY p.stored_at FOR UPDATE OF c
            """,
            {"locker_code": locker_code, "phone_tail": phone_tail},
        )
        return [_code(row) for row in rows]

    def save(self, code: PickupCode) -> None:
        self._connection.execute(
            """
            INSERT INTO pickup_codes (parcel_id, digest, status, failed_attempts, locked_until, reissues)
            VALUES (%(parcel_id)s, %(digest)s, %(status)s, %(failed_attempts)s, %(locked_until)s, %(reissues)s)
            ON CONFLICT (parcel_id, reissues) DO UPDATE
               SET status = excluded.status, failed_attempts = excluded.failed_attempts,
                   locked_until = excluded.locked_until, changed_at = now()
            """,
            {
                "parcel_id": code.parcel_id,
                "digest": code.digest,
                "status": code.status.value,
                "failed_attempts": code.failed_attempts,
                "locked_until": code.locked_until,
                "reissues": code.reissues,
            },
        )


def _code(row: Row) -> PickupCode:
    return PickupCode(**{**row, "status": CodeStatus(row["status"])})


class SqlIdempotencyRepository:
    """Table ``idempotency_keys``; the database's own scheduler deletes rows older than a day."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def find(self, key: str, fingerprint: str) -> UUID | None:
        row = self._connection.execute(
            "SELECT fingerprint, parcel_id FROM idempotency_keys WHERE key = %(key)s", {"key": key}
        ).fetchone()
        if row is None:
            return None
        if row["fingerprint"] != fingerprint:
            raise IdempotencyKeyReused("key was used with another body", key=key)
        return row["parcel_id"]

    def remember(self, key: str, fingerprint: str, parcel_id: UUID) -> None:
        self._connection.execute(
            "INSERT INTO idempotency_keys (key, fingerprint, parcel_id) VALUES (%(key)s, %(print)s, %(parcel_id)s)",
            {"key": key, "print": fingerprint, "parcel_id": parcel_id},
        )


class SqlUnitOfWork:
    """``UnitOfWork`` over one PostgreSQL connection."""

    parcels: ParcelRepository
    lockers: LockerRepository
    codes: PickupCodeRepository
    idempotency: IdempotencyRepository

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url

    def __enter__(self) -> Self:
        self._connection = psycopg.Connection[Row].connect(self._database_url, row_factory=dict_row)
        self.parcels = SqlParcelRepository(self._connection)
        self.lockers = SqlLockerRepository(self._connection)
        self.codes = SqlPickupCodeRepository(self._connection)
        self.idempotency = SqlIdempotencyRepository(self._connection)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.rollback()
        self._connection.close()

    def emit(self, event: Event) -> None:
        values = {
            "event_id": event.event_id,
            "event_type": event.event_type.value,
            "aggregate_id": event.aggregate_id,
            "occurred_at": event.occurred_at,
            "payload": Jsonb(dict(event.payload)),
            "body": json.dumps(
                {
                    "event_id": str(event.event_id),
                    "event_type": event.event_type.value,
                    "parcel_id": event.aggregate_id,
                    "occurred_at": event.occurred_at.isoformat(),
                    **event.payload,
                }
            ).encode(),
        }
        self._connection.execute(
            """
            INSERT INTO outbox (event_id, event_type, aggregate_id, occurred_at, payload, next_attempt_at)
            VALUES (%(event_id)s, %(event_type)s, %(aggregate_id)s, %(occurred_at)s, %(payload)s, %(occurred_at)s)
            """,
            values,
        )
        self._connection.execute(
            """
            INSERT INTO webhook_deliveries (delivery_id, webhook_id, event_type, body, next_attempt_at)
            SELECT gen_random_uuid(), w.webhook_id, %(event_type)s, %(body)s, %(occurred_at)s
              FROM webhooks w JOIN parcels p USING (merchant_id)
             WHERE p.parcel_id::text = %(aggregate_id)s AND w.status = 'ACTIVE' AND %(event_type)s = ANY(w.event_types)
            """,
            values,
        )

    def commit(self) -> None:
        self._connection.commit()


class SqlOutbox:
    """``Outbox`` over the table ``outbox``; a row is sent, buried, or waits for ``next_attempt_at``."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def due(self, now: datetime, limit: int) -> list[OutboxRecord]:
        rows = self._connection.execute(
            """
            SELECT o.event_id, o.event_type, o.aggregate_id, o.occurred_at, o.payload, o.attempts
              FROM outbox o
             WHERE o.sent_at IS NULL AND o.buried_at IS NULL AND o.next_attempt_at <= %(now)s
               AND NOT EXISTS (SELECT 1 FROM outbox older
                                WHERE older.aggregate_id = o.aggregate_id AND older.seq < o.seq
                                  AND older.sent_at IS NULL AND older.buried_at IS NULL)
             ORDER BY o.seq LIMIT %(limit)s FOR UPDATE OF o SKIP LOCKED
            """,
            {"now": now, "limit": limit},
        )
        return [
            OutboxRecord(
                event=Event(
                    event_type=EventType(row["event_type"]),
                    aggregate_id=row["aggregate_id"],
                    occurred_at=row["occurred_at"],
                    payload=row["payload"],
                    event_id=row["event_id"],
                ),
                attempts=row["attempts"],
            )
            for row in rows
        ]

    def mark_sent(self, event_id: UUID) -> None:
        self._connection.execute(
            "UPDATE outbox SET sent_at = now() WHERE event_id = %(event_id)s", {"event_id": event_id}
        )

    def reschedule(self, event_id: UUID, at: datetime) -> None:
        self._connection.execute(
            "UPDATE outbox SET attempts = attempts + 1, next_attempt_at = %(at)s WHERE event_id = %(event_id)s",
            {"event_id": event_id, "at": at},
        )

    def bury(self, event_id: UUID) -> None:
        self._connection.execute(
            "UPDATE outbox SET buried_at = now() WHERE event_id = %(event_id)s", {"event_id": event_id}
        )
