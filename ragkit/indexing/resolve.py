"""The link step of code: edges of all files of a session to the symbols that they mean. Spec: system.md §5 (Link).

Extractors emit what one file says: `dst_ref`, a dotted name as that file's imports read it. Here it is followed through
the modules of the session, imports and re-exports, star imports, base classes, return annotations and annotated or
constructed variables. Pure, a function of names alone; the order of the rows does not matter. Nothing is guessed: two
modules that one dotted name could mean are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from ragkit.document import RagDocument
from ragkit.indexing.code.symbols import module_name

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


@dataclass(frozen=True, slots=True)
class _Place:
    """A symbol, or a whole module where `row` is None."""

    path: str
    row: RagDocument | None

    @property
    def kind(self) -> str:
        return cast("str", self.row.attributes["kind"]) if self.row else "module"

    @property
    def qname(self) -> str:
        return cast("str", self.row.attributes["qname"]) if self.row else ""


@dataclass(slots=True)
class _Steps:
    left: int = _MAX_STEPS

    def spent(self) -> bool:
        self.left -= 1
        return self.left < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """Names of all files."""

    modules: Mapping[str, str | None]
    """Dotted name, or the end of one, → path; None where several files have it."""
    symbols: Mapping[tuple[str, str], RagDocument]
    """(path, qualified name) → the first of that name."""
    imports: Mapping[tuple[str, str], str]
    """(path, name) → what a module-level import binds it to."""
    stars: Mapping[str, Sequence[str]]
    """Path → modules whose names it takes over."""
    bases: Mapping[tuple[str, str], Sequence[str]]
    """(path, qualified name) of a class → references of its bases, in order."""
    found: dict[str, _Place | None] = field(default_factory=dict[str, "_Place | None"])

    def resolve(self, ref: str) -> _Place | None:
        """What an absolute dotted name means in this session."""
        if ref not in self.found:
            self.found[ref] = self.absolute(ref.split("."), _Steps())
        return self.found[ref]

    def absolute(self, parts: Sequence[str], steps: _Steps) -> _Place | None:
        for end in range(len(parts), 0, -1):
            path = self.modules.get(".".join(parts[:end]))
            if path is not None:
                found = self.inside(path, parts[end:], steps) if end < len(parts) else _Place(path, None)
                if found is not None:
                    return found
        return None

    def inside(self, path: str, parts: Sequence[str], steps: _Steps) -> _Place | None:
        """What a dotted name means inside a module."""
        if steps.spent():
            return None
        name = parts[0].removesuffix("()")
        row = self.symbols.get((path, name))
        if row is not None:
            return self.member(_Place(path, row), parts[0].endswith("()"), parts[1:], steps)
        target = self.imports.get((path, name))
        if target is not None:
            mark = "()" if parts[0].endswith("()") else ""
            return self.absolute([*(target + mark).split("."), *parts[1:]], steps)
        if name.startswith("_"):
            return None
        for star in self.stars.get(path, ()):
            found = self.absolute([*star.split("."), *parts], steps)
            if found is not None:
                return found
        return None

    def member(self, place: _Place, called: bool, parts: Sequence[str], steps: _Steps) -> _Place | None:
        """What attributes of a symbol mean; of a function, those of what it returns when called."""
        if not parts and not (called and place.kind != "class"):
            return place
        if steps.spent():
            return None
        if place.kind != "class":
            is_call = bool(parts) and parts[0] == "__call__()"
            typed = self.called_type(place, steps) if is_call else self.type_of(place, steps)
            parts = parts[1:] if is_call else parts
            return self.member(typed, False, parts, steps) if typed is not None and parts else typed
        name = parts[0].removesuffix("()")
        if name != "super":
            row = self.symbols.get((place.path, f"{place.qname}.{name}"))
            if row is not None:
                return self.member(_Place(place.path, row), parts[0].endswith("()"), parts[1:], steps)
        else:
            parts = parts[1:]
        for base in self.bases.get((place.path, place.qname), ()):
            owner = self.absolute(base.split("."), steps)
            if owner is not None and owner.kind == "class" and parts:
                found = self.member(owner, False, parts, steps)
                if found is not None:
                    return found
        return None

    def type_of(self, place: _Place, steps: _Steps) -> _Place | None:
        """The class that a function returns, or that a variable or field is an instance or an alias of."""
        if place.row is None:
            return None
        if place.kind in ("function", "method", "property"):
            signature = cast("str | None", place.row.attributes["signature"]) or ""
            return self.annotated(signature.rpartition("->")[2], place.path, steps) if "->" in signature else None
        match = _VARIABLE.fullmatch(place.row.text[:2_000])
        if match is None:
            return None
        annotation, value = match["annotation"], match["value"]
        if annotation is not None and annotation.strip().rpartition(".")[2] != "TypeAlias":
            return self.annotated(annotation, place.path, steps)
        alias = _ALIAS.fullmatch(value or "") or _CALLED.fullmatch(value or "")
        if alias is None:
            return None
        found = self.inside(place.path, alias[1].split("."), steps)
        if found is not None and found.kind in ("function", "method"):
            found = self.type_of(found, steps)
        return found if found is not None and found.kind == "class" else None

    def called_type(self, place: _Place, steps: _Steps) -> _Place | None:
        """The class that calling an instance of a type alias gives: `Factory = Callable[[], Unit]`."""
        match = _CALLABLE.search(place.row.text[:2_000]) if place.row else None
        return self.annotated(match[1], place.path, steps) if match else None

    def annotated(self, annotation: str, path: str, steps: _Steps) -> _Place | None:
        match = _ANNOTATION.fullmatch(annotation[:500])
        if match is None or match[1].rpartition(".")[2] in _NO_CLASS:
            return None
        found = self.inside(path, match[1].split("."), steps)
        if found is not None and found.kind in ("variable", "constant", "type_alias"):
            found = self.type_of(found, steps)
        return found if found is not None and found.kind == "class" else None


def resolve_edges(edges: Sequence[RagDocument], symbols: Iterable[RagDocument]) -> tuple[RagDocument, ...]:
    """The edges in their order, with `dst_symbol_id` where the session has the target.

    `edges`: C2 rows of every file of a session, as extracted or already linked; `symbols`: its C1 rows. Edges that
    their own file resolved stay as they are. An import of a whole module gets `dst_path` in `lang_payload`. A call of
    what turns out to be a class becomes `instantiates`, and the other way round; a read of what turns out to be no
    variable is left out. What the session does not have keeps its `dst_ref` alone.
    """
    session = _session(edges, list(symbols))
    linked = (_linked(edge, session) for edge in edges)
    return tuple(edge for edge in linked if edge is not None)


def _session(edges: Sequence[RagDocument], rows: Sequence[RagDocument]) -> _Session:
    symbols: dict[tuple[str, str], RagDocument] = {}
    for row in rows:
        symbols.setdefault((row.path, cast("str", row.attributes["qname"])), row)
    imports: dict[tuple[str, str], str] = {}
    stars: dict[str, list[str]] = {}
    bases: dict[tuple[str, str], list[str]] = {}
    for edge in sorted(edges, key=lambda edge: (edge.path, edge.line_start)):
        kind, ref = edge.attributes["edge_type"], cast("str", edge.attributes["dst_ref"])
        source = cast("str | None", edge.attributes["src_symbol_id"])
        if kind == "imports" and source is None:
            alias = cast("Mapping[str, object]", edge.attributes["lang_payload"]).get("alias")
            if alias == "*":
                stars.setdefault(edge.path, []).append(ref.removesuffix(".*"))
            elif isinstance(alias, str):
                target = ref if edge.attributes["callsite_kind"] == "from_import" else _bound_module(ref, alias)
                imports.setdefault((edge.path, alias), target)
        elif kind == "inherits" and source is not None and edge.attributes["callsite_kind"] == "base":
            bases.setdefault((edge.path, source.removeprefix(f"{edge.path}::")), []).append(ref)
    paths = dict.fromkeys([*(row.path for row in rows), *(edge.path for edge in edges)])
    modules = _modules(paths)
    if modules.get("__init__") is not None:
        modules.update(_under_own_name(modules, edges))
    return _Session(modules=modules, symbols=symbols, imports=imports, stars=stars, bases=bases)


def _bound_module(ref: str, alias: str) -> str:
    """What `import a.b.c` binds: `a`; with `as x` the whole."""
    return alias if ref.partition(".")[0] == alias else ref


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


def _under_own_name(modules: Mapping[str, str | None], edges: Sequence[RagDocument]) -> dict[str, str | None]:
    """Modules by the full name that they call each other by, where the indexed folder is itself a package: its own name
    is the one before most imports whose rest is a module of the session.
    """
    votes: Counter[str] = Counter()
    for edge in edges:
        if edge.attributes["edge_type"] == "imports":
            first, _, rest = cast("str", edge.attributes["dst_ref"]).partition(".")
            named = rest.rpartition(".")[0]
            votes[first] += bool(first not in modules and (modules.get(rest) or modules.get(named)))
    name = max(sorted(votes), key=votes.__getitem__, default="")
    if not votes[name]:
        return {}
    full = {f"{name}.{module}": path for module, path in modules.items() if module != "__init__"}
    return {**full, name: modules["__init__"]}


def _is_package(path: str | None) -> bool:
    return path is not None and path.endswith("/__init__.py")


def _linked(edge: RagDocument, session: _Session) -> RagDocument | None:
    attributes = edge.attributes
    if attributes["resolution"] in ("local", "builtin"):
        return edge
    ref = cast("str", attributes["dst_ref"])
    kind = cast("str", attributes["edge_type"])
    found = session.resolve(ref.removesuffix(".*"))
    if found is None and attributes["resolution"] == "unresolved" and "?" not in ref:
        found = session.inside(edge.path, ref.split("."), _Steps())
    payload = {key: value for key, value in _payload(edge).items() if key != "dst_path"}
    if found is None:
        return replace(edge, attributes={**attributes, "dst_symbol_id": None, "lang_payload": payload})
    if found.row is None:
        if kind == "imports":
            payload["dst_path"] = found.path
        return replace(edge, attributes={**attributes, "dst_symbol_id": None, "lang_payload": payload})
    if kind in ("reads_state", "writes_state") and found.kind in ("class", "function", "method", "property"):
        return None if kind == "reads_state" else edge
    if kind in ("calls", "instantiates") and found.kind in ("class", "function", "method"):
        kind = "instantiates" if found.kind == "class" else "calls"
    linked = {
        **attributes,
        "edge_type": kind,
        "dst_symbol_id": found.row.public_id,
        "resolution": "import",
        "lang_payload": payload,
    }
    return replace(edge, attributes=linked)


def _payload(edge: RagDocument) -> Mapping[str, object]:
    return cast("Mapping[str, object]", edge.attributes["lang_payload"])
