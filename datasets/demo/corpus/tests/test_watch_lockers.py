"""Alerts about silent lockers, and the schedule of the worker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from posterna.domain.locker import Locker
from posterna.jobs.watch_lockers import Severity, find_alerts
from posterna.settings import Settings
from posterna.worker import SCHEDULE, is_due

NOW = datetime(2024, 3, 4, 12, 0, tzinfo=UTC)


def lockers(*silent_minutes: int, quiet: int = 60) -> list[Locker]:
    gaps = [*silent_minutes, *([0] * quiet)]
    return [
        Locker(locker_code=f"PL-{number:04}", address="Заречная, 4", last_heartbeat=NOW - timedelta(minutes=gap))
        for number, gap in enumerate(gaps)
    ]


def test_short_silence_wakes_nobody() -> None:
    assert find_alerts(lockers(14), NOW, Settings()) == []


def test_a_quarter_of_an_hour_is_sev3_and_two_hours_are_sev2() -> None:
    alerts = find_alerts(lockers(15, 120), NOW, Settings())
    assert [(a.severity, a.key) for a in alerts] == [
        (Severity.SEV2, "silent:PL-0001"),
        (Severity.SEV3, "silent:PL-0000"),
    ]


def test_mass_outage_is_one_alert() -> None:
    alerts = find_alerts(lockers(4, 5, 30, 200, quiet=40), NOW, Settings())
    assert [alert.key for alert in alerts] == ["mass-outage"]
    assert alerts[0].severity is Severity.SEV1


def test_locker_that_was_never_switched_on_is_ignored() -> None:
    assert find_alerts([Locker(locker_code="PL-9000", address="склад")], NOW, Settings()) == []


def test_monthly_task_runs_on_the_first_day_at_three_in_moscow() -> None:
    task = next(task for task in SCHEDULE if task.name == "close_billing_period")
    assert not is_due(task, None, datetime(2024, 3, 31, 23, 59, tzinfo=UTC))
    assert is_due(task, None, datetime(2024, 4, 1, 0, 0, tzinfo=UTC))
    assert not is_due(task, datetime(2024, 4, 1, 0, 0, tzinfo=UTC), datetime(2024, 4, 1, 9, 0, tzinfo=UTC))
