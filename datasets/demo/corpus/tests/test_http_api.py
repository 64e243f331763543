"""HTTP: error envelope, headers, probes. Services are replaced by small fakes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from posterna.app import create_app
from posterna.claim_service import ClaimService
from posterna.domain.parcel import Dimensions, Parcel, ParcelState
from posterna.errors import PickupCodeLocked
from posterna.service import ParcelService
from posterna.webhook_service import WebhookService

PARCEL = Parcel(
    parcel_id=UUID(int=1),
    merchant_id="knizhny-dvor",
    merchant_ref="KD-1001",
    locker_code="PL-0417",
    cell_no=7,
    dimensions=Dimensions(height_mm=80, width_mm=200, depth_mm=300, weight_g=900),
    phone_tail="1234",
    state=ParcelState.STORED,
    reserved_until=datetime(2024, 3, 5, tzinfo=UTC),
)


class FakeParcels:
    """Knows one parcel and a locked code."""

    def get(self, parcel_id: UUID) -> Parcel:
        return PARCEL

    def collect(self, locker_code: str, phone_tail: str, candidate: str) -> Parcel:
        raise PickupCodeLocked("too many wrong attempts", retry_after_seconds=540)


@pytest.fixture
def checks() -> dict[str, bool]:
    return {"database": True, "broker": True}


@pytest.fixture
def http(checks: Mapping[str, bool]) -> TestClient:
    nobody: Any = object()
    return TestClient(
        create_app(
            cast(ParcelService, FakeParcels()), cast(ClaimService, nobody), cast(WebhookService, nobody), lambda: checks
        )
    )


def test_own_parcel_is_shown(http: TestClient) -> None:
    answer = http.get(f"/v1/parcels/{PARCEL.parcel_id}", headers={"X-Merchant-Id": "knizhny-dvor"})
    assert answer.json()["state"] == "STORED"


def test_foreign_parcel_looks_unknown(http: TestClient) -> None:
    answer = http.get(f"/v1/parcels/{PARCEL.parcel_id}", headers={"X-Merchant-Id": "other", "X-Request-Id": "r-1"})
    assert answer.status_code == 404
    assert answer.json()["error"]["request_id"] == "r-1"


def test_locked_code_says_how_long_to_wait(http: TestClient) -> None:
    body = {"locker_code": "PL-0417", "phone_tail": "1234", "code": "000000"}
    answer = http.post("/v1/pickups", json=body)
    assert (answer.status_code, answer.headers["Retry-After"]) == (423, "540")


def test_extension_without_key_is_refused(http: TestClient) -> None:
    answer = http.post(f"/v1/parcels/{PARCEL.parcel_id}/extend")
    assert answer.json()["error"]["code"] == "IDEMPOTENCY_KEY_REQUIRED"


def test_schema_error_does_not_repeat_the_value(http: TestClient) -> None:
    answer = http.post("/v1/pickups", json={"locker_code": "PL-0417", "phone_tail": "12345", "code": "000000"})
    assert answer.status_code == 422
    assert "12345" not in answer.text


def test_readiness_follows_the_checks(http: TestClient, checks: dict[str, bool]) -> None:
    assert http.get("/healthz/ready").status_code == 200
    checks["database"] = False
    assert http.get("/healthz/ready").status_code == 503
    assert http.get("/healthz/live").status_code == 200
