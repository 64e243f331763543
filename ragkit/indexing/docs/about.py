"""What every row of one document shares: its title, its attributes, its domain and where that comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragkit.indexing.docs.front_matter import FrontMatter
from ragkit.indexing.docs.outline import Outline

_STRUCTURAL = frozenset({"api", "architecture", "logic", "domains", "policies", "docs"})
"""Folders that sort documents by kind; none of them is a domain. Spec: system.md §4."""

_SHELVES = frozenset(
    {
        "doc", "documentation", "content", "contents", "source", "src", "site", "website", "web", "book", "wiki",
        "manual", "pages", "posts", "_posts", "articles", "guide", "guides", "tutorial", "tutorials", "howto", "how-to",
        "how-tos", "reference", "references", "concepts", "explanation", "explanations", "examples", "example",
        "samples", "faq", "adr", "adrs", "decisions", "rfc", "rfcs", "proposals", "keps", "runbooks", "playbooks",
        "glossary", "images", "img", "assets", "static", "includes", "_includes", "partials", "templates", "versions",
        "versioned_docs", "i18n", "locale", "locales", "translations", "current", "latest", "stable", "next", "public",
        "app", "apps", "lib", "libs", "packages", "services", "modules", "components", "project", "main", "internal",
        "issue_template", "usage", "about", "learn", "contributing", "essentials", "fundamentals", "understanding",
        "advanced", "basics", "introduction", "intro", "getting-started", "quickstart", "test", "tests", "fixtures",
    }
)  # fmt: skip
"""Folders of other people's projects that do the same, or hold what is not sorted by subject at all. Every further
one is a subject, as far as a folder's name tells: a guess, which is never `declared`.
"""

_NO_SUBJECT = re.compile(r"[._]|[a-z]{2}(?:[-_][a-z]{2,4})?$|v?\d|version-")
"""Folders that hide, name a language, a version, or number one document."""

_NO_TITLES = frozenset({"index", "readme"})


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """One document."""

    path: str
    title: str
    module_id: str | None
    type: str | None
    tags: tuple[str, ...]
    domain: str | None
    """As written in the front matter, else the folder's name."""
    subdomain: str | None
    declared: tuple[str, ...]
    """Which of `domain` and `subdomain` the front matter says; a folder's name is a guess."""
    is_test: bool


def about(path: str, outline: Outline, *, is_test: bool) -> About:
    """What the rows of a document share."""
    front = outline.front_matter
    domain, subdomain = _folder_domain(path)
    said_domain, said_subdomain = front.first("domain"), front.first("subdomain")
    return About(
        path=path,
        title=front.first("title") or outline.title or _title_of_path(path),
        module_id=front.first("module_id"),
        type=front.first("type"),
        tags=tuple(front.all("tags")),
        domain=said_domain or domain,
        # The folder's subdomain belongs to the folder's domain: it does not go with another one.
        subdomain=said_subdomain or (subdomain if _agrees(said_domain, domain) else None),
        declared=declared_of(front),
        is_test=is_test,
    )


def declared_of(front: FrontMatter) -> tuple[str, ...]:
    """Which of `domain` and `subdomain` a front matter says."""
    return tuple(name for name in ("domain", "subdomain") if front.first(name))


def _agrees(said: str | None, folder: str | None) -> bool:
    return said is None or (folder is not None and said.lower() == folder.lower())


def _folder_domain(path: str) -> tuple[str | None, str | None]:
    """The folder below the last `domains/`, else the first that names a subject; and the next that does.

    Structural folders are neither.
    """
    folders = path.split("/")[:-1]
    lowered = [folder.lower() for folder in folders]
    if "domains" in lowered:
        below = folders[len(lowered) - lowered[::-1].index("domains") :]
        names = [folder for folder in below if folder.lower() not in _STRUCTURAL]
    else:
        names = [folder for folder in folders if _is_subject(folder.lower())]
    return (names[0] if names else None), (names[1] if len(names) > 1 else None)


def _is_subject(folder: str) -> bool:
    return folder not in _STRUCTURAL and folder not in _SHELVES and _NO_SUBJECT.match(folder) is None


def _title_of_path(path: str) -> str:
    """The file's name in words; for an index or readme its folder's as well."""
    *folders, name = path.split("/")
    stem = name[: name.rfind(".")] if "." in name.lstrip(".") else name
    words = stem.replace("_", " ").replace("-", " ").strip() or name
    return f"{folders[-1]} {words}" if stem.lower() in _NO_TITLES and folders else words
