"""CSV for people and spreadsheets: a row a case; lists as JSON inside their cell."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from evals.dataset import Case, Dataset, case_of, make_dataset, read_bounded
from ragkit.errors import InvalidInput

COLUMNS = tuple(Case.model_fields)
BEYOND = "cells beyond the header"
LISTS = frozenset({"turns", "alt_intents", "anchors", "relevant", "tags"})


def load(path: Path, *, name: str) -> Dataset:
    """The dataset of a CSV file with a header; columns may be missing but for `id` and `query`.

    Raises: InvalidInput `dataset_line` naming line and field.
    """
    reader = csv.DictReader(io.StringIO(read_bounded(path), newline=""), restkey=BEYOND, strict=True)
    return make_dataset(_cases(reader, str(path)), name=name, origin=str(path))


def save(dataset: Dataset, path: Path) -> None:
    """Write a CSV file with all columns."""
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        for case in dataset.cases:
            writer.writerow({name: _cell(name, value) for name, value in case.to_json().items()})


def _cases(reader: csv.DictReader[str], origin: str) -> Iterator[Case]:
    read = 0
    try:
        for row in reader:
            breaks = sum(cell.count("\n") for cell in row.values() if isinstance(cell, str))
            line = reader.line_num - breaks
            yield case_of(_record(row, origin, line), origin=origin, line=line)
            read = reader.line_num
    except csv.Error as broken:  # an open quote runs to the end of the file: told is where its row begins
        raise InvalidInput(
            "dataset_line", origin=origin, line=read + 1, field="row", found="CSV", problem=str(broken)
        ) from broken


def _cell(name: str, value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if name in LISTS else value


def _record(row: Mapping[str, str | None], origin: str, line: int) -> dict[str, object]:
    record: dict[str, object] = {}
    if BEYOND in row:
        problem = "the row has more cells than the header; text with a comma stands in quotes"
        raise InvalidInput(
            "dataset_line", origin=origin, line=line, field="row", found=repr(row[BEYOND])[:80], problem=problem
        )
    for name, cell in row.items():
        if name not in COLUMNS or not cell:
            continue
        try:
            record[name] = json.loads(cell) if name in LISTS else cell
        except (ValueError, RecursionError) as broken:
            raise InvalidInput(
                "dataset_line", origin=origin, line=line, field=name, found=cell[:80], problem="no JSON list"
            ) from broken
    return record
