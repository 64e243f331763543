"""Errors that a client can see: one class for one code of the public error table.

The code is a promise to partners (docs/policies/api-conventions.md): it may be added, never renamed.
The HTTP status stands beside the code because several codes share a status.
"""

from __future__ import annotations

from typing import ClassVar


class PosternaError(Exception):
    """Base of every expected failure; ``details`` goes into the response body as it is."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def to_body(self, request_id: str) -> dict[str, object]:
        """The error envelope, the same for all endpoints."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "details": self.details,
                "request_id": request_id,
            }
        }


class ParcelNotFound(PosternaError):
    """Посылки с таким идентификатором нет или она принадлежит другому партнёру."""

    code = "PARCEL_NOT_FOUND"
    http_status = 404


class LockerNotFound(PosternaError):
    """Постамата с таким кодом нет в сети."""

    code = "LOCKER_NOT_FOUND"
    http_status = 404


class CellNotFound(PosternaError):
    """The locker has no cell with this number."""

    code = "CELL_NOT_FOUND"
    http_status = 404


class ParcelStateConflict(PosternaError):
    """The parcel's current state does not allow the requested transition."""

    code = "PARCEL_STATE_CONFLICT"
    http_status = 409


class ParcelTooLarge(PosternaError):
    """No cell size fits the parcel, or it is heavier than the limit."""

    code = "PARCEL_TOO_LARGE"
    http_status = 422


class NoFreeCell(PosternaError):
    """Every suitable cell is taken, or only the buffer is left."""

    code = "NO_FREE_CELL"
    http_status = 409


class CellOccupied(PosternaError):
    """A cell that holds or awaits a parcel cannot be blocked."""

    code = "CELL_OCCUPIED"
    http_status = 409


class LockerUnavailable(PosternaError):
    """The locker is OFFLINE or RETIRED."""

    code = "LOCKER_UNAVAILABLE"
    http_status = 503


class DoorNotOpened(PosternaError):
    """The controller did not confirm the opened door in time."""

    code = "DOOR_NOT_OPENED"
    http_status = 504


class ExtensionLimitReached(PosternaError):
    """Срок хранения уже продлевали максимальное число раз."""

    code = "EXTENSION_LIMIT_REACHED"
    http_status = 409


class PaymentDeclined(PosternaError):
    """The payment gateway refused the charge."""

    code = "PAYMENT_DECLINED"
    http_status = 402


class PickupCodeInvalid(PosternaError):
    """Неверный код выдачи. Ответ не говорит, какая из двух частей не подошла."""

    code = "PICKUP_CODE_INVALID"
    http_status = 403


class PickupCodeLocked(PosternaError):
    """Too many wrong attempts; ``details.retry_after_seconds`` says how long to wait."""

    code = "PICKUP_CODE_LOCKED"
    http_status = 423


class ReissueLimitReached(PosternaError):
    """The code of this parcel was reissued too often."""

    code = "REISSUE_LIMIT_REACHED"
    http_status = 429


class IdempotencyKeyRequired(PosternaError):
    """The request changes money or cells and came without ``Idempotency-Key``."""

    code = "IDEMPOTENCY_KEY_REQUIRED"
    http_status = 400


class IdempotencyKeyReused(PosternaError):
    """The same key came with another body."""

    code = "IDEMPOTENCY_KEY_REUSED"
    http_status = 409


class PaymentUnavailable(PosternaError):
    """The payment gateway did not answer, so nobody knows whether the money was taken."""

    code = "PAYMENT_UNAVAILABLE"
    http_status = 503


class NotifierUnavailable(PosternaError):
    """Сервис уведомлений не принял контакт получателя; посылка не зарегистрирована."""

    code = "NOTIFIER_UNAVAILABLE"
    http_status = 503


class MerchantSuspended(PosternaError):
    """The partner's contract is suspended or closed."""

    code = "MERCHANT_SUSPENDED"
    http_status = 403


class ClaimNotFound(PosternaError):
    """Претензии нет или она чужая."""

    code = "CLAIM_NOT_FOUND"
    http_status = 404


class ClaimAlreadyOpen(PosternaError):
    """The parcel already has a claim without a decision."""

    code = "CLAIM_ALREADY_OPEN"
    http_status = 409


class ClaimTooLate(PosternaError):
    """Срок подачи претензии вышел."""

    code = "CLAIM_TOO_LATE"
    http_status = 409


class ClaimStateConflict(PosternaError):
    """The claim's current state does not allow the step."""

    code = "CLAIM_STATE_CONFLICT"
    http_status = 409


class ClaimAmountExceeded(PosternaError):
    """More money than the ceiling, or than the partner asked for."""

    code = "CLAIM_AMOUNT_EXCEEDED"
    http_status = 422


class WebhookNotFound(PosternaError):
    """The subscription is unknown or somebody else's."""

    code = "WEBHOOK_NOT_FOUND"
    http_status = 404


class WebhookLimitReached(PosternaError):
    """У партнёра уже максимальное число подписок."""

    code = "WEBHOOK_LIMIT_REACHED"
    http_status = 409
