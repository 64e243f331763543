"""Tables of judgements: lines of columns, read with their line numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from evals.dataset import Case, Dataset, Judgement, case_of, judgement_of, make_dataset, read_bounded
from ragkit.errors import InvalidInput

Judgements = Mapping[str, Sequence[Judgement]]


def rows(path: Path, columns: int, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of each line that is not blank; None separates at any white space.

    Raises: InvalidInput `dataset_line` for another number of columns.
    """
    for number, line in enumerate(read_bounded(path).split("\n"), start=1):
        if line.strip():
            cells = line.rstrip("\r").split(separator)
            if len(cells) != columns:
                raise InvalidInput(
                    "dataset_line",
                    origin=str(path),
                    line=number,
                    field="columns",
                    found=str(len(cells)),
                    problem=f"{columns} columns are needed",
                )
            yield number, cells


def collect(lines: Iterable[tuple[int, str, str, str]], origin: str) -> Judgements:
    """(line, query id, item, grade) → judgements by query, in order.

    Raises: InvalidInput `dataset_line` for a wrong grade, or two grades of one item.
    """
    found: dict[str, list[Judgement]] = {}
    for number, query, item, grade in lines:
        judgement = judgement_of(item, grade, origin=origin, line=number)
        known = found.setdefault(query, [])
        if any(other.id == judgement.id for other in known):
            raise InvalidInput(
                "dataset_line", origin=origin, line=number, field="id", found=item[:80], problem="it is judged twice"
            )
        known.append(judgement)
    return found


def joined(
    records: Iterable[tuple[int, Mapping[str, object]]], judgements: Judgements, *, name: str, origin: str
) -> Dataset:
    """Records of queries with the judgements that stand apart.

    Raises: InvalidInput `dataset_orphan` for judgements of a query that is not there.
    """
    cases: list[Case] = []
    for number, record in records:
        case = case_of(record, origin=origin, line=number)
        relevant = judgements.get(case.id, ())
        cases.append(case.model_copy(update={"relevant": tuple(relevant)}) if relevant else case)
    orphans = sorted(judgements.keys() - {case.id for case in cases})
    if orphans:
        raise InvalidInput("dataset_orphan", origin=origin, ids=orphans[:10])
    return make_dataset(cases, name=name, origin=origin)
