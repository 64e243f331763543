"""Words that the documentation layers go by, each table with its reason; code interprets them, and holds none.

Russian entries of patterns are beginnings of words (`процесс` stands for «процесса», «процессы»). Entries of sets are
compared with the whole heading or cell, lower-cased.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PROCESS_HEADING = re.compile(
    r"""
      \b(?:how|steps?|workflow|procedure|process|walkthrough|scenario|runbook|getting\ started|quick\ ?start
         |tutorial|checklist)\b
    | \bсценари | \bпроцесс | \bпорядок\b | \bпроцедур | \bшаги?\b | \bалгоритм | \bинструкци | \bпошагов
    | ^как\b(?!\s+(?:узнать|это\s+выглядит)) | \bжизненный\ цикл | \bрегламент | \bчто\ делать\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A list with numbers under such a heading is a process."""

PROCESS_TYPES = frozenset({"logic", "process", "workflow", "procedure", "runbook", "scenario", "howto", "how-to"})
"""Types of documents that describe what happens: every numbered list in them is a process."""

PROCESS_FOLDERS = frozenset({"logic", "workflows", "processes", "runbooks", "procedures"})

ACTION_HEADING = re.compile(
    r"""
      ^(?!(?:nothing|something|everything|anything|string|thing|king|spring|settings?|timing|pricing|logging)\b)
        [a-z]+ing\b
    | ^[а-яё]{3,}(?:ать|ять|ить|еть|уть|ыть|йти|сти|ечь)\b
    | ^[а-яё]{4,}(?:ение|ание|ация|овка|уск|ача|рос|течка|ступ|етий)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Headings that name an action: «Выпуск», «Блокировка», "Subscribing"; enough for three numbered items or more."""

FIRST_VERB = re.compile(
    r"""
      [а-яё]+(?:ать|ять|ить|еть|уть|ыть|йти|сти|ечь)(?:ся)?\b
    | (?:add|build|call|change|check|choose|click|clone|commit|compare|compute|configure|copy|create|define|delete
        |deploy|download|enable|enter|install|join|log|make|merge|move|open|paste|press|pull|push|put|refuse|remove
        |rename|replace|restart|run|save|select|send|set|split|start|stop|update|upload|use|verify|wait|write)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""How an item begins that tells one to do something."""

TRIGGER = re.compile(
    r"(?:когда|если|при|после|как только|перед тем|whenever|when|if|after|once|before|every time|on)\b", re.IGNORECASE
)
"""How a sentence begins that says what sets a process off."""

SEQUENCE = re.compile(
    r"\b(?:сначала|затем|потом|после|далее|наконец|если|по окончании|then|next|after|finally|first|when)\b",
    re.IGNORECASE,
)
"""Items that follow one another in time."""

BRANCH = frozenset({"alt", "else", "opt", "par", "and", "loop", "critical", "option", "break"})
"""Words of sequence diagrams that begin a branch."""

GLOSSARY_HEADING = re.compile(
    r"\b(?:glossary|terms|terminology|definitions|vocabulary|concepts)\b|\bтермин|\bпоняти|\bглоссари|\bсловар|\bопределени",
    re.IGNORECASE,
)

ENTITY_TYPES = frozenset({"domain", "domain_entity", "entity", "domain-entity", "aggregate", "domain_model"})
"""Types of documents that describe one thing of the domain."""

GLOSSARY_TYPES = frozenset({"glossary", "terms", "dictionary"})

TERM_COLUMNS = frozenset({"термин", "понятие", "сущность", "слово", "term", "entity", "concept", "word"})
MEANING_COLUMNS = frozenset(
    {
        "определение", "описание", "значение", "смысл", "что это", "definition", "description", "meaning",
        "what it is", "explanation",
    }
)  # fmt: skip
ALIAS_COLUMNS = frozenset(
    {"синонимы", "по-английски", "английский", "english", "русский", "russian", "aliases", "synonyms", "also called"}
)

ALSO_CALLED = re.compile(
    r"(?:в разговоре|также|он же|она же|оно же|синонимы?|иначе|also called|also known as|a\.k\.a\.|aka)"
    r"\s*(?:—|-|:|,)?\s*((?:[«\"“`][^«»\"“”`]{2,40}[»\"”`](?:\s*(?:,|и|или|and|or)\s*)?)+)",
    re.IGNORECASE,
)
"""Further names in a definition: «В разговоре — «шкаф», «точка»»."""

KEY_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "поле", "атрибут", "параметр", "свойство", "что", "настройка", "переменная", "опция", "имя", "название",
            "ключ", "столбец", "колонка", "заголовок", "флаг", "аргумент", "данные", "роль", "команда", "показатель",
            "field", "attribute", "parameter", "property", "option", "name", "key", "setting", "variable", "column",
            "header", "flag", "argument", "arg", "env", "environment variable", "command", "type", "what", "limit",
        ),
        "attribute",
    ),
    **dict.fromkeys(("статус", "состояние", "state", "status"), "state"),
    **dict.fromkeys(("событие", "event"), "event"),
    **dict.fromkeys(
        ("код", "ошибка", "код ошибки", "code", "error", "error code", "http", "status code"), "error_code"
    ),
    **dict.fromkeys(("метод и путь", "метод", "путь", "endpoint", "эндпоинт", "route", "path", "method"), "endpoint"),
    **dict.fromkeys(("таблица", "table"), "table"),
}  # fmt: skip
"""First column of a table → what its rows are; a table of other columns counts when its first cells are code."""

OWNER_COLUMNS = frozenset({"сущность", "таблица", "объект", "группа", "entity", "table", "object", "group", "model"})
"""A first column that says whose the attribute of the second is."""

OBLIGATION = re.compile(
    r"""
      \b(?:MUST|SHALL|SHOULD)(?:\ NOT)?\b | \bREQUIRED\b | \bNEVER\b
    | \b(?:is|are)\ (?:strictly\ )?(?:forbidden|prohibited)\b
    | (?<!не\ )\bобязан[аоы]?\b | \bзапрещ(?:ено|ена|ены|ён|ен|ается|аются)\b
    | \bнельзя\ [а-яё]+(?:ть|ти|чь|ться|тись)\b | \bне\ допуска[ею]тся\b | \bнедопустимо\b
    | (?<!не\ )\bразреш(?:ено|ён)\b
    """,
    re.VERBOSE,
)
"""A rule wherever it stands. English words in capitals alone: in lower case they mostly tell how a thing behaves."""

WEAK_OBLIGATION = re.compile(
    r"""
      ^(?:do\ not|don't|never)\b | \b(?:must|shall|should|may\ not|may\ only)\b
    | \b(?:(?:is|are)\ (?:never|not\ (?:allowed|permitted)))\b
    | \bдолж(?:ен|на|но|ны)\b | \bследует\b | \bнеобходим[аоы]?\b | \bобязательн | \bвправе\b | \bне\ более\b
    | \bне\ менее\b | \bне\ позднее\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A rule where rules are expected: in a policy, or under a heading of rules."""

NO_OBLIGATION = re.compile(
    r"(?:\bчто|\bкотор\w+|\bчтобы)\s+(?:[\w-]+\s+){0,3}(?:обязан|долж|нельзя|разреш)"
    r"|\bдолж(?:ен|на|ны)\s+(?:быть\s+)?(?:видеть|увидеть)"
    r"|\bнельзя\s+(?:сказать|не)\b|\b(?:вы|ты)\s+долж"
    r"|\bwhat\s+(?:\w+\s+){0,3}(?:must|should|shall)\b",
    re.IGNORECASE,
)
"""The words of an obligation in a clause that tells no rule: «день, до которого мы обязаны ответить»."""

DUTY = re.compile(r"\bдолж(?:ен|на|ны)\b")
"""A rule where a sentence begins with who or what has the duty; elsewhere it mostly tells what one expects to see, and
«должно» nearly always does.
"""

CANNOT = re.compile(r"\bнельзя\b(?! было)")
"""A rule in a document that says what it is; elsewhere «нельзя» after its verb mostly tells what does not work."""

RULES_HEADING = re.compile(
    r"\bправил|\bзапре[тщ]|\bтребовани|\bограничени|\bобязан|\brules?\b|\brequirements?\b|\brestrictions?\b|\bpolic(?:y|ies)\b"
    r"|\bconventions?\b",
    re.IGNORECASE,
)

LISTED_RULES_HEADING = re.compile(
    r"\bнельзя\b|\bзапрещен[оы]\b|\bне (?:делает|делают|разрешается)\b"
    r"|\b(?:must not|forbidden|not allowed|prohibited)\b",
    re.IGNORECASE,
)
"""Under such a heading every bullet is a rule, whose verb the heading holds: «Что продлевать нельзя»."""

POLICY_TYPES = frozenset({"policy", "policies", "rule", "rules", "convention", "conventions", "standard", "regulation"})
POLICY_FOLDERS = frozenset({"policies", "policy", "rules"})

DEFAULT = re.compile(r"\bпо умолчанию\b|\bby default\b|\bdefaults? to\b", re.IGNORECASE)
"""A sentence that says what holds unless one says otherwise."""

RELATIONS = (
    "calls_api", "called_by", "uses_logic", "used_by", "reads_db", "writes_db", "integrates_with", "emits_events",
    "consumes_events",
)  # fmt: skip
"""Front matter that speaks of other things: facts and edges alike."""

STATED = ("type", "status", "version", "owners")
"""Front matter that is a fact of the document itself."""

NEWS_NAMES = re.compile(r"change|release|history|news|релиз|изменени", re.IGNORECASE)
"""Files that tell what changed: their lists of `term: value` are no facts of the project as it is."""
