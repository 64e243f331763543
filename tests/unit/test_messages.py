"""Both message files are complete, and every code that the sources use has a sentence in each.

The sources are read as syntax trees: codes that are written out are looked up as they stand, codes that are put
together (`f"ui.part_{name}"`) must fit at least one sentence, and the closed sets behind them are spelled out below.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import app
import evals
import ragkit
from ragkit import bundle, errors
from ragkit.errors import InvalidInput
from ragkit.indexing.exclusions import LEFT_OUT_REASONS
from ragkit.messages import Messages, Reason, Span, reason_from_json
from ragkit.policy.origin import OriginKind
from ragkit.policy.policy import PartWeights
from ragkit.retrieval.diagnosis import Stage as VerdictStage
from ragkit.retrieval.diagnosis import VerdictCode
from ragkit.retrieval.rank_change import ChangeKind
from ragkit.retrieval.trace import Allowance
from ragkit.routing.contract import AnchorType, ConversationMode, EvidencePolicy, Intent
from ragkit.service.job_record import Stage

ROOTS = (Path(ragkit.__file__).parent, Path(app.__path__[0]), Path(evals.__path__[0]))
PLACES_OF_CODES = {"sentence": 0, "say": 0, "Say": 0}
SETS = {
    "ui.intent_": get_args(Intent),
    "ui.mode_": get_args(ConversationMode),
    "ui.anchor_": get_args(AnchorType),
    "ui.part_": ("dense", "lexical", *PartWeights.model_fields),
    "ui.found_": ("exact_path", "exact_title", "path_substring", "dense", "lexical", "named"),
    "ui.origin_": ("query", "expansion"),
    "ui.use_": ("finds", "scores", "stop", "absent"),
    "ui.link_": ("session_unknown", "policy_unknown"),
    "evidence.": tuple(name for name in EvidencePolicy.model_fields if name.startswith("require_")),
    "left_out.": (*LEFT_OUT_REASONS, "no_rows"),
    "progress.": get_args(Stage),
    "step.": ("exact_files", "path_substrings", "semantic", "merge", "limit"),
    "verdict.": get_args(VerdictCode),
    "why.": get_args(VerdictCode),
    "stage.": get_args(VerdictStage),
    "origin.": get_args(OriginKind),
    "remedy.": get_args(ChangeKind),
    "lacks.": ("item", "words", "vector"),
    "allowance.": get_args(Allowance),
    "dropped.": ("not_in_pool", "same_text", "found_twice", "below_limit"),
}
"""Closed sets that codes are made from. Parts of a score: `PartWeights` names all but the two legs."""


@pytest.fixture(scope="module")
def messages() -> Messages:
    return bundle.messages()


def calls() -> Iterator[tuple[str, ast.Call]]:
    for root in ROOTS:
        for path in sorted(root.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    yield f"{path.relative_to(root.parent)}:{node.lineno}", node


def name_of(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def strings(node: ast.expr) -> Iterator[str]:
    """Regular expressions of the strings that an expression may be: `a if b else c` may be two."""
    match node:
        case ast.Constant(value=str(text)):
            yield re.escape(text)
        case ast.JoinedStr(values=parts):
            yield "".join(
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-zA-Z0-9_.]+" for part in parts
            )
        case ast.IfExp(body=one, orelse=other):
            yield from strings(one)
            yield from strings(other)
        case _:
            return


def used_codes() -> list[tuple[str, str]]:
    """(place, regular expression of a code)."""
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    found: list[tuple[str, str]] = []
    for place, call in calls():
        name = name_of(call)
        first = call.args[0] if call.args else None
        by_keyword = next((keyword.value for keyword in call.keywords if keyword.arg == "code"), None)
        if name in kinds and first is not None:
            found += [(place, f"error.{code}") for code in strings(first)]
        elif name == "Reason" and by_keyword is not None:
            found += [(place, code) for code in strings(by_keyword)]
        elif name == "IndexWarning" and by_keyword is not None:
            found += [(place, f"warning.{code}") for code in strings(by_keyword)]
        elif name in PLACES_OF_CODES and first is not None:
            found += [(place, code) for code in strings(first)]
    return found


def test_the_scan_sees_the_sources() -> None:
    """Guards the test below against a scan that finds nothing."""
    found = [code for _, code in used_codes()]
    assert len(found) > 150
    assert re.escape("plan.family_absent") in found
    assert "error." + re.escape("session_unknown") in found
    assert re.escape("ui.hard_filters") in found


def test_every_code_of_the_sources_has_a_sentence(messages: Messages) -> None:
    known = messages.codes()
    lost = [f"{place}: {code}" for place, code in used_codes() if not any(re.fullmatch(code, other) for other in known)]
    assert lost == []


@pytest.mark.parametrize("prefix", SETS)
def test_every_member_of_a_closed_set_has_a_sentence(messages: Messages, prefix: str) -> None:
    assert {f"{prefix}{member}" for member in SETS[prefix]} <= set(messages.codes())


def test_every_cue_has_a_sentence(messages: Messages) -> None:
    cues = tomllib.loads(bundle.read_text("routing/cues.toml"))["cue"]
    assert {f"cue.{cue['code']}" for cue in cues} <= set(messages.codes())


@pytest.mark.parametrize("language", ["en", "ru"])
def test_no_sentence_is_blank(messages: Messages, language: str) -> None:
    table = tomllib.loads(bundle.read_text(f"messages/{language}.toml"))
    assert [f"{name}.{key}" for name, rows in table.items() for key, text in rows.items() if not text.strip()] == []


def test_russian_sentences_are_russian(messages: Messages) -> None:
    """Every Russian sentence holds a Cyrillic letter, but for those that are names or symbols."""
    neutral = {"ui.title", "ui.rank", "cli.left_out", "ui.example_2"}
    latin = {code for code in messages.codes() if not re.search("[а-яё]", messages.sentence(code, "ru"), re.IGNORECASE)}
    assert latin <= neutral


def test_error_sentences_say_what_was_found(messages: Messages) -> None:
    error = InvalidInput("policy_invalid", origin="mine.toml", key="summary.limit", problem="too small")
    assert messages.error(error, "en").startswith("Policy 'mine.toml' has a wrong value at 'summary.limit': too small.")


@pytest.mark.parametrize(
    ("en", "ru", "codes"),
    [
        ('[a]\nb = "x"\nc = "y"', '[a]\nb = "x"', ["a.c"]),
        ('[a]\nb = "{one}"', '[a]\nb = "{other}"', ["a.b"]),
        ('[a]\nb = "x"', '[a]\nb = "x"\n[d]\ne = "z"', ["d.e"]),
    ],
)
def test_files_that_disagree_are_refused(en: str, ru: str, codes: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Messages(en=en, ru=ru)
    assert caught.value.params == {"codes": codes}


def test_rendering() -> None:
    two = Messages(en='[a]\nb = "{n} of {names}; {lost}"', ru='[a]\nb = "{names}: {n} {lost}"')
    assert two.sentence("a.b", "en", n=2, names=["x", "y"]) == "2 of x, y; {lost}"
    assert two.sentence("a.b", "ru", n=0, names=[], lost="{n}") == "–: 0 {n}"  # a value is never read as a template
    assert two.sentence("a.unknown", "en") == "a.unknown"


def test_reason_round_trip() -> None:
    for reason in (Reason(code="a.b"), Reason(code="a.b", params={"n": 1}, span=Span(start=0, end=3))):
        assert reason_from_json(reason.to_json()) == reason
    assert Reason(code="a.b").to_json() == {"code": "a.b", "params": {}}


def test_long_values_are_told_by_their_two_ends(messages: Messages) -> None:
    told = messages.sentence("error.policy_unknown", "en", policy="a" * 50_000 + "z", known=["k" * 300] * 100)
    assert len(told) < 31 * 210 + 200
    assert told.startswith("Policy 'aaa")
    assert "…" + "a" * 49 + "z'" in told
    path = "/" + "p" * 199
    assert path in messages.sentence("error.source_missing", "en", path=path)
