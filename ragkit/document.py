"""The row of the index as the extractors emit it, and the file that it comes from.

Named as MODULE §3 names it (`RagDocument`): one passage, document, symbol, edge … of one layer. Extractors give it,
the upserter writes it, a query returns it; it knows neither session nor database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragkit.layers import EDGES, Family, Layer

Vectors = NDArray[np.float32]
"""`(n, dims)` or `(dims,)`, unit length."""
RowLanguage = Literal["ru", "en", "mixed", "code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file to index, read and decoded."""

    path: str
    """Relative to the indexed folder, `/` between parts."""
    text: str
    """Decoded, line ends as `\\n`, no byte order mark."""
    blob_sha: str
    """SHA-1 of the bytes as git counts it (`blob <size>\\0<bytes>`)."""
    size: int
    """Bytes on disk."""
    mtime_ns: int = 0

    @property
    def stamp(self) -> FileStamp:
        """The file without its text."""
        return FileStamp(self.path, self.blob_sha, self.size, self.mtime_ns)


class FileStamp(NamedTuple):
    """Which bytes of which file rows come from."""

    path: str
    blob_sha: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RagDocument:
    """One row of one layer. Spec: MODULE §5; system.md §4."""

    layer: Layer
    path: str
    public_id: str
    """Made of content, not of the database: `path`, `path#heading/subheading`, `path::qname`, `path:L10-L20`."""
    title: str
    text: str
    """What is shown: exactly the lines `line_start`–`line_end` of the source (or the row's own text for catalogs)."""
    context: str = ""
    """What stands before the text when it is embedded and analysed, and is never shown: title › headings, or split
    identifiers of code."""
    line_start: int
    """From 1."""
    line_end: int
    """Inclusive."""
    names: tuple[str, ...] = ()
    """Names that this row defines, as written: a symbol's name and qualified name, a document's title."""
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    """MODULE's attributes of the layer, dots included; JSON types; None where there is no value, none missing."""
    domain: str | None = None
    """Of the document, lower-case (documentation rows alone)."""
    subdomain: str | None = None
    lang: RowLanguage = "en"
    is_test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexWarning:
    """Something that a person should know about one file; the file is indexed all the same unless `left_out`."""

    code: str
    """Key in the message files under `[warning]`."""
    path: str
    line: int | None = None
    params: Mapping[str, object] = field(default_factory=dict[str, object])


class Mount(NamedTuple):
    """One router put under another with a prefix: `app.include_router(users.router, prefix="/v1")`."""

    child: str
    """Dotted name as written, or absolute where an import says so; a module stands for all its routes."""
    prefix: str
    """Everything that the file knows to stand before the child's own paths."""
    parent: str | None = None
    """The router that this one hangs on, where yet other files may mount it; None: the application itself."""
    replaces: bool = False
    """The prefix stands in place of the child's own (Flask's `url_prefix`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What one file gives: a pure function of its bytes and path."""

    family: Family
    rows: tuple[RagDocument, ...]
    """In the order of layer, then place in the file."""
    warnings: tuple[IndexWarning, ...] = ()
    mounts: tuple[Mount, ...] = ()
    """What the file says of the prefixes of others' routes; read by the link step alone."""


def embedded_text(row: RagDocument) -> str | None:
    """What the embedder reads of a row; None for edges, facts and blank rows."""
    if row.layer in EDGES:
        return None
    text = f"{row.context}\n{row.text}" if row.context else row.text
    return text if text.strip() else None
