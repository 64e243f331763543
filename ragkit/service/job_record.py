"""What a running job says of itself: counts, warnings, times, and how far it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal

from ragkit.document import IndexWarning

WARNINGS_KEPT = 200

Stage = Literal["waiting", "listing", "reading", "linking", "writing", "swapping", "done"]
WEIGHTS: Mapping[Stage, float] = {"reading": 0.25, "writing": 0.75}
"""Share of the whole that a stage takes, for the time that is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a job is; reported after each batch and at each change of stage."""

    stage: Stage
    files_done: int
    files_total: int
    rows: int
    path: str | None = None
    """A file of the batch at hand."""
    elapsed_s: float = 0.0
    left_s: float | None = None
    """Seconds to the end at the pace so far; None where that cannot be told yet."""

    def to_json(self) -> dict[str, object]:
        """As the job's row keeps it."""
        left = None if self.left_s is None else round(self.left_s)
        return {
            "files_done": self.files_done,
            "files_total": self.files_total,
            "elapsed_s": round(self.elapsed_s, 1),
            "left_s": left,
        }


ReportProgress = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """For callers that show nothing."""


def seconds_left(stage: Stage, done: int, total: int, elapsed_s: float) -> float | None:
    """At the pace so far; None before anything was done."""
    before = WEIGHTS["reading"] if stage == "writing" else 0.0
    share = before + WEIGHTS.get(stage, 0.0) * (done / total if total else 1.0)
    return elapsed_s * (1 - share) / share if share > 0 else None


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of a running job."""

    seen: int = 0
    indexed: int = 0
    relinked: int = 0
    """Files whose bytes stayed, and whose rows say something new of other files."""
    unchanged: int = 0
    deleted: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    left_out_paths: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    rows_written: int = 0
    texts_embedded: int = 0
    warnings: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    timings: Counter[str] = field(default_factory=Counter[str])
    """Milliseconds by step; those of steps in several processes add up to more than the whole."""

    def leave_out(self, reason: str, paths: Iterable[str]) -> None:
        """Count files that are not indexed, and remember some of them."""
        named = self.left_out_paths.setdefault(reason, [])
        for path in paths:
            self.left_out[reason] += 1
            if len(named) < LEFT_OUT_NAMED:
                named.append(path)

    def warn(self, warnings: Iterable[IndexWarning]) -> None:
        """Keep warnings, up to `WARNINGS_KEPT`."""
        for warning in warnings:
            if len(self.warnings) < WARNINGS_KEPT:
                place = {} if warning.line is None else {"line": warning.line}
                self.warnings.append(
                    {"code": warning.code, "params": {**dict(warning.params), "path": warning.path, **place}}
                )

    def spend(self, step: str, started: float) -> None:
        """Add the time since `started` to a step."""
        self.timings[step] += round((perf_counter() - started) * 1000)

    def files_json(self) -> dict[str, object]:
        """`files` of the job as others read it."""
        return {
            "seen": self.seen,
            "indexed": self.indexed,
            "relinked": self.relinked,
            "unchanged": self.unchanged,
            "deleted": self.deleted,
            "left_out": dict(sorted(self.left_out.items())),
            "left_out_paths": {reason: paths for reason, paths in sorted(self.left_out_paths.items()) if paths},
        }


LEFT_OUT_NAMED = 20
"""Paths named for each reason."""
