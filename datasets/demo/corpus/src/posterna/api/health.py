"""Probes of the orchestrator: ``/healthz``. The only paths without a version. See docs/architecture/deployment.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import APIRouter, Request, Response, status

router = APIRouter(prefix="/healthz", tags=["health"])

Readiness = Callable[[], Mapping[str, bool]]
"""Name of a check → whether it passed."""


@router.get("/live")
def live() -> dict[str, str]:
    """The process answers; nothing else is looked at, or a database outage would restart every node."""
    return {"status": "ok"}


@router.get("/ready")
def ready(request: Request, response: Response) -> dict[str, bool]:
    """200 when all checks pass, else 503: the balancer sends nobody here until they do."""
    readiness: Readiness = request.app.state.readiness
    checks = dict(readiness())
    if not all(checks.values()):
        response.status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    return checks
