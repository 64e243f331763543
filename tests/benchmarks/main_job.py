"""Times the main job on the demo corpus: indexing it from nothing, and asking it every demo question.

Run from the root: `python -m tests.benchmarks.main_job`. Uses an embedded server of its own in a temporary folder.
Prints one line a figure; times are of this machine, this minute.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from ragkit import bundle, service
from ragkit.service import Ask
from ragkit.settings import Settings

ROUNDS = 4


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory(prefix="ragkit-bench-") as folder:
        Path(folder).chmod(0o755)
        started = perf_counter()
        with service.opened(Settings(data_dir=Path(folder), keep_requests=0)) as engine:
            _say("first start of the embedded server, schema included", f"{perf_counter() - started:.2f} s")
            job = engine.index_snapshot("demo", bundle.demo_corpus())
            _say(
                f"index the demo corpus ({job.files['indexed']} files, {job.rows_written} rows, vectors from nothing)",
                f"{job.timings['total_ms'] / 1000:.2f} s",  # pyright: ignore
            )
            again = engine.index_snapshot("demo", bundle.demo_corpus())
            _say("index it again, unchanged", f"{again.timings['total_ms']} ms")
            totals, parts = _ask_all(engine)
            _say(f"query, {len(totals)} answers", f"p50 {_at(totals, 50):.1f} ms, p95 {_at(totals, 95):.1f} ms")
            for name, times in parts.items():
                _say(f"  of it {name}", f"p50 {_at(times, 50):.1f} ms")


def _ask_all(engine: service.RagService) -> tuple[list[float], dict[str, list[float]]]:
    lines = (bundle.demo_corpus().parent / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [str(json.loads(line)["query"]) for line in lines]
    engine.answer(Ask(query=questions[0], session="demo"))
    totals: list[float] = []
    parts: dict[str, list[float]] = {}
    for question in questions * ROUNDS:
        timings = engine.answer(Ask(query=question, session="demo")).timings
        totals.append(timings["total"])
        for name, elapsed_ms in timings.items():
            parts.setdefault(name, []).append(elapsed_ms)
    return totals, parts


def _at(times: Sequence[float], percent: int) -> float:
    return statistics.quantiles(times, n=100)[percent - 1]


def _say(what: str, figure: str) -> None:
    sys.stdout.write(f"{what}: {figure}\n")


if __name__ == "__main__":
    main()
