"""The worker process: which task runs when, and on how many nodes.

``posterna-worker`` is started beside the HTTP process on every node. Tasks marked ``single`` take an advisory
lock first, so that of all workers one runs them. Документация: docs/architecture/deployment.md.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

logger = logging.getLogger(__name__)

MOSCOW = ZoneInfo("Europe/Moscow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A row of the schedule: either ``every`` or ``at`` is given."""

    name: str
    every: timedelta | None = None
    at: time | None = None
    day_of_month: int | None = None
    single: bool = False
    """True: on one node only."""


SCHEDULE = (
    Task(name="relay_events", every=timedelta(seconds=2)),
    Task(name="deliver_webhooks", every=timedelta(seconds=10)),
    Task(name="watch_lockers", every=timedelta(minutes=1), single=True),
    Task(name="expire_parcels", every=timedelta(minutes=10)),
    Task(name="close_billing_period", at=time(3, 0), day_of_month=1, single=True),
    Task(name="purge_data", at=time(4, 0), single=True),
)


def is_due(task: Task, last: datetime | None, now: datetime) -> bool:
    """Whether the task should start now; ``last`` is the start of its latest run."""
    if task.every is not None:
        return last is None or now - last >= task.every
    assert task.at is not None
    local = now.astimezone(MOSCOW)
    planned = datetime.combine(local.date(), task.at, tzinfo=MOSCOW)
    if task.day_of_month is not None and local.day != task.day_of_month:
        return False
    return local >= planned and (last is None or last < planned)


def tick(
    actions: Mapping[str, Callable[[], object]],
    last: dict[str, datetime],
    now: datetime,
    try_lock: Callable[[str], bool],
) -> list[str]:
    """Run every due task once and return the names of those that ran. One task's failure stops no other."""
    ran = []
    for task in SCHEDULE:
        if not is_due(task, last.get(task.name), now):
            continue
        if task.single and not try_lock(task.name):
            continue
        last[task.name] = now
        try:
            actions[task.name]()
        except Exception:
            logger.exception("%s failed", task.name)
        ran.append(task.name)
    return ran
