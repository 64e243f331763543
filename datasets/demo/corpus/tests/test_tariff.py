"""Monthly invoices by the rates of 2024."""

from __future__ import annotations

from datetime import date

from posterna.domain.merchant import Merchant, TariffPlan
from posterna.domain.parcel import Dimensions, ParcelState
from posterna.domain.tariff import BillableParcel, make_invoice
from posterna.jobs.close_billing_period import previous_month

FLAT = Dimensions(height_mm=80, width_mm=200, depth_mm=300, weight_g=900)
TALL = Dimensions(height_mm=390, width_mm=390, depth_mm=590, weight_g=9_000)


def collected(dimensions: Dimensions, count: int) -> list[BillableParcel]:
    return [BillableParcel(dimensions=dimensions, state=ParcelState.COLLECTED)] * count


def test_fee_depends_on_the_size_that_the_parcel_needs() -> None:
    invoice = make_invoice(collected(FLAT, 100) + collected(TALL, 10), TariffPlan.BASE)
    assert invoice.storage == 100 * 3900 + 10 * 6900
    assert invoice.top_up == 0


def test_minimum_is_reached_by_a_top_up() -> None:
    invoice = make_invoice(collected(FLAT, 2), TariffPlan.BASE)
    assert invoice.total == 150_000


def test_month_without_parcels_costs_nothing() -> None:
    assert make_invoice([], TariffPlan.BASE).total == 0


def test_discount_leaves_returns_and_abandoned_reservations_alone() -> None:
    parcels = [
        *collected(FLAT, 100),
        BillableParcel(dimensions=FLAT, state=ParcelState.RETURNED),
        BillableParcel(dimensions=FLAT, state=ParcelState.CANCELLED, abandoned=True),
        BillableParcel(dimensions=FLAT, state=ParcelState.CANCELLED),
    ]
    invoice = make_invoice(parcels, TariffPlan.VOLUME)
    assert invoice.discount == 101 * 3900 * 12 // 100
    assert (invoice.returns, invoice.abandoned) == (2500, 1000)


def test_compensation_can_turn_the_total_negative() -> None:
    assert make_invoice(collected(FLAT, 50), TariffPlan.BASE, claims=900_000).total < 0


def test_three_thousand_parcels_earn_the_volume_plan() -> None:
    merchant = Merchant(merchant_id="m", title="Книжный двор", contract_no="17/24", billing_email="b@shop.example")
    assert merchant.with_plan_for(2999).plan is TariffPlan.BASE
    assert merchant.with_plan_for(3000).plan is TariffPlan.VOLUME


def test_previous_month_over_new_year() -> None:
    assert previous_month(date(2024, 1, 1)) == (date(2023, 12, 1), date(2024, 1, 1))
