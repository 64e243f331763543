"""Clients of external systems: what each failure means for the caller."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import httpx
import pytest

from posterna.domain.locker import Cell, CellSize, CellState
from posterna.errors import NotifierUnavailable, PaymentUnavailable
from posterna.integrations.breaker import BreakerState, CircuitBreaker, CircuitOpen
from posterna.integrations.golub import GolubClient
from posterna.integrations.monetnitsa import MonetnitsaClient
from posterna.integrations.zasov import ControllerModel, ZasovClient, worn_cells

PARCEL = UUID(int=1)


def client(answer: Callable[[httpx.Request], httpx.Response]) -> httpx.Client:
    return httpx.Client(base_url="https://inner.example", transport=httpx.MockTransport(answer))


def broken(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("no route", request=request)


def fail() -> None:
    raise httpx.ConnectError("no route")


def test_breaker_opens_after_five_failures_and_lets_a_trial_through() -> None:
    now = [0.0]
    breaker = CircuitBreaker("zasov", clock=lambda: now[0])
    for _ in range(5):
        with pytest.raises(httpx.ConnectError):
            breaker.call(fail)
    with pytest.raises(CircuitOpen):
        breaker.call(lambda: None)
    now[0] = 30.0
    assert breaker.state is BreakerState.HALF_OPEN
    breaker.call(lambda: None)
    assert breaker.state is BreakerState.CLOSED


def test_unreachable_controller_means_a_shut_door() -> None:
    assert ZasovClient(client(broken), CircuitBreaker("zasov")).open_door("PL-0417", 7, 8) is False


def test_refused_charge_is_no_error() -> None:
    payments = MonetnitsaClient(client(lambda _: httpx.Response(402)), CircuitBreaker("monetnitsa"))
    assert payments.charge(PARCEL, 4900, "k-1") is False


def test_unknown_outcome_of_a_charge_is_an_error() -> None:
    payments = MonetnitsaClient(client(lambda _: httpx.Response(500)), CircuitBreaker("monetnitsa"))
    with pytest.raises(PaymentUnavailable):
        payments.charge(PARCEL, 4900, "k-1")


def test_registration_needs_the_contact_but_a_lost_message_is_forgiven() -> None:
    golub = GolubClient(client(broken), CircuitBreaker("golub"))
    with pytest.raises(NotifierUnavailable):
        golub.register_contact(PARCEL, "+79000001234")
    golub.send_code(PARCEL, "123456")


def test_worn_locks_by_model() -> None:
    cells = [
        Cell(locker_code="PL-0417", cell_no=n, size=CellSize.S, state=CellState.FREE, openings=openings)
        for n, openings in ((1, 44_999), (2, 45_000), (3, 71_000))
    ]
    assert [cell.cell_no for cell in worn_cells(cells, ControllerModel.ZASOV_2)] == [3, 2]
    assert worn_cells(cells, ControllerModel.ZASOV_3) == []
