"""Files that are wrong, hostile or strange, through the functions that a job uses: each costs itself at most."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.document import Extraction, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import MAX_LINES, DocsIndexingPipeline
from ragkit.indexing.exclusions import MAX_BYTES
from ragkit.indexing.files import LeftOut, list_files, read_file
from ragkit.indexing.pipeline import extract
from ragkit.layers import Family, Layer

Make = Callable[[str, str], SourceFile]
Read = Callable[[Path], tuple[dict[str, Extraction], dict[str, str]]]

MAX_S = 6.0
"""For one file, on a machine that is busy with others."""


@pytest.fixture
def read(docs: DocsIndexingPipeline, code: CodeIndexingPipeline) -> Read:
    """Extractions and reasons by path, of all that stands below a folder."""

    def every_file(root: Path) -> tuple[dict[str, Extraction], dict[str, str]]:
        listing = list_files(root)
        made: dict[str, Extraction] = {}
        left_out = {path: reason for reason, paths in listing.left_out.items() for path in paths}
        for entry in listing.files:
            source = read_file(root, entry)
            found = source if isinstance(source, LeftOut) else extract(source, docs=docs, code=code)
            if isinstance(found, LeftOut):
                left_out[found.path] = found.reason
            else:
                made[entry.path] = found
        return made, left_out

    return every_file


RUSSIAN = (
    "# Хранение посылок\n\nПосылка лежит в ячейке семь дней, потом возвращается отправителю. Курьер её забирает.\n"
)


def test_encodings_are_decoded_or_named(tmp_path: Path, read: Read) -> None:
    files = {
        "utf8-bom.md": RUSSIAN.encode("utf-8-sig"),
        "cp1251.md": RUSSIAN.encode("cp1251"),
        "utf16.md": RUSSIAN.encode("utf-16"),
        "utf16be.rst": b"\xfe\xff" + RUSSIAN.encode("utf-16-be"),
        "utf32.txt": RUSSIAN.encode("utf-32"),
        "crlf.md": RUSSIAN.replace("\n", "\r\n").encode(),
        "cr.md": RUSSIAN.replace("\n", "\r").encode(),
        "nul.md": b"# T\n\0\n",
        "utf16-nul.md": "# T\n\0\n".encode("utf-16"),
        "noise.md": bytes(range(128, 256)) * 4,
        "cut.md": RUSSIAN.encode()[:-3] + b"\xd0",
        "empty.md": b"",
        "blank.md": b" \n\t\n\xc2\xa0\n",
        "bom-only.md": b"\xef\xbb\xbf",
        "good.md": b"# Good\n\nText of it.\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    made, left_out = read(tmp_path)
    text = {path: found.rows[0].text for path, found in made.items()}
    russian = RUSSIAN.rstrip("\n")
    decoded = ["utf8-bom.md", "cp1251.md", "utf16.md", "crlf.md", "cr.md"]
    assert [text[path] for path in decoded] == [russian] * len(decoded)
    assert text["good.md"] == "# Good\n\nText of it."
    assert text["utf16be.rst"].startswith("# Хранение")
    assert left_out == {
        "nul.md": "binary",
        "utf16-nul.md": "binary",
        "noise.md": "undecodable",
        "cut.md": "undecodable",
        "empty.md": "empty",
        "blank.md": "empty",
        "bom-only.md": "empty",
    }


def test_paths_of_any_script_and_links_of_any_kind(tmp_path: Path, read: Read) -> None:
    root = tmp_path / "корень 📦"
    (root / "docs here").mkdir(parents=True)
    page = (
        "# T\n\n[out](../../etc/passwd) [far](../../../../../../etc/passwd.md) [abs](/etc/passwd.md) [in](б.md) text.\n"
    )
    (root / "docs here" / "a b 📦.md").write_text(page, encoding="utf-8")
    (root / "docs here" / "б.md").write_text("# Б\n\nТекст страницы.\n", encoding="utf-8")
    (root / "dangling.md").symlink_to("nowhere.md")
    (root / "loop.md").symlink_to("loop.md")
    (root / "folder").symlink_to(root, target_is_directory=True)
    (root / "passwd.md").symlink_to("/etc/passwd")
    made, left_out = read(root)
    assert sorted(made) == ["docs here/a b 📦.md", "docs here/б.md"]
    assert left_out == {path: "symlink" for path in ("dangling.md", "loop.md", "folder", "passwd.md")}
    rows = made["docs here/a b 📦.md"].rows
    edges = [row.attributes for row in rows if row.layer is Layer.D5_RELATION_GRAPH]
    assert [(edge["dst_ref"], edge["dst_id"]) for edge in edges] == [
        ("../../etc/passwd", None),
        ("../../../../../../etc/passwd.md", None),
        ("/etc/passwd.md", "etc/passwd.md"),
        ("б.md", "docs here/б.md"),
    ]


def test_one_bad_file_never_costs_another_and_is_named(tmp_path: Path, read: Read) -> None:
    files = {
        "bomb.md": "---\na: &a [x, x]\n"
        + "".join(f"a{n}: &a{n} [*a, *a]\n" for n in range(60))
        + "---\n# T\n\nText.\n",
        "circle.md": "---\na: &a [*a]\ntags: &t [*t, x]\n---\n# Circle\n\nText of it.\n",
        "open.md": "---\ntitle: x\n" + "a: b\n" * 5_000,
        "openapi.yaml": "openapi: 3.0.0\npaths: {/a: [\n",
        "a.ipynb": '{"cells": [',
        "deep.rst": "".join("  " * n + "- x\n\n" for n in range(60)),
        "long.md": "word " * 10_000,
        "good.md": "# Good\n\nText of it.\n",
        "good.rst": "Good\n====\n\nText of it.\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    made, left_out = read(tmp_path)
    assert left_out == {"a.ipynb": "malformed"}
    assert sorted(made) == sorted(set(files) - {"a.ipynb"})
    told = {path: [(w.code, w.path, w.line) for w in found.warnings] for path, found in made.items()}
    assert told == {
        "bomb.md": [("front_matter_invalid", "bomb.md", 28)],
        "circle.md": [("front_matter_invalid", "circle.md", 2)],
        "open.md": [("front_matter_open", "open.md", 1)],
        "openapi.yaml": [("openapi_invalid", "openapi.yaml", 3)],
        "deep.rst": [("rst_by_lines", "deep.rst", 1)],
        "long.md": [("long_line", "long.md", 1)],
        "good.md": [],
        "good.rst": [],
    }
    assert made["bomb.md"].rows[0].text.startswith("# T")


def test_other_kinds_have_a_fitting_reason(tmp_path: Path, read: Read) -> None:
    reasons = {
        "a.pdf": "binary",
        "a.docx": "binary",
        "a.pages": "binary",
        "bun.lockb": "binary",
        "a.epub": "binary",
        "a.rtf": "binary",
        "a.svg": "unsupported",
        "a.drawio": "unsupported",
        "a.csv": "unsupported",
        "a.adoc": "unsupported",
        "a.log": "unsupported",
        "noextension": "unsupported",
        "poetry.lock": "generated",
        "package-lock.json": "generated",
        "pnpm-lock.yaml": "generated",
        "go.sum": "generated",
        "deno.lock": "generated",
        ".terraform.lock.hcl": "generated",
        "podfile.lock": "generated",
    }
    for name in reasons:
        (tmp_path / name).write_text("x\n")
    (tmp_path / "big.md").write_bytes(b"x" * (MAX_BYTES + 1))
    made, left_out = read(tmp_path)
    assert made == {}
    assert left_out == {**reasons, "big.md": "too_large"}


def test_families_never_mix(tmp_path: Path, read: Read) -> None:
    code_cell = {"cell_type": "code", "source": ["def cell(): ..."]}
    cells = [code_cell, {"cell_type": "markdown", "source": ["# Note\n", "Text."]}]
    files = {
        "README.md": "# Shop\n\nSells parcels to people.\n",
        "docs/guide.md": "# Guide\n\n```python\ndef fenced():\n    pass\n```\n",
        "docs/api.yaml": "openapi: 3.0.0\ninfo: {title: Shop}\npaths: {/a: {get: {responses: {}}}}\n",
        "docs/conf.py": '"""Sphinx\n======\n\nSettings."""\nproject = "shop"\n',
        "src/shop.py": '"""# Not a heading\n\nThe shop MUST sell."""\n\n\ndef sell():\n    """1. open 2. close."""\n',
        "src/README.rst": "Inside\n======\n\n.. code-block:: python\n\n   def inner(): ...\n",
        "src/deploy.yaml": "kind: Deployment\n",
        "notebooks/a.ipynb": json.dumps({"cells": cells}, indent=1),
        "requirements.txt": "requests\n",
        "LICENSE": "Permission is granted to everyone.\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    made, left_out = read(tmp_path)
    assert left_out == {}
    assert {path for path, found in made.items() if found.family is Family.DOCS} == {
        "README.md", "docs/guide.md", "docs/api.yaml", "src/README.rst", "notebooks/a.ipynb", "LICENSE",
    }  # fmt: skip
    for found in made.values():
        letter = "D" if found.family is Family.DOCS else "C"
        assert all(row.layer.value.startswith(letter) for row in found.rows)


def _nested(marker: str, depth: int) -> str:
    return "".join("  " * n + f"{marker} x\n" for n in range(depth))


HOSTILE = {
    "one line of words": "word " * 400_000,
    "one word": "x" * 2_000_000,
    "spaces": " " * 2_000_000,
    "nested bullets": _nested("-", 900),
    "nested numbers": _nested("1.", 900),
    "bullets on one line": "- " * 50_000 + "x",
    "quotes on one line": ">" * 200_000,
    "nested quotes": "".join(">" * n + " x\n" for n in range(1, 600)),
    "brackets": "[" * 200_000,
    "images": "![" * 100_000,
    "links": "[](" * 70_000,
    "emphasis": "*a **b " * 30_000,
    "underscores": "_a" * 100_000,
    "backticks": " ".join("`" * n for n in range(1, 600)),
    "tags": "<a " * 70_000,
    "comments": "<!--" * 50_000,
    "entities": "&a;" * 70_000,
    "broken table": "| a | b |\n|---|---|\n" + "|" * 200_000,
    "wide table": "|" + "a|" * 20_000 + "\n|" + "-|" * 20_000 + "\n|" + "1|" * 20_000 + "\n",
    "torn tables": "| a |\n| - | - |\n|\n||||\n" * 5_000,
    "definitions": "term\n: text\n" * 20_000,
    "references": "[a\n" * 60_000,
    "fences": "```\n" * 50_000,
    "front matter that never ends": "---\ntitle: x\n" + "a: b\n" * 40_000,
    "mermaid": "```mermaid\nflowchart TD\n" + ("A & B & C --> D & E & F;" * 20 + "\n") * 400 + "```\n",
    "mermaid dashes": "```mermaid\nflowchart TD\n" + ("A" + "-" * 490 + "\n") * 400 + "```\n",
    "rst comments": "..\n\n" * 25_000,
    "rst tables": "+--+--+\n|a |b |\n" * 12_000,
    "rst grid": "+--+--+\n" + "|a |b |\n+--+--+\n" * 12_000,
    "rst open tables": "== ==\n" + "a  b\n" * 40_000,
    "rst titles": "".join(f"t\n{char * 3}\n\n" for char in "=-~^+*#") * 2_000,
    "rst quotes": "".join(" " * n + "x\n" for n in range(600)),
    "rst roles": ":a:`" * 50_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_seconds_at_most(docs: DocsIndexingPipeline, source: Make, name: str) -> None:
    for path in ("a.md", "a.rst", "a.txt"):
        started = perf_counter()
        assert docs.index_file(source(path, HOSTILE[name])).rows or name == "spaces"
        assert perf_counter() - started < MAX_S


@pytest.mark.long
@pytest.mark.parametrize("path", ["a.md", "a.rst", "a.txt"])
def test_fifty_megabytes_of_one_line(tmp_path: Path, docs: DocsIndexingPipeline, source: Make, path: str) -> None:
    text = "word " * 10_000_000
    (tmp_path / path).write_text(text)
    assert list_files(tmp_path).left_out == {"too_large": (path,)}
    started = perf_counter()
    assert docs.index_file(source(path, text)).warnings[-1].code == "long_line"
    assert perf_counter() - started < 200


@pytest.mark.parametrize("path", ["a.md", "a.rst"])
def test_a_document_of_very_many_lines_is_read_as_text(docs: DocsIndexingPipeline, source: Make, path: str) -> None:
    extraction = docs.index_file(source(path, "- x\n" * (MAX_LINES + 1)))
    assert [(w.code, w.path, w.params["limit"]) for w in extraction.warnings] == [("read_as_text", path, MAX_LINES)]
    assert extraction.rows[0].layer is Layer.D0_DOC_CHUNKS


FRAGMENTS = [
    "# A", "Title\n=====", "---\na: b\n---", "---\na: &x [*x]\n---", "---", "- a\n  - b", "1. x\n2. y", "> q",
    "```mermaid\nA-->B", "```", "| a | b |\n|---|---|\n| 1 | 2 |", "+--+\n|a |\n+--+", "== ==\na  b\n== ==",
    ".. note:: x\n\n   y", ".. code::\n\n   z", "term\n  text", "term\n: text", ":field: x", "[a](../../b.md)",
    ":doc:`x`", "!!! note\n    x", "{% if a %}", "<details>\n<b>", "openapi: 3.0.0", "paths:\n  /a:\n    get: {}",
    "key: [a, {b: c}]", "MUST be", "**a**: b", "\ufeff", "\u2028", "\x85", "\v", "\t", "x" * 5_000, "Курьер обязан",
    "", "",
]  # fmt: skip
MIXTURE = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=12), max_size=25).map("\n".join)


@settings(max_examples=200)
@given(
    MIXTURE, st.sampled_from(["a.md", "docs/domains/x/a.rst", "glossary.txt", "a.yaml", "a.ipynb", "policies/a.mdx"])
)
def test_mixtures_give_rows_that_are_their_lines(
    docs: DocsIndexingPipeline, source: Make, text: str, path: str
) -> None:
    text = text.replace("\r", "\n")
    lines = text.split("\n")
    extraction = docs.index_file(source(path, text))
    assert len({row.public_id for row in extraction.rows}) == len(extraction.rows)
    for row in extraction.rows:
        assert 1 <= row.line_start <= row.line_end <= len(lines)
        exact = "\n".join(lines[row.line_start - 1 : row.line_end])
        assert row.text == exact or (row.line_start == row.line_end and row.text in exact)
    for warning in extraction.warnings:
        assert warning.path == path
        assert warning.line is None or 1 <= warning.line <= len(lines) + 1
