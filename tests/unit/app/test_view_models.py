"""Trace → what a screen shows. Pure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.view_models import Mark, Say, marks_html, to_answer, to_marks
from ragkit import bundle, service
from ragkit.layers import Layer
from ragkit.messages import Reason
from ragkit.policy.code_plan import plans
from ragkit.policy.signals import read_signals
from ragkit.retrieval.evidence import check_evidence
from ragkit.retrieval.trace import DroppedRow, Hit, Step, Trace, WordView
from ragkit.routing.contract import Anchor, AnchorSpan, AnchorType

SAY = Say(messages=bundle.messages(), language="en")


def anchor(kind: AnchorType, value: str, start: int, *, subtype: str | None = None, confidence: float = 0.9) -> Anchor:
    return Anchor(
        type=kind,
        value=value,
        subtype=subtype,
        span=AnchorSpan(start=start, end=start + len(value)),
        confidence=confidence,
    )


def trace(query: str) -> Trace:
    """A Trace as the engine would give it, with three rows made by hand."""
    routing = service.router().route(query)
    policy = bundle.policy("spec", Path("unused"))
    made, reasons = plans(routing.contract, routing.route, policy.policy, families=frozenset({"DOCS", "CODE"}))
    rows = tuple(
        Hit(
            rank=n,
            plan=made[0].profile,
            id=f"docs/{n}.md",
            path=f"docs/{n}.md",
            line_start=n,
            line_end=n + 5,
            layer=Layer.D0_DOC_CHUNKS,
            title=f"Title {n}",
            score=1.23456 - n / 10,
            parts={"dense": 0.2, "lexical": 0.9, "repeat": -0.5},
            found_by=("dense", "lexical"),
            text=f"text {n}",
            words=("text",),
        )
        for n in (1, 2, 3)
    )
    step = Step(
        name="limit",
        plan=made[0].profile,
        came_in=9,
        went_out=3,
        dropped={"drop.below_limit": 6},
        dropped_rows=(DroppedRow(id="x", reason=Reason(code="drop.below_limit", params={"score": 0.1, "limit": 3})),),
        notes=(Reason(code="step.words_alone"),),
    )
    word = WordView(plan=made[0].profile, word="Text", term="text", origin="query", rows=3, weight=0.126, use="finds")
    return Trace(
        query=query,
        session="demo",
        revision=2,
        policy="spec",
        policy_hash=policy.hash,
        embedder="e",
        contract=routing.contract,
        route=routing.route,
        reasons=(*routing.reasons, *reasons),
        signals=read_signals(routing.route, policy.policy),
        plans=made,
        rows=rows,
        steps=(step,),
        words=(word,),
        evidence=check_evidence(routing.contract.evidence_policy, rows),
        timings={"total": 12.7},
    )


def test_marks_cut_the_query_exactly() -> None:
    query = "see src/a.py and Foo.bar!"
    marks = to_marks(query, [anchor("SYMBOL", "Foo.bar", 17), anchor("FILE_PATH", "src/a.py", 4)], SAY)
    assert [(mark.text, mark.kind) for mark in marks] == [
        ("see ", None),
        ("src/a.py", "FILE_PATH"),
        (" and ", None),
        ("Foo.bar", "SYMBOL"),
        ("!", None),
    ]


def test_an_anchor_inside_another_is_told_in_its_hint() -> None:
    marks = to_marks(
        "GET /v1/a", [anchor("KEY_TERM", "GET /v1/a", 0, subtype="endpoint"), anchor("SYMBOL", "v1", 5)], SAY
    )
    (mark,) = marks
    assert mark.text == "GET /v1/a"
    assert mark.hint == "KEY_TERM · endpoint · confidence 0.90; SYMBOL · confidence 0.90"


def test_inherited_anchors_mark_nothing() -> None:
    carried = Anchor(
        type="SYMBOL", value="Foo", subtype="conversation", span=AnchorSpan(start=0, end=0), confidence=0.5
    )
    assert to_marks("and tests?", [carried], SAY) == (Mark(text="and tests?", kind=None, hint=""),)


@given(text=st.text(min_size=1), cuts=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 10)), max_size=8))
def test_marks_put_together_are_the_query(text: str, cuts: list[tuple[int, int]]) -> None:
    """Whatever anchors there are: nested, touching, out of order (a partial overlap cannot come from the router)."""
    anchors = [anchor("SYMBOL", text[start : start + length], start) for start, length in cuts if start < len(text)]
    nested = [
        a
        for a in anchors
        if all(
            a.span.end <= b.span.start
            or b.span.end <= a.span.start
            or (a.span.start <= b.span.start and b.span.end <= a.span.end)
            or (b.span.start <= a.span.start and a.span.end <= b.span.end)
            for b in anchors
        )
    ]
    assert "".join(mark.text for mark in to_marks(text, nested, SAY)) == text


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '" onmouseover="x', "</mark><b>", "&lt;", "'"])
def test_html_is_escaped(hostile: str) -> None:
    marks = [Mark(text=hostile, kind=None, hint=""), Mark(text=hostile, kind="SYMBOL", hint=hostile)]
    shown = marks_html(marks, {"SYMBOL": hostile})
    assert shown.count("<") == shown.count(">") == 6  # div, mark, sup, each opened and closed; nothing else
    assert hostile not in shown or hostile in ("'",)


def test_the_kind_is_written_beside_the_colour() -> None:
    shown = marks_html([Mark(text="Foo", kind="SYMBOL", hint="h")], {"SYMBOL": "symbol"})
    assert shown == '<div class="rk-query"><mark class="rk-symbol" title="h">Foo<sup>symbol</sup></mark></div>'


def test_rows_are_rounded_and_labelled() -> None:
    view = to_answer(trace("How long is a parcel kept?"), SAY)
    (table,) = view.tables
    first = table.rows[0]
    assert (first.rank, first.score, first.path, first.lines) == (1, 1.135, "docs/1.md", "1–6")
    assert first.parts == (("words", 0.9), ("file stands above", -0.5), ("meaning", 0.2))
    assert first.found_by == "meaning, words"
    assert first.code_language == "markdown"


def test_summary_names_profile_and_counts() -> None:
    view = to_answer(trace("How long is a parcel kept?"), SAY)
    assert "docs_summary_generic" in view.summary
    assert "3 rows of 8 at most" in view.summary
    assert "in 13 ms" in view.summary


def test_steps_tell_what_was_dropped_and_why() -> None:
    view = to_answer(trace("How long is a parcel kept?"), SAY)
    (step,) = view.steps
    assert list(step.values()) == ["Limit", "docs_summary_generic", 9, 3, "6 – below the limit"]
    assert view.notes == ("Searched by words and names alone: there was no vector.",)


def test_hard_and_soft_filters_are_apart() -> None:
    view = to_answer(trace("GET /v1/orders"), SAY)
    (plan,) = view.plans
    assert [item.name for item in plan.hard] == ["path_prefixes"]
    assert [item.name for item in plan.soft] == ["prefer_path_prefixes", "prefer_like_patterns"]
    assert plan.profile == "docs_summary_api_endpoint"


def test_code_plans_do_not_read_signals() -> None:
    (plan,) = to_answer(trace("What does OrderService.place() do?"), SAY).plans
    assert (plan.profile, plan.reads_signals) == ("code_qa", False)
    assert [item.name for item in plan.hard] == ["test_policy"]


def test_every_label_is_a_sentence_in_both_languages() -> None:
    """A code that has no sentence would be shown as itself."""
    for query in ("Сколько хранится посылка?", "GET /v1/orders", "What does Foo.bar() in a.py do?", "какая лицензия"):
        for language in ("en", "ru"):
            view = to_answer(trace(query), replace(SAY, language=language))
            shown = replace(view, trace_json="")
            assert "ui." not in repr(shown).replace("pickup.", "")
            assert not any(code.startswith(("cue.", "route.", "plan.")) for code in view.reasons)


def test_nothing_found_is_said() -> None:
    empty = replace(trace("How long is a parcel kept?"), rows=())
    view = to_answer(empty, SAY)
    assert "no rows were found" in view.summary
    assert view.tables[0].rows == ()


def test_missing_evidence_is_said() -> None:
    asked = trace("How long is a parcel kept?")
    lacking = replace(asked, evidence=check_evidence(asked.contract.evidence_policy, ()))
    satisfied, sentence = to_answer(lacking, SAY).evidence
    assert satisfied is False
    assert "a specification" in sentence


def test_the_whole_trace_can_be_taken_along() -> None:
    given_trace = trace("How long is a parcel kept?")
    assert json.loads(to_answer(given_trace, SAY).trace_json) == json.loads(json.dumps(given_trace.to_json()))
