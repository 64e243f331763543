from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.document import Extraction, SourceFile
from ragkit.indexing.docs.pieces import Definition, Fence, ItemList, Paragraph, Table
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.docs.rst import read_rst, rst_parts
from ragkit.indexing.docs.rst_states import MAX_DEPTH
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]

PAGE = """\
:Author: Nadia Orlova, Piet
:Status: stable

Parcels
=======

Keeps a parcel for *seven* days,
see :doc:`the rates </rates>`::

    not a title
    ===========

Steps to return
---------------

1. Open the cell.
2. Scan the code:

   .. code-block:: sh

      scan 7

   - twice

3. Close it.

.. note:: A cell has
   two locks.

   .. unheard-of:: thing
      :opt: 1

      Text of it.

cell
    Where a parcel lies.

    Has a door.
lock : part
    Shuts.

.. option:: --force

   Opens at once.
"""


def _pieces(text: str) -> list[object]:
    return [piece for part in rst_parts(read_rst(text)) for piece in part.pieces]


def test_pieces_of_a_page_have_their_lines() -> None:
    found = _pieces(PAGE)
    assert [(type(piece).__name__, piece.start + 1, piece.end) for piece in found] == [  # pyright: ignore
        ("Definition", 1, 1),
        ("Definition", 2, 2),
        ("Paragraph", 7, 8),
        ("Fence", 10, 11),
        ("ItemList", 16, 25),
        ("Paragraph", 27, 28),
        ("Paragraph", 33, 33),
        ("Definition", 35, 38),
        ("Definition", 39, 40),
        ("Definition", 42, 44),
    ]
    steps = found[4]
    assert isinstance(steps, ItemList)
    assert steps.is_ordered
    assert [(item.text, item.lead, item.start + 1, item.end) for item in steps.items] == [
        ("Open the cell.", "Open the cell.", 16, 16),
        ("Scan the code: twice", "Scan the code:", 17, 23),
        ("Close it.", "Close it.", 25, 25),
    ]
    assert isinstance(found[5], Paragraph)
    assert found[5].text == "A cell has two locks."
    definitions = [(piece.term, piece.text) for piece in found if isinstance(piece, Definition)][2:]
    assert definitions == [
        ("cell", "Where a parcel lies. Has a door."),
        ("lock", "Shuts."),
        ("--force", "Opens at once."),
    ]


def test_outline_of_a_page() -> None:
    outline = read_rst(PAGE)
    assert [section.headings for section in outline.sections] == [(), ("Parcels",), ("Parcels", "Steps to return")]
    assert outline.front_matter.all("owners") == ["Nadia Orlova", "Piet"]
    assert outline.front_matter.first("status") == "stable"
    assert outline.front_matter.lines == (0, 2)
    assert outline.summary == "Keeps a parcel for seven days, see the rates::"
    assert outline.links == ("/rates",)
    assert outline.unread == ()


def test_fields_below_the_title_and_meta_are_front_matter_too() -> None:
    outline = read_rst("T\n=\n\n.. meta::\n   :keywords: a, b\n\n:Version: 2\n\nText.\n\n:Later: x\n")
    assert outline.front_matter.all("tags") == ["a", "b"]
    assert outline.front_matter.first("version") == "2"


TABLES = """\
+------+-------+
| name | days  |
+======+=======+
| S    | 3     |
| XS   |       |
+------+-------+
| L    | 7     |
+------+-------+

=====  ====
name   days
=====  ====
S      3
L      7
       days
=====  ====

.. list-table:: Sizes
   :header-rows: 1

   * - name
     - days
   * - S
     - 3 of
       them
   * - L
     - 7

.. csv-table::
   :header: name, days

   S, 3
   "L", "7,
   or so"

.. csv-table::
   :file: /etc/passwd

.. table:: Wrapped

   ====  ====
   a     b
   c     d
   ====  ====
"""


def test_tables_of_every_form() -> None:
    tables = [piece for piece in _pieces(TABLES) if isinstance(piece, Table)]
    assert [(table.header, table.start + 1, table.end) for table in tables] == [
        (("name", "days"), 1, 8),
        (("name", "days"), 10, 16),
        (("name", "days"), 18, 27),
        (("name", "days"), 29, 34),
        (("", ""), 41, 44),
    ]
    assert [[(row.cells, row.line + 1) for row in table.rows] for table in tables] == [
        [(("S XS", "3"), 4), (("L", "7"), 7)],
        [(("S", "3"), 13), (("L", "7 days"), 14)],
        [(("S", "3 of them"), 23), (("L", "7"), 26)],
        [(("S", "3"), 32), (("L", "7, or so"), 33)],
        [(("a", "b"), 42), (("c", "d"), 43)],
    ]


def test_layers_above_the_catalog_come_from_rst_as_from_markdown(docs: DocsIndexingPipeline, source: Make) -> None:
    rst = "Return a parcel\n===============\n\nSteps\n-----\n\n1. Open it.\n2. Scan it.\n3. Close it.\n\n"
    rst += ".. mermaid::\n\n   sequenceDiagram\n     A->>B: ask\n     B->>A: answer\n\n"
    rst += "A courier MUST scan the parcel.\n\n====  ====\ncode  days\n====  ====\n``S``  3\n``L``  7\n====  ====\n"
    markdown = "# Return a parcel\n\n## Steps\n\n1. Open it.\n2. Scan it.\n3. Close it.\n\n"
    markdown += "```mermaid\nsequenceDiagram\n  A->>B: ask\n  B->>A: answer\n```\n\n"
    markdown += "A courier MUST scan the parcel.\n\n| code | days |\n| --- | --- |\n| `S` | 3 |\n| `L` | 7 |\n"

    def told(path: str, text: str) -> list[tuple[Layer, str]]:
        rows = docs.index_file(source(path, text)).rows
        return [(row.layer, row.title) for row in rows if row.layer is not Layer.D0_DOC_CHUNKS]

    found = told("a.rst", rst.replace("``S``  3", "`S`   3").replace("``L``  7", "`L`   7"))
    assert found == told("a.md", markdown)
    assert {layer for layer, _ in found} == {
        Layer.D1_DOCUMENT_CATALOG,
        Layer.D2_FACT_INDEX,
        Layer.D4_WORKFLOW_INDEX,
        Layer.D4_POLICY_INDEX,
        Layer.D5_RELATION_GRAPH,
    }


@pytest.mark.parametrize(
    "directive", ["include", "literalinclude", "raw:: html\n   :file:", "csv-table::\n   :file:", "figure", "image"]
)
def test_no_other_file_is_read(
    docs: DocsIndexingPipeline, source: Make, tmp_path: Path, capfd: pytest.CaptureFixture[str], directive: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("never to be shown\n" * 3)
    colons = "" if "::" in directive else "::"
    extraction = docs.index_file(source("a.rst", f"Title\n=====\n\n.. {directive}{colons} {secret}\n\nText of it.\n"))
    assert all("never" not in str(row) for row in extraction.rows)
    assert extraction.warnings == ()
    assert capfd.readouterr() == ("", "")


def test_what_docutils_would_complain_of_is_no_noise(
    docs: DocsIndexingPipeline, source: Make, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "A\n=\n\n:nope:`x` |gone| `bad <`_ [nofoot]_ *open\n\n.. nodirective:: a\n\n* a\nb\n\n+--+\n|a\n\n====\n"
    text += "\n.. _t:\n.. _t:\n"
    extraction = docs.index_file(source("a.rst", text))
    assert extraction.warnings == ()
    assert capfd.readouterr() == ("", "")
    assert "nope" in extraction.rows[0].text


def test_a_title_may_stand_directly_below_a_target() -> None:
    assert [s.headings for s in read_rst(".. _here:\nTitle\n=====\n\nText.\n").sections] == [(), ("Title",)]


def _deep(depth: int) -> str:
    return "".join("  " * level + "- x\n\n" for level in range(depth))


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        (_deep(MAX_DEPTH + 5), "nested too deeply"),
        ("x" * 5_000 + "\n", "line 9 is longer than 4000 characters"),
        ("::\n\n" + "  code\n" * 3_000, "one block of more than 2000 lines"),
    ],
)
def test_a_part_that_cannot_be_read_costs_itself_alone(
    docs: DocsIndexingPipeline, source: Make, part: str, problem: str
) -> None:
    text = f"One\n===\n\nterm\n  Text.\n\nTwo\n===\n{part}\n\nThree\n=====\n\nother\n  Text.\n"
    extraction = docs.index_file(source("d/a.rst", text))
    told = [warning for warning in extraction.warnings if warning.code == "rst_by_lines"]
    assert [(warning.path, warning.line, warning.params["problem"]) for warning in told] == [("d/a.rst", 9, problem)]
    facts = [row.title for row in extraction.rows if row.layer is Layer.D2_FACT_INDEX]
    assert facts == ["term", "other"]


def test_depth_does_not_depend_on_the_caller() -> None:
    assert read_rst(_deep(MAX_DEPTH // 2)).unread == ()

    def below(frames: int) -> int:
        return len(read_rst(_deep(MAX_DEPTH // 2)).unread) if frames == 0 else below(frames - 1)

    assert below(300) == 0


LINES = [
    "Title", "=====", "-----", "~~~~", "", "", "- a", "* b", "  - c", "1. one", "#. two", "   cont", "term",
    "    text", "::", "code::", "    x", ".. note::", ".. note:: y", "   z", ".. code-block:: py", "   :a: b",
    ".. _t:", ".. |s| replace:: x", ".. [1] f", "__ a", ":f: v", "--opt  d", ">>> 1", "| l", "+--+--+", "|a |b |",
    "+==+==+", "==  ==", "a   b", "\t", "\f", "\x1c", "\u2028", "漢字", "====", ".. list-table::", "   * - a",
    "     - b", ".. csv-table::", '   "a', "> q", "..", "\\", "`a", ":r:`x`", "*", "**", "x" * 4_100,
]  # fmt: skip
RST = st.lists(st.sampled_from(LINES), max_size=60).map("\n".join)


@settings(max_examples=300)
@given(st.one_of(RST, st.text(max_size=200)))
def test_any_text_is_read_and_pieces_stay_in_it(text: str) -> None:
    text = text.replace("\r", "\n")
    outline = read_rst(text)
    assert all("failed" not in problem for *_, problem in outline.unread)
    count = len(outline.source)
    covered = [
        line for section in outline.sections for block in section.blocks for line in range(block.start, block.end)
    ]
    assert covered == sorted(set(covered))
    assert {line for line in range(count) if not outline.source.is_blank(line)} <= set(covered)
    for piece in outline.pieces:
        assert 0 <= piece.start < piece.end <= count
        lines = " ".join(outline.source.lines[piece.start : piece.end])
        if isinstance(piece, Paragraph):
            assert all(word in lines for word in piece.text.split())
        elif isinstance(piece, Fence):
            assert piece.lines == tuple(outline.source.lines[piece.first : piece.first + len(piece.lines)])
        elif isinstance(piece, ItemList):
            for item in piece.items:
                assert piece.start <= item.start < item.end <= piece.end
                assert all(word in lines for word in item.text.split())
        elif isinstance(piece, Table):
            assert all(piece.start <= row.line < piece.end for row in piece.rows)


@settings(max_examples=100)
@given(RST)
def test_every_row_is_its_lines(docs: DocsIndexingPipeline, source: Make, text: str) -> None:
    extraction: Extraction = docs.index_file(source("a.rst", text))
    lines = text.split("\n")
    for row in extraction.rows:
        exact = "\n".join(lines[row.line_start - 1 : row.line_end])
        assert row.text == exact or (row.line_start == row.line_end and row.text in exact)
