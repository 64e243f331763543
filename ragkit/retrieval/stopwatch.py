"""Where the time of one answer goes: laps that follow each other without a gap, so that they add up to the total."""

from __future__ import annotations

from time import perf_counter


class Stopwatch:
    """Counts from its making. Not shared by threads."""

    def __init__(self) -> None:
        self._started = self._last = perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """All time since the last lap was spent on this step; a step of several laps has their sum."""
        now = perf_counter()
        self._laps[name] = self._laps.get(name, 0.0) + now - self._last
        self._last = now

    def milliseconds(self) -> dict[str, float]:
        """Step → milliseconds, in the order of their first laps, and `total`: up to the last lap."""
        spent = {**self._laps, "total": self._last - self._started}
        return {name: round(elapsed_s * 1000, 3) for name, elapsed_s in spent.items()}
