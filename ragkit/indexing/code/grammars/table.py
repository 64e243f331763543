"""What one language's table says: which nodes of its syntax tree are symbols, imports, comments. Data alone.

One walker reads all tables (`tree_symbols.py`, `tree_imports.py`, `tree_pieces.py`); none of them knows a language.
Node and field names are those of the grammar packages that `constraints.txt` pins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ImportStyle = Literal["path", "dotted", "use_tree", "python"]
"""How the target of an import is written: a path in quotes or brackets, a dotted name, Rust's tree of names, or as
Python writes it.
"""


def _no_kinds() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How nodes of a type define a symbol."""

    kind: str | None = None
    """None: none, unless `by_value` says otherwise."""
    name: str = "name"
    """Field that holds the name (there may be several); empty: the node itself is the name."""
    name_types: tuple[str, ...] = ()
    """Types of the child that is the name, where the grammar has no field for it."""
    value: str = "value"
    by_value: Mapping[str, str] = field(default_factory=_no_kinds)
    """Type of the node in the field `value` → kind: `const f = () => …` is a function."""
    through: Mapping[str, str] = field(default_factory=_no_kinds)
    """Type of a declarator on the way to the name → kind: `int f(void);` is a function."""
    needs: str = ""
    """Field without which it is a mere mention."""
    owner: str = ""
    """Field that names the type to which it belongs, where it does not stand inside that."""
    trait: str = ""
    """Field that, when it is there, makes the kind `trait_impl`."""
    only_in: str = ""
    """Type of the node right above, where its own type says too little."""
    members_only: bool = False
    """Whether it counts only outside of functions and of arguments."""
    is_scope_only: bool = False
    """Whether it lends its name to what is inside without being a symbol: `impl`, a C++ namespace."""
    hidden_in: str = ""
    """Type of the rule around it that speaks for both: a struct in its `typedef`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """One language."""

    package: str
    """Python package of the grammar."""
    function: str = "language"
    """Its function that gives the grammar."""
    rules: Mapping[str, Rule]
    """Type of a node → how it defines a symbol."""
    anonymous: frozenset[str] = frozenset()
    """Functions without a name, arguments: what is inside is local."""
    wrappers: frozenset[str] = frozenset()
    """Nodes that belong to the one definition inside them: `export …`, a decorated definition."""
    declarators: frozenset[str] = frozenset()
    """Nodes between the field `name` and the name: pointers, lists of parameters."""
    lists: frozenset[str] = frozenset()
    """Nodes that hold several names: `a, b = 1, 2`."""
    names: frozenset[str]
    """Types of nodes that are names."""
    comments: frozenset[str] = frozenset({"comment"})
    decorators: frozenset[str] = frozenset()
    """Decorators, annotations, attributes."""
    frames: frozenset[str] = frozenset()
    """Nodes whose definitions are chunks of their own as if nothing stood around them: `#ifdef`, a namespace."""
    bodies: frozenset[str] = frozenset()
    """Nodes that end a signature, besides the field `body`."""
    visibility: Mapping[str, str]
    """Word before the name → visibility."""
    top_visibility: str
    """Of a symbol at the top of a file without such a word."""
    member_visibility: Mapping[str, str] = field(default_factory=_no_kinds)
    """Kind of the parent → visibility of a member without such a word; `public` for others."""
    name_visibility: tuple[tuple[str, str], ...] = ()
    """Pattern that a name matches from its start → visibility; stronger than words."""
    sections: str = ""
    """Node type of a label that sets the visibility of members below it."""
    constant_words: frozenset[frozenset[str]] = frozenset()
    """Words that together before a name make a variable a constant."""
    upper_constants: bool = False
    """Whether a variable in capitals is a constant."""
    properties: frozenset[str] = frozenset()
    """Decorators that make a method a property."""
    separator: str = "."
    """Between the parts of a qualified name, as written in the language."""
    unprefixed: str = ""
    """Pattern of what is taken off the start or the middle of a name: `module.exports.`."""
    has_docstrings: bool = False
    is_tolerant: bool = False
    """Whether errors are normal, because macros or dialects are no part of the grammar: then nobody is warned."""
    member_entries: frozenset[str] = frozenset()
    """Names of methods that are entry points."""
    unit: str = ""
    """Query with `@unit`: the package that a file says it belongs to."""
    exported: str = ""
    """Query with `@name`: names that are made public elsewhere in the file."""
    imports: str = ""
    """Query with `@import`, the statement, and `@target`; for Python `@module` and `@alias` too."""
    import_style: ImportStyle = "path"

    def node_types(self) -> frozenset[str]:
        """Types of all nodes that the pass over a source looks at."""
        named = self.anonymous | self.wrappers | self.comments | self.decorators | self.rules.keys()
        return named | {self.sections} if self.sections else named
