"""D4_POLICY_INDEX: rules and conventions. Spec: MODULE §5.1 (`D4_POLICY_INDEX`), system.md §4.

A rule is a sentence of obligation («обязан», «запрещено», MUST NOT), in any document; in a policy, and under a heading
of rules, weaker words count too («следует», "must" in lower case), and in a policy's lists, and below a
heading that forbids, every sentence; in a guide to style a heading may be the rule itself. A sentence that only leads
to a list («Implementations MUST:») is a rule with each of its items. One row is one paragraph or list (a long
list: as many items as a passage holds), so that its text can be shown whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from ragkit.document import RagDocument
from ragkit.indexing.context import TextAnalysis
from ragkit.indexing.docs import words
from ragkit.indexing.docs.about import About
from ragkit.indexing.docs.d0_chunks import PASSAGE
from ragkit.indexing.docs.evidence import MAX_ROWS_OF_LAYER, Evidence, RowMaker
from ragkit.indexing.docs.outline import Outline, Section
from ragkit.indexing.docs.pieces import Definition, Item, ItemList, Paragraph, Part, plain
from ragkit.indexing.passages import Lines
from ragkit.layers import D4PolicyAttributes, Layer

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[^\Wa-zа-я\d]|[`«\"(])")
_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|«[^»]*»|“[^”]*”")
_SUBJECT_EN = re.compile(
    r"^(?:an?\s+|the\s+|each\s+|every\s+|all\s+)?(?P<subject>[`\w./-]+(?:\s+[`\w./-]+){0,2})\s+"
    r"(?:MUST|SHALL|SHOULD|must|shall|should)\b",
    re.IGNORECASE,
)
_SUBJECT_RU = re.compile(r"^(?P<subject>\w[\w.-]*(?:\s+[\w.-]+){0,2}?)\s+(?:не\s+)?(?:обязан[аыо]?|долж(?:ен|на|ны))\b")
_NO_NOMINATIVE = re.compile(
    r"(?:после|перед|на|в|во|за|при|о|об|по|для|из|с|со|у|от|до|если|когда|и|но|а|то|как|где|поэтому|также|пока|теперь|так|тогда|затем|либо|все|ваш[аеи]?|вашей)\b|[а-яё]+(?:ть|ти|чь|ую|юю)\b",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(
    r"(?:of|it|this|that|these|those|they|you|we|he|she|i|there|here|such|which|who|what|if|when|он|она|оно|они|её|его|их|это"
    r"|эт(?:от|а|о|и)|так(?:ой|ая|ое|ие)|мы|вы|я|кто|что|которы[йе]|котор(?:ая|ое))\b|$",
    re.IGNORECASE,
)
"""Words that point at something named elsewhere."""

_RELATIVE = re.compile(
    r"\b(?:that|which|who|and|or|if|when|in|of|to|for|который|которая|которые|и|или)$", re.IGNORECASE
)
"""What a subject that is cut short ends with: «Things that should not …»."""

_ADVERB = re.compile(
    r"(?:\s+(?:always|also|only|generally|then|therefore|thus|всегда|также|тоже|обычно|только|поэтому|теперь"
    r"|при этом))+$",
    re.IGNORECASE,
)

_Place = Literal["rules", "defaults", "typed", "other"]
"""Where a sentence stands: where rules are expected, in a list of defaults, in a document that says what it is,
elsewhere.
"""

_LEAD_DUTY = re.compile(
    r"\b(?:MUST|SHALL|SHOULD|must|shall|should)(?:\s+(?:NOT|not|never))?(?:\s+(?:also|only|at least|always))?\s*:\s*$"
    r"|\b(?:обязан[аы]?|долж(?:ен|на|но|ны)|запрещ(?:ено|ается)|нельзя|не допускается)(?:\s+быть)?\s*:\s*$"
)
"""A sentence that breaks off with its duty: «Implementations MUST:», «Запрещено:»."""

_MIN_SHOUTED = 40

_MIN_RULE_WORDS = 3
_MAX_RULE_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statements:
    rules: tuple[str, ...]
    defaults: tuple[str, ...]
    evidence: Evidence


def policies(outline: Outline, parts: Sequence[Part], about: About, analysis: TextAnalysis) -> list[RagDocument]:
    """Rows in the order of the document; a changelog sets no rules. Public id: `path#policy:anchor-of-the-section`."""
    if words.NEWS_NAMES.search(about.path.rpartition("/")[2]):
        return []
    maker = RowMaker(Layer.D4_POLICY_INDEX, "policy", outline.source, about, analysis)
    declared = tuple(outline.front_matter.all("applies_to"))
    found = islice(_statements(outline.source, parts, about), MAX_ROWS_OF_LAYER)
    return [_row(statements, declared, maker, about) for statements in found]


def is_policy_document(about: About) -> bool:
    """Whether a document sets rules, by its type or, where it has none, by its folder."""
    if about.type is not None:
        return about.type.lower() in words.POLICY_TYPES
    return not words.POLICY_FOLDERS.isdisjoint(about.path.lower().split("/")[:-1])


def _statements(source: Lines, parts: Sequence[Part], about: About) -> Iterator[_Statements]:
    of_policy = is_policy_document(about)
    for part in parts:
        section = part.section
        heading = section.headings[-1] if section.headings else ""
        place = "other" if words.GLOSSARY_HEADING.search(heading) else _place(section, about)
        if place == "rules" and len(section.headings) > 1:
            yield from _of_heading(part)
        # Terms of a policy are no rules; numbers are a procedure but where a heading promises duties.
        listed = of_policy and not words.GLOSSARY_HEADING.search(heading)
        listed = listed or words.LISTED_RULES_HEADING.search(heading) is not None
        numbered = of_policy and words.DUTIES_HEADING.search(heading) is not None
        pieces = part.pieces
        for before, piece, following in zip((None, *pieces), pieces, (*pieces[1:], None), strict=False):
            if isinstance(piece, ItemList):
                if isinstance(before, Paragraph) and _is_lead(before, place):
                    yield from _of_lead(source, section, before, piece)
                    continue
                of_defaults = isinstance(before, Paragraph) and words.DEFAULTS_LEAD.search(before.text) is not None
                all_items = listed and (numbered or not piece.is_ordered)
                yield from _of_list(source, section, piece, "defaults" if of_defaults else place, all_items=all_items)
            elif isinstance(piece, Paragraph | Definition):
                leads = isinstance(piece, Paragraph) and piece.text.rstrip().endswith(":")
                rules, defaults = _rules(piece.text, place, leads="list" if isinstance(following, ItemList) else leads)
                if rules or defaults:
                    evidence = Evidence(start=piece.start, end=piece.end, section=section)
                    yield _Statements(rules=tuple(rules), defaults=tuple(defaults), evidence=evidence)


def _place(section: Section, about: About) -> _Place:
    heading = section.headings[-1] if section.headings else ""
    upper = (about.title, *section.headings[:-1])
    if (
        is_policy_document(about)
        or words.RULES_HEADING.search(heading)
        or any(map(words.RULES_TITLE.search, (*upper, heading)))
    ):
        return "rules"
    return "typed" if about.type is not None else "other"


def _of_heading(part: Part) -> Iterator[_Statements]:
    """The heading, where it is a rule; its evidence goes on to the end of the first paragraph."""
    section = part.section
    heading = section.headings[-1]
    if not words.RULE_IN_HEADING.search(heading) or heading.endswith("?") or len(heading.split()) < _MIN_RULE_WORDS:
        return
    first = part.pieces[0] if part.pieces else None
    block = section.blocks[0]
    end = first.end if isinstance(first, Paragraph) else block.end
    evidence = Evidence(start=block.start, end=end, section=section)
    yield _Statements(rules=(heading,), defaults=(), evidence=evidence)


def _is_lead(before: Paragraph, place: _Place) -> bool:
    """Whether a paragraph ends with a sentence of obligation that a list goes on with."""
    said = _CODE.sub("x", _SENTENCE_END.split(before.text)[-1])
    return said.rstrip().endswith(":") and _LEAD_DUTY.search(said) is not None and _is_rule(said, place)


def _of_lead(source: Lines, section: Section, before: Paragraph, piece: ItemList) -> Iterator[_Statements]:
    lead = plain(_SENTENCE_END.split(before.text)[-1])
    rules = [f"{lead} {plain(item.text)}"[:_MAX_RULE_CHARS] for item in piece.items]
    end = next((item.end for item in reversed(piece.items) if source.fits(before.start, item.end, PASSAGE)), None)
    evidence = Evidence(start=before.start, end=end or piece.items[0].end, section=section)
    kept = [rule for rule, item in zip(rules, piece.items, strict=True) if item.end <= evidence.end]
    yield _Statements(rules=tuple(kept), defaults=(), evidence=evidence)


def _of_list(
    source: Lines, section: Section, piece: ItemList, place: _Place, *, all_items: bool
) -> Iterator[_Statements]:
    """Items that state rules, neighbours together while a passage holds them."""
    held: list[Item] = []
    rules: list[str] = []
    defaults: list[str] = []
    for item in piece.items:
        of_item, defaults_of_item = _rules(item.text, place)
        if all_items and not of_item and not defaults_of_item and len(item.text.split()) >= _MIN_RULE_WORDS:
            of_item = [plain(item.text)[:_MAX_RULE_CHARS]]
        states = bool(of_item or defaults_of_item)
        if held and (not states or not source.fits(held[0].start, item.end, PASSAGE)):
            yield _together(section, held, rules, defaults)
            held, rules, defaults = [], [], []
        if states:
            held.append(item)
            rules += of_item
            defaults += defaults_of_item
    if held:
        yield _together(section, held, rules, defaults)


def _together(section: Section, items: Sequence[Item], rules: Sequence[str], defaults: Sequence[str]) -> _Statements:
    evidence = Evidence(start=items[0].start, end=items[-1].end, section=section)
    return _Statements(rules=tuple(rules), defaults=tuple(defaults), evidence=evidence)


def _rules(text: str, place: _Place, *, leads: bool | str = False) -> tuple[list[str], list[str]]:
    """Sentences of obligation, and sentences that name a default where rules are expected or beside a rule.

    `leads`: the text ends with a colon; its last sentence is then no rule of its own, and where "list" follows it is
    told with the items.
    """
    rules: list[str] = []
    defaults: list[str] = []
    sentences = _SENTENCE_END.split(text)
    for sentence in sentences:
        said = _CODE.sub("x", sentence)
        names_default = words.DEFAULT.search(said) is not None and not words.OBLIGATION.search(said)
        if not (names_default or _is_rule(said, place)) or _tells_no_rule(said):
            continue
        is_lead = leads and sentence is sentences[-1] and said.rstrip().endswith(":")
        if is_lead and (not words.OBLIGATION.search(said) or (leads == "list" and _LEAD_DUTY.search(said))):
            continue
        (defaults if names_default else rules).append(plain(sentence)[:_MAX_RULE_CHARS])
    return rules, defaults if rules or place in ("rules", "defaults") else []


def _tells_no_rule(said: str) -> bool:
    """Whether a sentence only asks, speaks of a duty in a clause, or shouts."""
    return said.rstrip().endswith("?") or words.NO_OBLIGATION.search(said) is not None or _shouts(said)


def _shouts(said: str) -> bool:
    """Whether nearly all is in capitals, as in licences: there they mark nothing."""
    letters = [letter for letter in said if letter.isalpha()]
    return len(letters) > _MIN_SHOUTED and sum(map(str.isupper, letters)) > 0.7 * len(letters)


def _is_rule(said: str, place: _Place) -> bool:
    if words.OBLIGATION.search(said) or (place == "rules" and words.WEAK_OBLIGATION.search(said)):
        return True
    if place != "other" and words.CANNOT.search(said):
        return True
    return words.DUTY.search(said) is not None and _subject(said) is not None


def _applies_to(statements: _Statements, declared: tuple[str, ...], about: About) -> list[str]:
    """As the front matter says; else who the sentences oblige; else what the section is about."""
    if declared:
        return list(declared)
    subjects = [subject for rule in statements.rules if (subject := _subject(rule)) is not None]
    return list(dict.fromkeys(subjects)) or [_topic(statements.evidence.section, about)]


def _subject(rule: str) -> str | None:
    """Who a sentence obliges, when it begins with that; not «Ответить обязаны», «На стендах обязаны»."""
    match = _SUBJECT_EN.match(rule) or _SUBJECT_RU.match(rule)
    if match is None:
        return None
    subject = _ADVERB.sub("", match["subject"].replace("`", ""))
    if _NO_SUBJECT.match(subject) or _RELATIVE.search(subject) or _NO_NOMINATIVE.match(subject):
        return None
    return subject


def _topic(section: Section | None, about: About) -> str:
    """The innermost heading that says more than «Правила»."""
    headings = section.headings if section else ()
    telling = [heading for heading in headings if not words.RULES_HEADING.search(heading) or len(heading.split()) > 1]
    return telling[-1] if telling else about.title


def _row(statements: _Statements, declared: tuple[str, ...], maker: RowMaker, about: About) -> RagDocument:
    section = statements.evidence.section
    public_id = maker.public_id(*(section.anchor.split("/") if section and section.anchor else [about.title]))
    attributes: D4PolicyAttributes = {
        "policy_id": public_id,
        "applies_to": _applies_to(statements, declared, about),
        "rules": list(statements.rules),
        "default_behaviors": list(statements.defaults),
        "source_path": about.path,
    }
    title = section.headings[-1] if section and section.headings else about.title
    return maker.row(public_id, statements.evidence, title=title, attributes=attributes)
