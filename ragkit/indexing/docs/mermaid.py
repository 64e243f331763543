"""Mermaid sequence, flow and state diagrams as arrows between names. A line that is not understood is passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragkit.indexing.docs.words import BRANCH

DiagramKind = Literal["sequence", "flow", "state"]

MAX_ARROWS = 200
"""Of one diagram."""

_KINDS: dict[str, DiagramKind] = {
    "sequencediagram": "sequence",
    "flowchart": "flow",
    "graph": "flow",
    "statediagram": "state",
    "statediagram-v2": "state",
}
_MAX_LINE_CHARS = 500
_PARTICIPANT = re.compile(r"\s*(?:create\s+)?(?:participant|actor)\s+(?P<id>[^\s:]+)(?:\s+as\s+(?P<label>.+))?\s*$")
_MESSAGE = re.compile(
    r"\s*(?P<src>[^\s:+>-][^:>+]*?)\s*(?:<<)?--?(?:>>|>|x|\))\s*[+-]?\s*(?P<dst>[^\s:+>-][^:>]*?)\s*:\s*(?P<label>.*)"
)
_BRANCH_LINE = re.compile(r"\s*(?P<word>[a-z]+)\b\s*(?P<label>.*)")
_TRANSITION = re.compile(
    r"\s*(?P<src>\[\*\]|[^\s:>-][^:>]*?)\s*--?>\s*(?P<dst>\[\*\]|[^\s:>]+)\s*(?::\s*(?P<label>.*))?$"
)
_STATE = re.compile(r"\s*state\s+\"(?P<label>[^\"]+)\"\s+as\s+(?P<id>\S+)")
_STATE_LABEL = re.compile(r"\s*(?P<id>\w+)\s*:\s*(?P<label>\S.*)")
_NODE = re.compile(
    r"\s*(?P<id>[^\s\[\](){}<>|&;\"-]+(?:-[^\s\[\](){}<>|&;\">.-]+)*)"
    r"(?P<shape>\[{1,2}[(/\\]?(?P<square>[^\[\]]*?)[)/\\]?\]{1,2}|\({1,3}\[?(?P<round>[^()\[\]]*?)\]?\){1,3}"
    r"|\{{1,2}(?P<curly>[^{}]*)\}{1,2}|>(?P<flag>[^\]]*)\])?(?::::?\w+)?"
)
_LINK = re.compile(
    r"\s*(?:<|o(?=-)|x(?=-))?(?:--+|==+|-\.+-?)(?:\s*(?P<inner>[^-=.|>\s][^|>]*?)\s*(?:--+|==+|\.+-))?(?:>|o\s|x\s)?"
    r"(?:\|(?P<piped>[^|]*)\|)?"
)
_AND = re.compile(r"\s*&")
_BREAK = re.compile(r"<br\s*/?>|\\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """From one name to another; both names as a reader sees them."""

    src: str
    dst: str
    label: str
    line: int
    """From 0, of the file."""
    branch: str = ""
    """`alt: no answer` and the like, where the arrow is inside one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagram:
    """A diagram, read."""

    kind: DiagramKind
    names: tuple[str, ...]
    """Participants, nodes or states in the order of the text; without start and end."""
    arrows: tuple[Arrow, ...]


START = "[*]"
"""Where a state diagram begins and ends."""


def read_mermaid(lines: Sequence[str], first: int) -> Diagram | None:
    """The diagram that the lines of a fence draw; None for other kinds. `first` is the file's line of `lines[0]`."""
    body = [(first + place, line) for place, line in enumerate(lines) if len(line) <= _MAX_LINE_CHARS]
    body = [(number, line) for number, line in body if line.strip() and not line.lstrip().startswith("%%")]
    if body and body[0][1].strip() == "---":
        ends = [place for place, (_, line) in enumerate(body[1:], start=1) if line.strip() == "---"]
        body = body[ends[0] + 1 :] if ends else []
    if not body:
        return None
    kind = _KINDS.get(body[0][1].split()[0].rstrip(";").lower())
    if kind is None:
        return None
    labels: dict[str, str] = {}
    readers = {"sequence": _messages, "flow": _edges, "state": _transitions}
    arrows = [arrow for _, arrow in zip(range(MAX_ARROWS), readers[kind](body[1:], labels), strict=False)]
    named = [
        Arrow(
            src=labels.get(arrow.src, arrow.src),
            dst=labels.get(arrow.dst, arrow.dst),
            label=arrow.label,
            line=arrow.line,
            branch=arrow.branch,
        )
        for arrow in arrows
    ]
    names = [*labels.values(), *(name for arrow in named for name in (arrow.src, arrow.dst) if name != START)]
    return Diagram(kind=kind, names=tuple(dict.fromkeys(names)), arrows=tuple(named))


def _messages(body: Sequence[tuple[int, str]], labels: dict[str, str]) -> Iterator[Arrow]:
    branches: list[str] = []
    for number, line in body:
        participant = _PARTICIPANT.match(line)
        if participant is not None:
            labels[participant["id"]] = _clean(participant["label"] or participant["id"])
            continue
        message = _MESSAGE.match(line)
        if message is not None:
            branch = next((held for held in reversed(branches) if held), "")
            label = _clean(message["label"])
            yield Arrow(src=message["src"], dst=message["dst"], label=label, line=number, branch=branch)
            continue
        word = _BRANCH_LINE.match(line)
        if word is None:
            continue
        if word["word"] in ("else", "and", "option") and branches:
            branches.pop()
        if word["word"] in BRANCH:
            branches.append(f"{word['word']}: {_clean(word['label'])}" if word["label"] else word["word"])
        elif word["word"] in ("rect", "box"):
            branches.append("")
        elif word["word"] == "end" and branches:
            branches.pop()


def _transitions(body: Sequence[tuple[int, str]], labels: dict[str, str]) -> Iterator[Arrow]:
    for number, line in body:
        state = _STATE.match(line)
        if state is not None:
            labels[state["id"]] = _clean(state["label"])
            continue
        arrow = _TRANSITION.match(line)
        if arrow is not None:
            yield Arrow(src=arrow["src"].strip(), dst=arrow["dst"], label=_clean(arrow["label"] or ""), line=number)
        elif (label := _STATE_LABEL.match(line)) is not None:
            labels[label["id"]] = _clean(label["label"])


def _edges(body: Sequence[tuple[int, str]], labels: dict[str, str]) -> Iterator[Arrow]:
    for number, line in body:
        first = line.split(maxsplit=1)[0].rstrip(";")
        if first in ("subgraph", "end", "style", "classDef", "class", "click", "linkStyle", "direction"):
            continue
        for statement in line.split(";"):
            yield from _chain(statement, number, labels)


def _chain(statement: str, number: int, labels: dict[str, str]) -> Iterator[Arrow]:
    """`a[A] & b --> c -->|label| d`: an arrow from each node to each of the next."""
    sources, position = _nodes(statement, 0, labels)
    while sources:
        link = _LINK.match(statement, position)
        if link is None or link.end() == position:
            return
        targets, position = _nodes(statement, link.end(), labels)
        label = _clean(link["piped"] or link["inner"] or "")
        for src in sources:
            for dst in targets:
                yield Arrow(src=src, dst=dst, label=label, line=number)
        sources = targets


def _nodes(statement: str, position: int, labels: dict[str, str]) -> tuple[list[str], int]:
    found: list[str] = []
    while (node := _NODE.match(statement, position)) is not None:
        found.append(node["id"])
        label = next((node[shape] for shape in ("square", "round", "curly", "flag") if node[shape]), None)
        if label is not None:
            labels[node["id"]] = _clean(label)
        position = node.end()
        joint = _AND.match(statement, position)
        if joint is None:
            break
        position = joint.end()
    return found, position


def _clean(text: str) -> str:
    cleaned = " ".join(_BREAK.sub(" ", text).split())
    return cleaned[1:-1] if len(cleaned) > 1 and cleaned[0] == cleaned[-1] == '"' else cleaned
