"""Indexing on a real server: what a job writes, what it spares, and what others see meanwhile. Spec: system.md §5."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import psycopg
import pytest

from ragkit import bundle
from ragkit.embedding import Embedder, Vectors
from ragkit.errors import EmbeddingError, SourceError, UnknownName, WrongUse
from ragkit.layers import Layer
from ragkit.postgres.upserter import COMPACT_EVERY
from ragkit.service import Ask, RagService
from ragkit.service.job_record import Progress
from ragkit.service.work import WRITTEN_FILES
from tests.conftest import OpenService
from tests.embedders import CountingEmbedder, WordEmbedder
from tests.servers import wait_until

Tree = Callable[[dict[str, str | None]], Path]

SMALL: dict[str, str | None] = {
    "README.md": "# Shop\n\nThe shop sells lamps.\n",
    "docs/returns.md": "# Returns\n\nA lamp may be returned.\n\n## Refund\n\nMoney goes back in ten days.\n",
    "src/shop.py": 'def sell(lamp):\n    """Sell a lamp."""\n    return lamp\n',
}


@pytest.fixture
def engine(database_url: str, open_service: OpenService) -> RagService:
    return open_service(database_url)


def texts(engine: RagService, session: str, path: str) -> list[str]:
    return [str(row["text"]) for row in engine.show(session, path)["rows"]]


def contents(url: str) -> list[tuple[object, ...]]:
    """Every row of every session that is shown, without ids of the database."""
    with psycopg.connect(url) as connection:
        return connection.execute(
            """
            SELECT s.name, f.path, d.row_no, d.layer, d.public_id, d.title, d.text, d.line_start, d.line_end, d.names,
                   d.embedded_sha, d.metadata_json::text, d.domain, d.subdomain, p.lang, p.code_language, p.is_test,
                   p.content_hash, cardinality(p.terms), v.embedding::text, f.link_digest, (
                       SELECT array_agg(c.kind || ' ' || c.name || ' ' || c.target ORDER BY c.entry_no)
                       FROM rag_catalog c WHERE c.rag_session_id = f.rag_session_id AND c.file_id = f.file_id)
            FROM rag_document d
            JOIN rag_file f USING (rag_session_id, file_id)
            JOIN rag_posting p USING (rag_session_id, file_id, row_no)
            JOIN rag_session s USING (rag_session_id)
            LEFT JOIN rag_vector v USING (rag_session_id, file_id, row_no)
            WHERE f.revision <= s.revision ORDER BY s.name, f.path, d.row_no"""
        ).fetchall()


def count(url: str, query: str, *values: object) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(query, values).fetchone()  # pyright: ignore[reportArgumentType]
    assert row is not None
    return int(row[0])


def test_demo_corpus(demo: RagService) -> None:
    found = demo.layers("demo")
    assert {Layer.D0_DOC_CHUNKS, Layer.D1_DOCUMENT_CATALOG, Layer.C0_SOURCE_CHUNKS, Layer.C1_SYMBOL_CATALOG} <= set(
        found
    )
    documents = len(list(bundle.demo_corpus().rglob("*.md")))
    openapi = (bundle.demo_corpus() / "docs/api/openapi.yaml").read_text("utf-8")
    operations = len(re.findall(r"^    (?:get|post):$", openapi, re.MULTILINE))
    assert found[Layer.D1_DOCUMENT_CATALOG] == documents + 1 + operations
    (summary,) = demo.list_sessions()
    assert (summary.session, summary.revision, summary.rows) == ("demo", 1, found)


def test_rows_carry_domain_path_and_attributes(demo: RagService) -> None:
    shown = demo.show("demo", "docs/domains/pickup/pickup-code.md")
    document = next(row for row in shown["rows"] if row["layer"] == "D1_DOCUMENT_CATALOG")
    assert document["attributes"]["module_id"] == "domain.pickup-code"
    assert (document["attributes"]["domain"], document["attributes"]["subdomain"]) == ("pickup", "pickup-codes")
    assert None not in [row["attributes"].get("source_path") for row in shown["rows"]]


def test_unchanged_folder_costs_nothing(demo_url: str, open_service: OpenService, embedder: Embedder) -> None:
    counting = CountingEmbedder(embedder)
    engine = open_service(demo_url, embedder=counting)
    before = contents(demo_url)
    job = engine.index_snapshot("demo", bundle.demo_corpus())
    assert (job.status, job.revision, job.rows_written, job.texts_embedded) == ("done", 1, 0, 0)
    assert (job.files["indexed"], job.files["deleted"]) == (0, 0)
    assert job.files["unchanged"] == job.files["seen"]
    assert counting.texts == []
    assert contents(demo_url) == before


def test_touched_file_is_read_and_nothing_is_written(engine: RagService, database_url: str, tree: Tree) -> None:
    root = tree(SMALL)
    engine.index_snapshot("s", root)
    before = contents(database_url)
    os.utime(root / "README.md", ns=(1, 1))
    job = engine.index_snapshot("s", root)
    assert (job.revision, job.rows_written, job.files["unchanged"], job.files["indexed"]) == (1, 0, 3, 0)
    assert contents(database_url) == before
    assert count(database_url, "SELECT mtime_ns FROM rag_file WHERE path = 'README.md'") == 1


def test_changed_file_alone_is_written(engine: RagService, database_url: str, tree: Tree) -> None:
    root = tree(SMALL)
    engine.index_snapshot("s", root)
    others = [row for row in contents(database_url) if row[1] != "README.md"]
    tree({"README.md": "# Shop\n\nThe shop sells chairs now.\n"})
    job = engine.index_snapshot("s", root)
    assert (job.revision, job.files["indexed"], job.files["unchanged"]) == (2, 1, 2)
    assert any("chairs" in text for text in texts(engine, "s", "README.md"))
    assert not any("lamps" in text for text in texts(engine, "s", "README.md"))
    assert [row for row in contents(database_url) if row[1] != "README.md"] == others


def test_deleted_file_leaves_no_row(engine: RagService, database_url: str, tree: Tree) -> None:
    root = tree(SMALL)
    engine.index_snapshot("s", root)
    tree({"docs/returns.md": None})
    job = engine.index_snapshot("s", root)
    assert (job.files["deleted"], job.revision) == (1, 2)
    with pytest.raises(UnknownName):
        engine.show("s", "docs/returns.md")
    for table in ("rag_document", "rag_posting", "rag_vector", "rag_catalog"):
        left = f"SELECT count(*) FROM {table} WHERE file_id NOT IN (SELECT file_id FROM rag_file)"
        assert count(database_url, left) == 0
    assert count(database_url, "SELECT count(*) FROM rag_file WHERE path = 'docs/returns.md'") == 0


def test_shortened_file_leaves_no_tail(engine: RagService, tree: Tree) -> None:
    root = tree(SMALL)
    engine.index_snapshot("s", root)
    assert any("ten days" in text for text in texts(engine, "s", "docs/returns.md"))
    tree({"docs/returns.md": "# Returns\n\nA lamp may be returned.\n"})
    engine.index_snapshot("s", root)
    assert not any("ten days" in text or "Refund" in text for text in texts(engine, "s", "docs/returns.md"))


def test_delete_paths_takes_out_these_alone(engine: RagService, tree: Tree) -> None:
    root = tree(SMALL)
    engine.index_snapshot("s", root)
    job = engine.indexing.delete_paths("s", root, ["docs/returns.md"])
    assert (job.kind, job.files["deleted"], job.revision) == ("changes", 1, 2)
    assert texts(engine, "s", "README.md")


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def test_changes_since_a_revision_give_what_a_snapshot_gives(
    new_database: Callable[[], str], open_service: OpenService, tree: Tree
) -> None:
    """Spec: system.md §5: equality of two index states is exact."""
    root = tree(SMALL)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    one_url, other_url = new_database(), new_database()
    one = open_service(one_url)
    one.index_snapshot("s", root)
    tree({"README.md": "# Shop\n\nNew.\n", "docs/returns.md": None, "docs/new.md": "# New\n\nA lamp.\n"})
    job = one.index_changes("s", root, "HEAD")
    assert (job.files["indexed"], job.files["deleted"]) == (2, 1)
    open_service(other_url).index_snapshot("s", root)
    assert contents(one_url) == contents(other_url)


def test_changes_by_explicit_paths_give_what_a_snapshot_gives(
    new_database: Callable[[], str], open_service: OpenService, tree: Tree
) -> None:
    """An upsert, a deletion, a rename with its content unchanged, and a file that may no longer be indexed."""
    root = tree({**SMALL, "docs/secret.md": "# Keys\n\nNone yet.\n"})
    one_url, other_url = new_database(), new_database()
    one = open_service(one_url)
    one.index_snapshot("s", root)
    tree({"README.md": "# Shop\n\nNew.\n", "docs/returns.md": None, "docs/back.md": SMALL["docs/returns.md"]})
    (root / "docs/secret.md").write_bytes(b"\0\1" * 200)
    job = one.index_paths("s", root, ["README.md", "docs/back.md", "docs/secret.md"], ["docs/returns.md"])
    assert (job.files["indexed"], job.files["deleted"], job.files["left_out"]) == (2, 2, {"binary": 1})
    open_service(other_url).index_snapshot("s", root)
    assert contents(one_url) == contents(other_url)
    with pytest.raises(SourceError) as caught:
        one.index_paths("s", root, ["README.md", "gone.md"])
    assert (caught.value.code, caught.value.params["paths"]) == ("changed_missing", ["gone.md"])


def test_same_text_is_embedded_once(database_url: str, open_service: OpenService, tree: Tree) -> None:
    counting = CountingEmbedder(WordEmbedder())
    engine = open_service(database_url, embedder=counting)
    root = tree({"src/a.py": "def same():\n    return 1\n"})
    engine.index_snapshot("one", root)
    first = len(counting.texts)
    assert first == len(set(counting.texts)) > 0
    engine.index_snapshot("two", root)  # another session: the cache is keyed by content
    assert len(counting.texts) == first


class Faulty:
    """Embeds like words until the n-th call, and then does what a fault does."""

    def __init__(self, calls: int, fault: Callable[[], None]) -> None:
        self._inner = WordEmbedder()
        self._left = calls
        self._fault = fault
        self.fingerprint = self._inner.fingerprint
        self.dims = self._inner.dims

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        self._left -= 1
        if self._left < 0:
            self._fault()
        return self._inner.embed(texts)


def many(number: int) -> dict[str, str | None]:
    return {f"docs/{n:03}.md": f"# Page {n}\n\nWord{n} stands here.\n" for n in range(number)}


def fail() -> None:
    raise EmbeddingError("embedder_weights_missing", embedder="faulty")


def test_failed_job_says_so_and_shows_nothing(database_url: str, open_service: OpenService, tree: Tree) -> None:
    root = tree(many(70))
    engine = open_service(database_url, embedder=Faulty(1, fail))
    with pytest.raises(EmbeddingError):
        engine.index_snapshot("s", root)
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT status, error ->> 'code' FROM rag_index_job").fetchone()
    assert row == ("failed", "embedder_weights_missing")
    with pytest.raises(WrongUse) as caught:
        engine.answer(Ask(query="word1", session="s"))
    assert caught.value.code == "session_empty"
    assert engine.layers("s") == {}


def test_what_a_failed_job_staged_is_taken_over(database_url: str, open_service: OpenService, tree: Tree) -> None:
    """Batches hold 16 files: all but the first of 70 is what is left."""
    root = tree(many(70))
    with pytest.raises(EmbeddingError):
        open_service(database_url, embedder=Faulty(1, fail)).index_snapshot("s", root)
    staged = count(database_url, "SELECT count(*) FROM rag_file")
    assert staged == WRITTEN_FILES == 16
    counting = CountingEmbedder(WordEmbedder())
    job = open_service(database_url, embedder=counting).index_snapshot("s", root)
    assert (job.status, job.revision, job.files["indexed"]) == ("done", 1, 70)
    assert count(database_url, "SELECT count(*) FROM rag_document") > job.rows_written > 0
    assert {text.split()[-3] for text in counting.texts if "stands here" in text} <= {f"Word{n}" for n in range(16, 70)}


KILLED = """
import os, signal, sys
from pathlib import Path
from ragkit import service
from ragkit.settings import Settings
from tests.integration.test_indexing import Faulty

def die():
    os.kill(os.getpid(), signal.SIGKILL)

settings = Settings(data_dir=Path(sys.argv[1]), database_url=sys.argv[2], pool_size=2, index_workers=1)
service.open(settings, embedder=Faulty(1, die)).index_snapshot("s", Path(sys.argv[3]))
"""


def test_killed_job_is_called_dead_and_taken_over(
    database_url: str, open_service: OpenService, tree: Tree, tmp_path: Path
) -> None:
    root = tree(many(70))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), database_url, str(root)],
        cwd=Path(__file__).parents[2],
        check=False,
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT status FROM rag_index_job").fetchall() == [("running",)]
    job = open_service(database_url).index_snapshot("s", root)
    assert (job.status, job.files["indexed"], job.revision) == ("done", 70, 1)
    with psycopg.connect(database_url) as connection:
        jobs = connection.execute("SELECT status, error ->> 'code' FROM rag_index_job ORDER BY created_at").fetchall()
    assert jobs == [("failed", "job_killed"), ("done", None)]


def test_staged_files_that_changed_meanwhile_are_not_taken_over(
    database_url: str, open_service: OpenService, tree: Tree
) -> None:
    root = tree(many(70))
    with pytest.raises(EmbeddingError):
        open_service(database_url, embedder=Faulty(1, fail)).index_snapshot("s", root)
    tree({"docs/000.md": "# Page 0\n\nQuite another text.\n", "docs/001.md": None})
    engine = open_service(database_url)
    engine.index_snapshot("s", root)
    assert any("Quite another" in text for text in texts(engine, "s", "docs/000.md"))
    with pytest.raises(UnknownName):
        engine.show("s", "docs/001.md")


def test_two_jobs_on_one_session_take_turns(database_url: str, open_service: OpenService, tree: Tree) -> None:
    root = tree(SMALL)
    entered, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert go_on.wait(30)

    first, second = open_service(database_url, embedder=Faulty(0, hold)), open_service(database_url)
    order: list[str] = []

    def run(engine: RagService, name: str) -> None:
        def note(progress: Progress) -> None:
            if progress.stage in ("waiting", "swapping"):
                order.append(f"{name} {progress.stage}")

        engine.index_snapshot("s", root, report=note)
        order.append(f"{name} done")

    one = threading.Thread(target=run, args=(first, "one"))
    two = threading.Thread(target=run, args=(second, "two"))
    one.start()
    assert entered.wait(30)
    two.start()
    wait_until(lambda: "two waiting" in order)
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    wait_until(lambda: count(database_url, waiting) == 1)
    go_on.set()
    one.join(30)
    two.join(30)
    assert order.index("one swapping") < order.index("two done")
    assert order[-1] == "two done"
    assert count(database_url, "SELECT revision FROM rag_session") == 1  # the second found nothing to do
    assert count(database_url, "SELECT count(*) FROM rag_index_job WHERE status = 'done'") == 2


def test_a_reader_sees_the_old_or_the_new_whole(database_url: str, open_service: OpenService, tree: Tree) -> None:
    """Spec: system.md §5. Every file says which version it is of; no answer may hold two versions."""

    def version(word: str) -> dict[str, str | None]:
        return {f"docs/{n}.md": f"# Page {n}\n\nThis manual is of version {word}.\n" for n in range(8)}

    root = tree(version("alpha"))
    engine, reader = open_service(database_url), open_service(database_url, keep_requests=0)
    engine.index_snapshot("s", root)
    stop = threading.Event()
    seen: list[tuple[int, frozenset[str], int]] = []
    problems: list[Exception] = []

    def read() -> None:
        while not stop.is_set():
            try:
                trace = reader.answer(Ask(query="manual version", session="s", limit=50))
            except Exception as problem:  # told by the assertion below
                problems.append(problem)
                return
            found = [word for row in trace.rows for word in ("alpha", "beta") if word in row.text]
            seen.append((trace.revision, frozenset(found), len({row.path for row in trace.rows})))

    thread = threading.Thread(target=read)
    thread.start()
    for turn in range(8):
        tree(version("beta" if turn % 2 == 0 else "alpha"))
        engine.index_snapshot("s", root)
    stop.set()
    thread.join(30)
    assert problems == []
    assert len({revision for revision, _, _ in seen}) > 1
    for revision, words, paths in seen:
        assert (words, paths) == (frozenset({"alpha" if revision % 2 else "beta"}), 1) or paths == 8
        assert words == frozenset({"alpha" if revision % 2 else "beta"})


def test_other_embedder_is_told_and_embeds_anew(database_url: str, open_service: OpenService, tree: Tree) -> None:
    root = tree(SMALL)
    open_service(database_url).index_snapshot("s", root)
    counting = CountingEmbedder(WordEmbedder("words:2"))
    other = open_service(database_url, embedder=counting)
    with pytest.raises(EmbeddingError) as caught:
        other.answer(Ask(query="lamp", session="s"))
    assert caught.value.code == "embedder_differs"
    assert (caught.value.params["indexed"], caught.value.params["now"]) == ("words:1", "words:2")
    job = other.index_snapshot("s", root)
    assert (job.files["indexed"], job.revision) == (3, 2)
    assert counting.texts
    assert other.answer(Ask(query="lamp", session="s")).rows


def test_a_file_that_can_no_longer_be_indexed_goes(engine: RagService, tree: Tree) -> None:
    root = tree(SMALL)
    engine.index_snapshot("s", root)
    (root / "README.md").write_bytes(b"\0\1\2" * 100)
    job = engine.index_snapshot("s", root)
    assert (job.files["deleted"], job.files["left_out"]) == (1, {"binary": 1})
    with pytest.raises(UnknownName):
        engine.show("s", "README.md")


def check_word_counts(url: str) -> None:
    """The log of differences, summed, is what counting anew gives."""
    recount = """
        SELECT layer, term, count(*) FROM (
            SELECT p.layer, unnest(p.terms || 0::bigint) AS term
            FROM rag_posting p JOIN rag_session s USING (rag_session_id) WHERE p.revision <= s.revision
        ) AS words WHERE term % 2 = 0 GROUP BY layer, term ORDER BY layer, term"""
    logged = """
        SELECT layer, term, sum(rows)::bigint FROM rag_term t JOIN rag_session s USING (rag_session_id)
        WHERE t.revision <= s.revision GROUP BY layer, term HAVING sum(rows) <> 0 ORDER BY layer, term"""
    with psycopg.connect(url) as connection:
        assert connection.execute(logged).fetchall() == connection.execute(recount).fetchall()


def random_module(chance: random.Random, words: Sequence[str]) -> str:
    """Three functions that call functions of other modules, a base class of another one, and a router."""
    other = chance.randint(0, 2)
    called = f"{chance.choice(words)}_{chance.randint(0, 2)}"
    body = "".join(
        f"def {word}_{n}():\n    return m{other}.{called}()\n\n" for n, word in enumerate(chance.choices(words, k=3))
    )
    return (
        f"from fastapi import APIRouter\nfrom src import m{other}\nfrom src.m{chance.randint(0, 2)} import *\n"
        f"router = APIRouter()\n\n{body}class Box(m{other}.Box):\n    pass\n\n"
        f"def use(box: Box):\n    box.{chance.choice(words)}()\n\n"
        f"router.include_router(m{other}.router, prefix='/{chance.choice(words)}')\n\n"
        f"@router.get('/{chance.choice(words)}')\ndef show():\n    return 1\n"
    )


def random_page(chance: random.Random, words: Sequence[str], turn: int) -> str:
    """A page that is called by an id, names others, defines a term and links a file that may not be there."""
    sections = "".join(
        f"# {chance.choice(words)} {turn}\n\n{' '.join(chance.choices(words, k=9))}\n\n"
        for _ in range(chance.randint(1, 3))
    )
    return (
        f"---\nid: page.{chance.choice(words)}\nuses_logic: [page.{chance.choice(words)}]\n---\n{sections}"
        f"[other](../docs/{chance.randint(0, 5)}.md)\n\n## Glossary\n\n| Term | Meaning |\n| --- | --- |\n"
        f"| {chance.choice(words)} ({chance.choice(words)}) | Text {turn}. |\n"
    )


def test_random_changes_leave_what_a_fresh_index_has(
    new_database: Callable[[], str], open_service: OpenService, tree: Tree
) -> None:
    """Forty random edits, more than two compactions of the log of word counts, then compared with a fresh index."""
    chance = random.Random(20)
    words = ("lamp", "chair", "table", "return", "refund", "order", "shop")
    one_url, other_url = new_database(), new_database()
    engine = open_service(one_url)
    files: dict[str, str | None] = dict(SMALL)
    root = tree(files)
    engine.index_snapshot("s", root)
    relinked = 0
    for turn in range(40):
        path = chance.choice([f"docs/{n}.md" for n in range(6)] + [f"src/m{n}.py" for n in range(3)])
        if files.get(path) is not None and chance.random() < 0.35:
            text = None
        elif path.endswith(".py"):
            text = random_module(chance, words)
        else:
            text = random_page(chance, words, turn)
        if text is None and files.get(path) is None:
            continue
        if text is not None and files.get(path) is not None and chance.random() < 0.2:
            text, moved = None, files[path]  # a rename: the same text under another path
            path, target = path, path.replace("/", "/moved-" if path.endswith(".md") else "/moved_", 1)
            files[target] = moved
            tree({target: moved})
        files[path] = text
        tree({path: text})
        relinked += cast("int", engine.index_snapshot("s", root).files["relinked"])
        if turn % 8 == 7:
            check_word_counts(one_url)
    check_word_counts(one_url)
    assert relinked > 10
    last = count(one_url, "SELECT revision FROM rag_session") // COMPACT_EVERY * COMPACT_EVERY
    assert last > 0
    assert count(one_url, "SELECT count(*) FROM rag_term WHERE revision < %s", last) == 0
    open_service(other_url).index_snapshot("s", root)
    assert contents(one_url) == contents(other_url)
