"""Paired tests against values worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.statistics import bootstrap_interval, compare, effect_size, holm, randomisation_p


def test_three_equal_gains_have_a_quarter() -> None:
    # 8 sign patterns; as far from zero as +3: +++ and ---. 2 / 8.
    assert randomisation_p(np.array([1.0, 1.0, 1.0])) == pytest.approx(0.25)


def test_zero_differences_take_no_part() -> None:
    assert randomisation_p(np.array([1.0, 0.0, 1.0, 0.0, 1.0])) == pytest.approx(0.25)
    assert randomisation_p(np.zeros(20)) == 1.0


def test_mixed_signs_by_hand() -> None:
    # Differences 3, -1: sums of the 4 patterns are 4, 2, -2, -4; observed 2, so all 4 are as far: p = 1.
    assert randomisation_p(np.array([3.0, -1.0])) == pytest.approx(1.0)
    # 3, 1: sums 4, 2, -2, -4; observed 4: p = 2 / 4.
    assert randomisation_p(np.array([3.0, 1.0])) == pytest.approx(0.5)


def test_many_equal_gains_are_more_than_chance() -> None:
    assert randomisation_p(np.ones(30)) < 0.001


@given(st.lists(st.floats(-1, 1, allow_nan=False), min_size=1, max_size=40))
def test_p_is_a_probability_and_symmetric(values: list[float]) -> None:
    differences = np.array(values)
    p = randomisation_p(differences)
    assert 0 < p <= 1
    assert randomisation_p(-differences) == pytest.approx(p)


def test_holm_by_hand() -> None:
    # Sorted: .01 × 3 = .03, .02 × 2 = .04, .04 × 1 = .04.
    assert holm({"a": 0.04, "b": 0.01, "c": 0.02}) == pytest.approx({"b": 0.03, "c": 0.04, "a": 0.04})
    # A later value never falls below an earlier one, and none exceeds 1.
    assert holm({"a": 0.5, "b": 0.4}) == pytest.approx({"b": 0.8, "a": 0.8})
    assert holm({"a": 0.9, "b": 0.8}) == pytest.approx({"a": 1.0, "b": 1.0})


def test_the_interval_holds_the_mean_and_repeats() -> None:
    values = np.array([0.0, 0.5, 1.0, 1.0, 0.25, 0.75])
    low, high = bootstrap_interval(values)
    assert low < values.mean() < high
    assert bootstrap_interval(values) == (low, high)
    assert bootstrap_interval(np.array([0.3])) == (0.3, 0.3)
    assert bootstrap_interval(np.array([0.3, 0.3, 0.3])) == pytest.approx((0.3, 0.3))


def test_effect_size_by_hand() -> None:
    # Mean 2, standard deviation of 1, 2, 3 is 1.
    assert effect_size(np.array([1.0, 2.0, 3.0])) == pytest.approx(2.0)
    assert effect_size(np.array([1.0, 1.0])) == 0.0


def test_verdicts() -> None:
    ids = [str(n) for n in range(30)]
    zero, one = dict.fromkeys(ids, 0.0), dict.fromkeys(ids, 1.0)
    assert [d.verdict for d in compare({"m": zero}, {"m": one})] == ["better"]
    assert [d.verdict for d in compare({"m": one}, {"m": zero})] == ["worse"]
    assert [d.verdict for d in compare({"m": one}, {"m": one})] == ["no_difference"]
    few = {key: 0.0 for key in ids[:5]}
    assert [d.verdict for d in compare({"m": few}, {"m": dict.fromkeys(few, 1.0)})] == ["not_enough"]
    wavering = {key: float(place % 2) for place, key in enumerate(ids)}
    swapped = {key: float((place + 1) % 2) for place, key in enumerate(ids)}
    assert [d.verdict for d in compare({"m": wavering}, {"m": swapped})] == ["not_enough"]


def test_only_shared_questions_are_paired() -> None:
    (found,) = compare({"m": {"a": 1.0, "b": 0.0}}, {"m": {"b": 1.0, "c": 1.0}})
    assert (found.n, found.mean_a, found.mean_b, found.delta) == (1, 0.0, 1.0, 1.0)
    assert compare({"m": {"a": 1.0}}, {"m": {"b": 1.0}}) == ()
