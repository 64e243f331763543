"""Batches of the command line: what a line may say, and what is told of one that fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.test_cli import CASES, Run, bare, ragkit, wrong

__all__ = ["bare", "ragkit"]  # fixtures


def lines(*bodies: object) -> str:
    return "".join(json.dumps(body, ensure_ascii=False) + "\n" for body in bodies)


def test_a_line_brings_its_own_intent_limit_and_policy(ragkit: Run, tmp_path: Path) -> None:
    spec = (Path(__file__).parents[2] / "ragkit" / "policy" / "spec.toml").read_text(encoding="utf-8")
    own = tmp_path / "mine.toml"
    own.write_text(spec.replace('name = "spec"', 'name = "mine"', 1), encoding="utf-8")
    text = "Сколько хранится посылка?"
    asked = lines(
        {"id": 1, "query": text},
        {"id": 2, "query": text, "intent": "CODE_QA", "limit": 2, "policy": str(own)},
        {"id": 3, "query": text, "intent": None, "limit": None, "policy": None},
    )
    first, second, third = ragkit("query", "demo", "--batch", "-", "--limit", "3", stdin=asked).lines
    assert (first["contract"]["intent"], len(first["rows"]), first["policy"]["name"]) == ("DOCS_QA", 3, "spec")
    assert (second["contract"]["intent"], len(second["rows"]), second["policy"]["name"]) == ("CODE_QA", 2, "mine")
    assert {**third, "id": 1, "timings": 0} == {**first, "timings": 0}


def test_a_line_forces_the_intent_of_its_routing(bare: Run) -> None:
    asked = lines({"query": "x", "intent": "PROJECT_MISC"}, {"query": "x"})
    found = bare("route", "--batch", "-", "--intent", "CODE_QA", stdin=asked).lines
    assert [answer["contract"]["intent"] for answer in found] == ["PROJECT_MISC", "CODE_QA"]


def test_a_line_limits_its_plan(bare: Run) -> None:
    route = json.loads(CASES[0])["route"]
    routed = bare("route", "О чём этот проект?", "--json").json
    one, both = bare("plan", "--batch", "-", stdin=lines({**route, "limit": 3}, {**routed, "limit": 2})).lines
    assert one == {**json.loads(CASES[0])["plan"], "limit": 3}
    assert [plan["limit"] for plan in both["plans"]] == [2, 2]


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("intent", "NOTHING", "batch_field"),
        ("intent", 5, "batch_field"),
        ("intent", [], "batch_field"),
        ("limit", "5", "batch_field"),
        ("limit", True, "batch_field"),
        ("limit", 2.5, "batch_field"),
        ("limit", 0, "limit_invalid"),
        ("limit", 1001, "limit_invalid"),
        ("policy", 7, "batch_field"),
        ("policy", "nothing", "policy_unknown"),
        ("policy", "", "policy_unknown"),
        ("query", None, "batch_field"),
        ("query", ["x"], "batch_field"),
        ("state", "x", "state_field"),
    ],
)
def test_a_wrong_field_fails_its_line_alone(ragkit: Run, field: str, value: object, code: str) -> None:
    asked = (
        lines({"id": 1, "query": "x"}) + "\n" + lines({"id": 2, "query": "x", field: value}, {"id": 3, "query": "x"})
    )
    done = ragkit("query", "demo", "--batch", "-", stdin=asked)
    good, bad, after = done.lines
    assert done.status == 0
    assert (good["id"], after["id"], "error" in good, "error" in after) == (1, 3, False, False)
    assert (bad["id"], bad["line"], bad["code"]) == (2, 3, code)  # the blank line counts
    assert "route" not in bad["error"].lower()
    if code == "batch_field":
        assert f"'{field}'" in bad["error"]


def test_a_byte_order_mark_is_no_part_of_the_first_line(bare: Run, tmp_path: Path) -> None:
    batch = tmp_path / "b.jsonl"
    batch.write_bytes(b"\xef\xbb\xbf" + lines({"id": 1, "query": "x"}, {"id": 2, "query": "y"}).encode())
    assert [answer.get("error") for answer in bare("route", "--batch", str(batch)).lines] == [None, None]
    state = tmp_path / "s.json"
    state.write_bytes(b'\xef\xbb\xbf{"active_intent": "DOCS_QA"}')
    done = bare("route", "x", "--state", str(state), "--json")
    assert done.json["contract"]["conversation_mode"] == "CONTINUE"


def test_a_batch_of_failures_is_a_batch_read_to_its_end(bare: Run) -> None:
    done = bare("route", "--batch", "-", stdin="nonsense\n[]\n")
    assert (done.status, [answer["line"] for answer in done.lines]) == (0, [1, 2])


@pytest.mark.parametrize(
    ("arguments", "second"),
    [
        (("route", "x", "--batch", "/dev/null"), "QUERY"),
        (("route", "--state", "s.json", "--batch", "/dev/null"), "--state"),
        (("plan", "route.json", "--batch", "/dev/null"), "ROUTE"),
        (("query", "demo", "x", "--batch", "/dev/null"), "QUERY"),
    ],
)
def test_a_batch_beside_a_question_is_refused(ragkit: Run, arguments: tuple[str, ...], second: str) -> None:
    wrong(ragkit(*arguments), 2, "--batch", second)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("nonsense", ("JSON",)),
        ('{"intent": "DOCS_QA", "subintent": ""}', ("subintent",)),
        ('{"intent": "DOCS_QA", "anchors": 0}', ("anchors",)),
        ('{"intent": "DOCS_QA", "anchors": {"file_names": ""}}', ("anchors.file_names",)),
    ],
)
def test_a_wrong_file_is_named(bare: Run, tmp_path: Path, body: str, words: tuple[str, ...]) -> None:
    path = tmp_path / "given.json"
    path.write_text(body, encoding="utf-8")
    wrong(bare("plan", str(path)), 2, str(path), *words)
    wrong(bare("plan", "-", stdin=body), 2, "standard input", *words)
    state = tmp_path / "state.json"
    state.write_text('{"active_intent": 5}', encoding="utf-8")
    wrong(bare("route", "x", "--state", str(state)), 2, str(state), "active_intent")
