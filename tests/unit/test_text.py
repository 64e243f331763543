from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.errors import InvalidInput
from ragkit.text import Analyzer

STEMS = (Path(__file__).parents[2] / "ragkit/stems.toml").read_text(encoding="utf-8")
ANALYZER = Analyzer.parse(STEMS)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Заказы заказов", ["заказ", "заказ"]),
        ("ёлка", [ANALYZER.stem("елка")]),
        ("OrderService", ["orderservice", "order", "servic"]),
        ("order_service", ["order_service", "order", "servic"]),
        ("HTTPServer2", ["httpserver2", "http", "server2", "server"]),
        ("asyncio.gather", ["asyncio.gather", "asyncio", "gather"]),
        ("retry-policy", ["retry-policy", "retri", "polici"]),
        ("src/app/main.py", ["src/app/main.py", "src", "app", "main.py", "main", "py"]),
        ("src\\app\\main.py", ["src/app/main.py", "src", "app", "main.py", "main", "py"]),
        ("order_item.spec.ts", ["order_item.spec.ts", "order_item.spec", "order_item", "order", "item", "spec", "ts"]),
        ("2.3.1", ["2.3.1"]),
        ("e.g. т.е.", ["e.g", "т.е"]),
        ("URLs and APIs", ["url", "and", "api"]),
        ("ОбработкаОшибок", ["обработкаошибок", "обработк", "ошибк"]),
        ("orchestrator.py-файле", ["orchestrator.py", "orchestr", "py", "файл"]),
        ("API-ключом", ["api", "ключ"]),
        ("user's", ["user"]),
        ("__init__", ["__init__", "init"]),
        ("1С", ["1с"]),
        ("", []),
        ("… — !?", []),
        ("___", []),
        ("\x00\ud800\u202e", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert ANALYZER.terms(text) == terms


@pytest.mark.parametrize(
    "forms",
    [
        "токен токена токены токенов токеном токенами",
        "домен домена доменов",
        "список списка списков списком",
        "ошибка ошибок ошибками",
        "настройка настроек настройками",
        "уровень уровня уровней",
        "index indices indexes",
        "юнит-тест юнит-тестами юнит-тестов",
        "зачёт зачет зачета",
    ],
)
def test_forms_of_a_word_share_their_stem(forms: str) -> None:
    assert len({ANALYZER.terms(form)[0] for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HTTPServer2", ("http", "server2")),
        ("sha256sum", ("sha256", "sum")),
        ("parseHTTPResponse", ("parse", "http", "response")),
        ("_private_name", ("private", "name")),
        ("a.b-c_d", ("a", "b", "c", "d")),
        ("URLs", ("urls",)),
        ("2fa", ("2fa",)),
        ("РезультатЗапроса", ("результат", "запроса")),
        ("", ()),
    ],
)
def test_split_identifier(name: str, words: tuple[str, ...]) -> None:
    assert ANALYZER.split_identifier(name) == words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Где лежит регламент?", "ru"),
        ("Where is the guide?", "en"),
        ("что делает src/warehouse/allocator.py и OrderService.cancel()", "ru"),
        ("какой timeout нужен для retry policy", "mixed"),
        ("", "en"),
        ("123", "en"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert ANALYZER.language(text) == language


def test_stop_words_in_any_form() -> None:
    assert ANALYZER.is_stop_word("the")
    assert ANALYZER.is_stop_word("какие")
    assert ANALYZER.is_stop_word(ANALYZER.stem("которые"))
    assert not ANALYZER.is_stop_word("заказ")


@given(st.text(alphabet=st.characters(codec=None)))
def test_spans_are_exact_and_apart(text: str) -> None:
    end = 0
    terms: list[str] = []
    for token in ANALYZER.tokens(text):
        assert text[token.start : token.end] == token.text
        assert token.start >= end
        assert token.terms
        end = token.end
        terms.extend(token.terms)
    assert ANALYZER.terms(text) == terms


@given(
    st.lists(
        st.sampled_from(
            ["a", "Я", "é", "и\u0306", "_", "-", ".", "/", "\\", "'", "’", "1", "\u00ad", "ß", "İ", "A", " "]
        ),
        max_size=20,
    )
)
@settings(max_examples=300)
def test_any_compound_is_taken_apart_without_a_crash(parts: list[str]) -> None:
    text = "".join(parts)
    for token in ANALYZER.tokens(text):
        assert text[token.start : token.end] == token.text
        assert all(term == ANALYZER.terms(term)[0] or term for term in token.terms)


def test_composed_and_decomposed_letters_are_one() -> None:
    assert ANALYZER.terms("и\u0306од") == ANALYZER.terms("йод")
    assert ANALYZER.terms("обра\u00adботка") == ANALYZER.terms("обработка")


@pytest.mark.parametrize(
    "piece", ["a", "A", "_", "1", ".", "a.", "a-", "a/", "aA", "'", "я-a", "\u0301", "a'", "\u00ad"], ids=ascii
)
def test_a_megabyte_of_one_kind_is_linear(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    started = time.thread_time()
    ANALYZER.terms(text)
    ANALYZER.language(text)
    assert time.thread_time() - started < 10


def test_threads_agree() -> None:
    text = " ".join(f"заказ{i} обработчики{i} OrderService{i} настройками токенов" for i in range(2000))
    fresh = Analyzer.parse(STEMS)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(fresh.terms, [text] * 8))
    assert all(answer == ANALYZER.terms(text) for answer in answers)


@pytest.mark.parametrize(
    "text",
    [
        "[stems",
        "[stems]\n",
        "stems = 1\n[stop_words]\n",
        '[stems]\n"а" = "б"\n[stop_words]\n',
        "[stems]\n[stop_words]\nru = [1]\n",
    ],
)
def test_a_wrong_data_file_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Analyzer.parse(text)
    assert error.value.code == "data_file"
