from __future__ import annotations

from collections.abc import Callable

import pytest

from ragkit.document import RagDocument, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.indexing.code.symbols import module_name
from ragkit.layers import ATTRIBUTES, Layer

Make = Callable[[str, str], SourceFile]

MODULE = '''\
import typing as t

LIMIT: int = 3
first, second = 1, 2
if t.TYPE_CHECKING:
    Alias = int
else:
    Alias = str


@dataclass(frozen=True)
class Order(Base, metaclass=Meta):
    """One order."""

    id: int
    total: float = 0.0
    __slots__ = ()

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @name.setter
    def name(self, value: str) -> None: ...

    async def _send(self): ...

    def __secret(self): ...

    class Inner:
        pass


@t.overload
def load(a: int) -> int: ...
@t.overload
def load(a: str) -> str: ...
def load(a):
    local = 1

    def helper(b):
        return b

    return helper(a)


@app.get("/orders")
def orders(): ...


def main(): ...
'''


def _symbols(code: CodeIndexingPipeline, source: Make, text: str, path: str = "shop/orders.py") -> list[RagDocument]:
    return [row for row in code.index_file(source(path, text)).rows if row.layer is Layer.C1_SYMBOL_CATALOG]


def test_every_symbol_with_its_place(code: CodeIndexingPipeline, source: Make) -> None:
    rows = _symbols(code, source, MODULE)
    found = [
        (
            row.public_id.removeprefix("shop/orders.py::"),
            row.attributes["kind"],
            row.attributes["visibility"],
            row.attributes["decl.start_line"],
            row.attributes["decl.end_line"],
        )
        for row in rows
    ]
    assert found == [
        ("LIMIT", "constant", "public", 3, 3),
        ("first", "variable", "public", 4, 4),
        ("second", "variable", "public", 4, 4),
        ("Alias", "variable", "public", 6, 6),
        ("Order", "class", "public", 11, 32),
        ("Order.id", "field", "public", 15, 15),
        ("Order.total", "field", "public", 16, 16),
        ("Order.name", "property", "public", 19, 22),
        ("Order.name~2", "property", "public", 24, 25),
        ("Order._send", "method", "protected", 27, 27),
        ("Order.__secret", "method", "private", 29, 29),
        ("Order.Inner", "class", "public", 31, 32),
        ("load", "function", "public", 35, 36),
        ("load~2", "function", "public", 37, 38),
        ("load~3", "function", "public", 39, 45),
        ("load.helper", "function", "local", 42, 43),
        ("orders", "function", "public", 48, 49),
        ("main", "function", "public", 52, 52),
    ]
    entries = [row.title for row in rows if row.attributes["is_entry_candidate"]]
    assert entries == ["orders", "main"]


def test_attributes_of_a_class(code: CodeIndexingPipeline, source: Make) -> None:
    row = _symbols(code, source, MODULE)[4]
    assert row.attributes == {
        "lang": "python",
        "symbol_id": "shop/orders.py::Order",
        "qname": "Order",
        "kind": "class",
        "decl.path": "shop/orders.py",
        "decl.start_line": 11,
        "decl.end_line": 32,
        "visibility": "public",
        "signature": "class Order(Base, metaclass=Meta)",
        "decorators_or_annotations": ["dataclass(frozen=True)"],
        "docstring_or_javadoc": "One order.",
        "parent_symbol_id": None,
        "package_or_module": "shop.orders",
        "is_entry_candidate": False,
        "lang_payload": {},
    }
    assert set(row.attributes) == set(ATTRIBUTES[Layer.C1_SYMBOL_CATALOG]) - {"repo_id", "commit_sha", "text"}
    assert (row.line_start, row.line_end) == (11, 13)
    assert row.text == '@dataclass(frozen=True)\nclass Order(Base, metaclass=Meta):\n    """One order."""'
    assert row.context == "shop orders order base metaclass meta"


def test_a_method_names_its_parent_and_its_full_name(code: CodeIndexingPipeline, source: Make) -> None:
    row = _symbols(code, source, MODULE)[9]
    assert row.names == ("_send", "Order._send", "shop.orders.Order._send")
    assert row.attributes["parent_symbol_id"] == "shop/orders.py::Order"
    assert row.attributes["lang_payload"] == {"async": True}
    assert row.attributes["signature"] == "async def _send(self)"


@pytest.mark.parametrize(
    ("signature", "rest"),
    [
        ("def f()", ": return {1: 2}\n"),
        ("def f(a: int = 1, *b, c: str = ':', **d) -> dict[str, int]", ": ...\n"),
        ("def f(\n    a,  # first: one\n    /,\n) -> int", ":  # end: here\n    pass\n"),
        ("def f(a, # x: y\n      )", ": pass\n"),
        ("def ё(ж: 'я' = 'ю') -> 'э'", ": pass\n"),
        ("class A", ": x = {1: 2}\n"),
        ("class A(B[C], d={1: 2})", ":\n    pass\n"),
        ("async def f(*, a=lambda: 1)", ": ...\n"),
        ("def f(a) -> (\n    int\n)", ": ...\n"),
    ],
)
def test_signatures_as_written(code: CodeIndexingPipeline, source: Make, signature: str, rest: str) -> None:
    assert _symbols(code, source, signature + rest)[0].attributes["signature"] == signature


def test_ids_stay_when_lines_move(code: CodeIndexingPipeline, source: Make) -> None:
    moved = _symbols(code, source, "# one more line\n\n" + MODULE)
    assert [row.public_id for row in moved] == [row.public_id for row in _symbols(code, source, MODULE)]


def test_a_long_docstring_is_shown_as_far_as_it_fits(code: CodeIndexingPipeline, source: Make) -> None:
    text = 'def f():\n    """Doc.\n' + "    some more words\n" * 100 + '    """\n'
    (row,) = _symbols(code, source, text)
    assert (row.line_start, row.line_end) == (1, 60)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/shop/orders.py", "shop.orders"),
        ("shop/__init__.py", "shop"),
        ("src/shop/__init__.py", "shop"),
        ("setup.py", "setup"),
        ("__init__.py", "__init__"),
        ("a.b/c.pyi", "a.b.c"),
    ],
)
def test_module_name(path: str, name: str) -> None:
    assert module_name(path) == name
