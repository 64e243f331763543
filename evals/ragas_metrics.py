"""Ragas' context metrics that need no language model, by id and by text. Imported late: Ragas takes seconds to load.

By id: the files (or finer items) of the answer against the judged ones, as sets. By text: a row counts as right when it
resembles a row that shows a judged item (edit distance, threshold .5, Ragas' own defaults).
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evals.dataset import Case
from evals.metrics import ranked_items
from evals.run import Digest
from ragkit.retrieval.public_id import Located
from ragkit.service import RagService

TEXT_CASES_AT_MOST = 200
"""Comparing texts costs a tenth of a second a question."""
REFERENCES_AT_MOST = 20
NAMES = ("ragas_id_precision", "ragas_id_recall", "ragas_text_precision", "ragas_text_recall")


def ragas_metrics(
    engine: RagService,
    session: str,
    cases: Sequence[Case],
    digests: Mapping[str, Digest],
    located: Mapping[str, Located],
) -> dict[str, dict[str, float]]:
    """Metric → question → value, over the questions that have an answer by their judgements; 0 for no rows."""
    judged = [case for case in cases if any(item.grade for item in case.relevant)]
    found: dict[str, dict[str, float]] = {name: {} for name in NAMES}
    scores = _scorers()
    texts = _texts(engine, session, judged[:TEXT_CASES_AT_MOST], digests, located)
    for case in judged:
        retrieved = ranked_items(case, digests[case.id], located)
        expected = [item.id for item in case.relevant if item.grade]
        for name in NAMES[:2]:
            found[name][case.id] = (
                scores[name](retrieved_context_ids=retrieved, reference_context_ids=expected) if retrieved else 0.0
            )
        if case.id in texts:
            rows, references = texts[case.id]
            for name in NAMES[2:]:
                found[name][case.id] = (
                    scores[name](retrieved_contexts=rows, reference_contexts=references) if rows and references else 0.0
                )
    return found


def _scorers() -> dict[str, Callable[..., float]]:
    """Name → a function of the sample's fields."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # it would report each metric to its makers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it announces its next version's names
        module: Any = importlib.import_module("ragas.metrics")  # its names are made at run time: no types
        sample: Any = importlib.import_module("ragas").SingleTurnSample
        metrics: list[Any] = [
            module.IDBasedContextPrecision(),
            module.IDBasedContextRecall(),
            module.NonLLMContextPrecisionWithReference(),
            module.NonLLMContextRecall(),
        ]
    logging.getLogger("ragas").setLevel(logging.ERROR)

    def scorer(metric: Any) -> Callable[..., float]:
        def score(**fields: object) -> float:
            return float(asyncio.run(metric.single_turn_ascore(sample(**fields))))

        return score

    return {name: scorer(metric) for name, metric in zip(NAMES, metrics, strict=True)}


def _texts(
    engine: RagService,
    session: str,
    cases: Sequence[Case],
    digests: Mapping[str, Digest],
    located: Mapping[str, Located],
) -> dict[str, tuple[list[str], list[str]]]:
    """Question → texts of its rows, and texts of the rows that show what is expected."""
    paths = {row.path for case in cases for row in digests[case.id].rows}
    paths |= {located[item.id].path for case in cases for item in case.relevant if item.id in located}
    shown = engine.shown_texts(session, sorted(paths))
    by_id = {row.public_id: row.text for row in shown}
    found: dict[str, tuple[list[str], list[str]]] = {}
    for case in cases:
        wanted = [located[item.id] for item in case.relevant if item.grade and item.id in located]
        references = [
            row.text for row in shown if any(w.is_shown_by(row.path, row.line_start, row.line_end) for w in wanted)
        ]
        rows = [by_id[row.id] for row in digests[case.id].rows if row.id in by_id]
        found[case.id] = (rows, references[:REFERENCES_AT_MOST])
    return found
