"""Embedders behind a network, each against a local server that speaks its protocol, faults included; and local ones."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragkit.embedding import Embedder, chosen
from ragkit.embedding.gigachat import GigaChatEmbedder
from ragkit.embedding.openai import OpenAIEmbedder
from ragkit.errors import EmbeddingError, InvalidInput
from ragkit.service import Ask
from ragkit.settings import EmbedderChoice, Settings
from tests.conftest import OpenService
from tests.integration.test_indexing import many

Tree = Callable[[dict[str, str | None]], Path]
DIMS = 4


@dataclass(slots=True)
class FakeServer:
    """Speaks OpenAI's embeddings and GigaChat's, which are alike but for the token."""

    url: str = ""
    batches: list[list[str]] = field(default_factory=list)
    faults: list[Any] = field(default_factory=list)
    """What the next answers are instead: a status, `slow`, `short`, `wide`, `odd`, `nan`, `text`."""
    tokens: int = 0
    valid_token: str = ""
    keys: list[str] = field(default_factory=list)
    started_at: list[float] = field(default_factory=list)

    def answer(self, texts: list[str]) -> tuple[int, bytes]:
        """Status and body of one request for embeddings."""
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, int):
            return fault, b'{"error": {"message": "planted"}}'
        if fault == "slow":
            time.sleep(2)
        self.batches.append(texts)
        vectors: list[list[Any]] = [[float(len(text)), 1.0, 0.0, 2.0] for text in texts]
        if fault == "short":
            vectors = vectors[:-1]
        if fault == "wide":
            vectors = [[*vector, 1.0] for vector in vectors]
        if fault == "nan":
            vectors = [[0.0] * DIMS for _ in vectors]
        data = [
            {"object": "embedding", "index": place, "embedding": vector, "usage": {"prompt_tokens": 1}}
            for place, vector in enumerate(vectors)
        ]
        body = {"object": "list", "model": "m", "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        if fault == "odd":
            body = {"object": "list", "model": "m", "data": None}
        return 200, b"<html>" if fault == "text" else json.dumps(body).encode()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fake.started_at.append(time.monotonic())
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == "/oauth":
                fake.tokens += 1
                fake.valid_token = f"token-{fake.tokens}"
                later = round((time.time() + 1800) * 1000)
                self._send(200, json.dumps({"access_token": fake.valid_token, "expires_at": later}).encode())
                return
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            fake.keys.append(key)
            if fake.valid_token and key != fake.valid_token:
                self._send(401, b'{"message": "token expired"}')
                return
            self._send(*fake.answer(json.loads(body)["input"]))

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        fake.url = f"http://127.0.0.1:{http.server_port}"
        yield fake
        http.shutdown()
        thread.join(5)


def openai(server: FakeServer, **given: Any) -> Embedder:
    return OpenAIEmbedder(**{"base_url": server.url, "model": "m", "api_key": "key", "retries": 2, **given})


def gigachat(server: FakeServer, **given: Any) -> Embedder:
    plain = {"credentials": "Y3JlZA==", "base_url": server.url, "auth_url": f"{server.url}/oauth", "retries": 2}
    return GigaChatEmbedder(**{**plain, **given})


EMBEDDERS = pytest.mark.parametrize("make", [openai, gigachat], ids=["openai", "gigachat"])
Make = Callable[..., Embedder]


@EMBEDDERS
def test_vectors_come_in_the_order_of_the_texts_at_unit_length(server: FakeServer, make: Make) -> None:
    texts = ["a" * (n + 1) for n in range(70)]
    texts[3] = "  "
    vectors = make(server).embed(texts)
    assert vectors.shape == (70, DIMS)
    assert vectors.dtype == np.float32
    assert not vectors[3].any()
    wanted = np.array([[n + 1, 1, 0, 2] for n in range(70) if n != 3], dtype=np.float32)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(np.delete(vectors, 3, axis=0), wanted, rtol=1e-6)
    assert max(map(len, server.batches)) <= 64
    assert sum(map(len, server.batches)) == 69


@EMBEDDERS
@pytest.mark.parametrize("fault", [429, 500, 503])
def test_a_passing_fault_is_tried_again(server: FakeServer, make: Make, fault: int) -> None:
    server.faults = [fault]
    assert make(server).embed(["text"]).shape == (1, DIMS)
    assert len(server.started_at) >= 2


@EMBEDDERS
@pytest.mark.parametrize(
    ("faults", "code"),
    [
        ([403] * 9, "embedder_refused"),
        ([429] * 9, "embedder_busy"),
        ([500] * 9, "embedder_failed"),
        ([404] * 9, "embedder_failed"),
        (["short"], "embedder_short"),
        (["odd"], ("embedder_odd_answer", "embedder_short")),
        (["text"], "embedder_odd_answer"),
        (["nan"], "embedder_no_numbers"),
    ],
)
def test_a_lasting_fault_is_one_error(
    server: FakeServer, make: Make, faults: list[Any], code: str | tuple[str, ...]
) -> None:
    server.faults = list(faults)
    with pytest.raises(EmbeddingError) as caught:
        make(server, retries=1).embed(["one", "two"])
    assert caught.value.code in (code if isinstance(code, tuple) else (code,))
    assert "key" not in str(caught.value.params).lower().replace("keyerror", "")


def test_a_wrong_key_is_refused(server: FakeServer) -> None:
    server.valid_token = "another"
    with pytest.raises(EmbeddingError) as caught:
        openai(server).embed(["text"])
    assert caught.value.code == "embedder_refused"


def test_an_expired_token_is_renewed(server: FakeServer) -> None:
    embedder = gigachat(server)
    embedder.embed(["one"])
    server.valid_token = "renewed elsewhere"
    assert embedder.embed(["two"]).shape == (1, DIMS)
    assert server.tokens == 2


@EMBEDDERS
def test_a_slow_or_absent_server_costs_a_bounded_time(server: FakeServer, make: Make) -> None:
    server.faults = ["slow"] * 4
    started = time.monotonic()
    with pytest.raises(EmbeddingError) as caught:
        make(server, timeout_s=0.3, retries=1).embed(["text"])
    assert caught.value.code == "embedder_unreachable"
    assert time.monotonic() - started < 8
    absent = FakeServer(url="http://127.0.0.1:9")
    with pytest.raises(EmbeddingError) as caught:
        make(absent, retries=0).embed(["text"])
    assert caught.value.code == "embedder_unreachable"


@EMBEDDERS
def test_another_dimension_than_before_is_refused(server: FakeServer, make: Make) -> None:
    embedder = make(server)
    assert embedder.dims == DIMS
    server.faults = ["wide"]
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(["text"])
    assert (caught.value.code, caught.value.params["expected"]) == ("embedder_wrong_dims", DIMS)
    with pytest.raises(EmbeddingError):
        make(server, dims=3).embed(["text"])


def test_the_pace_is_kept(server: FakeServer) -> None:
    embedder = openai(server, requests_per_minute=600)
    for _ in range(4):
        embedder.embed(["text"])
    assert server.started_at[-1] - server.started_at[0] >= 0.25  # three pauses of a tenth of a second


@EMBEDDERS
def test_another_process_gets_an_equal_embedder_without_a_word_of_the_key(server: FakeServer, make: Make) -> None:
    embedder = make(server)
    again = pickle.loads(pickle.dumps(embedder))
    assert again.fingerprint == embedder.fingerprint
    np.testing.assert_array_equal(again.embed(["x"]), embedder.embed(["x"]))
    assert "key" not in embedder.fingerprint


def test_a_session_of_one_embedder_refuses_another(
    server: FakeServer, database_url: str, open_service: OpenService, tree: Tree
) -> None:
    """Spec: system.md §5; the message names the command that embeds anew."""
    engine = open_service(database_url, embedder=openai(server))
    engine.index_snapshot("s", tree(many(3)))
    assert engine.answer(Ask(query="word1", session="s")).rows[0].path == "docs/001.md"
    with pytest.raises(EmbeddingError) as caught:
        open_service(database_url, embedder=openai(server, model="other")).answer(Ask(query="word1", session="s"))
    assert caught.value.code == "embedder_differs"
    server.faults = [500] * 99
    silent = engine.answer(Ask(query="word2", session="s"))  # words and names alone, and the Trace says so
    assert silent.rows[0].path == "docs/002.md"
    assert "plan.embedder_silent" in [reason.code for reason in silent.reasons]


def test_an_embedder_down_half_way_fails_the_job_and_the_next_one_goes_on(
    server: FakeServer, database_url: str, open_service: OpenService, tree: Tree
) -> None:
    root = tree(many(40))
    engine = open_service(database_url, embedder=openai(server, retries=0))
    server.faults = [None, 500]
    with pytest.raises(EmbeddingError):
        engine.index_snapshot("s", root)
    (job,) = engine.indexing.jobs("s")
    assert (job.status, (job.error or {})["code"]) == ("failed", "embedder_failed")
    assert engine.index_snapshot("s", root).files["indexed"] == 40


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        (EmbedderChoice(name="other"), "setting_invalid"),
        (EmbedderChoice(name="openai"), "setting_missing"),
        (EmbedderChoice(name="gigachat"), "setting_missing"),
        (EmbedderChoice(name="model2vec"), "setting_missing"),
        (EmbedderChoice(name="model2vec", model="/no/such/folder"), "embedder_folder_missing"),
    ],
)
def test_a_choice_that_cannot_serve_says_what_is_missing(choice: EmbedderChoice, code: str) -> None:
    with pytest.raises((InvalidInput, EmbeddingError)) as caught:
        chosen(choice)
    assert caught.value.code == code


def test_the_choice_comes_from_the_environment(server: FakeServer) -> None:
    env = {
        "RAGKIT_EMBEDDER": "openai",
        "RAGKIT_EMBEDDER_URL": server.url,
        "RAGKIT_EMBEDDER_MODEL": "m",
        "RAGKIT_EMBEDDER_KEY": "secret-key",
        "RAGKIT_EMBEDDER_DIMS": "4",
    }
    settings = Settings.from_env(env)
    assert Settings.from_env(settings.to_env()) == settings
    assert chosen(settings.embedder).embed(["x"]).shape == (1, DIMS)
    assert server.keys == ["secret-key"]
    assert "secret-key" not in repr(settings)


@pytest.mark.parametrize("library", ["sentence-transformers", "fastembed"])
def test_a_library_that_is_not_installed_is_named(library: str, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError) as caught:
        chosen(EmbedderChoice(name=library, model=str(tmp_path))).embed(["text"])
    assert (caught.value.code, caught.value.params["package"]) == ("embedder_not_installed", library)


def test_a_model2vec_folder(tmp_path: Path) -> None:
    """A model made here: three words with vectors of their own."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"[UNK]": 0, "[PAD]": 1, "lamp": 2, "chair": 3}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    StaticModel(np.eye(4, dtype=np.float32), tokenizer).save_pretrained(str(tmp_path / "m"))
    embedder = chosen(EmbedderChoice(name="model2vec", model=str(tmp_path / "m")))
    vectors = embedder.embed(["lamp", "", "chair"])
    assert embedder.dims == 4
    np.testing.assert_allclose(vectors, [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]], atol=1e-6)
    before = embedder.fingerprint
    StaticModel(2 * np.eye(4, dtype=np.float32)[::-1], tokenizer).save_pretrained(str(tmp_path / "m"))
    assert chosen(EmbedderChoice(name="model2vec", model=str(tmp_path / "m"))).fingerprint != before
    (tmp_path / "empty").mkdir()
    with pytest.raises(EmbeddingError) as caught:
        chosen(EmbedderChoice(name="model2vec", model=str(tmp_path / "empty"))).embed(["x"])
    assert caught.value.code == "embedder_model_failed"
