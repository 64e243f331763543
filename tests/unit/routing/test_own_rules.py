"""A user's own terms and cues, beside the bundled ones."""

from __future__ import annotations

import pytest

from ragkit import bundle
from ragkit.errors import InvalidInput
from ragkit.routing.router import IntentRouter
from ragkit.routing.rules import RoutingRules

OWN = """
[[term]]
subtype = "saga"
ru = ["сага"]
en = ["saga"]
expansions = ["saga", "compensation"]

[[cue]]
code = "symptom"
intent = "CODE_QA"
weight = 5.0
ru = ["шалит"]
"""


def own_router(text: str) -> IntentRouter:
    rules = RoutingRules.parse(bundle.read_text("routing/cues.toml"), bundle.read_text("routing/terms.toml"), text)
    return IntentRouter(rules, bundle.analyzer())


def test_an_own_term_expands_in_every_form() -> None:
    plain = own_router("").route("что происходит в сагах оплаты").contract.query_plan
    own = own_router(OWN).route("что происходит в сагах оплаты").contract.query_plan
    assert "compensation" not in plain.expansions
    assert {"saga", "compensation"} <= set(own.expansions)
    assert own.normalized == plain.normalized
    assert [a.value for a in own.anchors if a.subtype == "saga"] == ["сагах"]


def test_an_own_cue_replaces_the_bundled_one() -> None:
    router = own_router(OWN)
    assert router.route("кнопка оплаты шалит").contract.intent == "CODE_QA"
    fired = [r.params["weight"] for r in router.route("кнопка оплаты шалит").reasons if r.code == "cue.symptom"]
    assert fired == [5.0]
    assert own_router("").route("кнопка оплаты шалит").contract.intent == "DOCS_QA"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[[term]]\nsubtype = 'x'\n", "term.0.ru"),
        ("[[cue]]\ncode = 'x'\nintent = 'X'\nweight = 1\n", "cue.0.intent"),
        ("[paths]\nx = 1\n", "paths"),
        ("[[", ""),
    ],
)
def test_a_wrong_file_is_refused_by_key(text: str, key: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        own_router(text)
    assert (refused.value.params["file"], refused.value.params["key"]) == ("routing.toml", key)
