"""What a file is, told by its path: document or code, its language, whether it is a test.

One table for the listing of files and for both pipelines, so that "supported" means the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ragkit.layers import Family


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """How a file is read."""

    family: Family
    language: str
    """`markdown`, `rst`, `text`, `notebook` for documents; a programming or data language for code."""


_DOCUMENTS: Mapping[str, tuple[str, ...]] = {
    "markdown": (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd"),
    "rst": (".rst", ".rest"),
    "text": (".txt", ".text"),
    "notebook": (".ipynb",),
}
_CODE: Mapping[str, tuple[str, ...]] = {
    "python": (".py", ".pyi", ".pyw"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".mts", ".cts", ".tsx"),
    "vue": (".vue",),
    "svelte": (".svelte",),
    "go": (".go",),
    "java": (".java",),
    "kotlin": (".kt", ".kts"),
    "scala": (".scala",),
    "groovy": (".groovy", ".gradle"),
    "rust": (".rs",),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"),
    "csharp": (".cs",),
    "objective-c": (".m", ".mm"),
    "swift": (".swift",),
    "dart": (".dart",),
    "php": (".php",),
    "ruby": (".rb", ".rake"),
    "perl": (".pl", ".pm"),
    "lua": (".lua",),
    "r": (".r",),
    "julia": (".jl",),
    "haskell": (".hs",),
    "ocaml": (".ml", ".mli"),
    "elixir": (".ex", ".exs"),
    "erlang": (".erl", ".hrl"),
    "clojure": (".clj", ".cljs"),
    "1c": (".bsl", ".os"),
    "cython": (".pyx", ".pxd"),
    "sql": (".sql",),
    "shell": (".sh", ".bash", ".zsh", ".fish"),
    "powershell": (".ps1", ".psm1"),
    "batch": (".bat", ".cmd"),
    "toml": (".toml",),
    "yaml": (".yaml", ".yml"),
    "json": (".json", ".jsonc", ".json5"),
    "ini": (".ini", ".cfg", ".conf", ".properties", ".editorconfig"),
    "xml": (".xml", ".xsd", ".xsl", ".wsdl", ".csproj"),
    "html": (".html", ".htm", ".jinja", ".jinja2", ".j2"),
    "css": (".css", ".scss", ".sass", ".less"),
    "graphql": (".graphql", ".gql"),
    "protobuf": (".proto",),
    "avro": (".avsc", ".avdl"),
    "terraform": (".tf", ".tfvars", ".hcl"),
    "plantuml": (".puml", ".plantuml"),
    "mermaid": (".mmd",),
}
_NAMES: Mapping[str, tuple[Family, str]] = {
    "cmakelists.txt": (Family.CODE, "cmake"),
    "requirements.txt": (Family.CODE, "requirements"),
    "constraints.txt": (Family.CODE, "requirements"),
    "dockerfile": (Family.CODE, "dockerfile"),
    "containerfile": (Family.CODE, "dockerfile"),
    "makefile": (Family.CODE, "make"),
    "justfile": (Family.CODE, "make"),
    "jenkinsfile": (Family.CODE, "groovy"),
    "procfile": (Family.CODE, "ini"),
    "gemfile": (Family.CODE, "ruby"),
    "rakefile": (Family.CODE, "ruby"),
    "go.mod": (Family.CODE, "go"),
    **{
        name: (Family.DOCS, "text")
        for name in (
            "readme", "changelog", "changes", "contributing", "history", "license", "licence", "notice", "authors",
            "install", "news", "todo", "security", "copying",
        )
    },
}  # fmt: skip
"""Names that say more than their extension, lower-case."""

_BY_EXTENSION: Mapping[str, FileKind] = MappingProxyType(
    {
        extension: FileKind(family=family, language=language)
        for family, table in ((Family.DOCS, _DOCUMENTS), (Family.CODE, _CODE))
        for language, extensions in table.items()
        for extension in extensions
    }
)
_BY_NAME: Mapping[str, FileKind] = MappingProxyType(
    {name: FileKind(family=family, language=language) for name, (family, language) in _NAMES.items()}
)
_REQUIREMENTS = re.compile(r"(?:.*[-_.])?requirements(?:[-_.].*)?\.(?:txt|in)|(?:.*/)?requirements/[^/]+\.(?:txt|in)")

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "e2e", "testdata"})
_TEST_NAME = re.compile(
    r"""
      test_.*\.pyi?                      # pytest
    | .*_tests?\.(?:py|go|rb|exs|dart|cc|cpp|c|rs)
    | (?:conftest|tests?)\.py
    | .*[.\-_](?:test|spec|e2e|cy)\.[cm]?[jt]sx?
    | .*_spec\.(?:rb|lua)
    | .*(?:Test|Tests|TestCase|IT|Spec)\.(?:java|kt|scala|groovy|cs|swift|php)
    """,
    re.VERBOSE,
)


def kind_of(path: str) -> FileKind | None:
    """How the file at a path is read; None when nothing here reads it."""
    name = path.rpartition("/")[2].lower()
    known = _BY_NAME.get(name)
    if known is not None:
        return known
    _, dot, extension = name.rpartition(".")
    if not dot:
        return None
    if extension in ("txt", "in") and (_REQUIREMENTS.fullmatch(path.lower()) or _REQUIREMENTS.fullmatch(name)):
        return _BY_NAME["requirements.txt"]
    return _BY_EXTENSION.get(f".{extension}")


def is_test(path: str) -> bool:
    """Whether a file is a test or belongs to tests, by its folders and its name.

    Documents count alike, but for a page of documentation about testing: a folder `docs` above a folder `testing`
    makes the latter a subject.
    """
    *folders, name = path.split("/")
    lowered = [folder.lower() for folder in folders]
    for index, folder in enumerate(lowered):
        if folder in _TEST_FOLDERS and not _is_subject(lowered[:index]):
            return True
    return _TEST_NAME.fullmatch(name) is not None and not _is_subject(lowered)


def _is_subject(above: list[str]) -> bool:
    return any(folder in ("docs", "doc", "documentation") for folder in above)
