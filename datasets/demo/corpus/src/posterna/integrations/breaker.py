"""Circuit breaker shared by the integration clients. Документация: docs/architecture/integrations.md."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

import httpx

T = TypeVar("T")

FAILURES_TO_OPEN = 5
OPEN_SECONDS = 30.0


class BreakerState(StrEnum):
    """Whether calls are let through."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


class CircuitOpen(Exception):
    """The call was not made: the system behind it has failed too often just now."""


class CircuitBreaker:
    """Stops calling a system after five failures in a row and lets one trial call through every 30 seconds."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = name
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None

    @property
    def state(self) -> BreakerState:
        """CLOSED, OPEN, or HALF_OPEN when the pause is over and a trial call is due."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        waited = self._clock() - self._opened_at
        return BreakerState.HALF_OPEN if waited >= OPEN_SECONDS else BreakerState.OPEN

    def call(self, action: Callable[[], T]) -> T:
        """The action's result.

        Raises:
            CircuitOpen: the breaker is open.
            httpx.TransportError: what the action raised; it counts as a failure.
        """
        if self.state is BreakerState.OPEN:
            raise CircuitOpen(self.name)
        try:
            result = action()
        except httpx.TransportError:
            self._failures += 1
            if self._failures >= FAILURES_TO_OPEN:
                self._opened_at = self._clock()
            raise
        self._failures = 0
        self._opened_at = None
        return result
