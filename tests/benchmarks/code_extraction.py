"""Times reading code to rows, without embedding: 1,000 Python files of 10 MB, growth, one large package, memory.

Run from the root: `python -m tests.benchmarks.code_extraction [FOLDER]`. The files come from the packages installed
beside ragkit; FOLDER, a large package unpacked somewhere, is read once for the peak of memory. Prints one line a
figure; times are of this machine, this minute.
"""

from __future__ import annotations

import resource
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import ragkit
from ragkit.document import SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.files import LeftOut, list_files, read_file
from ragkit.text import Analyzer

FILES, MIN_BYTES, MAX_BYTES = 1_000, 6_300, 15_500


def main() -> None:
    """Print the figures."""
    files = _installed()
    size = sum(file.size for file in files) / 1e6
    _say(f"{len(files)} Python files, {size:.1f} MB, one process", f"{_timed(files):.2f} s")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(_rows, [files[:5], files[5:10]]))  # start-up is the same for any number of files
        started = perf_counter()
        list(pool.map(_rows, [files[place::10] for place in range(10)]))
        _say("  the same, two processes", f"{perf_counter() - started:.2f} s")
    for count in (250, 500, 1_000):
        part = files[:: FILES // count]
        taken = sum(file.size for file in part) / 1e6
        seconds = _timed(part)
        _say(f"{count} files, {taken:.1f} MB", f"{seconds:.2f} s, {seconds / taken:.2f} s/MB")
    text = "\n".join(file.text for file in files[::3])
    for megabytes in (0.25, 0.5, 1, 2):
        part = text[: int(megabytes * 1e6)].rpartition("\ndef ")[0]
        seconds = _timed([_file("one.py", part)])
        _say(f"one file of {megabytes} MB", f"{seconds:.2f} s, {seconds / (len(part) / 1e6):.2f} s/MB")
    for folder in map(Path, sys.argv[1:]):
        _package(folder)


def _installed() -> list[SourceFile]:
    root = Path(sysconfig.get_paths()["purelib"])
    found: list[SourceFile] = []
    for path in sorted(root.rglob("*.py")):
        if len(found) == FILES:
            break
        if MIN_BYTES <= path.stat().st_size <= MAX_BYTES:
            found.append(_file(path.relative_to(root).as_posix(), path.read_text("utf-8", "replace")))
    return found


def _file(path: str, text: str) -> SourceFile:
    return SourceFile(path=path, text=text, blob_sha="0" * 40, size=len(text.encode("utf-8", "replace")))


def _pipeline() -> CodeIndexingPipeline:
    return CodeIndexingPipeline(Analyzer.parse(Path(ragkit.__file__).with_name("stems.toml").read_text("utf-8")))


def _rows(files: Iterable[SourceFile]) -> int:
    code = _pipeline()
    return sum(len(code.index_file(file).rows) for file in files)


def _timed(files: Sequence[SourceFile]) -> float:
    started = perf_counter()
    _rows(files)
    return perf_counter() - started


def _package(folder: Path) -> None:
    """All rows of a package kept at once: more than indexing keeps, which writes batch by batch."""
    code, rows, size = _pipeline(), [], 0
    started = perf_counter()
    entries = [entry for entry in list_files(folder).files if entry.path.endswith(".py")]
    for entry in entries:
        file = read_file(folder, entry)
        if not isinstance(file, LeftOut):
            size += file.size
            rows += code.index_file(file).rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    _say(
        f"{folder.name}: {len(entries)} files, {size / 1e6:.1f} MB, {len(rows)} rows, all kept",
        f"{perf_counter() - started:.2f} s, peak {peak:.2f} GB",
    )


def _say(what: str, figure: str) -> None:
    sys.stdout.write(f"{what}: {figure}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
