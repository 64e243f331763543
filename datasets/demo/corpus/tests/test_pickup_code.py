"""Pickup codes: digest, single use, lock-out, reissue."""

from __future__ import annotations

from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from posterna.domain.pickup_code import CodeRules, CodeStatus, PickupCode, digest_of, issue
from posterna.errors import PickupCodeLocked, ReissueLimitReached

NOW = datetime(2024, 3, 4, 12, 0, tzinfo=UTC)
PARCEL = UUID(int=1)
RULES = CodeRules(length=6, max_attempts=5, lock=timedelta(minutes=15), max_reissues=3, pepper="test-pepper")


def fail(code: PickupCode, times: int) -> PickupCode:
    for _ in range(times):
        code = code.register_failure(NOW, RULES)
    return code


def test_code_has_six_digits_and_matches_its_digest() -> None:
    code, stored = issue(PARCEL, RULES)
    assert len(code) == 6
    assert code.isdigit()
    assert stored.matches(code, RULES.pepper)


def test_stored_value_does_not_contain_the_code() -> None:
    code, stored = issue(PARCEL, RULES)
    assert code not in astuple(stored)


def test_same_code_of_two_parcels_has_two_digests() -> None:
    assert digest_of(PARCEL, "123456", RULES.pepper) != digest_of(UUID(int=2), "123456", RULES.pepper)


def test_four_failures_do_not_lock() -> None:
    _, stored = issue(PARCEL, RULES)
    assert not fail(stored, 4).is_locked(NOW)


def test_fifth_failure_locks_for_fifteen_minutes() -> None:
    _, stored = issue(PARCEL, RULES)
    locked = fail(stored, 5)
    with pytest.raises(PickupCodeLocked) as caught:
        locked.ensure_unlocked(NOW + timedelta(minutes=14))
    assert caught.value.details == {"retry_after_seconds": 60}
    locked.ensure_unlocked(NOW + timedelta(minutes=15))


def test_used_code_leaves_the_active_status() -> None:
    _, stored = issue(PARCEL, RULES)
    assert stored.use().status is CodeStatus.USED


def test_fourth_reissue_is_refused() -> None:
    _, code = issue(PARCEL, RULES)
    for _ in range(3):
        _, code = issue(PARCEL, RULES, previous=code)
    with pytest.raises(ReissueLimitReached):
        issue(PARCEL, RULES, previous=code)
