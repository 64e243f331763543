"""«Засов»: opening doors, and what the two models of the controller can do.

Документация: docs/domains/lockers/controller-models.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import httpx

from posterna.domain.locker import Cell
from posterna.integrations.breaker import CircuitBreaker, CircuitOpen

WEAR_ALERT_SHARE = 0.9
"""Share of the rated openings from which a lock is to be replaced."""


class ControllerModel(Enum):
    """Model with the rated openings of its lock, the most cells, and how many doors may stand open at once."""

    ZASOV_2 = ("zasov-2", 50_000, 60, 1)
    ZASOV_3 = ("zasov-3", 80_000, 96, 2)

    def __init__(self, title: str, rated_openings: int, max_cells: int, parallel_doors: int) -> None:
        self.title = title
        self.rated_openings = rated_openings
        self.max_cells = max_cells
        self.parallel_doors = parallel_doors

    @classmethod
    def by_title(cls, title: str) -> ControllerModel:
        """Raises: ValueError for an unknown model."""
        for model in cls:
            if model.title == title:
                return model
        raise ValueError(f"unknown controller model {title!r}")


def worn_cells(cells: Sequence[Cell], model: ControllerModel) -> list[Cell]:
    """Ячейки, чей замок пора менять: самые изношенные первыми."""
    limit = model.rated_openings * WEAR_ALERT_SHARE
    return sorted((cell for cell in cells if cell.openings >= limit), key=lambda cell: (-cell.openings, cell.cell_no))


class ZasovClient:
    """``DoorController`` over the controllers' gateway."""

    def __init__(self, http: httpx.Client, breaker: CircuitBreaker) -> None:
        self._http = http
        self._breaker = breaker

    def open_door(self, locker_code: str, cell_no: int, timeout_seconds: int) -> bool:
        """True when the sensor saw the door open in time.

        Silence, a broken line and an open breaker all mean «the door is shut»: the caller saves nothing then.
        """
        path = f"/controllers/{locker_code}/doors/{cell_no}/open"
        try:
            answer = self._breaker.call(
                lambda: self._http.post(path, json={"wait_seconds": timeout_seconds}, timeout=timeout_seconds + 1)
            )
        except (httpx.TransportError, CircuitOpen):
            return False
        return answer.status_code == 200 and answer.json().get("door") == "open"
