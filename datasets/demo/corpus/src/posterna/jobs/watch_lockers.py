"""Scheduled task ``watch_lockers``: raises alerts about lockers that have gone silent.

Runs once a minute on one node. Документация: docs/logic/offline-locker.md, docs/policies/incident-severity.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Protocol

from posterna.domain.locker import Locker
from posterna.settings import Settings

MASS_OUTAGE_SHARE = 0.05
"""Share of silent lockers from which the trouble is ours or the carrier's, not a locker's."""


class Severity(IntEnum):
    """The smaller the number, the worse; the same scale as in docs/policies/incident-severity.md."""

    SEV1 = 1
    SEV2 = 2
    SEV3 = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """What the engineer on duty gets; alerts with one key are shown once."""

    key: str
    severity: Severity
    text: str


class AlertSink(Protocol):
    """The duty system."""

    def raise_alert(self, alert: Alert) -> None: ...


def silence(locker: Locker, now: datetime) -> timedelta:
    """How long the locker has said nothing; for ever, when it never spoke."""
    return timedelta.max if locker.last_heartbeat is None else now - locker.last_heartbeat


def find_alerts(lockers: Sequence[Locker], now: datetime, settings: Settings) -> list[Alert]:
    """Alerts for the present silence, worst first.

    A mass outage replaces the alerts of single lockers: nobody needs forty pages at three in the morning.
    """
    working = [locker for locker in lockers if locker.last_heartbeat is not None]
    quiet = {locker.locker_code: silence(locker, now) for locker in working}
    late = timedelta(minutes=settings.silence_alert_minutes)
    very_late = timedelta(minutes=settings.silence_escalation_minutes)
    offline = [code for code, gap in quiet.items() if gap > settings.heartbeat_timeout]
    if working and len(offline) >= 2 and len(offline) / len(working) >= MASS_OUTAGE_SHARE:
        text = f"{len(offline)} of {len(working)} lockers are silent"
        return [Alert(key="mass-outage", severity=Severity.SEV1, text=text)]
    alerts = [
        Alert(
            key=f"silent:{code}",
            severity=Severity.SEV2 if gap >= very_late else Severity.SEV3,
            text=f"{code} is silent for {int(gap.total_seconds() // 60)} min",
        )
        for code, gap in quiet.items()
        if gap >= late
    ]
    return sorted(alerts, key=lambda alert: (alert.severity, alert.key))


def run(lockers: Sequence[Locker], sink: AlertSink, settings: Settings, now: datetime) -> int:
    """Raise what ``find_alerts`` finds; how many alerts there were."""
    alerts = find_alerts(lockers, now, settings)
    for alert in alerts:
        sink.raise_alert(alert)
    return len(alerts)
