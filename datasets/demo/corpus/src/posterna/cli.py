"""Command line for engineers on duty: ``posterna COMMAND``.

Every command goes through ``ParcelService``, so a manual action leaves the same events behind as the API.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar
from uuid import UUID

import typer

from posterna.errors import PosternaError
from posterna.integrations.zasov import ControllerModel, worn_cells
from posterna.jobs import expire_parcels
from posterna.service import ParcelService
from posterna.settings import load_settings

app = typer.Typer(help="Operations of the Posterna parcel-locker network.", no_args_is_help=True)
locker_app = typer.Typer(help="Lockers and cells.", no_args_is_help=True)
app.add_typer(locker_app, name="locker")

T = TypeVar("T")
ServiceBuilder = Callable[[], ParcelService]
_builder: ServiceBuilder | None = None


def configure(builder: ServiceBuilder) -> None:
    """Tell the commands how to build the service; called by the entry point of the deployment."""
    global _builder
    _builder = builder


def _service() -> ParcelService:
    if _builder is None:
        raise typer.BadParameter("the service is not configured")
    return _builder()


@app.command()
def expire() -> None:
    """Запустить задачу expire_parcels один раз, не дожидаясь расписания."""
    report = expire_parcels.run(_service(), load_settings())
    typer.echo(f"expired: {report.expired}, released: {report.released}")
    if report.exhausted:
        typer.echo("not everything was done; run the command again", err=True)
        raise typer.Exit(code=3)


@app.command()
def parcel(parcel_id: UUID) -> None:
    """Показать состояние посылки."""
    found = _guard(lambda: _service().get(parcel_id))
    until = found.storage_until.isoformat() if found.storage_until else "-"
    typer.echo(f"{found.parcel_id}  {found.state}  {found.locker_code}/{found.cell_no}  until {until}")


@locker_app.command("show")
def show_locker(locker_code: str) -> None:
    """Print the locker's status and its cells, one a line."""
    status, cells = _guard(lambda: _service().locker_overview(locker_code))
    typer.echo(f"{locker_code}: {status}")
    for cell in cells:
        typer.echo(f"{cell.cell_no:>3}  {cell.size.name:<2}  {cell.state:<8}  {cell.block_reason or ''}".rstrip())


@locker_app.command("block")
def block_cell(
    locker_code: str,
    cell_no: int,
    reason: Annotated[str, typer.Option(help="Shown to support and written into the event.")],
) -> None:
    """Вывести ячейку из работы."""
    _guard(lambda: _service().set_blocked(locker_code, cell_no, reason))
    typer.echo(f"{locker_code}/{cell_no} blocked")


@locker_app.command("unblock")
def unblock_cell(locker_code: str, cell_no: int) -> None:
    """Return a cell to service."""
    _guard(lambda: _service().set_blocked(locker_code, cell_no, None))
    typer.echo(f"{locker_code}/{cell_no} is free")


@locker_app.command("worn")
def worn(
    locker_code: str,
    controller: Annotated[str, typer.Option(help="zasov-2 or zasov-3, as on the plate inside the door.")],
) -> None:
    """Показать ячейки, в которых пора менять замок."""
    try:
        model = ControllerModel.by_title(controller)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    _, cells = _guard(lambda: _service().locker_overview(locker_code))
    for cell in worn_cells(cells, model):
        typer.echo(f"{cell.cell_no:>3}  {cell.openings} of {model.rated_openings}")


def _guard(action: Callable[[], T]) -> T:
    """The action's result; an expected failure becomes one line on stderr and exit code 2."""
    try:
        return action()
    except PosternaError as error:
        typer.echo(f"{error.code}: {error.message}", err=True)
        raise typer.Exit(code=2) from error
