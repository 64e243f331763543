from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.document import SourceFile
from ragkit.indexing.docs.notebook import NotebookProblem, NotebookText, read_notebook
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.layers import ATTRIBUTES, Layer

Make = Callable[[str, str], SourceFile]

FILE = """\
{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {"cells": [{"cell_type": "markdown", "source": ["no cell"]}]},
   "source": [
    "# Parcels\\n",
    "\\n",
    "How long a parcel is kept, \\u0434\\u043d\\u0438."
   ]
  },
  {
   "cell_type": "code",
   "outputs": [{"text": ["# no heading\\n"]}],
   "source": ["# neither\\n", "1 + 1"]
  },
  {
   "source": "## Rules\\n\\n- **Weight**: 30 kg\\n- **Days**: 7",
   "cell_type": "markdown"
  }
 ],
 "nbformat": 4
}
"""


def test_rows_have_lines_of_the_file(docs: DocsIndexingPipeline, source: Make) -> None:
    rows = docs.index_file(source("nb/a.ipynb", FILE)).rows
    assert [(row.layer, row.public_id, row.line_start, row.line_end) for row in rows] == [
        (Layer.D0_DOC_CHUNKS, "nb/a.ipynb#parcels", 7, 9),
        (Layer.D0_DOC_CHUNKS, "nb/a.ipynb#parcels/rules", 18, 18),
        (Layer.D1_DOCUMENT_CATALOG, "nb/a.ipynb", 7, 9),
        (Layer.D2_FACT_INDEX, "nb/a.ipynb#fact:term/weight", 18, 18),
        (Layer.D2_FACT_INDEX, "nb/a.ipynb#fact:term/days", 18, 18),
    ]
    assert rows[0].text == "# Parcels\n\nHow long a parcel is kept, дни."
    assert rows[1].text == "## Rules\n\n- **Weight**: 30 kg\n- **Days**: 7"
    assert (rows[3].attributes["line_start"], rows[3].attributes["line_end"]) == (18, 18)
    assert set(rows[0].attributes) == set(ATTRIBUTES[Layer.D0_DOC_CHUNKS]) - {"content", "embedding"}


def test_ids_that_name_lines_name_those_of_the_file(docs: DocsIndexingPipeline, source: Make) -> None:
    cells = [{"cell_type": "markdown", "source": [f"{n} " + "word " * 100 + "\n"]} for n in range(3)]
    rows = docs.index_file(source("a.ipynb", json.dumps({"cells": cells}, indent=1))).rows
    ids = [(row.public_id, row.line_start) for row in rows if row.layer is Layer.D0_DOC_CHUNKS]
    assert ids == [("a.ipynb:L6-L6", 6), ("a.ipynb:L12-L12", 12), ("a.ipynb:L18-L18", 18)]
    assert [row.attributes["chunk_id"] for row in rows[:3]] == [public_id for public_id, _ in ids]
    on_one_line = docs.index_file(source("a.ipynb", json.dumps({"cells": cells}))).rows
    assert [row.public_id for row in on_one_line[:3]] == ["a.ipynb:L1-L1", "a.ipynb:L1-L1~2", "a.ipynb:L1-L1~3"]


def test_nbformat_3_and_front_matter_in_a_raw_cell() -> None:
    old = {
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": ["Old\n", "title"]},
                    {"cell_type": "code", "input": ["x"]},
                    {"cell_type": "markdown", "source": ["text"]},
                ]
            }
        ]
    }
    read = read_notebook(json.dumps(old))
    assert isinstance(read, NotebookText)
    assert read.text == "## Old title\n\ntext\n"
    raw = {"cells": [{"cell_type": "raw", "source": ["---\n", "id: a\n", "---"]}, {"cell_type": "raw", "source": "no"}]}
    read = read_notebook(json.dumps(raw))
    assert isinstance(read, NotebookText)
    assert read.text == "---\nid: a\n---\n"


def test_warnings_have_lines_of_the_file(docs: DocsIndexingPipeline, source: Make) -> None:
    cell = {"cell_type": "raw", "source": ["---\n", "a: [\n", "---\n"]}
    text = {"cells": [cell, {"cell_type": "markdown", "source": "Text of it."}]}
    warnings = docs.index_file(source("a.ipynb", json.dumps(text, indent=1))).warnings
    assert [(w.code, w.line, w.params["line"]) for w in warnings] == [("front_matter_invalid", 7, 7)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("[]", 1),
        ("{}", 1),
        ('{\n "cells": [\n', 3),
        ('{"cells":\n "a\n"}', 2),
        ("[" * 100_000, 1),
        ('{"cells": ' + "9" * 10_000 + "}", 1),
    ],
)
def test_what_is_no_notebook_is_told(docs: DocsIndexingPipeline, source: Make, text: str, line: int) -> None:
    assert isinstance(read_notebook(text), NotebookProblem)
    extraction = docs.index_file(source("d/a.ipynb", text))
    assert extraction.rows == ()
    assert [(w.code, w.path, w.line) for w in extraction.warnings] == [("notebook_invalid", "d/a.ipynb", line)]


@pytest.mark.parametrize("cells", [[], 1, None, {}, [1, "a", None, [], {"cell_type": 1, "source": {"a": "b"}}]])
def test_odd_notebooks_are_empty(docs: DocsIndexingPipeline, source: Make, cells: object) -> None:
    extraction = docs.index_file(source("a.ipynb", json.dumps({"cells": cells})))
    assert (extraction.rows, extraction.warnings) == ((), ())


LINE = st.sampled_from(
    ["# A", "## B", "text", "", "- item", "```", "| a | b |", "| - | - |", "1. x", 'a "quote" \\ {', "ы"]
)
CELL = st.fixed_dictionaries(
    {
        "cell_type": st.sampled_from(["markdown", "markdown", "code", "raw", "heading"]),
        "source": st.lists(LINE, max_size=8).map(lambda lines: [f"{line}\n" for line in lines]),
    }
)


@settings(max_examples=150)
@given(st.lists(CELL, max_size=6))
def test_every_row_is_what_its_lines_hold(
    docs: DocsIndexingPipeline, source: Make, cells: list[dict[str, object]]
) -> None:
    text = json.dumps({"nbformat": 4, "cells": cells}, indent=1)
    read = read_notebook(text)
    assert isinstance(read, NotebookText)
    spoken = set(read.lines)
    file_lines = text.split("\n")
    for row in docs.index_file(source("a.ipynb", text)).rows:
        held = [file_lines[n - 1].strip().rstrip(",") for n in range(row.line_start, row.line_end + 1) if n in spoken]
        written = [str(json.loads(line)).rstrip("\n") for line in held]
        if not any(cell["cell_type"] == "heading" for cell in cells):
            assert [line for line in row.text.split("\n") if line] == [line for line in written if line]


@settings(max_examples=200)
@given(st.text(max_size=80) | st.recursive(st.none() | st.text(max_size=5), lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["cells", "source", "cell_type", "worksheets", "level"]), x)).map(json.dumps))  # fmt: skip  # noqa: E501
def test_any_text_is_a_notebook_or_a_problem(text: str) -> None:
    assert isinstance(read_notebook(text), NotebookText | NotebookProblem)
