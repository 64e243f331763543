"""A dataset run on the demo corpus: the same call as a person's, kept, taken up, repeated, compared."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from evals import formats
from evals.dataset import Dataset
from evals.evaluation import Variant, evaluate, rerun
from evals.health import check
from evals.metrics import ranked_items
from evals.run import answer_all, digest_of, make_manifest
from evals.store import RunStore, rerun_difference
from ragkit import bundle
from ragkit.errors import DatabaseError, InvalidInput, UnknownName, WrongUse
from ragkit.routing.contract import Intent
from ragkit.service import Ask, RagService

SPEC = Variant(session="demo", policy="spec")


@pytest.fixture
def questions() -> Dataset:
    """Every ninth demo question."""
    demo = formats.load(bundle.demo_corpus().parent / "queries.jsonl")
    return Dataset(name="demo", cases=demo.cases[::9])


def test_a_run_asks_what_a_person_asks(demo: RagService, questions: Dataset) -> None:
    found = evaluate(demo, questions, [SPEC])
    case = next(case for case in questions.cases if not case.turns)
    trace = demo.answer(Ask(query=case.query, session="demo"))
    assert found.runs[0].run.digests[case.id] == digest_of(case.id, trace)
    assert set(found.runs[0].run.digests) == {case.id for case in questions.cases}


def test_values_equal_the_formula_on_ranked_files(demo: RagService, questions: Dataset) -> None:
    found = evaluate(demo, questions, [SPEC], limit=50)
    values = found.runs[0].measured.per_query["ndcg@10"]
    for case in questions.cases:
        if not any(item.grade for item in case.relevant) or any("#" in i.id or "::" in i.id for i in case.relevant):
            continue
        grades = {item.id: item.grade for item in case.relevant}
        ranked = list(dict.fromkeys(row.path for row in found.runs[0].run.digests[case.id].rows))[:10]
        dcg = sum(grades.get(path, 0) / math.log2(place + 1) for place, path in enumerate(ranked, 1))
        best = sorted(grades.values(), reverse=True)[:10]
        ideal = sum(grade / math.log2(place + 1) for place, grade in enumerate(best, 1))
        assert values[case.id] == pytest.approx(dcg / ideal)


def test_a_run_that_was_stopped_is_taken_up(demo: RagService, questions: Dataset) -> None:
    manifest = make_manifest(demo, questions, session="demo", policy="spec", limit=None, intent=None)
    store = RunStore(demo.settings.data_dir)

    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 5:
            raise Stopped

    with pytest.raises(Stopped):
        store.carry_out(demo, questions, manifest, policy="spec", report=stop)
    kept = (store.folder(manifest.id) / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    assert 4 <= len(kept) <= 5
    with (store.folder(manifest.id) / "queries.jsonl").open("a", encoding="utf-8") as half:
        half.write('{"id": "half')
    run = store.carry_out(demo, questions, manifest, policy="spec")
    assert run.taken_up == len(kept)
    assert list(run.digests) == [case.id for case in questions.cases]
    again = {a.digest.id: a.digest for a in answer_all(demo, questions.cases, manifest, policy="spec")}
    assert rerun_difference(run.digests, again) is None
    lines = (store.folder(manifest.id) / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == [case.id for case in questions.cases]


def test_the_same_policy_twice_differs_in_nothing(demo: RagService, questions: Dataset) -> None:
    found = evaluate(demo, questions, [SPEC, SPEC])
    assert found.comparison is not None
    assert found.comparison.outcomes()["won"] == found.comparison.outcomes()["lost"] == 0
    assert found.verdict is not None
    assert found.verdict.code == "eval.verdict_no_difference"


def test_a_worse_policy_loses(demo: RagService, questions: Dataset, tmp_path: Path) -> None:
    text = bundle.read_text("policy/spec.toml").replace('name = "spec"', 'name = "blind"')
    text = text.replace("dense = 1.0", "dense = 0.0").replace("same = 0.6, cross = 0.15", "same = 0.0, cross = 0.0")
    blind = tmp_path / "blind.toml"
    blind.write_text(text, encoding="utf-8")
    found = evaluate(demo, questions, [SPEC, Variant(session="demo", policy=str(blind))])
    assert found.comparison is not None
    assert found.comparison.outcomes()["lost"] > found.comparison.outcomes()["won"]
    assert found.comparison.pairs[0].delta < 0
    body = found.to_json()
    assert json.loads(json.dumps(body, ensure_ascii=False)) == body


def test_processes_give_what_one_gives(demo: RagService, questions: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = make_manifest(demo, questions, session="demo", policy="spec", limit=None, intent=None)
    alone = [a.digest for a in answer_all(demo, questions.cases, manifest, policy="spec")]
    monkeypatch.setattr("evals.run.CASES_A_WORKER", 2)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert [a.digest for a in answer_all(demo, questions.cases, manifest, policy="spec")] == alone


def test_wrong_use_is_told_before_anything_is_asked(demo: RagService, questions: Dataset) -> None:
    for session, policy in (("nowhere", "spec"), ("demo", "nothing")):
        with pytest.raises(UnknownName):
            evaluate(demo, questions, [Variant(session=session, policy=policy)])
    assert RunStore(demo.settings.data_dir).ids() == []


def test_a_limit_out_of_bounds_is_told_before_anything_is_asked(demo: RagService, questions: Dataset) -> None:
    for limit in (0, 1001):
        with pytest.raises(WrongUse) as told:
            evaluate(demo, questions, [SPEC], limit=limit)
        assert told.value.code == "limit_invalid"
    assert RunStore(demo.settings.data_dir).ids() == []


def test_a_profile_that_no_policy_has_is_told(demo: RagService, questions: Dataset) -> None:
    """It could never be met: a slip of the pen would count as a loss of the policy."""
    odd = questions.cases[1].model_copy(update={"profile": "docs_sumary_generic"})
    with pytest.raises(InvalidInput) as told:
        evaluate(demo, Dataset(name="x", cases=(questions.cases[0], odd)), [SPEC])
    assert (told.value.code, told.value.params["id"]) == ("dataset_profile", odd.id)
    assert RunStore(demo.settings.data_dir).ids() == []


def test_a_question_that_fails_keeps_the_run_going(
    demo: RagService, questions: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(ask: object) -> None:
        raise DatabaseError("statement_timeout", server="h:1/d")

    monkeypatch.setattr(demo, "answer", fail)
    found = evaluate(demo, questions, [SPEC])
    errors = {digest.error for digest in found.runs[0].run.digests.values()}
    assert errors == {"statement_timeout"}
    assert found.runs[0].measured.mean("ndcg@10") == 0.0


def test_asked_again_the_answers_are_the_same(demo: RagService, questions: Dataset) -> None:
    found = evaluate(demo, questions, [SPEC])
    assert rerun(demo, questions, found.runs[0], "spec") is None


def test_two_states_of_a_corpus_are_told_apart(
    demo: RagService, questions: Dataset, tree: Callable[[dict[str, str | None]], Path]
) -> None:
    demo.index_snapshot("other", tree({"README.md": "# Posterna\n\nNothing else is left.\n"}))
    found = evaluate(demo, questions, [SPEC, Variant(session="other", policy="spec")])
    comparison = found.comparisons[0]
    assert [warning.code for warning in comparison.warnings] == ["eval.corpora_differ"]
    params = comparison.warnings[0].params
    assert params == {"a": demo.corpus_fingerprint("demo"), "b": demo.corpus_fingerprint("other")}
    # What is not indexed any more is no loss of ranking.
    assert len(found.runs[1].health.unwinnable) > len(found.runs[0].health.unwinnable)
    assert all(pair.case.id not in found.runs[1].health.unwinnable for pair in comparison.pairs)


# Ragas leaves a file of its own open.
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <_io.FileIO name=.*uuid.json:pytest.PytestUnraisableExceptionWarning"
)
def test_ragas_by_id_and_by_text(demo: RagService, questions: Dataset) -> None:
    found = evaluate(demo, questions, [SPEC], with_ragas=True)
    values = found.runs[0].measured.per_query
    for case in questions.cases:
        expected = {item.id for item in case.relevant if item.grade}
        if not expected:
            continue
        ranked = ranked_items(case, found.runs[0].run.digests[case.id], found.runs[0].located)
        right = len(expected & set(ranked))
        assert values["ragas_id_precision"][case.id] == pytest.approx(right / len(ranked) if ranked else 0.0)
        assert values["ragas_id_recall"][case.id] == pytest.approx(right / len(expected))
        assert 0.0 <= values["ragas_text_precision"][case.id] <= 1.0
    assert found.runs[0].measured.mean("ragas_text_recall")


def test_the_demo_questions_are_fit_to_judge_with(demo: RagService) -> None:
    """Every expected item is in the bundled corpus, no question stands twice, and the kinds are all there."""
    dataset = formats.load(bundle.demo_corpus().parent / "queries.jsonl")
    located = demo.locate("demo", [item.id for case in dataset.cases for item in case.relevant])
    assert {key: item.status for key, item in located.items() if item.status != "found"} == {}
    assert check(dataset, located).counts() == {}
    tags = Counter(tag for case in dataset.cases for tag in case.tags)
    assert len(dataset.cases) >= 150
    assert tags["no-shared-words"] >= 30
    assert tags["no-answer"] >= 15
    assert tags["near-duplicate"] >= 10
    assert sum(1 for case in dataset.cases if case.turns) >= 15
    assert {case.intent for case in dataset.cases} == set(get_args(Intent))
    assert {case.language for case in dataset.cases} == {"ru", "en"}
