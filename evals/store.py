"""Where runs live: `RAGKIT_DATA_DIR/runs/ID/` with `manifest.json`, `queries.jsonl`, `timings.jsonl`, `metrics.json`.

A run that was stopped is taken up where it ended: a digest is one line, appended when its answer is there, and a half
line at the end is not one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, cast

from evals.dataset import Dataset
from evals.run import Digest, Manifest, answer_all, digest_from_json
from ragkit.errors import EnvironmentFault
from ragkit.service import RagService


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run."""

    manifest: Manifest
    digests: Mapping[str, Digest]
    """By question, in the order of the dataset."""
    times_ms: Mapping[str, float]
    taken_up: int
    """Digests that an earlier process had written."""


class RunStore:
    """The folder of runs."""

    def __init__(self, data_dir: Path) -> None:
        self._root = data_dir / "runs"

    def folder(self, run_id: str) -> Path:
        """Of one run."""
        return self._root / run_id

    def ids(self) -> list[str]:
        """Of all runs, the newest first."""
        try:
            found = [path for path in self._root.iterdir() if (path / "manifest.json").is_file()]
        except OSError:
            return []
        return [path.name for path in sorted(found, key=lambda path: (-path.stat().st_mtime_ns, path.name))]

    def carry_out(
        self,
        engine: RagService,
        dataset: Dataset,
        manifest: Manifest,
        *,
        policy: str,
        report: Callable[[int, int], None] = lambda done, total: None,
    ) -> Run:
        """The run of a manifest: what is missing of it is asked, what is there is not.

        Raises: EnvironmentFault `data_dir_unwritable`.
        """
        folder = self.folder(manifest.id)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "manifest.json").write_text(_document(manifest.to_json()), encoding="utf-8")
            return self._carry_out(engine, dataset, manifest, folder, policy, report)
        except OSError as refused:
            raise EnvironmentFault(
                "data_dir_unwritable", data_dir=str(folder), problem=refused.strerror or ""
            ) from refused

    def keep_metrics(self, run_id: str, means: Mapping[str, object]) -> None:
        """Write `metrics.json` beside the digests."""
        (self.folder(run_id) / "metrics.json").write_text(_document(means), encoding="utf-8")

    def _carry_out(
        self,
        engine: RagService,
        dataset: Dataset,
        manifest: Manifest,
        folder: Path,
        policy: str,
        report: Callable[[int, int], None],
    ) -> Run:
        known = {str(line["id"]): line for line in _whole_lines(folder / "queries.jsonl")}
        timed = _whole_lines(folder / "timings.jsonl")
        times = {str(line["id"]): float(cast("float", line["total_ms"])) for line in timed}
        kept = [known[case.id] for case in dataset.cases if case.id in known and known[case.id]["error"] is None]
        _rewrite(folder / "queries.jsonl", kept)
        done = {str(line["id"]) for line in kept}
        missing = [case for case in dataset.cases if case.id not in done]
        digests = {key: digest_from_json(line) for key, line in known.items() if key in done}
        with (
            (folder / "queries.jsonl").open("a", encoding="utf-8") as queries,
            (folder / "timings.jsonl").open("a", encoding="utf-8") as timings,
        ):
            answers = answer_all(
                engine,
                missing,
                manifest,
                policy=policy,
                report=lambda count, total: report(count + len(done), total + len(done)),
            )
            for answered in answers:
                _append(queries, answered.digest.to_json())
                _append(timings, {"id": answered.digest.id, "total_ms": answered.total_ms})
                digests[answered.digest.id] = answered.digest
                times[answered.digest.id] = answered.total_ms
        _rewrite(folder / "queries.jsonl", [digests[case.id].to_json() for case in dataset.cases])
        return Run(
            manifest=manifest,
            digests={case.id: digests[case.id] for case in dataset.cases},
            times_ms=times,
            taken_up=len(done),
        )


def rerun_difference(stored: Mapping[str, Digest], again: Mapping[str, Digest]) -> str | None:
    """The first field that differs between two runs of one manifest, as `question.field…`; None for equal ones."""
    for key, digest in stored.items():
        other = again.get(key)
        if other is None:
            return key
        field = _first_difference(digest.to_json(), other.to_json())
        if field is not None:
            return f"{key}{field}"
    return None


def _first_difference(a: object, b: object) -> str | None:
    if isinstance(a, dict) and isinstance(b, dict):
        left, right = cast("dict[str, object]", a), cast("dict[str, object]", b)
        for name in dict.fromkeys((*left, *right)):
            inner = _first_difference(left.get(name), right.get(name))
            if inner is not None:
                return f".{name}{inner}"
        return None
    if isinstance(a, list) and isinstance(b, list):
        first, second = cast("list[object]", a), cast("list[object]", b)
        for place, (x, y) in enumerate(zip(first, second, strict=False)):
            inner = _first_difference(x, y)
            if inner is not None:
                return f"[{place}]{inner}"
        return None if len(first) == len(second) else f"[{min(len(first), len(second))}]"
    return None if a == b else ""


def _whole_lines(path: Path) -> Iterator[dict[str, object]]:
    """JSON objects of the lines that end; a process that was killed may have left half a line."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                try:
                    yield cast("dict[str, object]", json.loads(line))
                except ValueError:
                    continue


def _append(out: TextIO, body: Mapping[str, object]) -> None:
    out.write(json.dumps(body, ensure_ascii=False) + "\n")
    out.flush()


def _rewrite(path: Path, lines: Sequence[Mapping[str, object]]) -> None:
    waiting = path.with_suffix(".new")
    with waiting.open("w", encoding="utf-8") as out:
        for line in lines:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
    waiting.replace(path)


def _document(body: Mapping[str, object]) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2) + "\n"
