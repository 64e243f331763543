"""Scheduled task ``expire_parcels``: ends storage that is over and frees cells that nobody used.

Runs every ten minutes on each node. Two nodes never take the same parcel, because due rows are read
with ``FOR UPDATE SKIP LOCKED``. Документация: docs/logic/storage-expiry.md.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from posterna.service import ParcelService
from posterna.settings import Settings

logger = logging.getLogger(__name__)

MAX_BATCHES = 50
"""Batches in one run: a backlog after an outage is worked off in several runs, not in one endless one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What one run did."""

    expired: int
    released: int
    exhausted: bool
    """True when ``MAX_BATCHES`` stopped the run before the work was done."""


def run(service: ParcelService, settings: Settings) -> RunReport:
    """One run: first overdue parcels, then lapsed reservations, each in batches of its own transaction."""
    expired, more_parcels = _drain(service.expire_overdue, settings.expiry_batch_size)
    released, more_reservations = _drain(service.release_reservations, settings.expiry_batch_size)
    report = RunReport(expired=expired, released=released, exhausted=more_parcels or more_reservations)
    logger.info("expire_parcels: expired=%d released=%d", report.expired, report.released)
    if report.exhausted:
        logger.warning("expire_parcels stopped after %d batches, the rest waits for the next run", MAX_BATCHES)
    return report


def run_forever(service: ParcelService, settings: Settings, sleep: Callable[[float], None] = time.sleep) -> None:
    """Run, sleep, repeat. A failed run is logged and does not end the loop."""
    while True:
        try:
            run(service, settings)
        except Exception:
            logger.exception("expire_parcels failed")
        sleep(settings.expiry_interval_minutes * 60)


def _drain(step: Callable[[int], int], batch_size: int) -> tuple[int, bool]:
    """Call ``step`` until a batch comes back short; how many were done, and whether more may wait."""
    total = 0
    for _ in range(MAX_BATCHES):
        done = step(batch_size)
        total += done
        if done < batch_size:
            return total, False
    return total, True
