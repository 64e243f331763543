"""Domain events and the outbox relay.

An event is written into the table ``outbox`` in the transaction that changed the state, and is sent
to the broker afterwards by ``relay_once``. Delivery is at least once; consumers deduplicate by ``event_id``.
Документация: docs/architecture/event-delivery.md.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol
from uuid import UUID, uuid4

logger = logging.getLogger(__name__)

RETRY_DELAYS = (1, 5, 30, 120, 600, 1800, 3600)
"""Seconds before the next attempt; the last value repeats."""


class EventType(StrEnum):
    """Names on the wire; also the routing key in the broker."""

    PARCEL_RESERVED = "parcel.reserved"
    PARCEL_STORED = "parcel.stored"
    PARCEL_EXTENDED = "parcel.extended"
    PARCEL_COLLECTED = "parcel.collected"
    PARCEL_EXPIRED = "parcel.expired"
    PARCEL_RETURNED = "parcel.returned"
    PARCEL_CANCELLED = "parcel.cancelled"
    PICKUP_CODE_LOCKED = "pickup_code.locked"
    CELL_BLOCKED = "cell.blocked"
    CELL_UNBLOCKED = "cell.unblocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One fact about one aggregate. The payload carries no personal data but the phone tail."""

    event_type: EventType
    aggregate_id: str
    """Parcel id, or ``locker_code/cell_no`` for cells: the key of ordering."""
    occurred_at: datetime
    payload: Mapping[str, object] = field(default_factory=dict)
    event_id: UUID = field(default_factory=uuid4)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRecord:
    """An event that waits to be sent."""

    event: Event
    attempts: int = 0


class Outbox(Protocol):
    """The table ``outbox`` as the relay sees it."""

    def due(self, now: datetime, limit: int) -> list[OutboxRecord]:
        """Records whose time has come, oldest first, locked with SKIP LOCKED; one an aggregate."""
        ...

    def mark_sent(self, event_id: UUID) -> None:
        """The broker confirmed the event."""
        ...

    def reschedule(self, event_id: UUID, at: datetime) -> None:
        """Try again at ``at``; the count of attempts grows by one."""
        ...

    def bury(self, event_id: UUID) -> None:
        """Move the event to the dead letters; a person decides what happens to it."""
        ...


class Broker(Protocol):
    """Message broker with publisher confirms."""

    def publish(self, event: Event) -> None:
        """Returns after the confirm. Raises: ConnectionError."""
        ...


def retry_delay(attempts: int) -> timedelta:
    """Pause after the attempt number ``attempts``, counted from 1."""
    return timedelta(seconds=RETRY_DELAYS[min(attempts, len(RETRY_DELAYS)) - 1])


def relay_once(outbox: Outbox, broker: Broker, now: datetime, *, batch_size: int, max_attempts: int) -> int:
    """Send one batch and return how many events the broker confirmed."""
    sent = 0
    for record in outbox.due(now, batch_size):
        event = record.event
        try:
            broker.publish(event)
        except ConnectionError:
            attempts = record.attempts + 1
            if attempts >= max_attempts:
                outbox.bury(event.event_id)
                logger.error("event %s (%s) moved to dead letters", event.event_id, event.event_type)
            else:
                outbox.reschedule(event.event_id, now + retry_delay(attempts))
            continue
        outbox.mark_sent(event.event_id)
        sent += 1
    return sent
