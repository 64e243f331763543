"""The door of code: one file to its rows. Spec: MODULE §3 (`CodeIndexingPipeline`)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ragkit.document import Extraction, IndexWarning, RagDocument, SourceFile
from ragkit.indexing.code.c0_chunks import SourceUnit, source_chunks
from ragkit.indexing.code.c1_symbols import symbol_rows
from ragkit.indexing.code.c3_entrypoints import entry_rows, script_rows
from ragkit.indexing.code.c4_public_api import api_rows
from ragkit.indexing.code.edges import edge_rows
from ragkit.indexing.code.entries import EntrySource
from ragkit.indexing.code.entry_mounts import mounts
from ragkit.indexing.code.grammars import PYTHON, grammar_of
from ragkit.indexing.code.grammars.table import Grammar
from ragkit.indexing.code.license import license_end
from ragkit.indexing.code.python_declarations import python_declarations
from ragkit.indexing.code.python_edges import python_edges
from ragkit.indexing.code.python_pieces import python_pieces
from ragkit.indexing.code.scope_walk import read_scopes
from ragkit.indexing.code.stretches import Stretch, line_stretches, tree_stretches
from ragkit.indexing.code.symbols import module_name, symbols_of
from ragkit.indexing.code.syntax import Segments, Unparsable, parse
from ragkit.indexing.code.tree_imports import tree_imports
from ragkit.indexing.code.tree_pieces import tree_pieces
from ragkit.indexing.code.tree_source import read_tree
from ragkit.indexing.code.tree_symbols import tree_symbols
from ragkit.indexing.code.values import Values
from ragkit.indexing.context import TextAnalysis
from ragkit.indexing.kinds import is_test, kind_of
from ragkit.indexing.passages import Lines
from ragkit.layers import Family

_CACHED_NAMES = 1 << 15


class CodeIndexingPipeline:
    """Builds the rows of source files; pure, shared by threads."""

    def __init__(self, analysis: TextAnalysis) -> None:
        self._split = lru_cache(maxsize=_CACHED_NAMES)(analysis.split_identifier)

    def supports(self, path: str) -> bool:
        """Whether a file is source code or configuration of a known language."""
        kind = kind_of(path)
        return kind is not None and kind.family is Family.CODE

    def index_file(self, file: SourceFile) -> Extraction:
        """The rows of a source file: C0 to C4, each in the order of the source.

        C3 and C4 are Python's, but for the console scripts of a `pyproject.toml`; C1 and the imports of C2 are also
        of languages that have a grammar, and of Python that does not parse. Any other source has C0 alone.
        """
        kind = kind_of(file.path)
        language = kind.language if kind else "text"
        source = Lines(file.text)
        if language == "python":
            return self._python(file, source)
        unit = SourceUnit(
            path=file.path,
            language=language,
            unit=file.path,
            title=file.path.rpartition("/")[2],
            is_test=is_test(file.path),
        )
        grammar = grammar_of(file.path, language, file.text)
        if grammar is not None:
            return self._tree(source, unit, grammar)
        scripts = script_rows(file.text, source, unit, self._split) if unit.title == "pyproject.toml" else []
        return self._extraction(source, line_stretches(source), unit, scripts, [])

    def _python(self, file: SourceFile, source: Lines) -> Extraction:
        name = module_name(file.path)
        unit = SourceUnit(path=file.path, language="python", unit=name, title=name, is_test=is_test(file.path))
        tree = parse(source)
        if isinstance(tree, ast.Module):
            try:
                symbols = symbols_of(tree, file.path)
                declared = python_declarations(source, symbols)
                by_node = {symbol.node: item for symbol, item in zip(symbols, declared, strict=True)}
                stretches = tree_stretches(source, python_pieces(source, tree, by_node))
                scopes = read_scopes(tree, symbols, file.path, name)
                values = Values(scopes)
                entries = EntrySource(values, Segments(source), self._split)
                rows = [
                    *symbol_rows(source, declared, unit, self._split),
                    *edge_rows(source, python_edges(values), unit, self._split),
                    *entry_rows(entries, source, unit),
                    *api_rows(source, scopes, unit, self._split),
                ]
                return replace(self._extraction(source, stretches, unit, rows, []), mounts=mounts(entries))
            except RecursionError:
                tree = Unparsable(1, "RecursionError")
        return self._tree(source, unit, PYTHON, tree)

    def _tree(
        self, source: Lines, unit: SourceUnit, grammar: Grammar, unparsable: Unparsable | None = None
    ) -> Extraction:
        """What a grammar gives; `unparsable`: why Python's own parser gave nothing."""
        tree = read_tree(source, grammar)
        if tree is None:
            warnings = [_warning("syntax_unread", unit, None)]
            return self._extraction(source, line_stretches(source), unit, [], warnings)
        if unparsable is not None:
            warnings = [_warning("python_syntax", unit, unparsable.line, problem=unparsable.problem)]
        else:
            line = None if grammar.is_tolerant else tree.first_error()
            warnings = [_warning("syntax_errors", unit, line, language=unit.language)] if line is not None else []
        units = tree.captured(grammar.unit, "unit") if grammar.unit else []
        if units:
            unit = replace(unit, unit=tree.of(units[0]))
        found = tree_symbols(tree, unit.path, license_end(source))
        declared = [item.declaration for item in found if item.is_symbol]
        is_package = unit.path.rpartition("/")[2].startswith("__init__.")
        rows = [
            *symbol_rows(source, declared, unit, self._split),
            *edge_rows(source, tree_imports(tree, declared, unit.unit, is_package=is_package), unit, self._split),
        ]
        return self._extraction(source, tree_stretches(source, tree_pieces(tree, found)), unit, rows, warnings)

    def _extraction(
        self,
        source: Lines,
        stretches: Sequence[Stretch],
        unit: SourceUnit,
        catalogs: Sequence[RagDocument],
        warnings: Sequence[IndexWarning],
    ) -> Extraction:
        chunks, cut_line = source_chunks(source, stretches, unit, self._split)
        if cut_line is not None:
            params = {"path": unit.path, "line": cut_line}
            warnings = [*warnings, IndexWarning(code="long_line", path=unit.path, line=cut_line, params=params)]
        return Extraction(family=Family.CODE, rows=(*chunks, *catalogs), warnings=tuple(warnings))


def _warning(code: str, unit: SourceUnit, line: int | None, **params: object) -> IndexWarning:
    known = {"path": unit.path, **({"line": line} if line is not None else {})}
    return IndexWarning(code=code, path=unit.path, line=line, params={**known, **params})
