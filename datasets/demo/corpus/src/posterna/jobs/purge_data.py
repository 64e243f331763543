"""Scheduled task ``purge_data``: removes personal data whose term is over.

Runs daily at 04:00 Moscow time on one node. Документация: docs/logic/data-purge.md.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from posterna.persistence_backoffice import RetentionRepository
from posterna.settings import Settings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeReport:
    """What one run removed."""

    codes: int
    parcels: int


def run(storage: RetentionRepository, settings: Settings, now: datetime) -> PurgeReport:
    """Сначала отпечатки кодов, затем посылки; каждая операция безвредна при повторе."""
    report = PurgeReport(
        codes=storage.delete_codes(now - timedelta(days=settings.code_retention_days)),
        parcels=storage.anonymise_parcels(now - timedelta(days=settings.parcel_retention_days)),
    )
    logger.info("purge_data: codes=%d parcels=%d", report.codes, report.parcels)
    return report
