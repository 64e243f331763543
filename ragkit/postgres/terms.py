"""Words as the database stores them: hashes salted by session, and BM25 weights that depend on the row alone.

Hashes of words are even, those of marks (names, path suffixes, nodes) odd: document frequencies are counted for words.

Salted, because the inverted index is shared by sessions: with plain words a small session would walk the postings of
all others (evidence.md: 7 ms against 0.6 ms). Robertson and Zaragoza's BM25 (2009) with b = 0: no average length
enters a stored weight, so a change of one file makes no other row stale.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from pgvector import SparseVector

from ragkit.document import RagDocument
from ragkit.layers import NODES
from ragkit.text import ANALYSIS_VERSION, Analyzer

K1 = 1.2
DIMENSIONS = 1_000_000_000
"""Of the sparse vectors; pgvector allows no more."""
MAX_TERMS = 4000
"""Distinct words kept of one row; pgvector allows 16,000 entries."""
ALL_ROWS = 0
"""The term under which `rag_term` counts rows."""


class TermHasher:
    """Hashes of one session's words. Not shared by threads: it remembers what it hashed."""

    def __init__(self, rag_session_id: str, analysis_version: int = ANALYSIS_VERSION) -> None:
        self._salt = f"{rag_session_id}\0{analysis_version}\0".encode()
        self._known: dict[str, int] = {}

    def word(self, term: str) -> int:
        """A word as the analysis gives it."""
        found = self._known.get(term)
        return self._hash(term) if found is None else found

    def name(self, name: str) -> int:
        """A name that rows define, compared without case."""
        return self._mark("=" + name.casefold())

    def path_suffix(self, suffix: str) -> int:
        """Whole segments of a path, counted from its end, compared without case."""
        return self._mark("/" + suffix.strip("/").casefold())

    def node(self, public_id: str) -> int:
        """A row that other rows point to."""
        return self._mark("@" + public_id)

    def _mark(self, key: str) -> int:
        return self._hash(key) | 1

    def _hash(self, key: str) -> int:
        found = self._known.get(key)
        if found is None:
            digest = blake2b(self._salt + key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            found = int.from_bytes(digest, "little", signed=True) & ~1 or 2
            self._known[key] = found
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """What finding a row by words needs."""

    words: tuple[int, ...]
    """Hashes of the distinct words, sorted: what document frequencies count."""
    terms: tuple[int, ...]
    """`words`, then names, path suffixes and nodes: what the inverted index holds."""
    weights: SparseVector
    """BM25 weight of each word."""


def posting(row: RagDocument, analyzer: Analyzer, hasher: TermHasher) -> Posting:
    """Of context and text of a row; names, path, and what the row points to go under marks of their own."""
    counts = analyzer.term_counts(f"{row.context}\n{row.text}" if row.context else row.text)
    if len(counts) > MAX_TERMS:
        counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_TERMS])
    hashed = {hasher.word(term): tf for term, tf in counts.items()}
    words = tuple(sorted(hashed))
    marks = {hasher.name(name) for name in row.names} | {hasher.path_suffix(s) for s in path_suffixes(row.path)}
    marks |= {hasher.node(node) for node in nodes(row)}
    weights = {index_of(term): tf * (K1 + 1) / (tf + K1) for term, tf in hashed.items()}
    return Posting(words=words, terms=(*words, *sorted(marks)), weights=SparseVector(weights, DIMENSIONS))


def nodes(row: RagDocument) -> tuple[str, ...]:
    """Public ids of the rows that a row points to."""
    found = (row.attributes.get(name) for name in NODES.get(row.layer, ()))
    return tuple(node for node in found if isinstance(node, str))


def path_suffixes(path: str) -> tuple[str, ...]:
    """Every run of whole segments that ends the path, shortest first: `c.py`, `b/c.py`, `a/b/c.py`."""
    parts = path.replace("\\", "/").strip("/").split("/")
    return tuple("/".join(parts[-n:]) for n in range(1, len(parts) + 1))


def index_of(term: int) -> int:
    """Place of a hashed word in the sparse vectors."""
    return ((term & 0x7FFF_FFFF_FFFF_FFFF) >> 1) % DIMENSIONS


def idf(rows_with_word: int, rows: int) -> float:
    """Inverse document frequency; never negative (Robertson and Zaragoza 2009, with the usual 1 + inside)."""
    return math.log(1 + (max(rows, rows_with_word) - rows_with_word + 0.5) / (rows_with_word + 0.5))


def idf_vector(weights: Mapping[int, float]) -> SparseVector:
    """The query's side of the inner product, by hashed word."""
    return SparseVector({index_of(term): weight for term, weight in weights.items() if weight > 0}, DIMENSIONS)


def count_words(postings: Iterable[Posting]) -> Counter[int]:
    """In how many of the rows each word stands, and the number of rows under `ALL_ROWS`."""
    counts: Counter[int] = Counter()
    for item in postings:
        counts.update(item.words)
        counts[ALL_ROWS] += 1
    return counts


def content_hash(text: str) -> int:
    """Of a shown text, white space folded: equal for rows that a person would call the same."""
    folded: Sequence[str] = text.split()
    return int.from_bytes(
        blake2b(" ".join(folded).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True
    )
