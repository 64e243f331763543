"""«Монетница»: charges for paid storage. Документация: docs/logic/storage-extension.md."""

from __future__ import annotations

from uuid import UUID

import httpx

from posterna.errors import PaymentUnavailable
from posterna.integrations.breaker import CircuitBreaker, CircuitOpen

TIMEOUT_SECONDS = 10.0


class MonetnitsaClient:
    """``PaymentGateway`` over HTTP; the key of the request makes a repeated charge harmless."""

    def __init__(self, http: httpx.Client, breaker: CircuitBreaker) -> None:
        self._http = http
        self._breaker = breaker

    def charge(self, parcel_id: UUID, amount_kopecks: int, key: str) -> bool:
        """True: charged now or by an earlier request with the same key. False: the bank refused.

        Raises:
            PaymentUnavailable: nobody knows whether the money is gone; the client repeats with the same key.
        """
        body = {"purpose": "storage_extension", "parcel_id": str(parcel_id), "amount_kopecks": amount_kopecks}
        try:
            answer = self._breaker.call(
                lambda: self._http.post(
                    "/v2/charges", json=body, headers={"Idempotency-Key": key}, timeout=TIMEOUT_SECONDS
                )
            )
        except (httpx.TransportError, CircuitOpen) as error:
            raise PaymentUnavailable("payment gateway did not answer") from error
        if answer.status_code >= 500:
            raise PaymentUnavailable("payment gateway failed", status=answer.status_code)
        return answer.status_code in (200, 201)
