"""«Голубь»: contacts of recipients and the messages that we order.

Документация: docs/domains/messaging/recipient-message.md.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from uuid import UUID

import httpx

from posterna.errors import NotifierUnavailable
from posterna.integrations.breaker import CircuitBreaker, CircuitOpen

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS = 3.0
CODE_TEMPLATE = "pickup_code"
"""The only template that Posterna Core orders itself; the others are started by events."""


class GolubClient:
    """``Notifier`` over HTTP."""

    def __init__(self, http: httpx.Client, breaker: CircuitBreaker) -> None:
        self._http = http
        self._breaker = breaker

    def register_contact(self, parcel_id: UUID, phone: str) -> None:
        """Отдать полный номер на хранение.

        Raises:
            NotifierUnavailable: without a contact a parcel cannot be given out, so it is not registered either.
        """
        body = {"parcel_id": str(parcel_id), "phone": phone}
        if not self._post("/contacts", body):
            raise NotifierUnavailable("notification service did not take the contact")

    def send_code(self, parcel_id: UUID, code: str) -> None:
        """Order the message with the code. A failure is logged and swallowed: the parcel already lies in the cell."""
        body = {"parcel_id": str(parcel_id), "template": CODE_TEMPLATE, "values": {"code": code}}
        if not self._post("/messages", body):
            logger.warning("message %s for parcel %s was not taken", CODE_TEMPLATE, parcel_id)

    def erase_contact(self, parcel_id: UUID) -> bool:
        """Forget the number and the history of messages; False: try again later."""
        return self._post("/contacts/erase", {"parcel_id": str(parcel_id)})

    def _post(self, path: str, body: Mapping[str, object]) -> bool:
        try:
            answer = self._breaker.call(lambda: self._http.post(path, json=body, timeout=TIMEOUT_SECONDS))
        except (httpx.TransportError, CircuitOpen):
            return False
        return answer.is_success
