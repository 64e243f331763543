"""Python that `ast` does not parse: Python 2, newer syntax, sources with errors."""

from __future__ import annotations

from ragkit.indexing.code.grammars.table import Grammar, Rule

PYTHON = Grammar(
    package="tree_sitter_python",
    rules={
        "function_definition": Rule(kind="function"),
        "class_definition": Rule(kind="class"),
        "assignment": Rule(kind="variable", name="left"),
        "type_alias_statement": Rule(kind="type_alias", name="left"),
    },
    anonymous=frozenset({"lambda", "argument_list"}),
    wrappers=frozenset({"decorated_definition", "expression_statement"}),
    declarators=frozenset({"type"}),
    lists=frozenset({"pattern_list", "tuple_pattern", "list_pattern"}),
    names=frozenset({"identifier"}),
    decorators=frozenset({"decorator"}),
    visibility={},
    top_visibility="public",
    name_visibility=(("__.*__$", "public"), ("__", "private"), ("_", "protected"), ("", "public")),
    upper_constants=True,
    properties=frozenset({"property", "cached_property", "setter", "getter", "deleter", "abstractproperty"}),
    has_docstrings=True,
    imports="""
(import_statement name: (dotted_name) @target) @import
(import_statement name: (aliased_import name: (dotted_name) @target alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @module name: (dotted_name) @target) @import
(import_from_statement module_name: (_) @module
 name: (aliased_import name: (dotted_name) @target alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @module (wildcard_import) @target) @import
""",
    import_style="python",
)
