"""Every command of architecture.md: what it prints, what it exits with, and one line for everything that goes wrong."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragkit import cli
from ragkit.embedding import Embedder
from ragkit.errors import UnknownName
from ragkit.layers import ATTRIBUTES, Layer

Run = Callable[..., "Done"]

ROOT = Path(__file__).parents[2]
CASES = (ROOT / "tests" / "cases" / "policy.jsonl").read_text(encoding="utf-8").splitlines()
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command left."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """A document a line."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], embedder: Embedder) -> Iterator[Run]:
    """Runs a command in this process; the embedder is the run's one, for it takes two seconds to load."""
    monkeypatch.setattr("ragkit.service.chosen", lambda choice: embedder)
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments: str, stdin: str = "", **environment: str) -> Done:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        status = cli.run(list(arguments))
        out, err = capsys.readouterr()
        return Done(status=status, out=out, err=err)

    yield run
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def ragkit(bare: Run, demo_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command on a database that holds the demo corpus."""
    monkeypatch.setenv("RAGKIT_DATABASE_URL", demo_url)
    monkeypatch.setenv("RAGKIT_DATA_DIR", str(tmp_path / "data"))
    return bare


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield int(listening.getsockname()[1])


# --- what commands print


def test_sessions(ragkit: Run) -> None:
    done = ragkit("sessions", "--json")
    (session,) = done.json
    assert {"session", "project_id", "revision", "rows", "embedder", "indexed_at"} <= session.keys()
    assert (session["session"], session["revision"]) == ("demo", 1)
    assert session["rows"] == sum(ragkit("layers", "demo", "--json").json.values())
    assert (done.status, done.err) == (0, "")
    assert "demo" in ragkit("sessions").out


def test_no_sessions(bare: Run, database_url: str) -> None:
    assert bare("sessions", "--json", RAGKIT_DATABASE_URL=database_url).json == []
    assert "ragkit index" in bare("sessions").out


def test_layers(ragkit: Run) -> None:
    found = ragkit("layers", "demo", "--json").json
    assert found.keys() <= {layer.value for layer in Layer}
    assert all(isinstance(rows, int) and rows > 0 for rows in found.values())
    assert "D0_DOC_CHUNKS" in ragkit("layers", "demo").out


@pytest.mark.parametrize(("path", "layers"), [("docs/logic/storage-expiry.md", 6), ("src/posterna/service.py", 4)])
def test_show_gives_every_attribute_of_the_specification(ragkit: Run, path: str, layers: int) -> None:
    """Source: architecture.md: an attribute with no value is null, none is missing."""
    found = ragkit("show", "demo", path, "--json").json
    assert found["path"] == path
    assert len({row["layer"] for row in found["rows"]}) == layers
    for row in found["rows"]:
        assert {"layer", "id", "line_start", "line_end", "title", "text", "attributes"} <= row.keys()
        assert row["attributes"].keys() == set(ATTRIBUTES[Layer(row["layer"])])
        if row["layer"] == "C0_SOURCE_CHUNKS":
            assert row["attributes"]["text"] == row["text"]
        if row["layer"] == "D0_DOC_CHUNKS":
            assert row["attributes"]["content"] == row["text"]
            assert row["attributes"]["embedding"]


CONTRACT = {
    "schema_version": None,
    "intent": None,
    "graph_id": None,
    "conversation_mode": None,
    "query_plan": {"raw", "normalized", "expansions", "keyword_hints", "anchors"},
    "retrieval_spec": {"domains", "layer_queries", "filters", "rerank_profile"},
    "evidence_policy": {"require_def", "require_flow", "require_spec", "allow_answer_without_evidence"},
}
"""Spec: ROUTER §5."""


def check_contract(contract: dict[str, Any]) -> None:
    assert contract.keys() == CONTRACT.keys()
    for name, fields in CONTRACT.items():
        assert fields is None or contract[name].keys() == fields
    assert contract["retrieval_spec"]["filters"].keys() == {"test_policy", "path_scope", "language"}


def test_route_needs_no_database(bare: Run) -> None:
    done = bare("route", "GET /v1/orders", "--json", RAGKIT_DATABASE_URL=NOWHERE)
    assert done.status == 0
    assert done.json.keys() == {"contract", "route", "reasons"}
    check_contract(done.json["contract"])
    assert done.json["route"]["anchors"]["endpoint_paths"] == ["/v1/orders"]


def test_route_in_a_conversation(bare: Run, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    first = bare("route", "What does OrderService.place() do?", "--json").json["contract"]
    state.write_text(json.dumps({"active_intent": first["intent"], "anchors": first["query_plan"]["anchors"]}))
    done = bare("route", "а тесты?", "--state", str(state), "--json").json["contract"]
    assert (done["intent"], done["conversation_mode"]) == ("CODE_QA", "CONTINUE")
    assert any(
        anchor["subtype"].startswith("conversation") for anchor in done["query_plan"]["anchors"] if anchor["subtype"]
    )


def test_route_by_names_of_a_session(ragkit: Run) -> None:
    without = ragkit("route", "Расскажи про код выдачи", "--json").json["route"]["anchors"]
    with_names = ragkit("route", "Расскажи про код выдачи", "--session", "demo", "--json").json["route"]["anchors"]
    assert without["target_doc_hints"] == []
    assert "docs/domains/pickup/pickup-code.md" in with_names["target_doc_hints"]


def test_the_contract_is_published_as_json_schema(bare: Run) -> None:
    schema = bare("route", "--schema").json
    assert schema["properties"]["schema_version"]["const"] == "1.1"
    assert set(schema["required"]) >= {"intent", "graph_id", "conversation_mode", "query_plan", "retrieval_spec"}


def test_forced_intent(bare: Run) -> None:
    done = bare("route", "how long is it kept", "--intent", "PROJECT_MISC", "--json").json
    assert (done["contract"]["intent"], done["route"]["intent"]) == ("PROJECT_MISC", "GENERAL_QA")


def test_plan_of_every_case(bare: Run, tmp_path: Path) -> None:
    """The table of the resolver's tests, through the command line."""
    batch = tmp_path / "routes.jsonl"
    cases = [json.loads(line) for line in CASES]
    batch.write_text(
        "".join(json.dumps({"id": case["id"], **case["route"]}) + "\n" for case in cases), encoding="utf-8"
    )
    done = bare("plan", "--batch", str(batch), "--json", RAGKIT_DATABASE_URL=NOWHERE)
    assert done.status == 0
    assert done.lines == [{"id": case["id"], **case["plan"]} for case in cases]


def test_plan_of_one_route(bare: Run) -> None:
    case = json.loads(CASES[0])
    assert bare("plan", "--json", stdin=json.dumps(case["route"])).json == case["plan"]
    assert bare("plan", "-", "--json", stdin=json.dumps(case["route"])).json == case["plan"]


def test_plans_of_what_route_printed(bare: Run, tmp_path: Path) -> None:
    routed = tmp_path / "route.json"
    routed.write_text(bare("route", "О чём этот проект?", "--json").out, encoding="utf-8")
    found = bare("plan", str(routed), "--json").json
    assert [plan["profile"] for plan in found["plans"]] == ["general_qa_grounded_summary", "project_code_overview"]


def test_query_prints_the_whole_trace(ragkit: Run) -> None:
    done = ragkit("query", "demo", "POST /v1/pickups", "--json")
    trace = done.json
    assert (done.status, done.err) == (0, "")
    promised = {
        "trace_version",
        "query",
        "session",
        "contract",
        "route",
        "reasons",
        "plans",
        "rows",
        "steps",
        "evidence",
    }
    assert promised | {"revision", "timings"} <= trace.keys()
    check_contract(trace["contract"])
    for plan in trace["plans"]:
        assert plan.keys() >= {"profile", "layers", "limit", "filters"}
    assert [row["rank"] for row in trace["rows"]] == list(range(1, len(trace["rows"]) + 1))
    keys = {"rank", "plan", "path", "line_start", "line_end", "layer", "title", "score", "parts", "found_by", "text"}
    for row in trace["rows"]:
        assert keys <= row.keys()
        assert sum(row["parts"].values()) == pytest.approx(row["score"], abs=1e-9)
    for step in trace["steps"]:
        assert {"name", "plan", "in", "out", "dropped", "dropped_rows"} <= step.keys()
        assert len(step["dropped_rows"]) <= 200
    again = ragkit("query", "demo", "POST /v1/pickups", "--json").json
    assert {**again, "timings": 0} == {**trace, "timings": 0}


def test_why_prints_a_verdict(ragkit: Run) -> None:
    done = ragkit("why", "demo", "POST /v1/pickups", "CHANGELOG.md", "--json")
    found = done.json
    assert (done.status, done.err) == (1, "")
    assert found.keys() == {"id", "verdict", "stage", "sentence", "plan", "reasons", "remedies", "profiles"}
    assert found["verdict"].keys() == {"code", "params"}
    assert (found["verdict"]["code"], found["stage"]) == ("hard_filter", "filter")
    assert found["sentence"].startswith("The hard filter path_prefixes = docs/api/, docs/ leaves none of the ")
    assert found["remedies"][0]["sentences"][0] == "Drop the hard filter path_prefixes (now docs/api/, docs/)."
    assert ragkit("why", "demo", "POST /v1/pickups", "CHANGELOG.md", "--json").out == done.out
    there = ragkit("why", "demo", "POST /v1/pickups", "docs/api/openapi.yaml", "--json")
    assert (there.status, there.json["verdict"]["code"], there.json["stage"]) == (0, "found", "answer")


def test_why_for_people(ragkit: Run) -> None:
    done = ragkit("why", "demo", "POST /v1/pickups", "CHANGELOG.md", RAGKIT_LANGUAGE="ru")
    first, second, *_ = done.out.splitlines()
    assert done.status == 1
    assert first.startswith("Жёсткий фильтр path_prefixes")
    assert second == "убран жёстким фильтром (стадия: жёсткие фильтры, план: docs_summary_api_endpoint)"


def test_why_of_an_unknown_session_is_wrong_use(ragkit: Run) -> None:
    done = ragkit("why", "nowhere", "POST /v1/pickups", "CHANGELOG.md")
    assert (done.status, done.out) == (2, "")
    assert "nowhere" in done.err


def test_query_explains(ragkit: Run) -> None:
    trace = ragkit("query", "demo", "POST /v1/pickups", "--explain", "--expect", "CHANGELOG.md", "--json").json
    (plan,) = trace["explain"]["plans"]
    assert plan["statements"].keys() == {"exact_files", "semantic"}
    assert {view["name"] for view in plan["filters"]} == trace["plans"][0]["filters"].keys()
    assert "Execution Time" in trace["analyzed"][plan["plan"]]
    assert trace["expected"][0]["verdict"]["code"] == "hard_filter"
    assert [change["profile"] for change in trace["explain"]["profiles"]]
    told = ragkit("query", "demo", "POST /v1/pickups", "--explain", "--expect", "CHANGELOG.md").out
    assert "API_ENDPOINT would have to be silent; it fires by endpoint_paths: /v1/pickups" in told
    assert "The hard filter path_prefixes" in told


def test_query_for_people(ragkit: Run) -> None:
    out = ragkit("query", "demo", "Сколько хранится посылка?").out
    assert out.splitlines()[0].startswith("DOCS_QA · docs_summary_")
    assert "docs/logic/" in out


def test_query_with_options(ragkit: Run) -> None:
    trace = ragkit("query", "demo", "ячейка", "--limit", "2", "--intent", "CODE_QA", "--json").json
    assert (len(trace["rows"]), trace["plans"][0]["limit"], trace["plans"][0]["profile"]) == (2, 2, "code_qa")
    codes = {reason["code"] for reason in trace["reasons"]}
    assert {"plan.limit_replaced", "route.intent_forced"} <= codes


def test_query_by_a_policy_of_ones_own(ragkit: Run, tmp_path: Path) -> None:
    spec = (ROOT / "ragkit" / "policy" / "spec.toml").read_text(encoding="utf-8")
    own = tmp_path / "mine.toml"
    changed = spec.replace('name = "spec"', 'name = "mine"', 1).replace("limit = 8", "limit = 1")
    own.write_text(changed, encoding="utf-8")
    trace = ragkit("query", "demo", "Сколько хранится посылка?", "--policy", str(own), "--json").json
    assert (trace["policy"]["name"], len(trace["rows"])) == ("mine", 1)


def test_batch_goes_on_after_a_failing_line(ragkit: Run) -> None:
    lines = [
        '{"id": 1, "query": "Сколько хранится посылка?"}',
        '{"id": "empty", "query": "  "}',
        "{not json",
        '["no object"]',
        '{"id": null}',
        "",
        '{"id": "state", "query": "x", "state": {"active_intent": "NOTHING"}}',
        '{"query": "без номера"}',
        '{"id": 9, "query": "POST /v1/pickups", "state": {"active_intent": "DOCS_QA"}}',
    ]
    done = ragkit("query", "demo", "--batch", "-", "--json", stdin="\n".join(lines))
    assert (done.status, done.err) == (0, "")
    answers = done.lines
    assert len(answers) == 8  # the blank line asks nothing
    assert [answer.get("id", "none") for answer in answers] == [1, "empty", None, None, None, "state", "none", 9]
    failed = [("error" in answer) for answer in answers]
    assert failed == [False, True, True, True, True, True, False, False]
    assert answers[1]["error"].startswith("The question is empty")
    assert answers[0]["rows"]
    assert answers[7]["contract"]["conversation_mode"] == "CONTINUE"


def test_route_batch_from_a_file(bare: Run, tmp_path: Path) -> None:
    batch = tmp_path / "b.jsonl"
    batch.write_bytes('{"id": 1, "query": "класс Order"}\r\n{"id": 2, "query": "x"}'.encode())
    answers = bare("route", "--batch", str(batch)).lines
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[0]["contract"]["query_plan"]["raw"] == "класс Order"


def test_index_prints_its_job(ragkit: Run, tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nText.\n", encoding="utf-8")
    (folder / "b.bin").write_bytes(b"\0" * 100)
    done = ragkit("index", str(folder), "--session", "new", "--json")
    job = done.json
    assert (done.status, done.err) == (0, "")
    assert {
        "job_id",
        "status",
        "session",
        "revision",
        "files",
        "rows_written",
        "texts_embedded",
        "warnings",
        "timings",
    } <= job.keys()
    assert (job["status"], job["session"], job["revision"]) == ("done", "new", 1)
    files = job["files"]
    assert (files["seen"], files["indexed"], files["unchanged"], files["deleted"]) == (2, 1, 0, 0)
    assert sum(files["left_out"].values()) == 1
    again = ragkit("index", str(folder), "--session", "new")
    assert "1 unchanged" in again.out
    gone = ragkit("index", str(folder), "--session", "new", "--deleted", "a.md", "--json").json
    assert (gone["files"]["deleted"], gone["revision"]) == (1, 2)


def test_answers_in_russian(ragkit: Run) -> None:
    assert "Сессия «nothing» неизвестна" in ragkit("layers", "nothing", RAGKIT_LANGUAGE="ru").err


# --- what goes wrong: one line, its status, and nothing lost


def wrong(done: Done, status: int, *words: str) -> None:
    assert done.status == status, done
    assert done.out == ""
    assert done.err.endswith("\n")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("index", "/nonexistent/folder", "--session", "demo"), ("/nonexistent/folder", "does not exist")),
        (("index", __file__, "--session", "demo"), ("is not a folder",)),
        (("index", str(ROOT / "tests"), "--session", "a/b"), ("a/b",)),
        (("index", str(ROOT / "tests"), "--session", ""), ("cannot name a session",)),
        (("index", str(ROOT / "tests")), ("--session",)),
        (("index", ".", "--session", "x", "--changes", "HEAD", "--deleted", "a"), ("--changes", "--deleted")),
        (("index", ".", "--session", "nothing", "--deleted", "a"), ("nothing", "demo")),
        (("query", "nothing", "x"), ("nothing", "demo", "ragkit index")),
        (("query", "nothing", "--batch", "/dev/null"), ("nothing",)),
        (("query", "demo", ""), ("empty",)),
        (("query", "demo", " \t "), ("empty",)),
        (("query", "demo"), ("QUERY",)),
        (("query", "demo", "x", "--policy", "nothing"), ("nothing", "spec")),
        (("query", "demo", "x", "--policy", "/nonexistent/p.toml"), ("/nonexistent/p.toml",)),
        (("query", "demo", "--policy", "nothing", "--batch", "/dev/null"), ("nothing",)),
        (("query", "demo", "x", "--limit", "0"), ("0", "1000")),
        (("query", "demo", "x", "--limit", "many"), ("--limit",)),
        (("query", "demo", "x", "--intent", "NOTHING"), ("NOTHING", "CODE_QA")),
        (("query", "demo", "x", "--state", "/nonexistent/state.json"), ("/nonexistent/state.json",)),
        (("query", "demo", "--batch", "/nonexistent/batch.jsonl"), ("/nonexistent/batch.jsonl",)),
        (("route",), ("QUERY",)),
        (("route", ""), ("empty",)),
        (("route", "x", "--session", "nothing"), ("nothing",)),
        (("layers", "nothing"), ("nothing", "demo")),
        (("show", "nothing", "README.md"), ("nothing",)),
        (("show", "demo", "nothing.md"), ("nothing.md", "relative")),
        (("plan", "/nonexistent/route.json"), ("/nonexistent/route.json",)),
        (("plan", __file__), ("JSON",)),
        (("plan", "--policy", "nothing"), ("nothing",)),
        (("nothing",), ("nothing",)),
        (("sessions", "--nothing"), ("--nothing",)),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_wrong_use(ragkit: Run, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    wrong(ragkit(*arguments), 2, *words)
    (session,) = ragkit("sessions", "--json").json
    assert (session["session"], session["revision"]) == ("demo", 1)


@pytest.mark.parametrize(
    "body", ["", "nonsense", "[]", "{}", '{"intent": "NOTHING"}', '{"contract": {}, "route": {}}', "[" * 100_000]
)
def test_wrong_route(bare: Run, body: str) -> None:
    wrong(bare("plan", "--json", stdin=body), 2)


def test_empty_folder_changes_nothing(ragkit: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    wrong(ragkit("index", str(tmp_path / "empty"), "--session", "demo"), 2, "no file that can be indexed")
    wrong(ragkit("index", str(tmp_path / "empty"), "--session", "other"), 2)
    assert [(s["session"], s["revision"]) for s in ragkit("sessions", "--json").json] == [("demo", 1)]


def test_changes_outside_git(ragkit: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    wrong(ragkit("index", str(tmp_path), "--session", "demo", "--changes", "HEAD"), 2, "git")


def test_changes_since_an_unknown_revision(ragkit: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    wrong(ragkit("index", str(tmp_path), "--session", "demo", "--changes", "no-such"), 2, "'no-such'", "git rev-parse")


@pytest.mark.parametrize(
    "command", [("sessions",), ("query", "demo", "x"), ("index", ".", "--session", "x"), ("serve",)]
)
@pytest.mark.parametrize("url", [NOWHERE, "postgresql:///x?host=/nonexistent", "nonsense"])
def test_database_that_cannot_be_reached(bare: Run, command: tuple[str, ...], url: str, tmp_path: Path) -> None:
    wrong(bare(*command, RAGKIT_DATABASE_URL=url, RAGKIT_DATA_DIR=str(tmp_path)), 3, "RAGKIT_DATABASE_URL")


def test_password_is_never_shown(bare: Run) -> None:
    done = bare("sessions", RAGKIT_DATABASE_URL="postgresql://me:geheim@127.0.0.1:1/x?connect_timeout=2")
    wrong(done, 3, "127.0.0.1:1/x")
    assert "geheim" not in done.err


def test_data_folder_that_cannot_be_written(bare: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "data")
    wrong(bare("sessions", RAGKIT_DATA_DIR=folder), 3, folder, "RAGKIT_DATA_DIR")
    wrong(bare("demo", "--no-browser", RAGKIT_DATA_DIR=folder), 3, folder)


@pytest.mark.parametrize("command", ["demo", "serve"])
def test_port_in_use(ragkit: Run, command: str, taken_port: int) -> None:
    wrong(ragkit(command, "--no-browser", "--port", str(taken_port)), 3, str(taken_port), "--port")


@pytest.mark.parametrize(
    ("name", "value"), [("RAGKIT_LANGUAGE", "de"), ("RAGKIT_POOL_SIZE", "0"), ("RAGKIT_KEEP_REQUESTS", "x")]
)
def test_wrong_setting(ragkit: Run, name: str, value: str) -> None:
    wrong(ragkit("sessions", **{name: value}), 2, name, value)


def test_debug_shows_the_traceback(ragkit: Run) -> None:
    with pytest.raises(UnknownName):
        ragkit("--debug", "layers", "nothing")


# --- as a process of its own


def script() -> str:
    found = shutil.which("ragkit", path=str(Path(sys.executable).parent))
    assert found, "the console script is not installed beside this Python"
    return found


def process(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RAGKIT_", "PYTHON", "LC_"))}
    return subprocess.run(
        [script(), *arguments],
        env={**clean, "LANG": "C", "LC_ALL": "C", **environment},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_console_script_speaks_utf8_under_any_locale(demo_url: str, tmp_path: Path) -> None:
    done = process(
        "query",
        "demo",
        "Сколько хранится посылка?",
        "--json",
        RAGKIT_DATABASE_URL=demo_url,
        RAGKIT_DATA_DIR=str(tmp_path),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    trace = json.loads(done.stdout.decode("utf-8"))
    assert trace["query"] == "Сколько хранится посылка?"
    assert trace["rows"]


def test_console_script_fails_in_one_line(tmp_path: Path) -> None:
    done = process("sessions", RAGKIT_DATABASE_URL=NOWHERE, RAGKIT_LANGUAGE="ru", RAGKIT_DATA_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode("utf-8").count("\n") == 1


DATASET = """{"id": "a", "query": "POST /v1/pickups", "relevant": [{"id": "docs/api/pickups-api.md", "grade": 2}]}
{"id": "b", "query": "choose_cell", "relevant": [{"id": "gone.md", "grade": 1}]}
"""


def test_eval_prints_one_document(ragkit: Run, tmp_path: Path) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text(DATASET, encoding="utf-8")
    run = tmp_path / "run.txt"
    done = ragkit("eval", str(questions), "--session", "demo", "--rerun", "--trec-run", str(run), "--json")
    assert done.status == 0
    body = done.json
    assert body["dataset"]["questions"] == 2
    assert body["health"]["counts"] == {"health.unknown_id": 1}
    assert body["runs"][0]["metrics"]["hit@5"] == {"mean": 1.0, "n": 1, "low": 1.0, "high": 1.0}
    assert body["rerun"] == {"identical": True, "first_difference": None}
    assert run.read_text(encoding="utf-8").splitlines()[0].split()[:4] == ["a", "Q0", "docs/api/openapi.yaml", "1"]


def test_eval_compares_two_policies(ragkit: Run, tmp_path: Path) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text(DATASET, encoding="utf-8")
    done = ragkit("eval", str(questions), "--session", "demo", "--policy", "spec", "--policy", "spec")
    assert done.status == 0
    assert "Not enough queries to tell" in done.out


def test_datasets_are_converted_without_loss(bare: Run, tmp_path: Path) -> None:
    source = tmp_path / "set.jsonl"
    source.write_text(DATASET, encoding="utf-8")
    assert bare("dataset", str(source), str(tmp_path / "beir"), "--to", "beir").status == 0
    assert bare("dataset", str(tmp_path / "beir"), str(tmp_path / "back.jsonl")).status == 0
    back = (tmp_path / "back.jsonl").read_text(encoding="utf-8").splitlines()
    given = DATASET.splitlines()
    assert [json.loads(line)["relevant"] for line in back] == [json.loads(line)["relevant"] for line in given]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"id": "a"}', ("line 1", "query")),
        ('{"id": "a", "query": "b", "relevant": [{"id": "x", "grade": "high"}]}', ("line 1", "grade", "'high'")),
        ("", ("holds no question",)),
        ('{"id": "a", "query": "b"}\n{"id": "a", "query": "c"}', ("twice",)),
    ],
)
def test_eval_refuses_bad_datasets(bare: Run, tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text(text, encoding="utf-8")
    done = bare("eval", str(questions), "--session", "demo")
    assert done.status == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert all(word in done.err for word in words)


def test_eval_that_can_judge_nothing_says_so(ragkit: Run, tmp_path: Path) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text('{"id": "a", "query": "x", "relevant": [{"id": "gone.md", "grade": 1}]}\n', encoding="utf-8")
    done = ragkit("eval", str(questions), "--session", "demo", "--policy", "spec", "--policy", "spec")
    assert done.status == 0
    assert "gone.md" in done.out


def test_a_folder_with_nothing_indexable_changes_nothing(ragkit: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\x00\x01" * 50)
    done = ragkit("index", str(tmp_path), "--session", "demo")
    assert done.status == 2
    assert "Nothing was changed" in done.err
    assert sum(ragkit("layers", "demo", "--json").json.values()) > 0


def test_eval_with_two_sessions_and_two_policies_is_refused(bare: Run, tmp_path: Path) -> None:
    two = ("--session", "a", "--session", "b", "--policy", "spec", "--policy", "spec")
    done = bare("eval", str(tmp_path), *two)
    assert done.status == 2


def test_help_names_every_command() -> None:
    done = process("--help")
    text = done.stdout.decode()
    for command in ("demo", "serve", "index", "sessions", "layers", "show", "route", "plan", "query"):
        assert command in text


def test_closed_pipe_is_no_error(tmp_path: Path) -> None:
    """`ragkit plan --batch … | head -1`, with far more to come than a pipe holds."""
    batch = tmp_path / "routes.jsonl"
    batch.write_text(json.dumps(json.loads(CASES[0])["route"]) + "\n", encoding="utf-8")
    batch.write_text(batch.read_text(encoding="utf-8") * 5000, encoding="utf-8")
    running = subprocess.Popen(
        [script(), "plan", "--batch", str(batch)],
        env={**os.environ, "RAGKIT_DATA_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    assert json.loads(running.stdout.readline())["profile"]
    running.stdout.close()
    errors = running.stderr.read()
    running.stderr.close()
    assert (running.wait(60), errors) == (0, b"")
