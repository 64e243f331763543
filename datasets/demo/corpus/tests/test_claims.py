"""Claims: the window after the deposit, two approvers for large sums, one way through the states."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from posterna.domain.claim import CLAIM_TRANSITIONS, Claim, ClaimKind, ClaimRules, ClaimState, open_claim
from posterna.domain.parcel import Dimensions, Parcel, ParcelState
from posterna.errors import ClaimAmountExceeded, ClaimStateConflict, ClaimTooLate, ParcelStateConflict

NOW = datetime(2024, 3, 14, 12, 0, tzinfo=UTC)
RULES = ClaimRules(window=timedelta(days=10), decision_term=timedelta(days=7), max_kopecks=1_500_000)


def parcel(stored_at: datetime | None) -> Parcel:
    return Parcel(
        parcel_id=UUID(int=1),
        merchant_id="knizhny-dvor",
        merchant_ref="KD-1001",
        locker_code="PL-0417",
        cell_no=7,
        dimensions=Dimensions(height_mm=80, width_mm=200, depth_mm=300, weight_g=900),
        phone_tail="1234",
        state=ParcelState.RESERVED if stored_at is None else ParcelState.COLLECTED,
        reserved_until=NOW,
        stored_at=stored_at,
    )


def opened(amount: int = 400_000, stored_at: datetime | None = NOW - timedelta(days=2)) -> Claim:
    return open_claim(UUID(int=9), parcel(stored_at), ClaimKind.DAMAGED, amount, NOW, RULES)


def in_review(amount: int = 400_000) -> Claim:
    return opened(amount).move_to(ClaimState.REVIEW)


def test_decision_is_due_in_seven_days() -> None:
    assert opened().decide_by == NOW + timedelta(days=7)


def test_tenth_day_after_the_deposit_is_still_in_time() -> None:
    assert opened(stored_at=NOW - timedelta(days=10)).state is ClaimState.OPEN


def test_later_than_ten_days_is_refused() -> None:
    with pytest.raises(ClaimTooLate):
        opened(stored_at=NOW - timedelta(days=10, seconds=1))


def test_parcel_that_never_reached_a_cell_gives_no_claim() -> None:
    with pytest.raises(ParcelStateConflict):
        opened(stored_at=None)


def test_ceiling_of_compensation() -> None:
    with pytest.raises(ClaimAmountExceeded):
        opened(amount=1_500_001)


def test_small_sum_needs_one_approver() -> None:
    assert in_review().approve(499_999 - 100_000, "e-17", "видео подтверждает").state is ClaimState.APPROVED


def test_large_sum_waits_for_a_second_person() -> None:
    once = in_review(900_000).approve(500_000, "e-17", "коробка смята")
    assert once.state is ClaimState.REVIEW
    assert once.approve(500_000, "e-21", "согласна").state is ClaimState.APPROVED


def test_nobody_consents_twice() -> None:
    once = in_review(900_000).approve(500_000, "e-17", "коробка смята")
    with pytest.raises(ClaimStateConflict):
        once.approve(500_000, "e-17", "ещё раз")


def test_cannot_grant_more_than_was_asked() -> None:
    with pytest.raises(ClaimAmountExceeded):
        in_review(100_000).approve(100_001, "e-17", "щедро")


@pytest.mark.parametrize("state", [ClaimState.APPROVED, ClaimState.REJECTED, ClaimState.PAID])
def test_decided_claim_cannot_be_withdrawn(state: ClaimState) -> None:
    assert ClaimState.WITHDRAWN not in CLAIM_TRANSITIONS[state]
