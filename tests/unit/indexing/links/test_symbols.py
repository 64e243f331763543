from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import pytest

from ragkit.document import RagDocument, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.links.linked_rows import link_session
from ragkit.layers import Layer

Make = Callable[[str, str], SourceFile]
Link = Callable[[Mapping[str, str]], list[RagDocument]]


@pytest.fixture
def link(code: CodeIndexingPipeline, source: Make) -> Link:
    """The linked edges of files: path → text."""

    def run(files: Mapping[str, str]) -> list[RagDocument]:
        linked = link_session({path: code.index_file(source(path, text)) for path, text in files.items()})
        return [row for rows in linked.values() for row in rows if row.layer is Layer.C2_DEPENDENCY_GRAPH]

    return run


def _targets(rows: list[RagDocument], path: str, edge_type: str) -> list[object]:
    return [
        row.attributes["dst_symbol_id"] for row in rows if row.path == path and row.attributes["edge_type"] == edge_type
    ]


@pytest.mark.parametrize(
    ("files", "targets"),
    [
        ({"a.py": "def f(): ...\n", "b.py": "from a import f as g\ng()\n"}, ["a.py::f"]),
        ({"src/p/a.py": "def f(): ...\n", "tests/b.py": "import p.a\np.a.f()\n"}, ["src/p/a.py::f"]),
        ({"x/src/p/a.py": "def f(): ...\n", "b.py": "import p.a\np.a.f()\n"}, ["x/src/p/a.py::f"]),
        (
            {"p/__init__.py": "from .a import f\n", "p/a.py": "def f(): ...\n", "b.py": "import p\np.f()\n"},
            ["p/a.py::f"],
        ),
        (
            {"p/__init__.py": "from .a import *\n", "p/a.py": "def f(): ...\n", "b.py": "import p\np.f()\n"},
            ["p/a.py::f"],
        ),
        ({"a.py": "def f(): ...\n", "b.py": "from a import *\nf()\n"}, ["a.py::f"]),
        ({"a.py": "class C:\n    def m(self): ...\n", "b.py": "from a import C\ndef g(c: C): c.m()\n"}, ["a.py::C.m"]),
        (
            {
                "a.py": "class B:\n    def m(self): ...\n",
                "c.py": "from a import B\nclass C(B): ...\n",
                "b.py": "from c import C\ndef g(c: C): c.m()\n",
            },
            ["a.py::B.m"],
        ),
        (
            {
                "a.py": "class C:\n    def m(self): ...\n\n\ndef make() -> 'C | None': ...\n",
                "b.py": "import a\ndef g():\n    c = a.make()\n    c.m()\n",
            },
            ["a.py::make", "a.py::C.m"],
        ),
        (
            {
                "a.py": "class C:\n    def m(self): ...\n\n\nONE = C()\n"
                "Alias = Annotated[C, 1]\nMake = Callable[[int], C]\n",
                "b.py": "import a\ndef g(c: a.Alias, d: a.Make):\n    a.ONE.m()\n    c.m()\n    d(1).m()\n",
            },
            ["a.py::C.m", "a.py::C.m", "a.py::C.m"],
        ),
        ({"x/p/a.py": "def f(): ...\n", "y/p/a.py": "def f(): ...\n", "b.py": "import p.a\np.a.f()\n"}, [None]),
        (
            {
                "__init__.py": "from .core.a import f\n",
                "core/a.py": "def f(): ...\ndef g(): ...\n",
                "b.py": "import own\nfrom own.core.a import g\nown.f()\ng()\n",
            },
            ["core/a.py::f", "core/a.py::g"],
        ),
        ({"a.py": "def f(): ...\n", "b.py": "import a\na.g()\n"}, [None]),
        ({"a.py": "from b import f\n", "b.py": "from a import f\nf()\n"}, [None]),
        (
            {
                "a.py": "from b import C\nclass D(C): ...\n",
                "b.py": "from a import D\nclass C(D):\n    def m(self): self.x()\n",
            },
            [None],
        ),
    ],
)
def test_calls_across_files(link: Link, files: dict[str, str], targets: list[object]) -> None:
    path = next(path for path in reversed(files) if path.endswith("b.py"))
    assert _targets(link(files), path, "calls") == targets


def test_what_a_target_is_decides_the_type(link: Link) -> None:
    rows = link(
        {
            "a.py": "class lower: ...\n\n\ndef Upper(): ...\n\n\nclass URL: ...\n",
            "b.py": "from a import URL, Upper, lower\n\n\ndef g():\n    lower()\n    Upper()\n    return URL\n",
        }
    )
    assert _targets(rows, "b.py", "instantiates") == ["a.py::lower"]
    assert _targets(rows, "b.py", "calls") == ["a.py::Upper"]
    assert _targets(rows, "b.py", "reads_state") == []


def test_an_imported_module_is_named_by_its_path(link: Link) -> None:
    rows = link({"p/a.py": "x = 1\n", "p/b.py": "from . import a\nimport os\n"})
    found = [cast("dict[str, object]", row.attributes["lang_payload"]).get("dst_path") for row in rows]
    assert found == ["p/a.py", None]


def test_the_order_of_the_files_does_not_matter(code: CodeIndexingPipeline, source: Make) -> None:
    files = {"p/__init__.py": "from .a import C\n", "p/a.py": "class C: ...\n", "b.py": "import p\np.C()\n"}
    found = {path: code.index_file(source(path, text)) for path, text in files.items()}
    assert link_session(found) == link_session(dict(reversed(found.items())))
    assert link_session({}) == {}
