"""Symbols of all code files, and what a dotted name means among them. Pure.

Extractors emit `dst_ref`, a dotted name as that file's imports read it. Here it is followed through the modules of the
session, imports and re-exports, star imports, base classes, return annotations and annotated or constructed variables.
Nothing is guessed: two modules that one dotted name could mean are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from ragkit.document import RagDocument
from ragkit.indexing.code.symbols import module_name
from ragkit.indexing.links.part import CodePart, LinkPart, SymbolName

_MAX_STEPS = 40
"""Of one reference; circular re-exports and bases end here."""
_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_ANNOTATION = re.compile(
    rf"""\s*["']?(?:(?:[\w.]*\.)?(?:Annotated|Optional|Final|ClassVar|Awaitable|ContextManager|AbstractContextManager)\[\s*)?["']?({_NAME})
         (?:\[.*\])?["']?(?:\s*\|\s*None)?["']?\s*(?:[,\]].*)?""",
    re.VERBOSE | re.DOTALL,
)
_NO_CLASS = frozenset({"None", "Any", "Iterator", "Iterable", "Generator", "Union", "list", "dict", "tuple", "set"})
_VARIABLE = re.compile(r"\s*\w+\s*(?::(?P<annotation>[^=]+))?(?:=(?P<value>.*))?", re.DOTALL)
_CALLED = re.compile(rf"\s*({_NAME})\s*(\(.*\))?\s*", re.DOTALL)
_CALLABLE = re.compile(r"=\s*(?:[\w.]*\.)?Callable\[\s*(?:\[[^\]]*\]|\.\.\.)\s*,(.*)\]", re.DOTALL)
_ALIAS = re.compile(rf"\s*(?:[\w.]*\.)?(?:Annotated|Optional)\[\s*({_NAME})\s*[,\]].*", re.DOTALL)
_CALLABLES = frozenset({"function", "method", "property"})
_VARIABLES = frozenset({"variable", "constant", "type_alias"})


def symbol_name(row: RagDocument) -> SymbolName:
    """Of a C1 row what the link step reads: its kind, and the class that it returns or is an instance of."""
    kind = cast("str", row.attributes["kind"])
    if kind in _CALLABLES:
        signature = cast("str | None", row.attributes["signature"]) or ""
        return SymbolName(kind, typed=_class_named(signature.rpartition("->")[2]) if "->" in signature else None)
    if kind == "class":
        return SymbolName(kind)
    text = row.text[:2_000]
    made = _CALLABLE.search(text)
    match = _VARIABLE.fullmatch(text)
    if match is None:
        return SymbolName(kind, made=_class_named(made[1]) if made else None)
    annotation, value = match["annotation"], match["value"] or ""
    if annotation is not None and annotation.strip().rpartition(".")[2] != "TypeAlias":
        return SymbolName(kind, typed=_class_named(annotation), made=_class_named(made[1]) if made else None)
    alias = _ALIAS.fullmatch(value) or _CALLED.fullmatch(value)
    return SymbolName(kind, alias=alias[1] if alias else None, made=_class_named(made[1]) if made else None)


def _class_named(annotation: str) -> str | None:
    match = _ANNOTATION.fullmatch(annotation[:500])
    return None if match is None or match[1].rpartition(".")[2] in _NO_CLASS else match[1]


@dataclass(frozen=True, slots=True)
class Place:
    """A symbol, or a whole module where `qname` is empty."""

    path: str
    qname: str = ""
    symbol: SymbolName | None = None

    @property
    def kind(self) -> str:
        """Of the symbol, or `module`."""
        return self.symbol.kind if self.symbol else "module"

    @property
    def public_id(self) -> str | None:
        """Of the symbol; None of a module."""
        return f"{self.path}::{self.qname}" if self.symbol else None


@dataclass(slots=True)
class _Steps:
    left: int = _MAX_STEPS

    def spent(self) -> bool:
        self.left -= 1
        return self.left < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolNames:
    """Names of all code files of a session."""

    modules: Mapping[str, str | None]
    """Dotted name, or the end of one, → path; None where several files have it."""
    files: Mapping[str, CodePart]
    _found: dict[str, Place | None] = field(default_factory=dict[str, "Place | None"])

    def resolve(self, ref: str) -> Place | None:
        """What an absolute dotted name means in this session."""
        if ref not in self._found:
            self._found[ref] = self._absolute(ref.split("."), _Steps())
        return self._found[ref]

    def resolve_in(self, path: str, ref: str) -> Place | None:
        """What a dotted name means inside the module at `path`."""
        return self._inside(path, ref.split("."), _Steps())

    def _absolute(self, parts: Sequence[str], steps: _Steps) -> Place | None:
        for end in range(len(parts), 0, -1):
            path = self.modules.get(".".join(parts[:end]))
            if path is not None:
                found = self._inside(path, parts[end:], steps) if end < len(parts) else Place(path)
                if found is not None:
                    return found
        return None

    def _inside(self, path: str, parts: Sequence[str], steps: _Steps) -> Place | None:
        file = self.files.get(path)
        if file is None or steps.spent():
            return None
        name = parts[0].removesuffix("()")
        symbol = file.symbols.get(name)
        if symbol is not None:
            return self._member(Place(path, name, symbol), parts[0].endswith("()"), parts[1:], steps)
        target = file.imports.get(name)
        if target is not None:
            mark = "()" if parts[0].endswith("()") else ""
            return self._absolute([*(target + mark).split("."), *parts[1:]], steps)
        if name.startswith("_"):
            return None
        for star in file.stars:
            found = self._absolute([*star.split("."), *parts], steps)
            if found is not None:
                return found
        return None

    def _member(self, place: Place, called: bool, parts: Sequence[str], steps: _Steps) -> Place | None:
        """What attributes of a symbol mean; of a function, those of what it returns when called."""
        if not parts and not (called and place.kind != "class"):
            return place
        if steps.spent():
            return None
        if place.kind != "class":
            is_call = bool(parts) and parts[0] == "__call__()"
            typed = self._called_type(place, steps) if is_call else self._type_of(place, steps)
            parts = parts[1:] if is_call else parts
            return self._member(typed, False, parts, steps) if typed is not None and parts else typed
        file = self.files[place.path]
        name = parts[0].removesuffix("()")
        if name != "super":
            qname = f"{place.qname}.{name}"
            symbol = file.symbols.get(qname)
            if symbol is not None:
                return self._member(Place(place.path, qname, symbol), parts[0].endswith("()"), parts[1:], steps)
        else:
            parts = parts[1:]
        for base in file.bases.get(place.qname, ()):
            owner = self._absolute(base.split("."), steps)
            if owner is not None and owner.kind == "class" and parts:
                found = self._member(owner, False, parts, steps)
                if found is not None:
                    return found
        return None

    def _type_of(self, place: Place, steps: _Steps) -> Place | None:
        """The class that a function returns, or that a variable or field is an instance or an alias of."""
        symbol = place.symbol
        if symbol is None:
            return None
        if symbol.alias is None:
            return self._annotated(symbol.typed, place.path, steps)
        found = self._inside(place.path, symbol.alias.split("."), steps)
        if found is not None and found.kind in ("function", "method"):
            found = self._type_of(found, steps)
        return _if_class(found)

    def _called_type(self, place: Place, steps: _Steps) -> Place | None:
        """The class that calling an instance of a type alias gives: `Factory = Callable[[], Unit]`."""
        return self._annotated(place.symbol.made, place.path, steps) if place.symbol else None

    def _annotated(self, name: str | None, path: str, steps: _Steps) -> Place | None:
        if name is None:
            return None
        found = self._inside(path, name.split("."), steps)
        if found is not None and found.kind in _VARIABLES:
            found = self._type_of(found, steps)
        return _if_class(found)


def _if_class(found: Place | None) -> Place | None:
    return found if found is not None and found.kind == "class" else None


def symbol_names(parts: Iterable[LinkPart]) -> SymbolNames:
    """Of the parts of a session, in any order."""
    files = {part.path: part.code for part in sorted(parts, key=lambda part: part.path) if part.code is not None}
    modules = _modules(files)
    if modules.get("__init__") is not None:
        modules.update(_under_own_name(modules, files.values()))
    return SymbolNames(modules=modules, files=files)


def _modules(paths: Iterable[str]) -> dict[str, str | None]:
    """Whole names first: the end of a longer one never hides a module; ends of one part alone are too little."""
    whole: dict[str, str | None] = {}
    ends: dict[str, str | None] = {}
    for path in sorted(paths):
        name = module_name(path)
        # A stub beside its module is the same module; the source is what is shown.
        known = whole.get(name)
        whole[name] = path if known is None or known.endswith(".pyi") else known
        parts = name.split(".")
        for start in range(1, len(parts)):
            end = ".".join(parts[start:])
            ends[end] = None if end in ends and ends[end] != path else path
    return {**{end: path for end, path in ends.items() if "." in end or _is_package(path)}, **whole}


def _under_own_name(modules: Mapping[str, str | None], files: Iterable[CodePart]) -> dict[str, str | None]:
    """Modules by the full name that they call each other by, where the indexed folder is itself a package: its own name
    is the one before most imports whose rest is a module of the session.
    """
    votes: Counter[str] = Counter()
    for file in files:
        for ref in file.imported:
            first, _, rest = ref.partition(".")
            named = rest.rpartition(".")[0]
            votes[first] += bool(first not in modules and (modules.get(rest) or modules.get(named)))
    name = max(sorted(votes), key=votes.__getitem__, default="")
    if not votes[name]:
        return {}
    full = {f"{name}.{module}": path for module, path in modules.items() if module != "__init__"}
    return {**full, name: modules["__init__"]}


def _is_package(path: str | None) -> bool:
    return path is not None and path.endswith("/__init__.py")
