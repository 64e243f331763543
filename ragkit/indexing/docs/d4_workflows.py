"""D4_WORKFLOW_INDEX: processes with their steps. Spec: system.md §4.

A process is a numbered list that tells what is done (by its heading, its document's type, or how its items begin),
bullets of a runbook or under a telling heading that begin with a verb, headings that number their steps, a Mermaid
diagram with arrows, or `steps` of the front matter. Branches and error paths stay inside the steps, where the document
has them, and are listed besides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ragkit.document import RagDocument
from ragkit.indexing.context import TextAnalysis
from ragkit.indexing.docs import words
from ragkit.indexing.docs.about import About
from ragkit.indexing.docs.d4_policies import is_policy_document
from ragkit.indexing.docs.evidence import MAX_ROWS_OF_LAYER, Evidence, RowMaker
from ragkit.indexing.docs.mermaid import START, Arrow, Diagram, read_mermaid
from ragkit.indexing.docs.outline import Outline, Section
from ragkit.indexing.docs.pieces import Fence, Item, ItemList, Paragraph, Part, plain
from ragkit.layers import D4WorkflowAttributes, Layer

CONFIDENCE: Mapping[str, float] = {
    "front_matter": 1.0,
    "diagram": 0.9,
    "process_heading": 0.9,
    "process_document": 0.8,
    "step_headings": 0.8,
    "action": 0.7,
}
"""By what tells that it is a process."""

_MIN_STEPS = 2
_MIN_UNTOLD_STEPS = 3
"""Of a list under a heading that does not name a process."""
_MANY_STEPS = 5
"""So many numbered items that begin with a verb need no heading or sentence that promises a process: shorter lists are
often goals or changes.
"""

_MAX_STEP_CHARS = 500
_MAX_SHOWN_LINES = 200
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_LABEL = re.compile(r"^(?:\([^()]{1,20}\)\s*|\[[^\[\]]{1,20}\]\s*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workflow:
    title: str
    trigger: str | None
    steps: tuple[str, ...]
    participants: tuple[str, ...]
    branches: tuple[str, ...] = ()
    source: str
    """Key of CONFIDENCE."""
    evidence: Evidence


def workflows(outline: Outline, parts: Sequence[Part], about: About, analysis: TextAnalysis) -> list[RagDocument]:
    """The process of the front matter, then those of the text in its order.

    Public id: `path#workflow:anchor-of-the-section`.
    """
    maker = RowMaker(Layer.D4_WORKFLOW_INDEX, "workflow", outline.source, about, analysis)
    return [_row(found, maker, about) for found in islice(_workflows(outline, parts, about), MAX_ROWS_OF_LAYER)]


def _workflows(outline: Outline, parts: Sequence[Part], about: About) -> Iterator[_Workflow]:
    front = outline.front_matter
    steps = front.places("steps", outline.source.lines)
    if len(steps) >= _MIN_STEPS:
        yield _Workflow(
            title=about.title,
            trigger=front.first("trigger"),
            steps=tuple(front.all("steps")),
            participants=tuple(front.all("participants")),
            source="front_matter",
            evidence=Evidence(start=min(start for _, start, _ in steps), end=max(end for *_, end in steps)),
        )
    yield from _of_headings(parts, about)
    for part in parts:
        before: Paragraph | None = None
        for piece in part.pieces:
            if isinstance(piece, ItemList):
                source = _source(part.section, piece, before, about)
                if source is not None:
                    yield _of_list(part.section, piece, before, source, about)
            elif isinstance(piece, Fence) and piece.language == "mermaid":
                diagram = read_mermaid(piece.lines, piece.first)
                if diagram is not None and len(diagram.arrows) >= _MIN_STEPS:
                    yield _of_diagram(part.section, piece, diagram, about)
            before = piece if isinstance(piece, Paragraph) else None


def _of_headings(parts: Sequence[Part], about: About) -> Iterator[_Workflow]:
    """Neighbouring headings `Step 1: …`, `Step 2: …` below one heading; sections below them do not part them."""
    run: list[Part] = []
    last: Part | None = None
    for part in [*parts, None]:
        headings = part.section.headings if part else ()
        if part and run and last and headings[: len(run[0].section.headings)] == run[-1].section.headings:
            last = part
            continue
        step = words.STEP_HEADING.match(headings[-1]) if headings else None
        continues = (
            run and step and headings[:-1] == run[0].section.headings[:-1] and int(step["number"]) == len(run) + 1
        )
        if not continues:
            if last and len(run) >= _MIN_STEPS:
                yield _together(run, last, about)
            run = []
        if part and step and (continues or int(step["number"]) == 1):
            run.append(part)
        last = part


def _together(run: Sequence[Part], last: Part, about: About) -> _Workflow:
    section = run[0].section
    return _Workflow(
        title=section.headings[-2] if len(section.headings) > 1 else about.title,
        trigger=None,
        steps=tuple(_step_of(part.section.headings[-1]) for part in run),
        participants=(),
        source="step_headings",
        evidence=Evidence(start=section.blocks[0].start, end=_end(run, last), section=section),
    )


def _step_of(heading: str) -> str:
    """What a heading says behind its number; the whole where nothing or only a remark stands there."""
    rest = words.STEP_HEADING.sub("", heading)
    return rest if rest[:1].isalnum() or (rest[:1] in '`«"' and rest) else heading


def _end(run: Sequence[Part], last: Part) -> int:
    """The line after the last step, or after the last heading of a step where the whole would be too long to show."""
    end = last.section.blocks[-1].end
    return end if end - run[0].section.blocks[0].start <= _MAX_SHOWN_LINES else run[-1].section.blocks[0].end


def _source(section: Section, piece: ItemList, before: Paragraph | None, about: About) -> str | None:
    """What tells that a list is a process; None when nothing does."""
    heading = section.headings[-1] if section.headings else about.title
    count = len(piece.items)
    verbs = sum(words.FIRST_VERB.match(_begins(item)) is not None for item in piece.items)
    tells_actions = 2 * verbs >= count
    repairs = words.REPAIR_HEADING.search(heading) is not None and tells_actions
    if not piece.is_ordered:
        is_process = (count >= _MIN_STEPS and repairs) or _are_ordered_bullets(heading, count, verbs, before)
        return "action" if is_process else None
    if count >= _MIN_STEPS and (words.PROCESS_HEADING.search(heading) or repairs):
        return "process_heading" if tells_actions or not words.ASKS_HOW.search(heading) else None
    if count < _MIN_UNTOLD_STEPS or words.NO_PROCESS_HEADING.search(heading):
        return None
    if is_policy_document(about):
        # There bullets are rules, and numbers a procedure but for a list of duties.
        return None if words.DUTIES_HEADING.search(heading) else "process_document"
    if is_process_document(about):
        return "process_document"
    names_action = words.ACTION_HEADING.match(heading) or words.FIRST_VERB.match(heading)
    if tells_actions:
        return "action" if names_action or count >= _MANY_STEPS or _promises(before) else None
    in_time = 3 * verbs >= count or any(words.SEQUENCE.match(item.lead) for item in piece.items)
    return "action" if (in_time and names_action) or (_trigger(before) and _promises(before)) else None


def _are_ordered_bullets(heading: str, count: int, verbs: int, before: Paragraph | None) -> bool:
    """Whether bullets follow one another: a sentence says when they are done, or the heading names the action and every
    one begins with a verb.
    """
    if count < _MIN_UNTOLD_STEPS or before is None or not before.text.rstrip().endswith(":"):
        return False
    is_list_of_wishes = words.NO_PROCESS_HEADING.search(heading) is not None
    told = None if is_list_of_wishes else words.PROCESS_HEADING.search(heading) or words.FIRST_VERB.match(heading)
    return words.TRIGGERED.search(before.text) is not None or (told is not None and verbs == count)


def _promises(before: Paragraph | None) -> bool:
    """Whether a sentence leads to a list and says that something is done."""
    if before is None or not before.text.rstrip().endswith(":"):
        return False
    sentence = _SENTENCE_END.split(before.text.strip())[-1]
    return _trigger(before) is not None or words.LEADS_TO_STEPS.search(sentence) is not None


def _begins(item: Item) -> str:
    """How an item begins, without «(optional)»."""
    return _LABEL.sub("", plain(item.lead), count=1)


def is_process_document(about: About) -> bool:
    """Whether a document describes a process, by its type or, where it has none, by its folder."""
    if about.type is not None:
        return about.type.lower() in words.PROCESS_TYPES
    return not words.PROCESS_FOLDERS.isdisjoint(about.path.lower().split("/")[:-1])


def _of_list(section: Section, piece: ItemList, before: Paragraph | None, source: str, about: About) -> _Workflow:
    return _Workflow(
        title=section.headings[-1] if section.headings else about.title,
        trigger=_trigger(before),
        steps=tuple(plain(item.text)[:_MAX_STEP_CHARS] for item in piece.items),
        participants=(),
        branches=tuple(
            plain(sentence)[:_MAX_STEP_CHARS]
            for item in piece.items
            for sentence in _SENTENCE_END.split(item.text)
            if words.BRANCHING.search(sentence)
        ),
        source=source,
        evidence=Evidence(start=piece.start, end=piece.end, section=section),
    )


def _trigger(before: Paragraph | None) -> str | None:
    """The sentence that leads to a list, when it says what sets the process off."""
    if before is None:
        return None
    sentence = plain(_SENTENCE_END.split(before.text.strip())[-1])
    triggers = words.TRIGGER.match(sentence) or words.TRIGGERED.search(sentence)
    return sentence.rstrip(":") if triggers else None


def _of_diagram(section: Section, piece: Fence, diagram: Diagram, about: About) -> _Workflow:
    return _Workflow(
        title=section.headings[-1] if section.headings else about.title,
        trigger=_first_event(diagram),
        steps=tuple(_step(arrow) for arrow in diagram.arrows),
        participants=diagram.names,
        branches=tuple(dict.fromkeys(_branches(diagram))),
        source="diagram",
        evidence=Evidence(start=piece.start, end=piece.end, section=section),
    )


def _branches(diagram: Diagram) -> Iterator[str]:
    """Blocks of a sequence that are done under a condition; arrows with a label that share their source with others."""
    sources = Counter(arrow.src for arrow in diagram.arrows)
    for arrow in diagram.arrows:
        if diagram.kind == "sequence" and arrow.branch:
            yield arrow.branch
        elif diagram.kind != "sequence" and arrow.label and sources[arrow.src] > 1:
            yield _step(arrow)


def _first_event(diagram: Diagram) -> str | None:
    """What enters the first state, or the first message."""
    if diagram.kind == "state":
        return next((arrow.label or None for arrow in diagram.arrows if arrow.src == START), None)
    return (diagram.arrows[0].label or None) if diagram.kind == "sequence" else None


def _step(arrow: Arrow) -> str:
    branch = f"[{arrow.branch}] " if arrow.branch else ""
    label = f": {arrow.label}" if arrow.label else ""
    return f"{branch}{arrow.src} → {arrow.dst}{label}"[:_MAX_STEP_CHARS]


def _error_paths(found: _Workflow) -> Iterator[str]:
    """Branches that speak of failure, then the steps that do without being in one of these."""
    branches = [branch for branch in found.branches if words.ERROR_PATH.search(branch)]
    yield from branches
    for step in found.steps:
        if words.ERROR_PATH.search(step) and not any(branch in step for branch in branches):
            yield step


def _row(found: _Workflow, maker: RowMaker, about: About) -> RagDocument:
    section = found.evidence.section
    public_id = maker.public_id(*(section.anchor.split("/") if section and section.anchor else [found.title]))
    attributes: D4WorkflowAttributes = {
        "workflow_id": public_id,
        "title": found.title,
        "trigger": found.trigger,
        "steps": list(found.steps),
        "participants": list(found.participants),
        "branches": list(found.branches),
        "error_paths": list(_error_paths(found)),
        "source_path": about.path,
        "confidence": CONFIDENCE[found.source],
    }
    return maker.row(public_id, found.evidence, title=found.title, attributes=attributes)
