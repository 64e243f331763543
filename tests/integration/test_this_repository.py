"""This very repository is indexed, and known things are found in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ragkit.embedding import Embedder
from ragkit.service import Ask, RagService
from tests.conftest import OpenService

ROOT = Path(__file__).parents[2]
PART = ("README.md", "datasets/README.md", "ragkit/errors.py", "ragkit/policy", "ragkit/retrieval", "ragkit/messages")

QUESTIONS = (
    ("What does RetrievalPolicyResolver.resolve do?", "ragkit/policy/resolver.py"),
    ("Где в коде класс RagRetrievalAdapter?", "ragkit/retrieval/adapter.py"),
    ("Which function in the code merges duplicate rows?", "ragkit/retrieval/scoring.py"),
    ("how are tests run, README.md", "README.md"),
    ("Как запустить тесты ragkit?", "README.md"),  # the demo corpus has tests of its own, and says so
    ("What does ragkit/errors.py define?", "ragkit/errors.py"),
)


def check(engine: RagService, question: str, path: str) -> None:
    found = [row.path for row in engine.answer(Ask(query=question, session="self")).rows]
    assert path in found[:5], found


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents and three packages: a tenth of the whole, and a tenth of the time."""
    root = tmp_path_factory.mktemp("self")
    for name in PART:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    return root


def test_part_of_this_repository(part: Path, database_url: str, open_service: OpenService, embedder: Embedder) -> None:
    engine = open_service(database_url, embedder=embedder)
    engine.index_snapshot("self", part)
    for question, path in QUESTIONS:
        check(engine, question, path)


@pytest.mark.long
def test_this_repository(new_database: Callable[[], str], open_service: OpenService, embedder: Embedder) -> None:
    engine = open_service(new_database(), embedder=embedder)
    job = engine.index_snapshot("self", ROOT)
    assert job.status == "done"
    for question, path in QUESTIONS:
        check(engine, question, path)
    with_tests = engine.answer(Ask(query="Which unit tests cover scoring?", session="self"))
    assert any(row.path.startswith("tests/") for row in with_tests.rows)
