"""TREC: `topics.tsv` (id, query), `qrels.txt` (id 0 item grade), runs (id Q0 item rank score tag).

TREC tools split at white space, so white space inside an id is percent-encoded. What topics have no place for stands in
`cases.jsonl` beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from evals.dataset import Dataset, from_jsonl, read_bounded, to_jsonl
from evals.formats.tables import collect, joined, rows

TO_ESCAPE = re.compile(r"[%\s]")


def load(path: Path, *, name: str) -> Dataset:
    """The dataset of a TREC folder; with `cases.jsonl` nothing is missing from it."""
    table = path / "qrels.txt"
    lines = rows(table, 4, None) if table.exists() else iter(())
    judgements = collect(((number, unescaped(c[0]), unescaped(c[2]), c[3]) for number, c in lines), str(table))
    beside = path / "cases.jsonl"
    records = _cases(beside, name) if beside.exists() else _topics(path / "topics.tsv")
    return joined(records, judgements, name=name, origin=str(path / "topics.tsv"))


def save(dataset: Dataset, path: Path) -> None:
    """Write `topics.tsv`, `qrels.txt` and `cases.jsonl`."""
    path.mkdir(parents=True, exist_ok=True)
    bare = Dataset(name=dataset.name, cases=tuple(case.model_copy(update={"relevant": ()}) for case in dataset.cases))
    (path / "cases.jsonl").write_text(to_jsonl(bare), encoding="utf-8")
    topics = [f"{escaped(case.id)}\t{' '.join(case.query.split())}\n" for case in dataset.cases]
    (path / "topics.tsv").write_text("".join(topics), encoding="utf-8")
    qrels = [
        f"{escaped(case.id)} 0 {escaped(item.id)} {item.grade}\n" for case in dataset.cases for item in case.relevant
    ]
    (path / "qrels.txt").write_text("".join(qrels), encoding="utf-8")


def run_lines(ranked: Mapping[str, Iterable[str]], tag: str) -> Iterator[str]:
    """A run in TREC's form. Scores fall by rank, so that tools which sort by score keep the order."""
    for query, items in ranked.items():
        for rank, item in enumerate(items, start=1):
            yield f"{escaped(query)} Q0 {escaped(item)} {rank} {1_000_000 - rank} {tag}\n"


def escaped(text: str) -> str:
    """Without white space."""
    return TO_ESCAPE.sub(lambda found: quote(found[0], safe=""), text)


def unescaped(text: str) -> str:
    """What `escaped` was given."""
    return unquote(text)


def _topics(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, cells in rows(path, 2, "\t"):
        yield number, {"id": unescaped(cells[0]), "query": cells[1]}


def _cases(path: Path, name: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, case in enumerate(from_jsonl(read_bounded(path), name=name, origin=str(path)).cases, start=1):
        yield number, case.to_json()
