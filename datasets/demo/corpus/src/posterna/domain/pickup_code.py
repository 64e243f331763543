"""One-time pickup codes: issue, check, lock-out.

The code itself leaves this module once, in the return value of ``issue``; what is kept is a keyed digest.
Документация: docs/domains/pickup/pickup-code.md.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from posterna.errors import PickupCodeLocked, ReissueLimitReached


class CodeStatus(StrEnum):
    """Status of a pickup code."""

    ACTIVE = "ACTIVE"
    USED = "USED"
    REVOKED = "REVOKED"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRules:
    """Limits of codes, from the settings."""

    length: int
    max_attempts: int
    lock: timedelta
    max_reissues: int
    pepper: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PickupCode:
    """Digest of a code together with the count of wrong attempts."""

    parcel_id: UUID
    digest: str
    status: CodeStatus = CodeStatus.ACTIVE
    failed_attempts: int = 0
    locked_until: datetime | None = None
    reissues: int = 0

    def is_locked(self, now: datetime) -> bool:
        """True while the pause after too many wrong attempts lasts."""
        return self.locked_until is not None and now < self.locked_until

    def ensure_unlocked(self, now: datetime) -> None:
        """Raises: PickupCodeLocked with the seconds that are left."""
        if self.locked_until is not None and now < self.locked_until:
            left = int((self.locked_until - now).total_seconds())
            raise PickupCodeLocked("too many wrong attempts", retry_after_seconds=left)

    def matches(self, candidate: str, pepper: str) -> bool:
        """Compare in constant time, so that the answer's delay tells nothing."""
        return hmac.compare_digest(self.digest, digest_of(self.parcel_id, candidate, pepper))

    def register_failure(self, now: datetime, rules: CodeRules) -> PickupCode:
        """One more wrong attempt; the last allowed one starts the pause and resets the counter."""
        attempts = self.failed_attempts + 1
        if attempts >= rules.max_attempts:
            return replace(self, failed_attempts=0, locked_until=now + rules.lock)
        return replace(self, failed_attempts=attempts)

    def use(self) -> PickupCode:
        """Код сработал: второй раз он не откроет ничего."""
        return replace(self, status=CodeStatus.USED, failed_attempts=0, locked_until=None)

    def revoke(self) -> PickupCode:
        """Отозвать код: посылка просрочена, отменена или получатель запросил новый."""
        return replace(self, status=CodeStatus.REVOKED)


def digest_of(parcel_id: UUID, code: str, pepper: str) -> str:
    """HMAC-SHA256 of the code; the parcel's id makes equal codes of two parcels look different."""
    message = f"{parcel_id}:{code}".encode()
    return hmac.new(pepper.encode(), message, hashlib.sha256).hexdigest()


def issue(parcel_id: UUID, rules: CodeRules, previous: PickupCode | None = None) -> tuple[str, PickupCode]:
    """A fresh code in clear, for the message to the recipient, and what is to be stored.

    Raises:
        ReissueLimitReached: ``previous`` was already reissued ``rules.max_reissues`` times.
    """
    reissues = 0
    if previous is not None:
        reissues = previous.reissues + 1
        if reissues > rules.max_reissues:
            raise ReissueLimitReached("pickup code was reissued too often", limit=rules.max_reissues)
    code = "".join(secrets.choice("0123456789") for _ in range(rules.length))
    return code, PickupCode(parcel_id=parcel_id, digest=digest_of(parcel_id, code, rules.pepper), reissues=reissues)
