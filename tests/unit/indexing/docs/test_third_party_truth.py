"""Every documentation layer against fifteen documents written after the habits of other people's projects.

`docs_truth`: a tutorial with admonitions and tabs, a decision record, a proposal with MUST and template comments, an
MDX page, a runbook, a Russian error reference, a Russian page of concepts, a Russian README. `docs_truth_later`: a
Russian instruction with Russian front matter, a guide without any, a Jekyll page, a proposal without a title.
`docs_truth_unseen`: a Russian how-to, a policy in plain words, an MDX page of concepts. All are invented in content.
What is true was written down by reading them, before the extractors had seen them, also where no extractor could get
it; each set was measured once before its kinds of error were mended. These first figures (precision/recall) say what to
expect of a page that nobody has looked at; the floors below hold what has been reached since.

|                    | first    | later     | unseen    |
| ------------------ | -------- | --------- | --------- |
| D0 sections        | 1.00/1.00 | 1.00/1.00 | 1.00/1.00 |
| D1 attributes      | 0.89/0.79 | 0.91/0.91 | 1.00/1.00 |
| D2 facts           | 0.89/0.91 | 1.00/0.65 | 1.00/1.00 |
| D3 entities        | 0.57/0.33 | 1.00/0.57 | 1.00/0.80 |
| D4 workflows       | 0.75/0.55 | 1.00/0.50 | 0.75/0.75 |
| D4 rules           | 0.86/0.55 | 1.00/0.30 | 0.50/0.17 |
| D5 relations       | 0.91/0.91 | 1.00/1.00 | 1.00/1.00 |

`pytest -s` prints the figures of now.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

from ragkit.document import RagDocument, SourceFile
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]
Key = tuple[object, ...]

ROOT = Path(__file__).parents[4] / "tests/cases"
SETS = ("docs_truth", "docs_truth_later", "docs_truth_unseen")
CASES = [
    {**json.loads(line), "set": name}
    for name in SETS
    for line in (ROOT / name / "expected.jsonl").read_text("utf-8").splitlines()
]

_JUDGED = ("title", "module_id", "type", "domain", "subdomain", "status", "version", "owners", "tags", "links")
_ARROWS = ("changes_to", "flows_to", "sends_to")


def _sections(rows: Sequence[RagDocument]) -> Iterator[Key]:
    """Passages of one section together."""
    lines: dict[object, list[int]] = {}
    for row in rows:
        lines.setdefault(row.attributes["section_path"], []).extend((row.line_start, row.line_end))
    for path, numbers in lines.items():
        yield path, min(numbers), max(numbers)


def _document(rows: Sequence[RagDocument]) -> Iterator[Key]:
    (row,) = rows
    for name in (*_JUDGED, "summary_text"):
        value = row.attributes[name]
        for one in cast("list[object]", value) if isinstance(value, list) else [value]:
            if one:
                yield name, one


def _facts(rows: Sequence[RagDocument]) -> Iterator[Key]:
    for row in rows:
        value = str(row.attributes["object"])
        yield row.attributes["predicate"], value.partition(" — ")[0], row.line_start


def _entities(rows: Sequence[RagDocument]) -> Iterator[Key]:
    for row in rows:
        yield row.attributes["name"], row.line_start, row.line_end


def _aliases(rows: Sequence[RagDocument]) -> Iterator[Key]:
    for row in rows:
        for alias in cast("Sequence[str]", row.attributes["aliases"]):
            yield row.attributes["name"], alias


def _workflows(rows: Sequence[RagDocument]) -> Iterator[Key]:
    for row in rows:
        steps = cast("Sequence[str]", row.attributes["steps"])
        yield row.attributes["title"], len(steps), row.attributes["trigger"], row.line_start, row.line_end


def _relations(rows: Sequence[RagDocument]) -> Iterator[Key]:
    for row in rows:
        src, ref = row.attributes["src_id"], row.attributes["dst_ref"]
        is_arrow = row.attributes["edge_type"] in _ARROWS
        yield row.attributes["edge_type"], f"{src} > {ref}" if is_arrow else ref, row.line_start


def _sentences(column: str) -> Callable[[Sequence[RagDocument]], Iterator[Key]]:
    def of(rows: Sequence[RagDocument]) -> Iterator[Key]:
        for row in rows:
            for sentence in cast("Sequence[str]", row.attributes[column]):
                yield (sentence,)

    return of


Column = tuple[Layer, Callable[[Sequence[RagDocument]], Iterator[Key]], float, float]

COLUMNS: Mapping[str, Column] = {
    "sections": (Layer.D0_DOC_CHUNKS, _sections, 1.00, 1.00),
    "document": (Layer.D1_DOCUMENT_CATALOG, _document, 1.00, 1.00),
    "facts": (Layer.D2_FACT_INDEX, _facts, 1.00, 0.97),
    "entities": (Layer.D3_ENTITY_CATALOG, _entities, 0.95, 0.83),
    "aliases": (Layer.D3_ENTITY_CATALOG, _aliases, 1.00, 0.87),
    "workflows": (Layer.D4_WORKFLOW_INDEX, _workflows, 1.00, 1.00),
    "rules": (Layer.D4_POLICY_INDEX, _sentences("rules"), 0.97, 0.86),
    "defaults": (Layer.D4_POLICY_INDEX, _sentences("default_behaviors"), 1.00, 1.00),
    "relations": (Layer.D5_RELATION_GRAPH, _relations, 1.00, 1.00),
}
"""Column of the table → layer, what of its rows is compared, least precision, least recall: just below what was
measured.
"""


@pytest.fixture(scope="module")
def rows(docs: DocsIndexingPipeline, source: Make) -> Mapping[str, Sequence[RagDocument]]:
    """Path → its rows."""
    texts = {case["path"]: (ROOT / case["set"] / case["path"]).read_text("utf-8") for case in CASES}
    return {path: docs.index_file(source(path, text)).rows for path, text in texts.items()}


@pytest.mark.parametrize("column", COLUMNS)
def test_precision_and_recall(rows: Mapping[str, Sequence[RagDocument]], column: str) -> None:
    layer, read, least_precision, least_recall = COLUMNS[column]
    found: Counter[Key] = Counter()
    expected: Counter[Key] = Counter()
    for case in CASES:
        path = case["path"]
        found.update((path, *key) for key in read([row for row in rows[path] if row.layer is layer]))
        expected.update((path, *_key(key)) for key in case[column])
    if column in ("rules", "defaults"):
        found = _as_annotated(found, expected)
    hits = (found & expected).total()
    precision, recall = hits / max(1, found.total()), hits / max(1, expected.total())
    missed, wrong = sorted(map(str, expected - found)), sorted(map(str, found - expected))
    table = f"{column}: precision {precision:.2f} of {found.total()}, recall {recall:.2f} of {expected.total()}"
    sys.stdout.write(
        "\n".join(["", table, *(f"  missed {key}" for key in missed), *(f"  wrong {key}" for key in wrong)])
    )
    assert precision >= least_precision, wrong
    assert recall >= least_recall, missed


def _key(written: object) -> Key:
    return tuple(cast("list[object]", written)) if isinstance(written, list) else (written,)


def _as_annotated(found: Counter[Key], expected: Counter[Key]) -> Counter[Key]:
    """Sentences replaced by their annotated beginnings."""
    result: Counter[Key] = Counter()
    for path, sentence in found.elements():
        starts = (key for key in expected if key[0] == path and str(sentence).startswith(str(key[1])))
        result[next(starts, (path, sentence))] += 1
    return result
