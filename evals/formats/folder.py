"""A folder with `queries.jsonl` (records) and `qrels.tsv` (query id, item, grade; no header)."""

from __future__ import annotations

from pathlib import Path

from evals.dataset import Dataset, from_jsonl, read_bounded
from evals.formats.tables import collect, joined, rows


def load(path: Path, *, name: str) -> Dataset:
    """The dataset of such a folder."""
    queries = path / "queries.jsonl"
    records = from_jsonl(read_bounded(queries), name=name, origin=str(queries))
    table = path / "qrels.tsv"
    judgements = collect(((n, *_three(cells)) for n, cells in rows(table, 3, "\t")), str(table))
    return joined(
        ((number, case.to_json()) for number, case in enumerate(records.cases, start=1)),
        judgements,
        name=name,
        origin=str(queries),
    )


def _three(cells: list[str]) -> tuple[str, str, str]:
    return (cells[0], cells[1], cells[2])
