"""BEIR folders (Thakur et al. 2021): `queries.jsonl` with `_id`, `text`, `metadata`, and `qrels/SPLIT.tsv`.

What BEIR has no field for stands in `metadata`, where its readers keep it unread. Its `corpus.jsonl` is not written:
the corpus is what a session holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from evals.dataset import Dataset, read_bounded
from evals.formats.tables import collect, joined, rows
from ragkit.errors import InvalidInput

HEADER = ["query-id", "corpus-id", "score"]


def load(path: Path, *, name: str) -> Dataset:
    """The dataset of a BEIR folder: the split `test` where there is one, else the first by name."""
    splits = sorted((path / "qrels").glob("*.tsv"), key=lambda split: (split.stem != "test", split.name))
    if not splits:
        raise InvalidInput("dataset_unknown", path=str(path))
    table = splits[0]
    lines = [(number, cells) for number, cells in rows(table, 3, "\t") if cells != HEADER]
    judgements = collect(((number, c[0], c[1], c[2]) for number, c in lines), str(table))
    return joined(_records(path / "queries.jsonl"), judgements, name=name, origin=str(path / "queries.jsonl"))


def save(dataset: Dataset, path: Path) -> None:
    """Write `queries.jsonl` and `qrels/test.tsv`."""
    (path / "qrels").mkdir(parents=True, exist_ok=True)
    with (path / "queries.jsonl").open("w", encoding="utf-8") as queries:
        for case in dataset.cases:
            metadata = {key: value for key, value in case.to_json().items() if key not in ("id", "query", "relevant")}
            record = {"_id": case.id, "text": case.query, "metadata": metadata}
            queries.write(json.dumps(record, ensure_ascii=False) + "\n")
    with (path / "qrels" / "test.tsv").open("w", encoding="utf-8") as qrels:
        qrels.write("\t".join(HEADER) + "\n")
        for case in dataset.cases:
            for item in case.relevant:
                qrels.write(f"{case.id}\t{item.id}\t{item.grade}\n")


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, line in enumerate(read_bounded(path).split("\n"), start=1):
        if line.strip():
            try:
                body = cast("Mapping[str, object]", json.loads(line))
                metadata = cast("Mapping[str, object]", body.get("metadata") or {})
                yield number, {**metadata, "id": body["_id"], "query": body["text"]}
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as broken:
                raise InvalidInput(
                    "dataset_line",
                    origin=str(path),
                    line=number,
                    field="record",
                    found=line.strip()[:80],
                    problem="no object with _id and text",
                ) from broken
