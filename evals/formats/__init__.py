"""Datasets from and to the formats that others use. Every way out and back keeps ids, grades, tags and order.

`load(path)` knows a format by what lies there; `save(dataset, path, kind)` writes one. What a format has no place for
(expectations, tags, turns) travels beside it in a field or file that its other readers pass over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, get_args

from evals.dataset import Dataset, from_jsonl, read_bounded, to_jsonl
from evals.formats import beir, csv_table, folder, trec
from ragkit.errors import InvalidInput

Kind = Literal["jsonl", "beir", "trec", "csv"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def load(path: Path) -> Dataset:
    """The dataset of a `.jsonl` or `.csv` file, of a BEIR folder (`queries.jsonl`, `qrels/*.tsv`), of a TREC folder
    (`topics.tsv`, `qrels.txt`), or of a folder with `queries.jsonl` and a three-column `qrels.tsv`.

    Raises: InvalidInput `dataset_unknown` when nothing of these lies there; `dataset_line`, `dataset_empty`.
    """
    name = path.stem if path.suffix else path.name
    if path.is_file() and path.suffix == ".csv":
        return csv_table.load(path, name=name)
    if path.is_file():
        return from_jsonl(read_bounded(path), name=name, origin=str(path))
    readers = (
        (path / "qrels", beir.load),
        (path / "topics.tsv", trec.load),
        (path / "qrels.tsv", folder.load),
    )
    for sign, reader in readers:
        if sign.exists():
            return reader(path, name=name)
    lone = path / "queries.jsonl"
    if lone.is_file():
        return from_jsonl(read_bounded(lone), name=name, origin=str(lone))
    raise InvalidInput("dataset_unknown", path=str(path))


def save(dataset: Dataset, path: Path, kind: Kind) -> None:
    """Write a dataset: a file for `jsonl` and `csv`, a folder for `beir` and `trec`."""
    writers: Mapping[Kind, Callable[[Dataset, Path], None]] = {
        "jsonl": _save_jsonl,
        "beir": beir.save,
        "trec": trec.save,
        "csv": csv_table.save,
    }
    writers[kind](dataset, path)


def _save_jsonl(dataset: Dataset, path: Path) -> None:
    path.write_text(to_jsonl(dataset), encoding="utf-8")
