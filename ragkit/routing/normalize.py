"""`normalized`: the query cleaned, and nothing added. Spec: ROUTER §4.1; system.md §2.

White space becomes one space, invisible and control characters go, typographic quotes and dashes become plain, letters
are composed (NFC). Code spans and fences stay as they are, and so do words that look like code (paths, identifiers,
addresses), but for the quotes around them. Applying it twice changes nothing, and no rule adds a token: characters are
replaced one by one or removed.
"""

from __future__ import annotations

import re
import unicodedata

_RUN = re.compile("`+")
_EDGE = "«»“”„‟‹›‘’‚‛\"'—–‒―‑−"
_PLAIN = str.maketrans(dict.fromkeys("«»“”„‟‹›", '"') | dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("—–‒―‑−", "-"))
# Backtick and U+1FEF (which NFC turns into one) would move the borders of code spans.
_CODE_LIKE = re.compile(r"[/\\_`\u1fef@#$=<>{}\[\]]|\w[.:(]+\w|\(\)")
_REMOVED_CATEGORIES = frozenset({"Cc", "Cf"})
_JOINERS = "\u200c\u200d"
"""Invisible, but they carry meaning in Persian and in emoji."""


def well_formed(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates as U+FFFD; JSON cannot carry them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_blank(raw: str) -> bool:
    """Whether nothing of a text can be seen: white space and invisible format characters alone."""
    return all(char.isspace() or unicodedata.category(char) == "Cf" for char in raw)


def normalize(raw: str) -> str:
    """The canonical form of a query; may be empty when `raw` holds nothing visible."""
    parts: list[str] = []
    at = 0
    for start, end in code_spans(raw):
        parts.append(_prose(raw[at:start], after_code=at > 0, before_code=True))
        parts.append(raw[start:end])
        at = end
    parts.append(_prose(raw[at:], after_code=at > 0, before_code=False))
    return "".join(parts).strip()


def code_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Start and end of inline code and fences, marks included: a run of backticks up to the next run as long.

    What follows an unclosed run of three or more is code to the end of the text.
    """
    runs = [(match.start(), match.end()) for match in _RUN.finditer(text)]
    places: dict[int, list[int]] = {}
    for index, (start, end) in enumerate(runs):
        places.setdefault(end - start, []).append(index)
    cursor = dict.fromkeys(places, 0)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        start, end = runs[index]
        same = places[end - start]
        while cursor[end - start] < len(same) and same[cursor[end - start]] <= index:
            cursor[end - start] += 1
        if cursor[end - start] < len(same):
            index = same[cursor[end - start]]
            spans.append((start, runs[index][1]))
        elif end - start >= 3:
            spans.append((start, len(text)))
            break
        index += 1
    return tuple(spans)


def _prose(text: str, *, after_code: bool, before_code: bool) -> str:
    """Words joined by one space; a word that touches code stays as it is, or runs of backticks could merge."""
    words = text.split()
    if not words:
        return " " if text else ""
    touching = {0} if after_code and not text[0].isspace() else set[int]()
    if before_code and not text[-1].isspace():
        touching.add(len(words) - 1)
    cleaned = (word if place in touching else _word(word) for place, word in enumerate(words))
    lead = " " if text[0].isspace() else ""
    tail = " " if text[-1].isspace() else ""
    joined = " ".join(word for word in cleaned if word)
    return f"{lead}{joined}{tail}" if joined else " "


def _word(word: str) -> str:
    if word.isascii() and word.isprintable():
        return word
    if _CODE_LIKE.search(word):
        core = word.strip(_EDGE)
        start = word.find(core) if core else len(word)
        return word[:start].translate(_PLAIN) + core + word[start + len(core) :].translate(_PLAIN)
    visible = "".join(
        char for char in word if char in _JOINERS or unicodedata.category(char) not in _REMOVED_CATEGORIES
    )
    return unicodedata.normalize("NFC", visible).translate(_PLAIN)
