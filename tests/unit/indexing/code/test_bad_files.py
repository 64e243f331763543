"""Files that are wrong in every way a disk has to offer: each costs only itself, and what happened is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragkit.document import Extraction
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.docs.pipeline import DocsIndexingPipeline
from ragkit.indexing.files import LeftOut, list_files, read_file
from ragkit.indexing.pipeline import extract
from ragkit.layers import Layer

GOOD = 'import json\n\n\ndef save(parcel):\n    """Save it."""\n    return json.dumps(parcel)\n'

FILES: dict[str, bytes] = {
    "good.py": GOOD.encode(),
    "with_mark.py": b"\xef\xbb\xbf" + GOOD.encode(),
    "latin.py": "# -*- coding: latin-1 -*-\nNAME = 'Grün'\n".encode("latin-1"),
    "cyrillic.py": "# coding: cp1251\nNAME = 'Посылка'\n".encode("cp1251"),
    "wrong_cookie.py": "# coding: klingon\nNAME = 'Grün'\n".encode("latin-1"),
    "windows.py": GOOD.replace("\n", "\r\n").encode(),
    "old_mac.py": GOOD.replace("\n", "\r").encode(),
    "tabs.py": b"def f():\n\tif x:\n\t\treturn 1\n        return 2\n",
    "form_feed.py": b"def f(): pass\n\x0c\ndef g(): pass\n",
    "nul.py": b"x = 1\n\x00\ndef f(): pass\n",
    "empty.py": b"",
    "blank.py": b"\n \n\t\n",
    "two.py": b"import os\n\ndef f():\n    print 'two'\n",
    "newer.py": b"def f():\n    return 1\n\nlazy import json\n\ndef g(): pass\n",
    "broken.py": b"def f():\n    return 1\n\ndef g(:\n    pass\n\nclass A:\n    def m(self): pass\n",
    "long_line.py": b"x = '" + b"word " * 60_000 + b"'\n\ndef f(): pass\n",
    "long_word.py": b"x = '" + b"a" * 300_000 + b"'\n\ndef f(): pass\n",
    "expression.py": b"def f(): pass\n\nx = " + b" + ".join([b"a"] * 250_000) + b"\n",
    "list.py": b"def f(): pass\n\nx = [" + b"1, " * 330_000 + b"]\n",
    "brackets.py": b"def f(): pass\n\nx = " + b"(" * 10_000 + b")" * 10_000 + b"\n",
    "open_brackets.py": b"def f(): pass\n\nx = " + b"[" * 10_000 + b"\n",
    "huge.py": b"x = 1\n" * 400_000,
    "brackets.js": b"function f() {}\n\nlet x = " + b"[" * 10_000 + b"]" * 10_000 + b";\n",
    "blocks.java": b"class A " + b"{ class A " * 10_000 + b"{}" + b"}" * 10_000 + b"\n",
    "nested.c": b"int f(void) { return 1; }\n" + b"{" * 10_000 + b"}" * 10_000 + b"\n",
}
TOLD: dict[str, str | list[str]] = {
    "nul.py": "binary",
    "wrong_cookie.py": "undecodable",
    "empty.py": "empty",
    "blank.py": "empty",
    "huge.py": "too_large",
    "loop": "symlink",
    "loop.py": "symlink",
    "pipe.py": "unsupported",
    "tabs.py": ["python_syntax:4"],
    "two.py": ["python_syntax:4"],
    "newer.py": ["python_syntax:4"],
    "broken.py": ["python_syntax:4"],
    "long_line.py": ["long_line:1"],
    "long_word.py": ["long_line:1"],
    "expression.py": ["python_syntax:1", "long_line:3"],
    "list.py": ["long_line:3"],
    "brackets.py": ["python_syntax:3", "long_line:3"],
    "open_brackets.py": ["python_syntax:3", "long_line:3"],
    "brackets.js": "generated",
    "blocks.java": ["long_line:1"],
    "nested.c": ["long_line:2"],
}
"""Reason why it is left out, or its warnings with their lines; nothing where all is well."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    for name, content in FILES.items():
        (root / name).write_bytes(content)
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "loop.py").symlink_to("loop.py")
    os.mkfifo(root / "pipe.py")
    return root


def _told(root: Path, code: CodeIndexingPipeline, docs: DocsIndexingPipeline) -> dict[str, LeftOut | Extraction | str]:
    listing = list_files(root)
    told: dict[str, LeftOut | Extraction | str] = {
        path: reason for reason, paths in listing.left_out.items() for path in paths
    }
    for entry in listing.files:
        file = read_file(root, entry)
        told[entry.path] = file if isinstance(file, LeftOut) else extract(file, docs=docs, code=code)
    return told


def test_each_costs_only_itself_and_is_told(
    folder: Path, code: CodeIndexingPipeline, docs: DocsIndexingPipeline
) -> None:
    told = _told(folder, code, docs)
    found: dict[str, str | list[str]] = {}
    for path, what in told.items():
        if isinstance(what, Extraction):
            warnings = [f"{warning.code}:{warning.line}" for warning in what.warnings]
            if warnings:
                found[path] = warnings
        else:
            found[path] = what.reason if isinstance(what, LeftOut) else what
    assert found == TOLD
    assert set(told) == {*FILES, "loop", "loop.py", "pipe.py"}


def test_what_can_be_read_of_them_is(folder: Path, code: CodeIndexingPipeline, docs: DocsIndexingPipeline) -> None:
    told = _told(folder, code, docs)
    names = {
        path: [row.title for row in what.rows if row.layer is Layer.C1_SYMBOL_CATALOG]
        for path, what in told.items()
        if isinstance(what, Extraction)
    }
    for same in ("good.py", "with_mark.py", "windows.py", "old_mac.py"):
        assert names[same] == ["save"]
    assert names["two.py"] == ["f"]
    assert names["newer.py"] == ["f", "g"]
    assert names["broken.py"][0] == "f"
    assert names["tabs.py"] == ["f"]
    assert names["form_feed.py"] == ["f", "g"]
    for path in ("expression.py", "list.py", "brackets.py", "open_brackets.py"):
        assert names[path][0] == "f", path
    assert names["nested.c"] == ["f"]
    assert 1 <= len(names["blocks.java"]) < 100


def test_a_submodule_is_listed_with_its_files(
    tmp_path: Path, code: CodeIndexingPipeline, docs: DocsIndexingPipeline
) -> None:
    for place in (tmp_path / "repo", tmp_path / "repo" / "inner"):
        place.mkdir()
        (place / "a.py").write_text("def f(): pass\n", "utf-8")
        subprocess.run(["git", "init", "-q", str(place)], check=True)
        subprocess.run(["git", "-C", str(place), "add", "a.py"], check=True)
    told = _told(tmp_path / "repo", code, docs)
    assert {path for path, what in told.items() if isinstance(what, Extraction)} == {"a.py", "inner/a.py"}


def test_code_is_read_and_never_run(tmp_path: Path, code: CodeIndexingPipeline, docs: DocsIndexingPipeline) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    mark = tmp_path / "was_run"
    planted = f"open({str(mark)!r}, 'w').close()\n"
    (root / "planted.py").write_text(f"import planted_too\n{planted}class A:\n    {planted}", "utf-8")
    (root / "planted_too.py").write_text(planted, "utf-8")
    (root / "conftest.py").write_text(planted, "utf-8")
    (root / "sitecustomize.py").write_text(planted, "utf-8")
    (root / "broken.py").write_text(f"{planted}print 'two'\n", "utf-8")
    (root / "a.js").write_text(f"require('fs').writeFileSync({str(mark)!r}, '');\n", "utf-8")
    before = set(sys.modules)
    told = _told(root, code, docs)
    assert all(isinstance(what, Extraction) for what in told.values())
    assert not mark.exists()
    assert not {"planted", "planted_too", "broken"} & (set(sys.modules) - before)


DEEP = """
import sys
from pathlib import Path
import ragkit
from ragkit.document import SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.text import Analyzer

code = CodeIndexingPipeline(Analyzer.parse(Path(ragkit.__file__).with_name("stems.toml").read_text("utf-8")))
shapes = {
    "brackets": lambda n: "(" * n + ")" * n,
    "lists": lambda n: "x = " + "[" * n + "]" * n,
    "calls": lambda n: "f(" * n + ")" * n,
    "chain": lambda n: "x" + ".a" * n,
    "called": lambda n: "x" + "()" * n,
    "indexed": lambda n: "x" + "[0]" * n,
    "minus": lambda n: "-" * n + "1",
    "not": lambda n: "not " * n + "1",
    "power": lambda n: "1" + "**1" * n,
    "sum": lambda n: "1" + "+1" * n,
    "ternary": lambda n: "1 if x else " * n + "1",
    "lambda": lambda n: "lambda: " * n + "1",
    "elif": lambda n: "if a: pass\\n" + "elif b: pass\\n" * n,
    "blocks": lambda n: "".join(" " * d + "if a:\\n" for d in range(min(n, 3000))),
    "defs": lambda n: "".join(" " * d + "def f():\\n" for d in range(min(n, 3000))) + " " * 3001 + "pass",
    "f-strings": lambda n: "f'{" * n + "}'" * n,
    "strings": lambda n: "'a' " * n,
    "unclosed": lambda n: "'''" + "{" * n,
    "braces": lambda n: "{" * n,
    "functions": lambda n: "function f() {" * n,
    "classes": lambda n: "class A {" * n,
}
for name, shape in shapes.items():
    for depth in map(int, sys.argv[1].split(",")):
        for path in sys.argv[2:]:
            text = shape(depth)
            if len(text) < 250_000:
                code.index_file(SourceFile(path=path, text=text, blob_sha="0" * 40, size=1))
print("alive")
"""


OTHERS = ["a.js", "a.ts", "a.go", "A.java", "a.c", "a.cpp", "a.rs", "a.sql"]


@pytest.mark.parametrize(
    ("depths", "paths"),
    [
        ("90,1000,10000,100000", ["a.py"]),
        ("90,1000", OTHERS),
        pytest.param("10000,100000", OTHERS[:4], marks=pytest.mark.long),
        pytest.param("10000,100000", OTHERS[4:], marks=pytest.mark.long),
    ],
)
def test_no_depth_ends_the_process(depths: str, paths: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", DEEP, depths, *paths], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")
