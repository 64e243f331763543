from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from ragkit.document import RagDocument, SourceFile, embedded_text
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.layers import ATTRIBUTES, Layer

Make = Callable[[str, str], SourceFile]
PATH = "src/app/jobs.py"

MODULE = """\
import json
from posterna.domain import locker as lk
from .sibling import LIMIT, helper

CACHE = {}
logger = make_logger()


class Base:
    def run(self):
        return self.step()


class Child(Base, lk.Locker):
    @property
    def size(self):
        return LIMIT

    @helper
    async def go(self):
        await helper(1)
        helper(2)
        self.run()
        CACHE["a"] = json.loads("1")
        logger.info(len("x"))
        return Base(), lk.choose_cell(CACHE)
"""


def _edges(code: CodeIndexingPipeline, source: Make, text: str, path: str = PATH) -> list[RagDocument]:
    return [row for row in code.index_file(source(path, text)).rows if row.layer is Layer.C2_DEPENDENCY_GRAPH]


def _short(row: RagDocument) -> tuple[str, str, str, str, str, int, int]:
    attributes = row.attributes
    return (
        cast("str", attributes["src_symbol_id"] or "").removeprefix(f"{row.path}::"),
        cast("str", attributes["edge_type"]),
        cast("str", attributes["dst_ref"]),
        cast("str", attributes["resolution"]),
        cast("str", attributes["callsite_kind"]),
        row.line_start,
        row.line_end,
    )


def test_every_edge_with_its_place(code: CodeIndexingPipeline, source: Make) -> None:
    assert [_short(row) for row in _edges(code, source, MODULE)] == [
        ("", "imports", "json", "import", "import", 1, 1),
        ("", "imports", "posterna.domain.locker", "import", "from_import", 2, 2),
        ("", "imports", "app.sibling.LIMIT", "import", "from_import", 3, 3),
        ("", "imports", "app.sibling.helper", "import", "from_import", 3, 3),
        ("", "calls", "make_logger", "unresolved", "call", 6, 6),
        ("Base.run", "calls", "?.step", "unresolved", "attribute", 11, 11),
        ("Child", "inherits", "app.jobs.Base", "local", "base", 14, 14),
        ("Child", "inherits", "posterna.domain.locker.Locker", "import", "base", 14, 14),
        ("Child.size", "reads_state", "app.sibling.LIMIT", "import", "name", 17, 17),
        ("Child.go", "decorates", "app.sibling.helper", "import", "decorator", 19, 20),
        ("Child.go", "calls", "app.sibling.helper", "import", "await", 21, 21),
        ("Child.go", "calls", "app.jobs.Base.run", "local", "attribute", 23, 23),
        ("Child.go", "calls", "json.loads", "import", "attribute", 24, 24),
        ("Child.go", "writes_state", "app.jobs.CACHE", "local", "item", 24, 24),
        ("Child.go", "calls", "posterna.domain.locker.choose_cell", "import", "attribute", 26, 26),
        ("Child.go", "instantiates", "app.jobs.Base", "local", "call", 26, 26),
        ("Child.go", "reads_state", "app.jobs.CACHE", "local", "name", 26, 26),
    ]


def test_attributes_of_a_repeated_call(code: CodeIndexingPipeline, source: Make) -> None:
    row = next(row for row in _edges(code, source, MODULE) if row.attributes["callsite_kind"] == "await")
    assert row.public_id == "src/app/jobs.py::Child.go@calls:app.sibling.helper"
    assert row.attributes == {
        "lang": "python",
        "edge_id": row.public_id,
        "edge_type": "calls",
        "src_symbol_id": "src/app/jobs.py::Child.go",
        "dst_symbol_id": None,
        "dst_ref": "app.sibling.helper",
        "evidence.path": "src/app/jobs.py",
        "evidence.start_line": 21,
        "evidence.end_line": 21,
        "resolution": "import",
        "callsite_kind": "await",
        "lang_payload": {"count": 2, "confidence": 0.95, "ground": "imported_name", "lines": [21, 22]},
    }
    assert set(row.attributes) == set(ATTRIBUTES[Layer.C2_DEPENDENCY_GRAPH]) - {"repo_id", "commit_sha", "text"}
    assert row.text == "        await helper(1)"
    assert row.context == "child go calls app sibling helper"
    assert embedded_text(row) is None


def test_local_targets_name_their_symbol(code: CodeIndexingPipeline, source: Make) -> None:
    found = {row.attributes["dst_ref"]: row.attributes["dst_symbol_id"] for row in _edges(code, source, MODULE)}
    assert found["app.jobs.Base"] == f"{PATH}::Base"
    assert found["app.jobs.Base.run"] == f"{PATH}::Base.run"
    assert found["app.jobs.CACHE"] == f"{PATH}::CACHE"
    assert found["json.loads"] is None


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("def f(a: m.A): a.go()", ["m.A.go"]),
        ("def f(a: 'm.A | None'): a.go()", ["m.A.go"]),
        ("def f(a: Optional[m.A]): a.go()", ["m.A.go"]),
        ("def f(a: Annotated[m.A, 1]): a.go()", ["m.A.go"]),
        ("def f(a): a.go()", ["?.go"]),
        ("def f(a): a.append(1)", []),
        ("def f():\n    a = m.A()\n    a.go()", ["m.A", "m.A.go"]),
        ("def f():\n    a = None\n    a = m.A()\n    a.go()", ["m.A", "m.A.go"]),
        ("def f(x):\n    a = m.A()\n    a = m.B()\n    a.go()", ["m.A", "m.B", "?.go"]),
        ("def f():\n    with m.A() as a:\n        a.go()", ["m.A", "m.A.go"]),
        ("def f():\n    go = m.go\n    go()", ["m.go"]),
        ("def f(m): m.go()", ["?.go"]),
        ("def f(): print(len(str(1)))", []),
        ("def f(): return (lambda x: m.go(x))(1)", ["m.go"]),
        ("def f(): return [m.go(x) for x in m.all()]", ["m.all", "m.go"]),
        ("def f():\n    if (a := m.A()):\n        a.go()", ["m.A", "m.A.go"]),
        ("def f(): cast(m.A, 1).go()", ["m.A.go"]),
        ("def f():\n    try:\n        pass\n    except m.E as e:\n        e.go()", ["m.E.go"]),
        ("class C:\n    x = m.A()\n    def f(self): self.x.go()", ["m.A", "m.A.go"]),
        ("class C:\n    def __init__(self): self.x = m.A()\n    def f(self): self.x.go()", ["m.A", "m.A.go"]),
        ("class C(m.A):\n    def f(self): self.go(); super().go()", ["m.A.go"]),
        ("class C(m.A, m.B):\n    def f(self): self.go()", ["app.jobs.C.go"]),
        (
            "class C:\n    def f(self): self.f()\n    @classmethod\n    def g(cls): cls()",
            ["app.jobs.C.f", "app.jobs.C"],
        ),
        ("def g() -> m.A: ...\ndef f(): g().go()", ["app.jobs.g", "m.A.go"]),
        ("def f():\n    def g(): f()\n    g()", ["app.jobs.f", "app.jobs.f.g"]),
        ("def f(): m.load().go()", ["m.load", "m.load().go"]),
    ],
)
def test_calls_through_values(code: CodeIndexingPipeline, source: Make, body: str, calls: list[str]) -> None:
    text = f"import m\nfrom typing import Annotated, Optional, cast\n\n\n{body}\n"
    found = [
        row.attributes["dst_ref"]
        for row in _edges(code, source, text)
        if row.attributes["edge_type"] in ("calls", "instantiates")
    ]
    assert sorted(map(str, found)) == sorted(calls)


@pytest.mark.parametrize(
    ("body", "edges"),
    [
        ("def f():\n    global N\n    N = 1", [("writes_state", "assignment")]),
        ("def f():\n    global N\n    N += 1", [("writes_state", "augmented")]),
        ("def f(): N.x = 1", [("writes_state", "attribute")]),
        ("def f(): del N[1]", [("writes_state", "delete")]),
        ("def f(): N.append(1)", [("writes_state", "mutation")]),
        ("def f(): return N", [("reads_state", "name")]),
        ("def f():\n    N = 2\n    return N", []),
        ("def f(N): return N", []),
        ("print(N)", []),
    ],
)
def test_state_of_the_module(code: CodeIndexingPipeline, source: Make, body: str, edges: list[tuple[str, str]]) -> None:
    found = [
        (row.attributes["edge_type"], row.attributes["callsite_kind"])
        for row in _edges(code, source, f"N = []\n\n\n{body}\n")
        if row.attributes["dst_ref"] == "app.jobs.N"
    ]
    assert found == edges


def test_relative_imports_of_a_package(code: CodeIndexingPipeline, source: Make) -> None:
    text = "from . import a\nfrom ..b import c as d\nfrom .e import *\n"
    rows = _edges(code, source, text, "src/app/inner/__init__.py")
    payloads = [cast("dict[str, object]", row.attributes["lang_payload"]) for row in rows]
    assert [(row.attributes["dst_ref"], payload["alias"]) for row, payload in zip(rows, payloads, strict=True)] == [
        ("app.inner.a", "a"),
        ("app.b.c", "d"),
        ("app.inner.e.*", "*"),
    ]


def test_each_edge_says_how_sure_it_is_and_why(code: CodeIndexingPipeline, source: Make) -> None:
    text = """\
import other
from rest import *


class Top(other.Base):
    def run(self, item: "Top", thing):
        self.run()
        item.run()
        Top()
        other.go()
        other.make().go()
        self.kept()
        wild()
        thing.call_it()
"""
    found = {
        cast("str", row.attributes["dst_ref"]): (payload["ground"], payload["confidence"])
        for row in _edges(code, source, text)
        for payload in [cast("dict[str, object]", row.attributes["lang_payload"])]
    }
    assert found == {
        "other": ("import_statement", 1.0),
        "rest.*": ("import_statement", 1.0),
        "other.Base": ("imported_name", 0.95),
        "app.jobs.Top.run": ("self", 0.95),
        "app.jobs.Top": ("own_name", 1.0),
        "other.go": ("imported_name", 0.95),
        "other.make().go": ("returned_by_other", 0.6),
        "other.make": ("imported_name", 0.95),
        "other.Base.kept": ("inherited", 0.7),
        "wild": ("star_import", 0.4),
        "?.call_it": ("name_alone", 0.2),
    }


def test_an_edge_is_as_sure_as_its_best_place(code: CodeIndexingPipeline, source: Make) -> None:
    text = (
        "class A:\n    def a(self, b: 'A'):\n        b.a()\n    def c(self, b: 'A'):\n        b.a()\n        self.a()\n"
    )
    payloads = [cast("dict[str, object]", row.attributes["lang_payload"]) for row in _edges(code, source, text)]
    assert [(payload["ground"], payload["confidence"]) for payload in payloads] == [
        ("inferred_type", 0.85),
        ("self", 0.95),
    ]
