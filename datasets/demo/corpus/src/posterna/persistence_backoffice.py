"""Storage of the back office: partners, webhooks, claims, invoices, and the deletion of old personal data.

Kept apart from ``posterna.persistence`` because nothing here takes part in a transaction that opens a door.
Схема таблиц: docs/architecture/data-model.md.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Protocol
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from posterna.domain.claim import Claim, ClaimKind, ClaimState
from posterna.domain.merchant import Merchant, MerchantStatus, TariffPlan
from posterna.domain.parcel import Dimensions, ParcelState
from posterna.domain.tariff import BillableParcel, Invoice
from posterna.domain.webhook import Delivery, Webhook, WebhookStatus
from posterna.errors import MerchantSuspended

Row = dict[str, Any]
Connection = psycopg.Connection[Row]


class MerchantRepository(Protocol):
    """Contracts with partners."""

    def get(self, merchant_id: str) -> Merchant:
        """Raises: MerchantSuspended for an unknown partner: the gateway let a dead token through."""
        ...

    def all(self) -> list[Merchant]: ...

    def save_plan(self, merchant: Merchant) -> None: ...


class ClaimRepository(Protocol):
    """Claims by id and by parcel."""

    def find(self, claim_id: UUID) -> Claim | None: ...

    def unfinished(self, parcel_id: UUID) -> Claim | None:
        """The claim in OPEN or REVIEW, if there is one."""
        ...

    def approved(self, merchant_id: str, before: date) -> list[Claim]:
        """APPROVED claims decided before the day, oldest first."""
        ...

    def save(self, claim: Claim) -> None: ...


class WebhookRepository(Protocol):
    """Subscriptions and the deliveries that wait for them."""

    def find(self, webhook_id: UUID) -> Webhook | None: ...

    def of_merchant(self, merchant_id: str) -> list[Webhook]: ...

    def save(self, webhook: Webhook) -> None:
        """Saving a disabled subscription gives its waiting deliveries up."""
        ...

    def due(self, now: datetime, limit: int) -> list[Delivery]:
        """Deliveries of active subscriptions whose time has come, locked with SKIP LOCKED."""
        ...

    def finish(self, delivery_id: UUID, *, delivered: bool) -> None: ...

    def reschedule(self, delivery_id: UUID, at: datetime) -> None:
        """Try again at ``at``; the count of attempts grows by one."""
        ...


class BillingRepository(Protocol):
    """What the monthly closing reads and writes."""

    def billable(self, merchant_id: str, first: date, after: date) -> list[BillableParcel]:
        """Parcels that reached a final state on ``first`` or later and before ``after``."""
        ...

    def has_invoice(self, merchant_id: str, first: date) -> bool: ...

    def add_invoice(self, merchant_id: str, first: date, invoice: Invoice) -> None: ...


class RetentionRepository(Protocol):
    """Deletion by age; each method says how many rows it changed."""

    def delete_codes(self, before: datetime) -> int: ...

    def anonymise_parcels(self, before: datetime) -> int: ...


class SqlMerchantRepository:
    """Table ``merchants``."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, merchant_id: str) -> Merchant:
        row = self._connection.execute(
            f"SELECT {_MERCHANT} FROM merchants WHERE merchant_id = %(id)s", {"id": merchant_id}
        ).fetchone()
        if row is None:
            raise MerchantSuspended("no such contract", status="UNKNOWN")
        return _merchant(row)

    def all(self) -> list[Merchant]:
        return [_merchant(row) for row in self._connection.execute(f"SELECT {_MERCHANT} FROM merchants ORDER BY 1")]

    def save_plan(self, merchant: Merchant) -> None:
        self._connection.execute(
            "UPDATE merchants SET plan = %(plan)s WHERE merchant_id = %(id)s",
            {"plan": merchant.plan.value, "id": merchant.merchant_id},
        )


_MERCHANT = "merchant_id, title, contract_no, billing_email, status, plan"


def _merchant(row: Row) -> Merchant:
    return Merchant(**{**row, "status": MerchantStatus(row["status"]), "plan": TariffPlan(row["plan"])})


class SqlClaimRepository:
    """Table ``claims``; a partial unique index allows one unfinished claim a parcel."""

    _COLUMNS = (
        "claim_id, parcel_id, merchant_id, kind, amount_kopecks, decide_by, state, approved_kopecks, approvers, comment"
    )

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, claim_id: UUID) -> Claim | None:
        return self._one("claim_id = %(id)s", claim_id)

    def unfinished(self, parcel_id: UUID) -> Claim | None:
        return self._one("parcel_id = %(id)s AND state IN ('OPEN', 'REVIEW')", parcel_id)

    def approved(self, merchant_id: str, before: date) -> list[Claim]:
        rows = self._connection.execute(
            f"SELECT {self._COLUMNS} FROM claims WHERE merchant_id = %(id)s AND state = 'APPROVED'"
            " AND decided_at < %(before)s ORDER BY decided_at",
            {"id": merchant_id, "before": before},
        )
        return [_claim(row) for row in rows]

    def save(self, claim: Claim) -> None:
        self._connection.execute(
            """
            INSERT INTO claims (claim_id, parcel_id, merchant_id, kind, amount_kopecks, decide_by, state,
                                approved_kopecks, approvers, comment)
            VALUES (%(claim_id)s, %(parcel_id)s, %(merchant_id)s, %(kind)s, %(amount)s, %(decide_by)s, %(state)s,
                    %(approved)s, %(approvers)s, %(comment)s)
            ON CONFLICT (claim_id) DO UPDATE
               SET state = excluded.state, approved_kopecks = excluded.approved_kopecks,
                   approvers = excluded.approvers, comment = excluded.comment,
                   decided_at = CASE WHEN excluded.state IN ('APPROVED', 'REJECTED') THEN now()
                                     ELSE claims.decided_at END
            """,
            {
                "claim_id": claim.claim_id,
                "parcel_id": claim.parcel_id,
                "merchant_id": claim.merchant_id,
                "kind": claim.kind.value,
                "amount": claim.amount_kopecks,
                "decide_by": claim.decide_by,
                "state": claim.state.value,
                "approved": claim.approved_kopecks,
                "approvers": list(claim.approvers),
                "comment": claim.comment,
            },
        )

    def _one(self, condition: str, value: UUID) -> Claim | None:
        row = self._connection.execute(
            f"SELECT {self._COLUMNS} FROM claims WHERE {condition} FOR UPDATE".encode(), {"id": value}
        ).fetchone()
        return None if row is None else _claim(row)


def _claim(row: Row) -> Claim:
    known = {"kind": ClaimKind(row["kind"]), "state": ClaimState(row["state"]), "approvers": tuple(row["approvers"])}
    return Claim(**{**row, **known})


class SqlWebhookRepository:
    """Tables ``webhooks`` and ``webhook_deliveries``; deliveries are created by ``SqlUnitOfWork.emit``."""

    _COLUMNS = (
        "webhook_id, merchant_id, url, event_types, secret, previous_secret, previous_secret_until, status,"
        " failures_in_a_row"
    )

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, webhook_id: UUID) -> Webhook | None:
        row = self._connection.execute(
            f"SELECT {self._COLUMNS} FROM webhooks WHERE webhook_id = %(id)s FOR UPDATE", {"id": webhook_id}
        ).fetchone()
        return None if row is None else _webhook(row)

    def of_merchant(self, merchant_id: str) -> list[Webhook]:
        rows = self._connection.execute(
            f"SELECT {self._COLUMNS} FROM webhooks WHERE merchant_id = %(id)s ORDER BY created_at", {"id": merchant_id}
        )
        return [_webhook(row) for row in rows]

    def save(self, webhook: Webhook) -> None:
        self._connection.execute(
            """
            INSERT INTO webhooks (webhook_id, merchant_id, url, event_types, secret, previous_secret,
                                  previous_secret_until, status, failures_in_a_row)
            VALUES (%(webhook_id)s, %(merchant_id)s, %(url)s, %(event_types)s, %(secret)s, %(previous)s, %(until)s,
                    %(status)s, %(failures)s)
            ON CONFLICT (webhook_id) DO UPDATE
               SET secret = excluded.secret, previous_secret = excluded.previous_secret,
                   previous_secret_until = excluded.previous_secret_until, status = excluded.status,
                   failures_in_a_row = excluded.failures_in_a_row
            """,
            {
                "webhook_id": webhook.webhook_id,
                "merchant_id": webhook.merchant_id,
                "url": webhook.url,
                "event_types": sorted(webhook.event_types),
                "secret": webhook.secret,
                "previous": webhook.previous_secret,
                "until": webhook.previous_secret_until,
                "status": webhook.status.value,
                "failures": webhook.failures_in_a_row,
            },
        )
        if webhook.status is WebhookStatus.DISABLED:
            self._connection.execute(
                "UPDATE webhook_deliveries SET finished_at = now(), delivered = false"
                " WHERE webhook_id = %(id)s AND finished_at IS NULL",
                {"id": webhook.webhook_id},
            )

    def due(self, now: datetime, limit: int) -> list[Delivery]:
        rows = self._connection.execute(
            """
            SELECT d.delivery_id, d.webhook_id, d.event_type, d.body, d.attempts
              FROM webhook_deliveries d JOIN webhooks w USING (webhook_id)
             WHERE d.finished_at IS NULL AND d.next_attempt_at <= %(now)s AND w.status = 'ACTIVE'
             ORDER BY d.seq LIMIT %(limit)s FOR UPDATE OF d SKIP LOCKED
            """,
            {"now": now, "limit": limit},
        )
        return [Delivery(**row) for row in rows]

    def finish(self, delivery_id: UUID, *, delivered: bool) -> None:
        self._connection.execute(
            "UPDATE webhook_deliveries SET finished_at = now(), delivered = %(delivered)s WHERE delivery_id = %(id)s",
            {"delivered": delivered, "id": delivery_id},
        )

    def reschedule(self, delivery_id: UUID, at: datetime) -> None:
        self._connection.execute(
            "UPDATE webhook_deliveries SET attempts = attempts + 1, next_attempt_at = %(at)s"
            " WHERE delivery_id = %(id)s",
            {"at": at, "id": delivery_id},
        )


def _webhook(row: Row) -> Webhook:
    known = {"event_types": frozenset(row["event_types"]), "status": WebhookStatus(row["status"])}
    return Webhook(**{**row, **known})


class SqlBillingRepository:
    """Tables ``parcels`` and ``invoices``; an invoice is unique by partner and month."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def billable(self, merchant_id: str, first: date, after: date) -> list[BillableParcel]:
        rows = self._connection.execute(
            """
            SELECT height_mm, width_mm, depth_mm, weight_g, state,
                   state = 'CANCELLED' AND finished_at >= reserved_until AS abandoned
              FROM parcels
             WHERE merchant_id = %(id)s AND finished_at >= %(first)s AND finished_at < %(after)s
            """,
            {"id": merchant_id, "first": first, "after": after},
        )
        return [_billable(row) for row in rows]

    def has_invoice(self, merchant_id: str, first: date) -> bool:
        row = self._connection.execute(
            "SELECT 1 FROM invoices WHERE merchant_id = %(id)s AND month = %(first)s",
            {"id": merchant_id, "first": first},
        ).fetchone()
        return row is not None

    def add_invoice(self, merchant_id: str, first: date, invoice: Invoice) -> None:
        lines = {
            "storage": invoice.storage,
            "discount": invoice.discount,
            "returns": invoice.returns,
            "abandoned": invoice.abandoned,
            "claims": invoice.claims,
            "top_up": invoice.top_up,
        }
        self._connection.execute(
            "INSERT INTO invoices (merchant_id, month, lines, total_kopecks)"
            " VALUES (%(id)s, %(first)s, %(lines)s, %(total)s)",
            {"id": merchant_id, "first": first, "lines": Jsonb(lines), "total": invoice.total},
        )


def _billable(row: Row) -> BillableParcel:
    sides = {name: row[name] for name in ("height_mm", "width_mm", "depth_mm", "weight_g")}
    return BillableParcel(dimensions=Dimensions(**sides), state=ParcelState(row["state"]), abandoned=row["abandoned"])


class SqlRetentionRepository:
    """Deletes and blanks personal data that is too old. Правила: docs/policies/personal-data.md."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def delete_codes(self, before: datetime) -> int:
        return self._connection.execute(
            "DELETE FROM pickup_codes WHERE status IN ('USED', 'REVOKED') AND changed_at < %(before)s",
            {"before": before},
        ).rowcount

    def anonymise_parcels(self, before: datetime) -> int:
        return self._connection.execute(
            """
            UPDATE parcels SET phone_tail = '0000', merchant_ref = parcel_id::text
             WHERE finished_at < %(before)s AND phone_tail <> '0000'
            """,
            {"before": before},
        ).rowcount
