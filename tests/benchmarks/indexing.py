"""What indexing costs: `python -m tests.benchmarks.indexing [PART …]`.

Parts: rows, embed, unchanged, change, few, memory. Every figure is printed beside what it is compared with, from the
same run, since the machine is shared. The corpus is made here, the same each time: modules that import each other, and
pages with tables, lists and links. It lies in a temporary folder that is a git repository; the database is the embedded
server in another.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import psutil

from ragkit import service
from ragkit.document import Vectors
from ragkit.embedding import bundled
from ragkit.service import RagService
from ragkit.settings import Settings
from tests.embedders import CountingEmbedder, WordEmbedder

WORDS = [
    "parcel", "order", "locker", "courier", "price", "stock", "queue", "token", "window", "report", "budget",
    "signal", "garden", "bridge", "module", "filter", "vector", "market", "ticket", "winter", "summer", "kernel",
    "branch", "policy", "answer", "letter", "number", "memory", "object", "record",
]  # fmt: skip


class NullEmbedder:
    """Vectors at no cost."""

    fingerprint = "null:1"
    dims = 512

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector for all."""
        return np.full((len(texts), self.dims), self.dims**-0.5, dtype=np.float32)


def say(what: str, figure: str) -> None:
    print(f"{what:<66} {figure}", flush=True)  # noqa: T201


def name(number: int) -> str:
    return f"{WORDS[number % len(WORDS)]}_{number}"


def module(number: int, files: int, chance: random.Random) -> str:
    other = chance.randrange(files)
    parts = [f'"""{sentence(chance)}"""\n\nfrom shop.{name(other)} import {name(other)}_make\n']
    for place in range(6):
        parts.append(
            f"\n\ndef {name(number)}_{'make' if place == 0 else place}(value, {chance.choice(WORDS)}=None):\n"
            f'    """{sentence(chance)}"""\n    total = {name(other)}_make(value)\n'
            + "".join(f"    if value > {n}:\n        total += {chance.choice(WORDS)!r}.count({n})\n" for n in range(4))
            + "    return total\n"
        )
    parts.append(f"\n\nclass {name(number).title().replace('_', '')}:\n")
    for place in range(4):
        parts.append(
            f'    def {chance.choice(WORDS)}_{place}(self):\n        """{sentence(chance)}"""\n        return 1\n\n'
        )
    return "".join(parts)


def page(number: int, files: int, chance: random.Random) -> str:
    parts = [f"# {sentence(chance)[:40]} {number}\n\n{sentence(chance)}\n"]
    for section in range(5):
        parts.append(f"\n## {chance.choice(WORDS).title()} {section}\n\n")
        parts.extend(f"{sentence(chance)} " for _ in range(5))
        parts.append(f"\n\nSee [another](p{chance.randrange(files)}.md).\n")
    parts.append("\n| Code | Meaning |\n| --- | --- |\n")
    parts.extend(f"| `E_{chance.choice(WORDS).upper()}_{n}` | {sentence(chance)} |\n" for n in range(4))
    return "".join(parts)


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=12)).capitalize() + f" {chance.randrange(10_000)}."


def write_tree(root: Path, files: int) -> None:
    """Half modules, half pages, some 2.5 kB each, committed to git."""
    chance = random.Random(7)
    (root / "shop").mkdir(parents=True)
    (root / "docs").mkdir()
    for number in range(files // 2):
        (root / "shop" / f"{name(number)}.py").write_text(module(number, files // 2, chance), encoding="utf-8")
        (root / "docs" / f"p{number}.md").write_text(page(number, files // 2, chance), encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "all")


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def took(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def size_of(root: Path) -> float:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file() and ".git" not in path.parts) / 1e6


@contextmanager
def engine_on(folder: Path, embedder: object, *, workers: int = 2) -> Iterator[RagService]:
    settings = Settings(data_dir=folder, index_workers=workers, statement_timeout_ms=600_000, cache_mb=20_000)
    with service.opened(settings, embedder=embedder) as engine:  # pyright: ignore[reportArgumentType]
        yield engine


def part_rows(root: Path, data: Path) -> None:
    """Rows a second from file to committed, with vectors at no cost."""
    with engine_on(data, NullEmbedder()) as engine:
        seconds = took(lambda: engine.index_snapshot("rows", root))
        rows = sum(engine.layers("rows").values())
        timings = engine.indexing.jobs("rows")[0].timings
    say(
        f"null embedder, two processes: {rows} rows, {size_of(root):.1f} MB",
        f"{rows / seconds:,.0f} rows/s in {seconds:.1f} s",
    )
    say("  of which, over all processes (ms)", str(dict(timings)))


def _embed_alone(texts: Sequence[str]) -> int:
    return len(bundled().embed(texts))


def part_embed(root: Path, data: Path) -> None:
    """The bundled embedder: the whole job beside embedding the same texts alone, in two processes."""
    counting = CountingEmbedder(WordEmbedder())
    with engine_on(data / "count", counting, workers=1) as engine:
        engine.index_snapshot("count", root)
    texts = sorted(set(counting.texts), key=len)
    halves = [texts[0::2], texts[1::2]]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(_embed_alone, [["warm"], ["up"]]))
        alone = took(lambda: list(pool.map(_embed_alone, halves)))
    with engine_on(data / "embed", bundled()) as engine:
        whole = took(lambda: engine.index_snapshot("embed", root))
    say(f"bundled embedder: {len(texts)} texts alone, two processes, by length", f"{alone:.1f} s")
    say("bundled embedder: the whole job", f"{whole:.1f} s, ratio {whole / alone:.2f}")


def part_unchanged(root: Path, data: Path) -> None:
    """Nothing changed: the whole of `index_snapshot` in a process that is running, beside `git status`."""
    with engine_on(data, NullEmbedder()) as engine:
        engine.index_snapshot("same", root)
        git(root, "status", "--porcelain")
        status = min(took(lambda: git(root, "status", "--porcelain")) for _ in range(5))
        again = sorted(took(lambda: engine.index_snapshot("same", root)) for _ in range(7))
    say("unchanged: git status (best of 5)", f"{status * 1000:.0f} ms")
    say("unchanged: index again (best, median of 7)", f"{again[0] * 1000:.0f} ms, {again[3] * 1000:.0f} ms")
    say("  allowed: 2 x git status + 100 ms, at most 500 ms", f"{min(2 * status + 0.1, 0.5) * 1000:.0f} ms")


def part_change(root: Path, data: Path) -> None:
    """One file in a hundred changed."""
    with engine_on(data, NullEmbedder()) as engine:
        full = took(lambda: engine.index_snapshot("change", root))
        paths = sorted(root.glob("docs/*.md")) + sorted(root.glob("shop/*.py"))
        for path in paths[::100]:
            path.write_text(path.read_text(encoding="utf-8").replace("parcel", "parcels"), encoding="utf-8")
        part = took(lambda: engine.index_snapshot("change", root))
        job = engine.indexing.jobs("change")[0]
    say(f"1 % changed ({job.files['indexed']} files, {job.files['relinked']} relinked), beside the full job",
        f"{part:.2f} s of {full:.1f} s: {100 * part / full:.1f} %")  # fmt: skip
    say("  of which (ms)", str(dict(job.timings)))


def part_few(root: Path, data: Path) -> None:
    """Some fifty rows replaced, in a session of 40 files: the whole job, and the database's part of it."""
    small = data / "few-tree"
    shutil.copytree(root / "shop", small / "shop", ignore=lambda _, names: sorted(names)[20:])
    shutil.copytree(root / "docs", small / "docs", ignore=lambda _, names: sorted(names)[20:])
    path = sorted(small.glob("shop/*.py"))[0]
    whole: list[float] = []
    bare: list[float] = []
    with engine_on(data, NullEmbedder()) as engine:
        engine.index_snapshot("few", small)
        for turn in range(9):
            path.write_text(path.read_text(encoding="utf-8") + f"\n# One more {turn}.\n", encoding="utf-8")
            whole.append(1000 * took(lambda: engine.index_snapshot("few", small)))
            job = engine.indexing.jobs("few")[0]
            bare.append(float(job.timings["write_ms"]) + float(job.timings["swap_ms"]))  # pyright: ignore
    rows, timings = job.rows_written, dict(job.timings)
    say(f"one file of {rows} rows replaced, the whole job (best, median of 9)", best_and_median(whole))
    say("  its rows staged and shown", best_and_median(bare))
    say("  the last one, by step (ms)", str(timings))


def best_and_median(times_ms: Sequence[float]) -> str:
    ordered = sorted(times_ms)
    return f"{ordered[0]:.0f} ms, {ordered[len(ordered) // 2]:.0f} ms"


def part_memory(root: Path, data: Path) -> None:
    """Peak of the job's processes together, over four times as many files of 5 kB with few rows each."""
    files = sum(1 for _ in root.rglob("*.md")) * 2
    shutil.rmtree(root)
    peaks: list[str] = []
    for number in (files // 4, files):
        tree = root.parent / f"memory-{number}"
        write_long_files(tree, number)
        peak = 0

        def watch(_: object) -> None:
            nonlocal peak
            own = psutil.Process()
            workers = [child for child in own.children(recursive=True) if "python" in child.name()]
            peak = max(peak, sum(process.memory_info().rss for process in (own, *workers)))

        with engine_on(data, NullEmbedder()) as engine:
            seconds = took(lambda tree=tree, number=number: engine.index_snapshot(f"m{number}", tree, report=watch))
            rows = sum(engine.layers(f"m{number}").values())
        peaks.append(f"{number} files, {rows} rows, {seconds:.0f} s: {peak / 1e6:.0f} MB")
        shutil.rmtree(tree)
    say("peak of the job and its two workers", "; ".join(peaks))
    say("  peak of the job's own process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


def write_long_files(root: Path, files: int) -> None:
    """Half modules of one function, half pages of one section, 5 kB each, a hundred a folder."""
    chance = random.Random(11)
    for number in range(files):
        folder = root / ("src" if number % 2 else "docs") / f"f{number // 200}"
        folder.mkdir(parents=True, exist_ok=True)
        prose = " ".join(sentence(chance) for _ in range(55))[:4_900]
        if number % 2:
            text = f'"""{prose}"""\n\n\ndef {name(number)}():\n    return {name(number - 2)}()\n'
            (folder / f"m{number}.py").write_text(text, encoding="utf-8")
        else:
            (folder / f"p{number}.md").write_text(f"# Page {number}\n\n{prose}\n", encoding="utf-8")


PARTS = {
    "rows": (part_rows, 2_000),
    "embed": (part_embed, 200),
    "unchanged": (part_unchanged, 10_000),
    "change": (part_change, 2_000),
    "few": (part_few, 200),
    "memory": (part_memory, 8_000),
}


def main() -> None:
    """Run the parts that are named, or all. `PART=FILES` sets the number of files."""
    asked = sys.argv[1:] or list(PARTS)
    for argument in asked:
        part, _, files = argument.partition("=")
        run, usual = PARTS[part]
        folder = Path(tempfile.mkdtemp(prefix="ragkit-bench-"))
        folder.chmod(0o755)
        try:
            write_tree(folder / "tree", int(files or usual))
            run(folder / "tree", folder / "data")
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
