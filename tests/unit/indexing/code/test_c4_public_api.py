from __future__ import annotations

from collections.abc import Callable

import pytest

from ragkit.document import RagDocument, SourceFile
from ragkit.indexing.code.pipeline import CodeIndexingPipeline
from ragkit.layers import ATTRIBUTES, Layer

Make = Callable[[str, str], SourceFile]


def _api(code: CodeIndexingPipeline, source: Make, text: str, path: str = "src/lib/a.py") -> list[RagDocument]:
    return [row for row in code.index_file(source(path, text)).rows if row.layer is Layer.C4_PUBLIC_API]


def _short(rows: list[RagDocument]) -> list[tuple[object, ...]]:
    return [
        (row.names[0], row.attributes["symbol_id"], row.attributes["source_of_truth"], row.line_start) for row in rows
    ]


def test_all_rules(code: CodeIndexingPipeline, source: Make) -> None:
    text = (
        'from x import y\n\n__all__ = ["f", "y"] + ["Z"]\n__all__ += ["gone"]\n\n\ndef f(): ...\ndef g(): ...\nZ = 1\n'
    )
    assert _short(_api(code, source, text)) == [
        ("y", "x.y", "__all__", 1),
        ("gone", "lib.a.gone", "__all__", 4),
        ("f", "src/lib/a.py::f", "__all__", 7),
        ("Z", "src/lib/a.py::Z", "__all__", 9),
    ]


def test_convention(code: CodeIndexingPipeline, source: Make) -> None:
    text = "import os\nX = 1\n\n\ndef f(): ...\ndef _g(): ...\nclass C:\n    def m(self): ...\n"
    rows = _api(code, source, text)
    assert _short(rows) == [("f", "src/lib/a.py::f", "convention", 5), ("C", "src/lib/a.py::C", "convention", 7)]
    for path in ("src/lib/_a.py", "tests/a.py", "setup.py", "src/_lib/a.py"):
        assert _api(code, source, text, path) == []


def test_a_package_offers_what_it_takes_over(code: CodeIndexingPipeline, source: Make) -> None:
    text = (
        "import os\nfrom typing import Any\nfrom .a import (\n    f,\n    _g,\n    h as k,\n)\nfrom x import y as y\n"
    )
    assert _short(_api(code, source, text, "src/lib/__init__.py")) == [
        ("f", "lib.a.f", "re-export", 4),
        ("k", "lib.a.h", "re-export", 6),
        ("y", "x.y", "re-export", 8),
    ]


@pytest.mark.parametrize(
    ("text", "stability", "tags"),
    [
        ("def f(): ...", "stable", []),
        ('@deprecated("use g")\ndef f(): ...', "deprecated", []),
        ("@beta()\nclass f: ...", "experimental", []),
        ("def f():\n    warnings.warn('x', DeprecationWarning, stacklevel=2)", "deprecated", []),
        ("def f(a):\n    if a:\n        warnings.warn('x', DeprecationWarning)", "stable", []),
        ("class f:\n    def __init__(self):\n        warn('x', category=FutureWarning)", "deprecated", []),
        ('def f():\n    """Do.\n\n    .. deprecated:: 2.1\n    """', "deprecated", ["deprecated 2.1"]),
        ('def f():\n    """Do.\n\n    .. versionadded:: 1.0\n    """', "stable", ["versionadded 1.0"]),
        ('def f():\n    """Deprecated since 3.4. Use g."""', "deprecated", ["deprecated 3.4"]),
        ('def f():\n    """This API is experimental."""', "experimental", []),
        ('def f():\n    """Find deprecated names."""', "stable", []),
        ("@overload\ndef f(a): ...\ndef f():\n    '''.. deprecated:: 1'''", "deprecated", ["deprecated 1"]),
    ],
)
def test_stability(code: CodeIndexingPipeline, source: Make, text: str, stability: str, tags: list[str]) -> None:
    (row,) = _api(code, source, f"{text}\n")
    assert row.attributes["stability"] == stability
    assert row.attributes["versioning_tags"] == tags
    assert set(row.attributes) == set(ATTRIBUTES[Layer.C4_PUBLIC_API])


def test_a_row_is_found_by_its_docstring(code: CodeIndexingPipeline, source: Make) -> None:
    text = '@experimental\ndef load_all(path):\n    """Read every order. Then more.\n    """\n'
    (row,) = _api(code, source, text)
    assert row.public_id == "src/lib/a.py::load_all@public"
    assert row.text == "@experimental\ndef load_all(path):"
    assert row.context == "public api experimental a load all Read every order."
