"""Laps leave no gap."""

from __future__ import annotations

import pytest

from ragkit.retrieval.stopwatch import Stopwatch


def test_laps_add_up_to_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1.0, 1.001, 1.005, 1.006])
    monkeypatch.setattr("ragkit.retrieval.stopwatch.perf_counter", lambda: next(times))
    watch = Stopwatch()
    for name in ("route", "search", "route"):
        watch.lap(name)
    assert watch.milliseconds() == {"route": 2.0, "search": 4.0, "total": 6.0}
