"""Where else a document speaks of the things that it defines: for whoever joins one thing of several."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragkit.indexing.docs.evidence import Evidence
from ragkit.indexing.docs.outline import Outline
from ragkit.indexing.docs.pieces import MAX_LINE_CHARS

MAX_MENTIONS = 50
"""Lines of one entity."""

_MAX_MENTIONED = 100
_MAX_READ_LINES = 20_000
"""Every line is searched for every name: a page that would cost more than that is a list of data."""

_ENDINGS = (
    "ого|его|ому|ему|ыми|ими|ами|ями|иями|ией|ией|иям|иях|ах|ях|ов|ев|ей|ом|ем|ём|ам|ям|ой|ою|ью|ый|ий|ая|яя|ое|ее|ые|ие"
    "|ия|ию|ии|ую|юю|ым|им|ых|их|[аеёиоуыюяйь]"
)
_ENDING = re.compile(f"(?:{_ENDINGS})$")


_PLURAL = re.compile(r"(?<=[a-z]{3})(?<!s)s$")


def mentions_of(named: Sequence[tuple[Sequence[str], Evidence]], outline: Outline) -> list[list[int]]:
    """For each of some named things the lines (from 1) outside of its definition where one of its names stands, in
    order, at most MAX_MENTIONS; Russian names in any of their forms. Code blocks count: they show the thing in use.
    """
    if not named:
        return []
    owners: dict[str, list[int]] = {}
    for place, (names, _) in enumerate(named[:_MAX_MENTIONED]):
        for name in names:
            owners.setdefault(forms_of(name), []).append(place)
    stems = sorted(owners, key=lambda stem: (-len(stem), stem))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(f'({stem})' for stem in stems)})(?!\w)", re.IGNORECASE)
    found: list[list[int]] = [[] for _ in named]
    for number, line in enumerate(outline.source.lines[:_MAX_READ_LINES]):
        if len(line) > MAX_LINE_CHARS:
            continue
        hits = {place for match in pattern.finditer(line) for place in owners[stems[(match.lastindex or 1) - 1]]}
        for place in sorted(hits):
            evidence = named[place][1]
            if not evidence.start <= number < evidence.end and len(found[place]) < MAX_MENTIONS:
                found[place].append(number + 1)
    return found


def forms_of(name: str) -> str:
    """A pattern of a name in its forms: Russian words with any ending, English ones in singular or plural."""
    parts = [
        _ENDING.sub("", word) + f"(?:{_ENDINGS})?"
        if _is_russian(word)
        else re.escape(_PLURAL.sub("", word)) + "(?:e?s)?"
        for word in name.lower().split()
    ]
    return r"\s+".join(parts)


def _is_russian(word: str) -> bool:
    return len(word) > 3 and all("а" <= letter <= "я" or letter == "ё" for letter in word)
