from __future__ import annotations

from pathlib import Path

import pytest

from ragkit.errors import InvalidInput
from ragkit.messages import Messages
from ragkit.routing.phrases import Item, PhraseTable, parse_phrase
from ragkit.routing.router import IntentRouter
from ragkit.routing.rules import RoutingRules
from ragkit.text import Analyzer

MESSAGES = Path(__file__).parents[3] / "ragkit/messages"


@pytest.mark.parametrize(
    ("file", "old", "new", "key"),
    [
        ("cues", "default_weight", "default_wieght", "choice.default_weight"),
        ("cues", 'intent = "GENERATE_DOCS_FROM_CODE"', 'intent = "GENERATE"', "cue.0.intent"),
        ("cues", '"D2_FACT_INDEX", 60', '"D9_FACTS", 60', "layers"),
        ("cues", '"D2_FACT_INDEX", 60', '"D2_FACT_INDEX", 0', "layers.DOCS_QA.1.top_k"),
        ("cues", 'unless = ["how_to_write"]', 'unless = ["nothing"]', ""),
        ("cues", "version = 1", "version = 2", "version"),
        ("cues", "version = 1", "version = ", ""),
        ("terms", 'subtype = "class"', 'kind = "class"', "term.0.subtype"),
        ("terms", "keywords = [", "keywrods = [", "symbols.keywords"),
    ],
)
def test_a_wrong_key_is_refused_by_name(rule_texts: tuple[str, str], file: str, old: str, new: str, key: str) -> None:
    cues, terms = rule_texts
    assert old in (cues if file == "cues" else terms)
    changed = (cues.replace(old, new, 1), terms) if file == "cues" else (cues, terms.replace(old, new, 1))
    with pytest.raises(InvalidInput) as error:
        RoutingRules.parse(*changed)
    assert error.value.params["file"] == f"{file}.toml"
    assert error.value.params["key"] == key


def test_layers_accept_older_names(rule_texts: tuple[str, str]) -> None:
    cues, terms = rule_texts
    aliased = cues.replace('["D1_DOCUMENT_CATALOG", 40]', '["D1_MODULE_CATALOG", 40]').replace(
        '["C3_ENTRYPOINTS"', '["C3"'
    )
    assert RoutingRules.parse(aliased, terms) == RoutingRules.parse(cues, terms)


@pytest.mark.parametrize("phrase", ["", ".. где", "где ..", "?где", "@nothing", "{nothing}", "a||b", "!нет"])
def test_a_phrase_that_cannot_be_read_is_refused(analyzer: Analyzer, phrase: str) -> None:
    with pytest.raises(InvalidInput) as error:
        parse_phrase(phrase, {}, analyzer)
    assert error.value.params["phrase"] == phrase


def items(analyzer: Analyzer, text: str) -> tuple[Item, ...]:
    return tuple(
        Item(
            start=token.start,
            end=token.end,
            keys=frozenset({*token.terms, "=" + token.text.lower()}),
            opens=place == 0,
            breaks=place == 0 or "." in text[: token.start].rstrip()[-1:],
        )
        for place, token in enumerate(analyzer.tokens(text))
    )


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("где .. описан", "где у нас это описано", "где у нас это описано"),
        ("где .. описан", "где это. описано", None),
        ("где .. описан", "где a b c d e f g описано", None),
        ("где ... описан", "где a b c d e f g описано", "где a b c d e f g описано"),
        ("=коде", "в коде", "коде"),
        ("=коде", "код", None),
        ("код !ошибки", "код ошибок", None),
        ("код !ошибки", "код", "код"),
        ("the ?big file", "the file", "the file"),
        ("^fix", "fix it", "fix"),
        ("^fix", "a fix", None),
        ("@nouns|doc", "two pages", "pages"),
    ],
)
def test_phrases(analyzer: Analyzer, phrase: str, text: str, found: str | None) -> None:
    table = PhraseTable([("x", parse_phrase(phrase, {"nouns": ("page",)}, analyzer))])
    matches = table.matches(items(analyzer, text))
    assert [text[span.start : span.end] for _, span, _ in matches] == ([] if found is None else [found])


def test_every_reason_has_a_sentence(rules: RoutingRules, router: IntentRouter) -> None:
    messages = Messages(
        en=(MESSAGES / "en.toml").read_text(encoding="utf-8"), ru=(MESSAGES / "ru.toml").read_text(encoding="utf-8")
    )
    codes = set(messages.codes())
    assert {f"cue.{cue.code}" for cue in rules.cue} <= codes
    assert {"error.state_field", "error.data_file", "error.phrase", "error.query_empty"} <= codes
    source = "".join(path.read_text(encoding="utf-8") for path in (MESSAGES.parent / "routing").glob("*.py"))
    for code in {part.split('"')[0] for part in source.split('"route.')[1:]}:
        assert f"route.{code}" in codes
    for reason in router.route("Сменим тему: в каком файле описан класс OrderService?").reasons:
        assert "{" not in messages.render(reason, "ru")
        assert "{" not in messages.render(reason, "en")
