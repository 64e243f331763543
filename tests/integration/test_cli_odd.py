"""Odd arguments and odd files: told in one line that fits a screen, and without power over the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.test_cli import Run, bare, ragkit, wrong

__all__ = ["bare", "ragkit"]  # fixtures
Tree = Callable[[dict[str, str | None]], Path]
BYTES = "a\udcff"  # what Python makes of an argument that is no UTF-8
LONG = "a" * 50_000


@pytest.mark.parametrize(
    "arguments",
    [
        ("layers", BYTES),
        ("show", "demo", BYTES),
        ("show", BYTES, "README.md"),
        ("jobs", BYTES),
        ("jobs", "--cancel", BYTES),
        ("sessions", "--delete", BYTES),
        ("sessions", "--rename", "demo", BYTES),
        ("query", BYTES, "x"),
        ("query", "demo", "x", "--policy", BYTES),
        ("query", "demo", "x", "--state", BYTES),
        ("route", "x", "--session", BYTES),
        ("plan", BYTES),
        ("index", "/nonexistent", "--session", BYTES),
        ("index", str(Path(__file__).parent), "--session", BYTES),
        ("index", str(Path(__file__).parent), "--session", "demo", "--deleted", BYTES),
        ("eval", BYTES, "--session", "demo"),
    ],
    ids=" ".join,
)
def test_arguments_that_are_no_utf8(ragkit: Run, arguments: tuple[str, ...]) -> None:
    wrong(ragkit(*arguments), 2)
    assert [row["session"] for row in ragkit("sessions", "--json").json] == ["demo"]


def test_a_question_that_is_no_utf8_is_the_same_for_route_and_query(ragkit: Run) -> None:
    routed = ragkit("route", BYTES, "--json").json["contract"]["query_plan"]["raw"]
    trace = ragkit("query", "demo", BYTES, "--json").json
    assert routed == trace["contract"]["query_plan"]["raw"] == trace["query"] == "a\ufffd"


@pytest.mark.parametrize(
    "arguments",
    [
        ("layers", LONG),
        ("query", "demo", "x", "--policy", LONG),
        ("query", "demo", "x", "--intent", LONG),
        ("index", LONG, "--session", "demo"),
        ("index", str(Path(__file__).parent), "--session", LONG),
        (LONG,),
        ("sessions", f"--{LONG}"),
    ],
    ids=lambda value: " ".join(value)[:30],
)
def test_long_arguments_are_not_echoed_whole(ragkit: Run, arguments: tuple[str, ...]) -> None:
    done = ragkit(*arguments)
    wrong(done, 2, "aaa…aaa")
    assert len(done.err) < 1000


@pytest.mark.parametrize("port", ["0", "-1", "65536", "99999"])
def test_a_port_that_is_none(ragkit: Run, port: str) -> None:
    wrong(ragkit("serve", "--no-browser", "--port", port), 2, port, "65535")


@pytest.mark.parametrize("address", ["", "192.0.2.1", "a b", "x" * 300])
def test_an_address_that_is_not_here(ragkit: Run, address: str) -> None:
    wrong(ragkit("serve", "--no-browser", "--address", address), 2, "--address")


def test_policies_that_are_there_and_cannot_be_read(ragkit: Run, tmp_path: Path) -> None:
    wrong(ragkit("query", "demo", "x", "--policy", str(tmp_path)), 2, "directory")
    (tmp_path / "p.toml").write_bytes(b'name = "p\xff"')
    wrong(ragkit("query", "demo", "x", "--policy", str(tmp_path / "p.toml")), 2, "not UTF-8")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RAGKIT_STATEMENT_TIMEOUT_MS", "9" * 20),
        ("RAGKIT_STATEMENT_TIMEOUT_MS", "9" * 5000),
        ("RAGKIT_POOL_SIZE", "100000"),
        ("RAGKIT_INDEX_WORKERS", "100000"),
        ("RAGKIT_CACHE_MB", "9" * 20),
        ("RAGKIT_KEEP_REQUESTS", "9" * 20),
    ],
)
def test_settings_have_bounds(bare: Run, name: str, value: str) -> None:
    done = bare("sessions", **{name: value})
    wrong(done, 2, name)
    assert len(done.err) < 1000


def test_a_tiny_timeout_is_told_in_one_line(ragkit: Run) -> None:
    done = ragkit("query", "demo", "x", RAGKIT_STATEMENT_TIMEOUT_MS="1")
    assert done.err.count("\n") <= 1  # whether a statement takes longer than 1 ms is the machine's affair


HOSTILE = "Evil \x1b[2J\x1b]0;owned\x07 \u202etitle\x9b31m"


def test_titles_have_no_power_over_the_terminal(ragkit: Run, tree: Tree) -> None:
    root = tree({"a.md": f"# {HOSTILE}\n\nparcel\n", "b\x1b[31m.md": "# b\n\nparcel\n"})
    told = ragkit("index", str(root), "--session", "s").out
    told += ragkit("show", "s", "a.md").out
    told += ragkit("query", "s", "parcel").out
    told += ragkit("query", "s", "parcel", "--json").out
    told += ragkit("route", f"«{HOSTILE}»").out
    told += ragkit("show", "s", HOSTILE).err
    assert "Evil" in told
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(told)


def test_a_row_is_a_line_where_there_is_no_terminal(ragkit: Run, tree: Tree) -> None:
    title = "word " * 30
    root = tree({f"docs/{'long-' * 20}{n}.md": f"# {title}\n\nparcel {n}\n" for n in range(3)})
    assert ragkit("index", str(root), "--session", "s").status == 0
    out = ragkit("query", "s", "parcel", "--intent", "DOCS_QA").out.splitlines()
    rows = [line for line in out if "docs/long-" in line]
    assert rows
    assert all(".md:" in line and title.strip() in line for line in rows)


def test_eval_writes_nothing_to_stderr(ragkit: Run, tmp_path: Path) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text('{"id": "a", "query": "x", "relevant": [{"id": "README.md", "grade": 1}]}\n')
    done = ragkit("eval", str(questions), "--session", "demo")
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("limit", ["0", "-1", "1001"])
def test_limits_are_told_before_anything_is_opened(bare: Run, tmp_path: Path, limit: str) -> None:
    nowhere = "postgresql:///x?host=/nonexistent"
    for command in (("query", "demo", "x"), ("eval", str(tmp_path), "--session", "demo")):
        wrong(bare(*command, "--limit", limit, RAGKIT_DATABASE_URL=nowhere), 2, limit, "1000")
