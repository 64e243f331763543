"""D4_WORKFLOW_INDEX: processes with their steps. Spec: system.md §4.

A process is a numbered list that tells what is done (by its heading, its document's type, or how its items begin), a
Mermaid diagram with arrows, or `steps` of the front matter. Branches and error paths stay inside the steps, where the
document has them.
"""

from __future__ import annotations

import re
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
from ragkit.indexing.docs.pieces import Fence, ItemList, Paragraph, Part, plain
from ragkit.layers import D4WorkflowAttributes, Layer

CONFIDENCE: Mapping[str, float] = {
    "front_matter": 1.0,
    "diagram": 0.9,
    "process_heading": 0.9,
    "process_document": 0.8,
    "action": 0.7,
}
"""By what tells that it is a process."""

_MIN_STEPS = 2
_MIN_UNTOLD_STEPS = 3
"""Of a list under a heading that does not name a process."""
_MAX_STEP_CHARS = 500
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workflow:
    title: str
    trigger: str | None
    steps: tuple[str, ...]
    participants: tuple[str, ...]
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
    for part in parts:
        before: Paragraph | None = None
        for piece in part.pieces:
            if isinstance(piece, ItemList) and piece.is_ordered:
                source = _source(part.section, piece, about)
                if source is not None:
                    yield _of_list(part.section, piece, before, source, about)
            elif isinstance(piece, Fence) and piece.language == "mermaid":
                diagram = read_mermaid(piece.lines, piece.first)
                if diagram is not None and len(diagram.arrows) >= _MIN_STEPS:
                    yield _of_diagram(part.section, piece, diagram, about)
            before = piece if isinstance(piece, Paragraph) else None


def _source(section: Section, piece: ItemList, about: About) -> str | None:
    """What tells that a numbered list is a process; None when nothing does."""
    heading = section.headings[-1] if section.headings else about.title
    count = len(piece.items)
    if count >= _MIN_STEPS and words.PROCESS_HEADING.search(heading):
        return "process_heading"
    if count < _MIN_UNTOLD_STEPS:
        return None
    # In a policy, bullets are rules and numbers are a procedure.
    if is_process_document(about) or is_policy_document(about):
        return "process_document"
    verbs = sum(words.FIRST_VERB.match(plain(item.lead)) is not None for item in piece.items)
    in_time = verbs > 0 or any(words.SEQUENCE.search(item.lead) for item in piece.items)
    return "action" if 2 * verbs >= count or (in_time and words.ACTION_HEADING.match(heading)) else None


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
        source=source,
        evidence=Evidence(start=piece.start, end=piece.end, section=section),
    )


def _trigger(before: Paragraph | None) -> str | None:
    """The sentence that leads to a list, when it says what sets the process off."""
    if before is None:
        return None
    sentence = plain(_SENTENCE_END.split(before.text.strip())[-1])
    return sentence.rstrip(":") if words.TRIGGER.match(sentence) else None


def _of_diagram(section: Section, piece: Fence, diagram: Diagram, about: About) -> _Workflow:
    return _Workflow(
        title=section.headings[-1] if section.headings else about.title,
        trigger=_first_event(diagram),
        steps=tuple(_step(arrow) for arrow in diagram.arrows),
        participants=diagram.names,
        source="diagram",
        evidence=Evidence(start=piece.start, end=piece.end, section=section),
    )


def _first_event(diagram: Diagram) -> str | None:
    """What enters the first state, or the first message."""
    if diagram.kind == "state":
        return next((arrow.label or None for arrow in diagram.arrows if arrow.src == START), None)
    return (diagram.arrows[0].label or None) if diagram.kind == "sequence" else None


def _step(arrow: Arrow) -> str:
    branch = f"[{arrow.branch}] " if arrow.branch else ""
    label = f": {arrow.label}" if arrow.label else ""
    return f"{branch}{arrow.src} → {arrow.dst}{label}"[:_MAX_STEP_CHARS]


def _row(found: _Workflow, maker: RowMaker, about: About) -> RagDocument:
    section = found.evidence.section
    public_id = maker.public_id(*(section.anchor.split("/") if section and section.anchor else [found.title]))
    attributes: D4WorkflowAttributes = {
        "workflow_id": public_id,
        "title": found.title,
        "trigger": found.trigger,
        "steps": list(found.steps),
        "participants": list(found.participants),
        "source_path": about.path,
        "confidence": CONFIDENCE[found.source],
    }
    return maker.row(public_id, found.evidence, title=found.title, attributes=attributes)
