"""Router of lockers for engineers and support: ``/v1/lockers``."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from posterna.api import ServiceDependency
from posterna.domain.locker import Cell, CellState, LockerStatus

router = APIRouter(prefix="/v1/lockers", tags=["lockers"])


class CellResponse(BaseModel):
    """One cell of a locker."""

    cell_no: int
    size: str
    state: CellState
    openings: int
    block_reason: str | None

    @classmethod
    def of(cls, cell: Cell) -> CellResponse:
        """Public fields of the domain object."""
        return cls(
            cell_no=cell.cell_no,
            size=cell.size.name,
            state=cell.state,
            openings=cell.openings,
            block_reason=cell.block_reason,
        )


class LockerResponse(BaseModel):
    """A locker with its status and the count of free cells by size."""

    locker_code: str
    status: LockerStatus
    free_cells: dict[str, int]


class BlockRequest(BaseModel):
    """Why the cell leaves service."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(min_length=3, max_length=200)


@router.get("/{locker_code}")
def get_locker(locker_code: str, service: ServiceDependency) -> LockerResponse:
    """Статус постамата и число свободных ячеек каждого размера."""
    status, cells = service.locker_overview(locker_code)
    free: dict[str, int] = {}
    for cell in cells:
        free.setdefault(cell.size.name, 0)
        if cell.state is CellState.FREE:
            free[cell.size.name] += 1
    return LockerResponse(locker_code=locker_code, status=status, free_cells=free)


@router.get("/{locker_code}/cells")
def list_cells(locker_code: str, service: ServiceDependency) -> list[CellResponse]:
    """Все ячейки постамата по порядку номеров."""
    _, cells = service.locker_overview(locker_code)
    return [CellResponse.of(cell) for cell in cells]


@router.post("/{locker_code}/cells/{cell_no}/block")
def block_cell(locker_code: str, cell_no: int, body: BlockRequest, service: ServiceDependency) -> CellResponse:
    """Вывести свободную ячейку из работы."""
    return CellResponse.of(service.set_blocked(locker_code, cell_no, body.reason))


@router.post("/{locker_code}/cells/{cell_no}/unblock")
def unblock_cell(locker_code: str, cell_no: int, service: ServiceDependency) -> CellResponse:
    """Вернуть ячейку в работу."""
    return CellResponse.of(service.set_blocked(locker_code, cell_no, None))
