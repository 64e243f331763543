"""Times documentation to rows, without embedding: many pages, and single files of growing size.

Run from the root: `python -m tests.benchmarks.docs_extraction`. Pages are made by counting, so every run reads the same
bytes. Prints one line a figure; times are of this machine, this minute.
"""

from __future__ import annotations

import json
import multiprocessing
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

import ragkit
from ragkit.document import Extraction, SourceFile
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.pipeline import extraction_to_bytes
from ragkit.text import Analyzer

PAGES = 1_000
PAGE_BYTES = 8_000
MEMORY_PAGES = (250, 500, 1_000)
FILE_BYTES = (625_000, 1_250_000, 2_500_000, 5_000_000)

_WORDS = re.findall(
    r"\w+",
    "parcel locker courier cell door code storage client return order refund status queue event table retry limit "
    "посылка ячейка курьер возврат хранение статус договор клиент заявка срок событие таблица очередь отказ",
)


_BORDER = "=========  ====  ==========================\n"


def prose(seed: int, count: int) -> str:
    """`count` words, the same for the same seed."""
    return " ".join(
        _WORDS[(seed * 7 + n * n + 3 * n) % len(_WORDS)] + (str(n % 40) if n % 11 == 0 else "") for n in range(count)
    )


def markdown_section(seed: int) -> str:
    """A section of about 1.3 kB; its kind goes by the seed."""
    title = prose(seed, 3).capitalize()
    text = f"{prose(seed, 60)}. The {prose(seed, 2)} MUST be closed, see [{title}](../p{seed % 97:02}.md#rules).\n"
    kinds = (
        "".join(f"- **{prose(seed + n, 1)}{n}**: {prose(seed + n, 12)}\n" for n in range(8)),
        "| field | type | meaning |\n| --- | --- | --- |\n"
        + "".join(f"| `field_{n}` | int | {prose(seed + n, 9)} |\n" for n in range(9)),
        "```python\n" + "".join(f"value_{n} = call({n}, '{prose(seed + n, 3)}')\n" for n in range(12)) + "```\n",
        "".join(f"{n}. Open {prose(seed + n, 10)}.\n   - then {prose(seed + n, 5)}\n" for n in range(1, 7)),
        "```mermaid\nsequenceDiagram\n"
        + "".join(f"  Client->>Locker{n % 3}: {prose(seed + n, 4)}\n" for n in range(10))
        + "```\n",
        f"!!! note\n    {prose(seed, 40)}\n\n> {prose(seed + 1, 40)}\n",
    )
    return f"## {title}\n\n{text}\n{kinds[seed % len(kinds)]}\n"


def rst_section(seed: int) -> str:
    """The same in reStructuredText."""
    title = prose(seed, 3).capitalize()
    kinds = (
        "".join(f"* ``{prose(seed + n, 1)}{n}``: {prose(seed + n, 12)}\n" for n in range(8)),
        f"{_BORDER}field      type  meaning\n{_BORDER}"
        + "".join(f"field_{n}    int   {prose(seed + n, 6)}\n" for n in range(9))
        + _BORDER,
        ".. code-block:: python\n\n" + "".join(f"   value_{n} = call({n})\n" for n in range(12)),
        "".join(f"{n}. Open {prose(seed + n, 10)}.\n\n   - then {prose(seed + n, 5)}\n\n" for n in range(1, 7)),
        "".join(f"term{n}\n    {prose(seed + n, 14)}\n" for n in range(8)),
        f".. note::\n\n   {prose(seed, 40)}\n\n   .. unknown:: {prose(seed, 2)}\n\n      {prose(seed + 1, 40)}\n",
    )
    text = f"{prose(seed, 60)}. The {prose(seed, 2)} MUST be closed, see :doc:`p{seed % 97:02}`.\n"
    return f"{title}\n{'-' * len(title)}\n\n{text}\n{kinds[seed % len(kinds)]}\n"


def plain_section(seed: int) -> str:
    """Paragraphs."""
    return f"{prose(seed, 60)}.\n\n{prose(seed + 1, 30)}:\n{prose(seed + 2, 30)}\n\n"


def text_of(section: Callable[[int], str], head: str, size: int, seed: int) -> str:
    """Sections after a head, about `size` bytes."""
    parts = [head]
    length = len(head.encode())
    while length < size:
        parts.append(section(seed + len(parts)))
        length += len(parts[-1].encode())
    return "".join(parts)


def pages(count: int) -> Iterator[SourceFile]:
    """Markdown pages of about PAGE_BYTES."""
    for n in range(count):
        front = f"---\nid: page.{n}\ntitle: {prose(n, 4)}\ndomain: logistics\ntags: [a{n % 9}, b]\n"
        front += f"reads_db: [t{n % 50}]\n---\n"
        head = f"{front if n % 2 else ''}# {prose(n, 4).capitalize()}\n\n{prose(n, 40)}.\n\n"
        yield _source(f"docs/d{n % 20}/p{n:04}.md", text_of(markdown_section, head, PAGE_BYTES, 31 * n))


def _source(path: str, text: str) -> SourceFile:
    return SourceFile(path=path, text=text, blob_sha="0" * 40, size=len(text.encode()))


def _analyzer() -> Analyzer:
    return Analyzer.parse(Path(ragkit.__file__).with_name("stems.toml").read_text("utf-8"))


def _extract_all(sources: Sequence[SourceFile]) -> tuple[int, int]:
    """Rows and bytes of their stored form."""
    docs = DocsIndexingPipeline(_analyzer())
    rows = size = 0
    for source in sources:
        made = docs.index_file(source)
        rows += len(made.rows)
        size += len(extraction_to_bytes(made))
    return rows, size


def main() -> None:
    """Print the figures."""
    if sys.argv[1:2] == ["--memory"]:
        _print_memory(int(sys.argv[2]))
        return
    sources = list(pages(PAGES))
    megabytes = sum(source.size for source in sources) / 1e6
    started = perf_counter()
    rows, _ = _extract_all(sources)
    one = perf_counter() - started
    _say(f"{PAGES} pages, {megabytes:.1f} MB, {rows} rows, one process", f"{one:.1f} s")
    started = perf_counter()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(_extract_all, [sources[::2], sources[1::2]])
    _say("  two processes, their start included", f"{perf_counter() - started:.1f} s")
    _say("  terms of all rows (part of writing)", f"{_terms_s(sources):.1f} s")
    for count in MEMORY_PAGES:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.docs_extraction", "--memory", str(count)],
            check=True,
            capture_output=True,
            text=True,
        )
        _say(f"peak memory with {count} pages, one after the other", f"{json.loads(done.stdout)} MB")
    for name, path, section, head in (
        ("Markdown", "a.md", markdown_section, "# Title\n\n"),
        ("reStructuredText", "a.rst", rst_section, "Title\n=====\n\n"),
        ("plain text", "a.txt", plain_section, "Title\n\n"),
        ("Markdown of one section", "a.md", lambda n: markdown_section(n).partition("\n\n")[2], "# Title\n\n"),
        ("reStructuredText of one section", "a.rst", lambda n: rst_section(n).partition("\n\n")[2], "T\n=\n\n"),
    ):
        figures = [f"{_file_s(path, text_of(section, head, size, 1)):.2f} s" for size in FILE_BYTES]
        _say(f"one file of {name}, {', '.join(f'{size / 1e6:g}' for size in FILE_BYTES)} MB", ", ".join(figures))


def _terms_s(sources: Sequence[SourceFile]) -> float:
    analyzer = _analyzer()
    docs = DocsIndexingPipeline(analyzer)
    spent = 0.0
    for source in sources:
        made: Extraction = docs.index_file(source)
        started = perf_counter()
        for row in made.rows:
            analyzer.terms(f"{row.context}\n{row.text}")
        spent += perf_counter() - started
    return spent


def _file_s(path: str, text: str) -> float:
    docs = DocsIndexingPipeline(_analyzer())
    source = _source(path, text)
    started = perf_counter()
    docs.index_file(source)
    return perf_counter() - started


def _print_memory(count: int) -> None:
    docs = DocsIndexingPipeline(_analyzer())
    for source in pages(count):
        docs.index_file(source)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.stdout.write(json.dumps(round(peak / (1024 if sys.platform != "darwin" else 1024 * 1024))) + "\n")


def _say(what: str, figure: str) -> None:
    sys.stdout.write(f"{what}: {figure}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
