from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragkit.document import RagDocument, SourceFile
from ragkit.indexing.docs.d0_chunks import PASSAGE
from ragkit.indexing.docs.outline import slug
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.passages import Lines
from ragkit.layers import ATTRIBUTES, Layer

Make = Callable[[str, str], SourceFile]

PAGE = """\
---
id: parcels.storage
title: Parcel storage
domain: Logistics
tags: [parcels, storage]
---
# Storage

A parcel is kept for seven days.

## Rules

Weight at most 30 kg.

```sh
# not a heading
ls
```

### Exceptions { #odd-cases .note }

| size | days |
| --- | --- |
| L | 3 |

## Empty

## Rules

Again.
"""


def _chunks(docs: DocsIndexingPipeline, file: SourceFile) -> list[RagDocument]:
    return [row for row in docs.index_file(file).rows if row.layer is Layer.D0_DOC_CHUNKS]


def test_sections_of_a_page(docs: DocsIndexingPipeline, source: Make) -> None:
    rows = _chunks(docs, source("docs/storage.md", PAGE))
    assert [(row.public_id, row.line_start, row.line_end, row.title) for row in rows] == [
        ("docs/storage.md#storage", 7, 9, "Storage"),
        ("docs/storage.md#storage/rules", 11, 18, "Rules"),
        ("docs/storage.md#storage/rules/odd-cases", 20, 24, "Exceptions"),
        ("docs/storage.md#storage/rules~2", 28, 30, "Rules"),
    ]
    assert rows[2].text == "### Exceptions { #odd-cases .note }\n\n| size | days |\n| --- | --- |\n| L | 3 |"
    assert rows[2].context == "Parcel storage › Storage › Rules › Exceptions"
    assert [(row.domain, row.subdomain, row.lang, row.is_test) for row in rows] == [
        ("logistics", None, "en", False)
    ] * 4


def test_attributes_are_those_of_the_layer(docs: DocsIndexingPipeline, source: Make) -> None:
    row = _chunks(docs, source("docs/storage.md", PAGE))[1]
    assert set(row.attributes) == set(ATTRIBUTES[Layer.D0_DOC_CHUNKS]) - {"content", "embedding"}
    assert row.attributes == {
        "chunk_id": "docs/storage.md#storage/rules",
        "module_id": "parcels.storage",
        "section_path": "Storage > Rules",
        "section_title": "Rules",
        "source_path": "docs/storage.md",
        "order": 1,
        "tags": ["parcels", "storage"],
        "domain": "Logistics",
        "type": None,
    }


def test_later_passages_of_a_section_are_told_by_their_lines(docs: DocsIndexingPipeline, source: Make) -> None:
    paragraph = "word " * 70
    rows = _chunks(docs, source("a.md", f"# T\n\n{paragraph}\n\n{paragraph}\n"))
    assert [row.public_id for row in rows] == ["a.md#t", "a.md#t:L5-L5"]


def test_text_before_the_first_heading_is_told_by_its_lines(docs: DocsIndexingPipeline, source: Make) -> None:
    assert [row.public_id for row in _chunks(docs, source("a.md", "Preamble.\n\n# T\n\ntext\n"))] == [
        "a.md:L1-L1",
        "a.md#t",
    ]


def test_path_words_that_the_title_lacks_are_context(docs: DocsIndexingPipeline, source: Make) -> None:
    (row,) = _chunks(docs, source("docs/billing/refund_policy.md", "# Возврат денег\n\nДеньги возвращаются сразу.\n"))
    assert row.context == "Возврат денег · billing refund policy"
    assert row.lang == "ru"


def test_a_table_longer_than_a_passage_is_torn_between_rows(docs: DocsIndexingPipeline, source: Make) -> None:
    table = "| code | meaning |\n| --- | --- |\n" + "".join(f"| E{n} | some short words here |\n" for n in range(60))
    rows = _chunks(docs, source("errors.md", f"# Errors\n\n{table}"))
    assert len(rows) > 1
    assert {row.context for row in rows[1:]} == {"Errors\ncode | meaning"}
    assert all(line.startswith(("|", "#")) for row in rows for line in row.text.split("\n") if line)


def test_a_long_list_is_torn_between_items(docs: DocsIndexingPipeline, source: Make) -> None:
    item = "- " + "word " * 30 + "\n  more of the item\n"
    rows = _chunks(docs, source("a.md", f"# T\n\n{item * 6}"))
    assert all(row.text.rstrip().endswith("more of the item") for row in rows)


def test_a_long_line_is_cut_and_told(docs: DocsIndexingPipeline, source: Make) -> None:
    extraction = docs.index_file(source("a.md", "# T\n\n" + "word " * 500 + "\n"))
    chunks = extraction.rows[:-1]
    assert [(warning.code, warning.line) for warning in extraction.warnings] == [("long_line", 3)]
    assert [row.public_id for row in chunks[:4]] == ["a.md#t", "a.md#t:L3-L3", "a.md#t:L3-L3~2", "a.md#t:L3-L3~3"]
    assert "".join(row.text for row in chunks[1:]) == "word " * 500


def test_headings_in_quotes_fences_and_comments_are_none(docs: DocsIndexingPipeline, source: Make) -> None:
    text = "# T\n\n> # quoted\n\n~~~\n# fenced\n~~~\n\n<!--\n# commented\n-->\n\n    # indented\n"
    assert [row.public_id for row in _chunks(docs, source("a.md", text))] == ["a.md#t"]


def test_a_section_that_is_only_a_comment_is_no_row(docs: DocsIndexingPipeline, source: Make) -> None:
    assert [row.title for row in _chunks(docs, source("a.md", "# T\n\n<!-- made by hand -->\n\n## S\n\ntext\n"))] == [
        "S"
    ]


def test_a_document_of_headings_alone_still_has_rows(docs: DocsIndexingPipeline, source: Make) -> None:
    assert [row.title for row in _chunks(docs, source("a.md", "# One\n\n## Two\n"))] == ["One", "Two"]


RST = """\
.. _label:

==========
User guide
==========

Reads ``orders`` with :func:`fetch <app.fetch>` every day.

Install
-------

Run this::

    Title
    -----

Options
~~~~~~~

- a

Use
---
text
"""


def test_sections_of_restructured_text(docs: DocsIndexingPipeline, source: Make) -> None:
    extraction = docs.index_file(source("doc/guide.rst", RST))
    assert [(row.public_id, row.line_start, row.line_end) for row in extraction.rows] == [
        ("doc/guide.rst:L1-L1", 1, 1),
        ("doc/guide.rst#user-guide", 3, 7),
        ("doc/guide.rst#user-guide/install", 9, 15),
        ("doc/guide.rst#user-guide/install/options", 17, 20),
        ("doc/guide.rst#user-guide/use", 22, 24),
        ("doc/guide.rst", 3, 7),
    ]
    assert extraction.rows[-1].attributes["summary_text"] == "Reads orders with fetch every day."


def test_plain_text(docs: DocsIndexingPipeline, source: Make) -> None:
    rows = docs.index_file(source("LICENSE", "MIT License\n\nPermission is hereby granted to anyone.\n")).rows
    assert [(row.layer, row.public_id, row.title) for row in rows] == [
        (Layer.D0_DOC_CHUNKS, "LICENSE:L1-L3", "MIT License"),
        (Layer.D1_DOCUMENT_CATALOG, "LICENSE", "MIT License"),
    ]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Hello, World!", "hello-world"),
        ("  Как это  работает? ", "как-это-работает"),
        ("GET /api/orders", "get-apiorders"),
        ("snake_case - and kebab-case", "snake_case-and-kebab-case"),
        ("!!!", "section"),
    ],
)
def test_slug(title: str, expected: str) -> None:
    assert slug(title) == expected


PIECES = [
    "# A", "## B", "text of a paragraph", "- item", "  - inner", "> quote", "```", "| a | b |", "| - | - |", "", "",
    "    code", "<div>", "***", "---", "===", "1. one", "[r]: x", "word " * 200, "x" * 5000, "{% if a %}", "\\",
]  # fmt: skip
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=40).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(st.one_of(MARKDOWN, st.text(st.characters(exclude_characters="\r"), max_size=300)))
@example("---\na: [\n---\n# T\n")
@example("- a\n\n  ```\n  x\n")
def test_every_passage_is_its_lines_and_no_line_is_lost(docs: DocsIndexingPipeline, source: Make, text: str) -> None:
    for path in ["a.md", "a.rst", "a.txt"]:
        extraction = docs.index_file(source(path, text))
        lines = Lines(text)
        assert extraction == docs.index_file(source(path, text))
        assert len({row.public_id for row in extraction.rows}) == len(extraction.rows)
        for row in extraction.rows:
            exact = lines.text(row.line_start - 1, row.line_end)
            assert row.text == exact or (row.line_start == row.line_end and row.text in exact)
            assert 1 <= row.line_start <= row.line_end <= len(lines)
            assert (
                lines.words(row.line_start - 1, row.line_end) <= PASSAGE.words + PASSAGE.slack_words
                or row.text != exact
            )
