"""The languages whose syntax is read by `tree-sitter`: a table each, and which file has which.

The grammars are packages of their own that carry the compiled parser: nothing is downloaded when they run. Rejected:
`tree-sitter-language-pack`, which by now fetches its parsers at run time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ragkit.indexing.code.grammars.c import C
from ragkit.indexing.code.grammars.cpp import CPP
from ragkit.indexing.code.grammars.go import GO
from ragkit.indexing.code.grammars.java import JAVA
from ragkit.indexing.code.grammars.javascript import JAVASCRIPT
from ragkit.indexing.code.grammars.python import PYTHON
from ragkit.indexing.code.grammars.rust import RUST
from ragkit.indexing.code.grammars.sql import SQL
from ragkit.indexing.code.grammars.table import Grammar
from ragkit.indexing.code.grammars.typescript import TSX, TYPESCRIPT

GRAMMARS: Mapping[str, Grammar] = {
    "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "tsx": TSX,
    "go": GO,
    "java": JAVA,
    "rust": RUST,
    "c": C,
    "cpp": CPP,
    "sql": SQL,
    "python": PYTHON,
}
"""Language → its table; `tsx` is TypeScript with markup in it."""


_CPP_HEADER = re.compile(r"^[ \t]*(?:class|namespace|template|using|public:|private:|protected:)\b", re.MULTILINE)


def grammar_of(path: str, language: str, text: str) -> Grammar | None:
    """The table for a file of a language; None where there is none.

    A header `.h` is C unless a line begins as only C++ lines do.
    """
    if language == "typescript" and path.endswith(".tsx"):
        language = "tsx"
    if language == "c" and path.endswith(".h") and _CPP_HEADER.search(text):
        language = "cpp"
    # `go.mod` is of the language's tools, not in the language.
    return None if path.endswith("go.mod") else GRAMMARS.get(language)
