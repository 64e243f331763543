from __future__ import annotations

import pytest

from ragkit.indexing.kinds import is_test, kind_of
from ragkit.layers import Family


@pytest.mark.parametrize(
    ("path", "family", "language"),
    [
        ("README.md", Family.DOCS, "markdown"),
        ("docs/A.MDX", Family.DOCS, "markdown"),
        ("docs/index.rst", Family.DOCS, "rst"),
        ("LICENSE", Family.DOCS, "text"),
        ("notes.txt", Family.DOCS, "text"),
        ("requirements.txt", Family.CODE, "requirements"),
        ("requirements/dev.txt", Family.CODE, "requirements"),
        ("dev-requirements.in", Family.CODE, "requirements"),
        ("src/CMakeLists.txt", Family.CODE, "cmake"),
        ("notebooks/a.ipynb", Family.DOCS, "notebook"),
        ("src/app.py", Family.CODE, "python"),
        ("web/App.tsx", Family.CODE, "typescript"),
        ("Dockerfile", Family.CODE, "dockerfile"),
        ("заказы/Модуль.bsl", Family.CODE, "1c"),
    ],
)
def test_kind_of_known_paths(path: str, family: Family, language: str) -> None:
    kind = kind_of(path)
    assert kind is not None
    assert (kind.family, kind.language) == (family, language)


@pytest.mark.parametrize("path", ["a.ipynb.bak", "a.pdf", "a.docx", "Makefile.am", "noextension", ".gitignore", "a."])
def test_kind_of_unsupported_paths(path: str) -> None:
    assert kind_of(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "tests/unit/a.py",
        "pkg/tests/README.md",
        "test_orders.py",
        "pkg/orders_test.py",
        "pkg/orders_test.go",
        "web/cart.spec.ts",
        "web/cart.test.jsx",
        "conftest.py",
        "src/OrderServiceTest.java",
        "src/test/resources/a.json",
        "testing/freeze/x.py",
    ],
)
def test_tests_are_tests(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/contest.py",
        "src/latest.py",
        "docs/testing/index.md",
        "docs/tests.md",
        "src/testclient.py",
        "src/Latest.java",
        "spec/orders.md",
        "attest/a.py",
    ],
)
def test_others_are_not(path: str) -> None:
    assert not is_test(path)
