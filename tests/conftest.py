"""What tests share: one PostgreSQL, one embedder, a fresh database a test.

The server is the embedded one in a folder of its own, or the one that RAGKIT_TEST_DATABASE_URL names. The schema is
loaded once, the demo corpus indexed once; a test gets a copy, which takes a tenth of a second.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported: four times as fast (evidence.md)

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from ragkit import bundle, service
from ragkit.embedding import Embedder, bundled
from ragkit.postgres.database import Database
from ragkit.postgres.schema import RagSchemaRepository
from ragkit.service import RagService
from ragkit.settings import Settings
from tests.embedders import WordEmbedder
from tests.servers import TestServer, embedded_server, external_server, stop_server

hypothesis_settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis_settings.load_profile("repeatable")

EXTERNAL_URL = os.environ.get("RAGKIT_TEST_DATABASE_URL")
OpenService = Callable[..., RagService]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads the settings of whoever runs it, nor touches their data folder."""
    for name in list(os.environ):
        if name.startswith("RAGKIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RAGKIT_DATA_DIR", "/nonexistent/ragkit-test-without-data-dir")


@pytest.fixture(scope="session")
def new_data_dir() -> Iterator[Callable[[], Path]]:
    """Makes data folders that the server's own user can reach, and stops what runs in them at the end.

    Directly below the system's temporary folder: the server of root runs as a user of its own, and the folder's parents
    must be open to it; and a socket's path is at most 107 bytes long.
    """
    made: list[Path] = []

    def make() -> Path:
        folder = Path(tempfile.mkdtemp(prefix="ragkit-test-"))
        folder.chmod(0o755)
        made.append(folder)
        return folder

    yield make
    for folder in made:
        stop_server(folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def test_server(new_data_dir: Callable[[], Path]) -> TestServer:
    """The run's PostgreSQL."""
    return external_server(EXTERNAL_URL) if EXTERNAL_URL else embedded_server(new_data_dir())


@pytest.fixture(scope="session")
def schema_template(test_server: TestServer) -> Iterator[str]:
    """Name of a database with ragkit's tables, empty."""
    name = test_server.create(stem="schema")
    database = Database(test_server.conninfo(name), pool_size=2, statement_timeout_ms=30_000)
    RagSchemaRepository(database).ensure_tables()
    database.close()
    yield name
    test_server.drop(name)


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The bundled embedder; loading it takes two seconds, so there is one for all."""
    return bundled()


@pytest.fixture(scope="session")
def demo_template(
    test_server: TestServer, schema_template: str, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Name of a database that holds the demo corpus as session `demo`."""
    name = test_server.create(schema_template, stem="demo")
    settings = Settings(data_dir=tmp_path_factory.mktemp("demo"), database_url=test_server.conninfo(name))
    with service.opened(settings, embedder=embedder) as engine:
        engine.index_snapshot("demo", bundle.demo_corpus())
    yield name
    test_server.drop(name)


@pytest.fixture
def new_database(test_server: TestServer, schema_template: str) -> Iterator[Callable[[], str]]:
    """Makes databases with ragkit's tables; gives the conninfo."""
    made: list[str] = []

    def make() -> str:
        made.append(test_server.create(schema_template))
        return test_server.conninfo(made[-1])

    yield make
    for name in made:
        test_server.drop(name)


@pytest.fixture
def database_url(new_database: Callable[[], str]) -> str:
    """Conninfo of a database of this test with ragkit's tables, empty."""
    return new_database()


@pytest.fixture
def demo_url(test_server: TestServer, demo_template: str) -> Iterator[str]:
    """Conninfo of a database of this test that holds the demo corpus."""
    name = test_server.create(demo_template)
    yield test_server.conninfo(name)
    test_server.drop(name)


@pytest.fixture
def open_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenService]:
    """Opens engines and closes them: `open_service(url, embedder=…, read_only=…)`; by default words alone embed."""
    opened: list[RagService] = []

    def make(url: str, *, embedder: Embedder | None = None, **settings: object) -> RagService:
        given = Settings(data_dir=tmp_path_factory.mktemp("data"), database_url=url, pool_size=4, index_workers=1)
        opened.append(service.open(replace(given, **settings), embedder=embedder or WordEmbedder()))
        return opened[-1]

    yield make
    for engine in opened:
        engine.close()


@pytest.fixture
def demo(demo_url: str, embedder: Embedder, open_service: OpenService) -> RagService:
    """An engine on the demo corpus."""
    return open_service(demo_url, embedder=embedder)


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[dict[str, str | None]], Path]:
    """Writes files below one folder and gives the folder; None as text deletes."""

    def write(files: dict[str, str | None]) -> Path:
        root = tmp_path / "tree"
        root.mkdir(exist_ok=True)
        for path, text in files.items():
            file = root / path
            if text is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return root

    return write
