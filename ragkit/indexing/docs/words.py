"""Words that the documentation layers go by, each table with its reason; code interprets them, and holds none.

Russian entries of patterns are beginnings of words (`процесс` stands for «процесса», «процессы»). Entries of sets are
compared with the whole heading or cell, lower-cased.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

SUMMARY_HEADING = re.compile(
    r"^(?:\d+[.)]?\s*)?(?:(?:executive )?summary|abstract|overview|tl;?dr|introduction|description|meaning|about"
    r"|purpose|context(?: and problem statement)?|аннотация|кратко|краткое описание|обзор|введение|описание|назначение"
    r"|о проекте|о документе|что это(?: такое)?\??)$",
    re.IGNORECASE,
)
"""Sections that say what the document is about."""

PROCESS_HEADING = re.compile(
    r"""
      \b(?:how|steps?|workflow|procedure|process|walkthrough|scenario|runbook|getting\ started|quick\ ?start
         |tutorial|checklist|flow|sequences?|life\ ?cycle)\b
    | \bсценари | \bпроцесс | \bпорядок\b | \bпроцедур | \bшаги?\b | \bалгоритм | \bинструкци | \bпошагов
    | ^как\b(?!\s+(?:узнать|это\s+выглядит)) | \bжизненный\ цикл | \bрегламент | \bчто\ делать\b
    | \bначало\ работы\b | \bбыстрый\ старт\b | \bс\ чего\ начать\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A list with numbers under such a heading is a process."""

ASKS_HOW = re.compile(r"^(?:how|как)\b(?!\s+(?:to|do|can)\s+(?:i|we|you|\w+ed)\b|\s+to\b).*\?$", re.IGNORECASE)
"""Questions of a questionnaire: «How can a rollout fail?». Their lists are mostly reasons, so the items must tell what
to do.
"""

NO_PROCESS_HEADING = re.compile(
    r"^(?:\d+[.)]?\s*)?(?:(?:non-?)?goals|motivation|graduation criteria|test plan|alternatives|(?:considered )?options"
    r"|risks|requirements|features|benefits|drawbacks|summary|overview|limitations|цели|требования|варианты|альтернативы|риски"
    r"|преимущества|возможности|ограничения|обзор)\b",
    re.IGNORECASE,
)
"""Sections that list what is wanted, chosen from or to be said: numbers there count, they do not order."""

REPAIR_HEADING = re.compile(
    r"\b(?:diagnosis|diagnostics?|mitigations?|remediation|resolution|recovery|troubleshooting|fix)\b"
    r"|\bустранени|\bвосстановлени|\bдействия\b|\bчто делать\b|^диагностика$",
    re.IGNORECASE,
)
"""Sections of runbooks: their bullets are done one after another, when they begin with a verb."""

LEADS_TO_STEPS = re.compile(
    r"\bsteps?\b|\bfollow|\bas follows|\bprocedure\b|\bin (?:this|the following) order\b|\bsequence\b"
    r"|^(?:to|in order to)\s|\bшаг|\bследующ|\bчтобы\b|\bнужно\b|\bнеобходимо\b|\bпорядок\b|\bпорядке\b|\bтак:$",
    re.IGNORECASE,
)
"""A sentence before a list that promises something to do."""

STEP_HEADING = re.compile(r"^(?:step|шаг|этап|stage)\s+(?P<number>\d{1,2})\b[.:)—–\s-]*", re.IGNORECASE)
"""Headings that number the steps of a tutorial."""

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
    | [а-яё]+(?:йте|ите|ьте)(?:сь)?\b
    | (?:add|apply|ask|assign|attach|build|bump|call|change|check|choose|clean|clear|click|clone|close|collect|commit
        |compare|compute|confirm|configure|connect|contact|copy|create|cut|declare|decide|define|delete|deploy|describe
        |determine|disable|download|drag|drain|draw|drop|edit|enable|ensure|enter|escalate|examine|execute|export|fetch|figure
        |fill|find|fix|follow|free|generate|get|give|go|identify|import|increase|initiali[sz]e|inspect|install
        |investigate|invoke|join|keep|launch|leave|list|load|log|look|lower|make|mark|measure|merge|monitor|move
        |navigate|notify|obtain|open|pass|paste|pick|point|prepare|press|print|provide|pull|push|put|query|raise|read|rebuild
        |record|reduce|refuse|register|reload|remove|rename|repeat|replace|request|require|restart|restore|return
        |review|revert|roll|rotate|run|save|scale|schedule|search|see|select|send|set|ship|sign|split|start|stop|store
        |submit|switch|tag|take|tell|test|try|turn|type|uninstall|unpack|update|upgrade|upload|use|validate|verify
        |visit|wait|warn|watch|write)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""How an item begins that tells one to do something."""

TRIGGER = re.compile(
    r"(?:когда|если|при|после|как только|перед тем|whenever|when|if|after|once|before|every time|on)\b", re.IGNORECASE
)
"""How a sentence begins that says what sets a process off."""

TRIGGERED = re.compile(
    r"\b(?:запускается|выполняется|срабатывает|начинается|происходит|runs|starts|begins|fires"
    r"|is (?:triggered|started|run))"
    r"\s+(?:[\w-]+\s+){0,2}?(?:кажд\w+|когда|при|после|раз в|ежедневно|every|when|whenever|once|after|on|if)\b",
    re.IGNORECASE,
)
"""A sentence that says in its middle when a process runs: «Подбор запускается каждые 20 секунд»."""

BRANCHING = re.compile(
    r"(?:^|[.;:]\s+|,\s+|—\s+)(?:если|иначе|в противном случае|if|otherwise|unless|in case)\b", re.IGNORECASE
)
"""A step, or a part of one, that is only done under a condition."""

ERROR_PATH = re.compile(
    r"\b(?:fail(?:s|ed|ure)?|errors?|invalid|reject(?:s|ed)?|refus(?:e|es|ed|al)|time(?:d)? ?out|timeout|expired|denied"
    r"|unavailable|unreachable|blurred|lost|exception|not found|[45]\d\d)\b"
    r"|\bошибк|\bотказ|\bне удал|\bне отве|\bнеудач|\bистек|\bистёк|\bзапрещ|\bне\s+найден|\bне\s+прош|\bнедоступ",
    re.IGNORECASE,
)
"""What is done when something went wrong."""

SEQUENCE = re.compile(
    r"\b(?:сначала|затем|потом|после|далее|наконец|если|по окончании|then|next|after|finally|first|when)\b",
    re.IGNORECASE,
)
"""Items that follow one another in time."""

BRANCH = frozenset({"alt", "else", "opt", "par", "and", "loop", "critical", "option", "break"})
"""Words of sequence diagrams that begin a branch."""

GLOSSARY_HEADING = re.compile(
    r"\b(?:glossary|terms|terminology|definitions|vocabulary|concepts)\b|\bтермин(?:ы|ология)?\b"
    r"|\bпоняти|\bглоссари|\bсловарь\b|\bопределения\b",
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
    r"(?:в разговоре|также(?:\s+называ\w+|\s+известн\w+\s+как)?|он же|она же|оно же|синонимы?|иначе|also called"
    r"|also known as|also referred to as|a\.k\.a\.|aka)"
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
      \b(?:MUST|SHALL|SHOULD)(?:\ NOT)?\b | \bREQUIRED\b | \bNEVER\b | \bDO\ NOT\b
    | \bMAY\b(?!\s+(?:\d|lead|result|cause|need|want|fail|be\ (?:\w+ing|lost)))
    | \b(?:is|are)\ (?:strictly\ )?(?:forbidden|prohibited)\b | \b(?:must|shall)\ (?:not|never)\b
    | (?:\*\*|__|\*)(?:must|shall|never|обязан\w*|нельзя|запрещено|должн\w+)(?:\ (?:not|never))?(?:\*\*|__|\*)
    | \*\*DO\*\*
    | ^[\W_]*(?:Do\ not|Don't|Don’t|Never)\s+(?!worry|forget|confuse|be\ (?:afraid|scared|alarmed)|panic|hesitate|mind
      |miss\b|need|pay\ att|do\ this|let\ )[a-z]+
    | ^[\W_]*(?:[Нн]икогда\ )?[Нн]е\ (?!забы|забуд|волну|пуга|пута|пережива|беспоко|стесня|удивля|бой|обраща|спеш
      |пропустите)[а-яё]+(?:йте|ите|ьте)(?:сь)?\b
    | (?<!не\ )\bобязан[аоы]?\b | \bзапрещ(?:ено|ена|ены|ён|ен|ается|аются)\b
    | \bнельзя\ [а-яё]+(?:ть|ти|чь|ться|тись)\b | \bне\ допуска[ею]тся\b | \bнедопустимо\b
    | (?<!не\ )\bразреш(?:ено|ён)\b
    """,
    re.VERBOSE,
)
"""A rule wherever it stands: words of duty that are set off by capitals or bold type (in plain lower case they mostly
tell how a thing behaves), prohibitions («must not»), and sentences that begin with one («Do not …», «Не показывайте …»)
but for the turns that only comfort the reader.
"""

WEAK_OBLIGATION = re.compile(
    r"""
      ^[\W_]*(?:please\ )?(?:do|don't|never|always|avoid|prefer)\b(?!\ (?:you|i|we)\b)
    | \b(?:must|shall|should|may\ not|may\ only)\b
    | \b(?:(?:is|are)\ (?:never|not\ (?:allowed|permitted)))\b
    | \bдолж(?:ен|на|но|ны)\b | \bследует\b | \bнеобходим[аоы]?\b | \bобязательн | \bвправе\b | \bне\ более\b
    | \b(?:everyone|anyone|nobody|no\ one)\ may\b
    | \brequires?\ (?:\w+\ ){0,2}(?:approval|consent|permission)\b | \bтребуе?т?с?я?\ (?:\w+\ ){0,2}согласовани
    | \bat\ (?:most|least)\b | \bno\ (?:more|less|fewer|longer|shorter)\ than\b | \b(?:can't|cannot|can’t)\b
    | \bне\ менее\b | \bне\ позднее\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A rule where rules are expected: in a policy, or under a heading of rules."""

NO_OBLIGATION = re.compile(
    r"(?:\bчто|\bкотор\w+|\bчтобы)\s+(?:[\w-]+\s+){0,3}(?:обязан|долж|нельзя|разреш)"
    r"|\bдолж(?:ен|на|ны)\s+(?:быть\s+)?(?:видеть|увидеть)"
    r"|\bнельзя\s+(?:сказать|не)\b|\b(?:вы|ты)\s+долж"
    r"|\bдолж(?:ен|на|но|ны)\s+(?:быть\s+чем|появ|откры|отобраз|запуст|перезагруз|получит|выгляд)"
    r"|\bshould\s+(?:now\s+|then\s+)?(?:see|look|get|appear|be\s+able\s+to\s+see|feel)\b|\bmust\s+not\s+have\s+been\b"
    r"|\bwhy\s+(?:\w+\s+){0,3}(?:must|should|shall)\b|^[\W_]*this\s+(?:section|template|question|document|kep)\b"
    r"|\bwhat\s+(?:\w+\s+){0,3}(?:must|should|shall)\b",
    re.IGNORECASE,
)
"""The words of an obligation in a clause that tells no rule: «день, до которого мы обязаны ответить»."""

DUTY = re.compile(r"\bдолж(?:ен|на|ны)\b|\bmust\b")
"""A rule where a sentence begins with who or what has the duty; elsewhere it mostly tells what one expects to see, and
«должно» nearly always does.
"""

CANNOT = re.compile(r"\bнельзя\b(?! было)")
"""A rule in a document that says what it is; elsewhere «нельзя» after its verb mostly tells what does not work."""

RULES_HEADING = re.compile(
    r"\blimits?\b|\bnaming\b|\bлимит|\bименовани|\bправил|\bзапре[тщ]|\bтребовани|\bограничени|\bобязан|\brules?\b|\brequirements?\b|\brestrictions?\b|\bpolic(?:y|ies)\b"
    r"|\bconventions?\b",
    re.IGNORECASE,
)

LISTED_RULES_HEADING = re.compile(
    r"\bнельзя\b|\bзапрещен[оы]\b|\bне (?:делает|делают|разрешается)\b"
    r"|\b(?:must not|forbidden|not allowed|prohibited)\b",
    re.IGNORECASE,
)
"""Under such a heading every bullet is a rule, whose verb the heading holds: «Что продлевать нельзя»."""

RULES_TITLE = re.compile(
    r"\brules?\b|\bguidelines?\b|\bstyle ?guide\b|\bconventions?\b|\bcode of conduct\b|\bправила\b|\bсоглашени[яе]\b"
    r"|\bрегламент\b|\bстандарт\w*\s+код|\bстиль\s+код",
    re.IGNORECASE,
)
"""Titles and upper headings below which rules are expected in every section."""

RULE_IN_HEADING = re.compile(
    r"^(?:do(?:n't| not)?|never|always|avoid|prefer|use|keep|put|treat|only)\s+\w+|\b(?:must|should|shall)\b"
    r"|^не\s+[а-яё]+(?:йте|ите|ьте|ть)\b|^(?:всегда|никогда|избегайте|используйте)\s|\bдолж(?:ен|на|ны|но)\b|\bнельзя\b|\bзапрещ",
    re.IGNORECASE,
)
"""Headings of style guides that are the rule; what stands below gives its reasons."""

DEFAULTS_LEAD = re.compile(r"\bdefaults?\b|по умолчанию|умолчани", re.IGNORECASE)
"""A sentence before a list of default behaviours."""

DUTIES_HEADING = re.compile(
    r"\brules?\b|\brequirements?\b|\bexpect(?:ed|ations?)?\b|\bresponsibilit|\bduties\b|\bobligations?\b"
    r"|\bdo'?s and don|\bправил|\bтребовани|\bобязанност|\bответственност|\bчто мы жд[её]м",
    re.IGNORECASE,
)
"""Sections of a policy whose list is of rules even where it is numbered; elsewhere its numbers are a procedure."""

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

NEWS_HEADING = re.compile(
    r"^(?:\d+[.)]\s*)?(?:(?:implementation |version |revision |change )?history|change ?log|changes|release notes|news"
    r"|what.s new|история(?: изменений| версий)?|изменения|что нового|журнал изменений)$",
    re.IGNORECASE,
)
"""Sections that tell what changed."""

_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?:январ|феврал|апрел|июн|июл|сентябр|октябр|ноябр|декабр)[ьяе]|ма[йяе]|(?:март|август)[ае]?)"
)
DATE = re.compile(
    rf"(?:\d{{4}}(?:[-./](?:\d{{1,2}}|{_MONTHS})){{0,2}}|\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2,4}}|(?:\d{{1,2}}\.?\s+)?(?:{_MONTHS})"
    r"(?:\s+\d{1,2})?(?:,?\s+\d{4})?|v?\d+(?:\.\d+){1,3}(?:[-.]?(?:alpha|beta|rc)\.?\d*)?)",
    re.IGNORECASE,
)
"""A whole term that is a day, a month or a version: its line is news, not a fact of the project as it is."""

NO_TERMS = frozenset(
    {
        "pro", "pros", "con", "cons", "good", "bad", "plus", "minus", "advantages", "disadvantages", "note", "notes",
        "tip", "hint", "warning", "caution", "important", "attention", "danger", "info", "fyi", "example", "examples",
        "e.g", "i.e", "for example", "todo", "see", "see also", "source", "sources", "question", "answer", "q", "a",
        "plain", "exception", "remember", "update", "edit", "плюс", "плюсы", "минус", "минусы", "преимущества",
        "недостатки", "примечание", "примечания", "важно", "внимание", "осторожно", "совет", "подсказка", "пример",
        "примеры", "например", "заметка", "вопрос", "ответ", "см", "смотрите", "источник", "источники", "коротко",
        "alpha", "beta", "stable", "ga", "critical", "горячие клавиши", "обратите внимание", "запомните", "исключение",
        "итог", "итого", "this", "it", "это",
    }
)  # fmt: skip
"""Words before a colon or in bold that name nothing: a label of the sentence behind them."""
