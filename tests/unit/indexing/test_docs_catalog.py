from __future__ import annotations

from collections.abc import Callable

import pytest

from ragkit.document import IndexWarning, RagDocument, SourceFile
from ragkit.indexing.docs.front_matter import read_front_matter
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.layers import ATTRIBUTES, Layer

Make = Callable[[str, str], SourceFile]

FULL = """\
---
ID: billing.refund
name: Refunds
doc-type: module
domain: Billing
subdomain: Refunds
status: draft
version: 1.10
tag: money, refund
authors:
  - name: Ann
  - Bob
links: [../a.md]
relations:
  calls_api: [POST /refunds]
  reads_db: payments
writesDb: [refunds]
emits: [RefundIssued]
description: How money goes back.
aliases: [money back, возврат]
---
# How refunds work

The first paragraph with a [link](b.md).
"""


def _row(docs: DocsIndexingPipeline, file: SourceFile) -> RagDocument:
    (row,) = [row for row in docs.index_file(file).rows if row.layer is Layer.D1_DOCUMENT_CATALOG]
    return row


def test_all_attributes_from_front_matter(docs: DocsIndexingPipeline, source: Make) -> None:
    row = _row(docs, source("docs/x.md", FULL))
    assert set(row.attributes) == {*ATTRIBUTES[Layer.D1_DOCUMENT_CATALOG], "declared"}
    assert row.attributes == {
        "module_id": "billing.refund",
        "type": "module",
        "domain": "Billing",
        "subdomain": "Refunds",
        "title": "Refunds",
        "status": "draft",
        "version": "1.10",
        "tags": ["money", "refund"],
        "owners": ["Ann", "Bob"],
        "links": ["../a.md"],
        "calls_api": ["POST /refunds"],
        "called_by": [],
        "uses_logic": [],
        "used_by": [],
        "reads_db": ["payments"],
        "writes_db": ["refunds"],
        "integrates_with": [],
        "emits_events": ["RefundIssued"],
        "consumes_events": [],
        "source_path": "docs/x.md",
        "summary_text": "How money goes back.",
        "declared": ["domain", "subdomain"],
    }
    assert (row.domain, row.subdomain) == ("billing", "refunds")
    assert row.names == ("Refunds", "billing.refund", "money back", "возврат")
    assert (row.line_start, row.line_end) == (22, 24)
    assert row.text == "# How refunds work\n\nThe first paragraph with a [link](b.md)."


def test_attributes_from_the_text(docs: DocsIndexingPipeline, source: Make) -> None:
    text = (
        "[![build](b.svg)](ci)\n\n# Orders & `carts` {#top}\n\n!!! note\n    Attention, please.\n\n"
        "Keeps **carts** of [users](u.md), see [site](https://example.org).\n\n## Flow\n\ntext\n"
    )
    row = _row(docs, source("docs/domains/Sales/orders/api/cart.md", text))
    assert row.title == "Orders & carts"
    assert row.attributes["summary_text"] == "Keeps carts of users, see site."
    assert row.attributes["links"] == ["ci", "u.md"]
    assert (row.attributes["domain"], row.domain, row.subdomain) == ("Sales", "sales", "orders")
    assert row.attributes["declared"] == []
    assert row.public_id == "docs/domains/Sales/orders/api/cart.md"
    assert row.context == "Orders & carts · orders api cart\nFlow"


@pytest.mark.parametrize(
    ("path", "domain", "subdomain"),
    [
        ("docs/api/orders.md", None, None),
        ("docs/domains/billing.md", None, None),
        ("docs/domains/billing/x.md", "billing", None),
        ("docs/domains/billing/logic/x.md", "billing", None),
        ("domains/billing/logic/refunds/x.md", "billing", "refunds"),
        ("architecture/domains/api/orders/x.md", "orders", None),
        ("docs/billing/refunds/x.md", "billing", "refunds"),
        ("docs/ru/docs/tutorial/security/x.md", "security", None),
        ("content/runbooks/kiln/x.md", "kiln", None),
        ("proposals/112-slots/README.md", None, None),
        (".github/x.md", None, None),
    ],
)
def test_domain_of_a_folder(
    docs: DocsIndexingPipeline, source: Make, path: str, domain: str | None, subdomain: str | None
) -> None:
    row = _row(docs, source(path, "# T\n"))
    assert (row.domain, row.subdomain) == (domain, subdomain)


def test_a_folder_subdomain_does_not_join_another_domain(docs: DocsIndexingPipeline, source: Make) -> None:
    row = _row(docs, source("docs/domains/billing/refunds/x.md", "---\ndomain: Sales\n---\n# T\n"))
    assert (row.domain, row.subdomain) == ("sales", None)


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("rfcs/0031-imports.md", "# Summary\n\nx\n\n# Motivation\n\ny\n", "0031 imports"),
        ("a.md", "# Summary\n\nx\n", "Summary"),
        ("a.md", "<h1 align=center>My <b>tool</b></h1>\n\ntext\n", "My tool"),
        ("a.md", "## Second\n\ntext\n", "Second"),
        ("guide/index.md", "only text\n", "guide index"),
        ("order_flow-v2.md", "only text\n", "order flow v2"),
        ("a.md", "Title\n=====\n", "Title"),
    ],
)
def test_title(docs: DocsIndexingPipeline, source: Make, path: str, text: str, title: str) -> None:
    assert _row(docs, source(path, text)).title == title


def test_front_matter_alone_is_shown(docs: DocsIndexingPipeline, source: Make) -> None:
    extraction = docs.index_file(source("a.md", "---\ntitle: T\n---\n"))
    assert [(row.layer, row.text) for row in extraction.rows] == [(Layer.D1_DOCUMENT_CATALOG, "---\ntitle: T\n---")]


def test_blank_document_has_no_rows(docs: DocsIndexingPipeline, source: Make) -> None:
    assert docs.index_file(source("a.md", "\n \n")).rows == ()


def test_invalid_front_matter_costs_itself_alone(docs: DocsIndexingPipeline, source: Make) -> None:
    extraction = docs.index_file(source("a.md", "---\ntitle: [a\nid: b\n---\n# Real\n\ntext\n"))
    (warning,) = extraction.warnings
    assert warning == IndexWarning(
        code="front_matter_invalid",
        path="a.md",
        line=3,
        params={"path": "a.md", "line": 3, "problem": "expected ',' or ']', but got ':'"},
    )
    assert [row.title for row in extraction.rows] == ["Real", "Real"]


BOMB = "a: &a [x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{f'*{chr(97 + n)},' * 9}]\n" for n in range(9))


@pytest.mark.parametrize(
    ("yaml", "line"),
    [
        (BOMB, 8),
        ("tags: &a [x, *a]\n", 2),
        ("a: " + "[" * 500 + "\n", 2),
        ("- a\n- b\n", 2),
        ("a: b\n\tc: d\n", 3),
        ("a" * 70_000, 2),
        ("a: 'b\n", 3),
        ("a: b\n[c]: d\n", 3),
    ],
)
def test_hostile_front_matter(yaml: str, line: int) -> None:
    front = read_front_matter(yaml, 0, yaml.count("\n") + 2)
    assert (dict(front.values), front.invalid_line) == ({}, line)


@pytest.mark.parametrize(
    ("yaml", "values"),
    [
        ("", {}),
        ("title: ~\nid: null\ntags: []\n", {}),
        ("version: 2024-02-31\nstatus: no\n", {"version": ("2024-02-31",), "status": ("no",)}),
        ("1: 2\ntitle: T\n", {"title": ("T",)}),
        ("tags: {a: b}\nowners: [[a]]\n", {}),
    ],
)
def test_odd_but_valid_front_matter(yaml: str, values: dict[str, tuple[str, ...]]) -> None:
    front = read_front_matter(yaml, 0, yaml.count("\n") + 2)
    assert dict(front.values) == values


def test_what_a_document_says_of_itself_under_its_title(docs: DocsIndexingPipeline, source: Make) -> None:
    text = (
        "# 7. Use it\n\n* Status: **accepted**, as [6](6.md) was\n* Deciders: Ann, Bob\n* Version: 2\n\nIt is good.\n"
    )
    attributes = _row(docs, source("adr/7.md", text)).attributes
    assert (attributes["status"], attributes["owners"], attributes["version"]) == ("accepted", ["Ann", "Bob"], "2")
    text = "# 8. Drop it\n\n## Status\n\nProposed\n\n## Context\n\nIt is bad for us.\n"
    assert _row(docs, source("adr/8.md", text)).attributes["status"] == "Proposed"
    text = "# Orders\n\nStatus: this page tells at length how an order changes its state.\n"
    assert _row(docs, source("a.md", text)).attributes["status"] is None


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (
            "# T\n\n## Checklist\n\nItems of a template here.\n\n## Summary\n\nWhat it is all about.\n",
            "What it is all about.",
        ),
        ("# T\n\nUnder the title it is.\n\n## Summary\n\nWhat it is all about.\n", "Under the title it is."),
        ("# T\n\nWhat it is all about. {: .lead }\n", "What it is all about."),
        ("# T\n\n*A pattern of our own guide*\n\nWhat it is all about.\n", "What it is all about."),
        ("# T\n\nA pattern of our guide\n\nWhat it is all about.\n", "What it is all about."),
        ("# T\n\nA pattern of our guide\n\n## More\n\nWhat it is all about.\n", "A pattern of our guide"),
        ("# T\n\n**Table of contents**\n\nWhat it is all about.\n", "What it is all about."),
        ("# T\n\n## One\n\nThe first that comes.\n\n## Two\n\nThe second one.\n", "The first that comes."),
        (
            "# T\n\n**Documentation**: <https://example.org/docs/of/it>\n\nA tool for all of us.\n",
            "A tool for all of us.",
        ),
    ],
)
def test_summary(docs: DocsIndexingPipeline, source: Make, text: str, summary: str) -> None:
    assert _row(docs, source("a.md", text)).attributes["summary_text"] == summary


def test_owners_are_names_and_aliases_no_addresses(docs: DocsIndexingPipeline, source: Make) -> None:
    text = "---\nauthors:\n  - name: Ann\n    url: https://x.org\naliases: [/old/, cart]\nстатус: готово\n---\n# T\n"
    row = _row(docs, source("a.md", text))
    assert (row.attributes["owners"], row.names, row.attributes["status"]) == (["Ann"], ("T", "cart"), "готово")
