"""The FastAPI application: routers, error envelope, request ids."""

from __future__ import annotations

from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from posterna import __version__
from posterna.api import claims, health, lockers, parcels, pickups, webhooks
from posterna.claim_service import ClaimService
from posterna.errors import PickupCodeLocked, PosternaError
from posterna.service import ParcelService
from posterna.webhook_service import WebhookService


def create_app(
    service: ParcelService, claim_service: ClaimService, webhook_service: WebhookService, readiness: health.Readiness
) -> FastAPI:
    """The application over ready services; tests pass such with fakes inside."""
    app = FastAPI(title="Posterna Core", version=__version__)
    app.state.service = service
    app.state.claims = claim_service
    app.state.webhooks = webhook_service
    app.state.readiness = readiness
    app.include_router(parcels.router)
    app.include_router(pickups.router)
    app.include_router(lockers.router)
    app.include_router(claims.router)
    app.include_router(webhooks.router)
    app.include_router(health.router)
    app.add_exception_handler(PosternaError, _answer_known)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    return app


def _request_id(request: Request) -> str:
    return request.headers.get("X-Request-Id") or str(uuid4())


async def _answer_known(request: Request, error: Exception) -> JSONResponse:
    """Expected failures: status and code of the class, ``Retry-After`` where waiting helps."""
    assert isinstance(error, PosternaError)
    headers: dict[str, str] = {}
    if isinstance(error, PickupCodeLocked):
        headers["Retry-After"] = str(error.details["retry_after_seconds"])
    return JSONResponse(error.to_body(_request_id(request)), status_code=error.http_status, headers=headers)


async def _answer_invalid(request: Request, error: Exception) -> JSONResponse:
    """A body that does not fit its schema: ``VALIDATION_FAILED`` with the fields, without their values."""
    assert isinstance(error, RequestValidationError)
    fields = [{"field": ".".join(map(str, item["loc"])), "problem": item["msg"]} for item in error.errors()]
    body = {
        "error": {
            "code": "VALIDATION_FAILED",
            "message": "request does not match the schema",
            "details": {"fields": fields},
            "request_id": _request_id(request),
        }
    }
    return JSONResponse(body, status_code=422)
