"""Datasets that can be chosen by name: the bundled one, and those in `RAGKIT_DATA_DIR/datasets`."""

from __future__ import annotations

from pathlib import Path

from ragkit import bundle

DEMO = "demo"


def datasets(data_dir: Path) -> dict[str, Path]:
    """Name → file or folder, the bundled one first, then by name."""
    own = data_dir / "datasets"
    try:
        found = sorted(path for path in own.iterdir() if path.is_dir() or path.suffix in (".jsonl", ".csv"))
    except OSError:
        found = []
    return {DEMO: bundle.demo_corpus().parent / "queries.jsonl"} | {path.stem: path for path in found}
