"""Screen *Evaluate* without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import resources
from app.evaluation_models import query_link
from ragkit import bundle
from ragkit.service import RagService

MAIN = Path(resources.__file__).with_name("main.py")
SMALL = 12


@pytest.fixture
def screen(demo: RagService, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page list on the demo corpus, with a small dataset of its own, switched to the screen."""
    folder = demo.settings.data_dir / "datasets"
    folder.mkdir()
    lines = (bundle.demo_corpus().parent / "queries.jsonl").read_text(encoding="utf-8").splitlines()[:SMALL]
    (folder / "small.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "broken.jsonl").write_text('{"id": "a"}\n', encoding="utf-8")
    policies = demo.settings.data_dir / "policies"
    policies.mkdir()
    text = bundle.read_text("policy/spec.toml").replace('name = "spec"', 'name = "blind"')
    (policies / "blind.toml").write_text(text.replace("dense = 1.0", "dense = 0.0"), encoding="utf-8")
    monkeypatch.setattr(resources, "engine", lambda: demo)
    return AppTest.from_file(str(MAIN.parent / "screens" / "evaluate.py"), default_timeout=120)


def link(screen: AppTest, **parts: str) -> AppTest:
    for name, value in parts.items():
        screen.query_params[name] = value
    screen.run()
    assert not screen.exception
    return screen


def test_nothing_runs_before_it_is_asked_for(screen: AppTest) -> None:
    link(screen, dataset="small")
    assert not screen.dataframe
    assert [button.label for button in screen.button] == ["Run"]


def test_one_policy_shows_metrics_and_questions(screen: AppTest) -> None:
    link(screen, dataset="small")
    screen.button[0].click().run()
    assert not screen.exception
    metrics, questions = (frame.value for frame in screen.dataframe)
    assert set(metrics["Metric"]) >= {"ndcg@10", "hit@1", "intent", "zero_results"}
    assert len(questions) <= SMALL
    assert list(questions["nDCG@10"]) == sorted(questions["nDCG@10"])


def test_two_policies_show_a_verdict_and_losses_first(screen: AppTest) -> None:
    link(screen, dataset="small", policy="blind", against="spec", run="1")
    assert "ndcg@10" in screen.info[0].value
    assert [metric.label for metric in screen.metric] == ["won", "lost", "equal", "both failed"]
    questions = screen.dataframe[1].value
    deltas = list(questions["B"] - questions["A"])
    assert deltas == sorted(deltas)
    assert "policy=blind" in questions["Screen"].iloc[0]


def test_a_broken_dataset_is_told_by_line_and_field(screen: AppTest) -> None:
    link(screen, dataset="broken", run="1")
    assert "line 1" in screen.error[0].value
    assert "query" in screen.error[0].value


def test_an_old_link_says_what_is_missing(screen: AppTest) -> None:
    link(screen, dataset="gone", against="gone")
    assert len(screen.warning) == 2


def test_links_lead_to_the_question() -> None:
    assert query_link("demo", "spec", "где a&b?", 5) == (
        "./?session=demo&policy=spec&q=%D0%B3%D0%B4%D0%B5+a%26b%3F&limit=5"
    )
