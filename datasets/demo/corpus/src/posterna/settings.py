"""Settings of the service, read once at start-up from environment variables with the prefix ``POSTERNA_``.

Limits that the documentation promises to partners live here and nowhere else, so that a change
of a number is one line and one release note.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta

ENV_PREFIX = "POSTERNA_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All tunable values with their production defaults."""

    database_url: str = "postgresql://posterna@localhost/posterna"
    broker_url: str = "amqp://localhost"
    pickup_code_pepper: str = ""
    """Secret mixed into the digest of every pickup code; empty is refused by ``validate``."""

    reservation_ttl_hours: int = 12
    """How long a cell waits for the courier."""
    free_storage_hours: int = 72
    extension_hours: int = 24
    max_extensions: int = 2
    extension_price_kopecks: int = 4900

    pickup_code_length: int = 6
    pickup_code_max_attempts: int = 5
    pickup_code_lock_minutes: int = 15
    max_reissues: int = 3

    buffer_cells: int = 1
    """Free cells of a locker that are never given to a new parcel."""
    max_upsize_steps: int = 2
    max_weight_g: int = 20_000

    heartbeat_timeout_seconds: int = 180
    door_timeout_seconds: int = 8

    expiry_interval_minutes: int = 10
    expiry_batch_size: int = 200
    outbox_batch_size: int = 100
    outbox_max_attempts: int = 8

    claim_window_days: int = 10
    """Counted from the deposit; four days less than the video of a locker is kept."""
    claim_decision_days: int = 7
    claim_max_kopecks: int = 1_500_000

    webhook_batch_size: int = 50
    webhook_timeout_seconds: int = 5

    silence_alert_minutes: int = 15
    silence_escalation_minutes: int = 120

    code_retention_days: int = 30
    parcel_retention_days: int = 365

    @property
    def free_storage(self) -> timedelta:
        """Storage that the recipient does not pay for."""
        return timedelta(hours=self.free_storage_hours)

    @property
    def extension(self) -> timedelta:
        """What one paid extension adds."""
        return timedelta(hours=self.extension_hours)

    @property
    def reservation_ttl(self) -> timedelta:
        """Life of a reservation that nobody used."""
        return timedelta(hours=self.reservation_ttl_hours)

    @property
    def code_lock(self) -> timedelta:
        """Pause after too many wrong codes."""
        return timedelta(minutes=self.pickup_code_lock_minutes)

    @property
    def heartbeat_timeout(self) -> timedelta:
        """Silence after which a locker counts as OFFLINE."""
        return timedelta(seconds=self.heartbeat_timeout_seconds)

    @property
    def claim_window(self) -> timedelta:
        """How long after the deposit a partner may complain."""
        return timedelta(days=self.claim_window_days)

    @property
    def claim_decision_term(self) -> timedelta:
        """How long support may think about a claim."""
        return timedelta(days=self.claim_decision_days)

    def validate(self) -> None:
        """Refuse a configuration that would be unsafe in production.

        Raises:
            ValueError: the pepper is missing or the code is shorter than six digits.
        """
        if not self.pickup_code_pepper:
            raise ValueError(f"{ENV_PREFIX}PICKUP_CODE_PEPPER must be set")
        if self.pickup_code_length < 6:
            raise ValueError("a pickup code needs at least six digits")


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from ``environ`` (the process environment by default), checked by ``validate``."""
    source = os.environ if environ is None else environ
    overrides: dict[str, str | int] = {}
    for field in fields(Settings):
        raw = source.get(ENV_PREFIX + field.name.upper())
        if raw is not None:
            overrides[field.name] = int(raw) if isinstance(field.default, int) else raw
    settings = Settings(**overrides)  # type: ignore[arg-type]
    settings.validate()
    return settings
