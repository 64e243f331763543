"""Paths and endpoints of a query: FILE_PATH anchors, and KEY_TERM anchors of subtype `endpoint`. Spec: ROUTER §4.3, §6.

One pass each over addresses, stack-trace lines, requests (`GET /x`) and runs of path characters; every pattern is
possessive or has disjoint parts, so time is linear. What a run is, is decided by the lists of `terms.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragkit.routing.claims import Claims, Found
from ragkit.routing.rules import PathWords
from ragkit.text import Analyzer

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}+://[^\s<>\"'«»“”`|]++")
_BARE_CODE_HOST = re.compile(r"\b(?:www\.)?(?:github|gitlab|bitbucket)\.(?:com|org)/[^\s<>\"'«»“”`|]++")
_CODE_HOST_PATH = re.compile(r"/(?:-/)?(?:blob|tree|raw|blame|edit|src/(?:branch|commit|tag))/(?:refs/heads/)?[^/]++/")
_RAW_HOST_PATH = re.compile(r"https?://raw\.githubusercontent\.com/[^/]++/[^/]++/(?:refs/heads/)?[^/]++/")
_LOCAL_HOST = re.compile(r"(?:https?|wss?)://(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d+)?(?=/)")
_MAIL = re.compile(r"[\w.+-]{1,64}+@[\w-]++(?:\.[\w-]++)++")
_PYTHON_FRAME = re.compile(r"File \"([^\"\n]{1,1000}+)\", line \d++(?:, in ([^\s,]++))?")
_QUOTED_WINDOWS = re.compile(r"[\"'«“]([A-Za-z]:[\\/][^\"'«»“”\n<>|*?]{1,400}+)[\"'»”]")
# A run of path characters with a separator or a dot in it; the look-behind keeps a long word from being tried twice.
_RUN = re.compile(r"(?<![\w\-{}<>*:~–])[\w\-{}<>*:~–]*+[./\\][\w.\-/\\{}<>*:~–]*+")
_EXTENSION = re.compile(r"\.([A-Za-z][A-Za-z0-9_]{0,15})(?![A-Za-z0-9_]|\.[\w])")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_VERSION_SEGMENT = re.compile(r"v\d{1,3}$")
_ENDPOINT = re.compile(r"/(?:[\w.~{}<>:*%-]++/?)*+$")
_LINE_TAIL = re.compile(r"(?::\d++){1,2}$")
_BEFORE_ENDPOINT = frozenset(" \t\n\r\"'`«“(„[,;=>")
_TRIM = ".,:;!?-–"
_OPEN_TRIM = ".:-*<>{}"


@dataclass(frozen=True, slots=True)
class _Known:
    """The lists of `terms.toml` as sets."""

    languages: dict[str, str]
    extensions: frozenset[str]
    documents: frozenset[str]


class PathFinder:
    """Finds paths and endpoints. Immutable, shared by threads."""

    def __init__(self, words: PathWords, products: frozenset[str], analyzer: Analyzer) -> None:
        """`words`: table `[paths]` of `terms.toml`; `products` are no files (Node.js); nouns match in any form."""
        self._products = products
        languages = {extension: language for language, row in words.code.items() for extension in row}
        documents = frozenset(words.other.documents)
        self._known = _Known(
            languages=languages,
            extensions=frozenset(languages) | documents | frozenset(words.other.files),
            documents=documents,
        )
        self._analyzer = analyzer
        self._attributes = frozenset(words.attributes)
        self._receivers = frozenset(words.receivers)
        self._name = re.compile(rf"(?<![\w./\\-])(?:{'|'.join(words.names)})(?![\w/\\-]|\.\w)")
        self._dot_names = frozenset(words.dot_names)
        self._roots = frozenset(words.roots)
        self._halves = frozenset(words.halves)
        self._nouns = frozenset(analyzer.stem(word) for word in words.nouns)
        self._disk_roots = frozenset(words.disk_roots)
        self._served = frozenset(words.served)
        self._hosts = frozenset(words.hosts)
        self._root_before = frozenset(analyzer.stem(word) for word in words.root_before)
        self._root_not_after = frozenset(analyzer.stem(word) for word in words.root_not_after)
        methods = "|".join(words.http_methods)
        self._request = re.compile(rf"(?<!\w)(?:{methods})[ \t]{{1,3}}(/?[\w.~{{}}<>:*%/-]++)")

    def language_of(self, path: str) -> str | None:
        """The programming language of a source file's extension; None for documents, data and folders."""
        return self._known.languages.get(path.rpartition(".")[2].lower()) if "." in path else None

    def is_document(self, path: str) -> bool:
        """Whether the extension is that of prose."""
        return "." in path and path.rpartition(".")[2].lower() in self._known.documents

    def find(self, text: str, claims: Claims, top_folders: frozenset[str]) -> Iterator[Found]:
        """Paths and endpoints, each claimed; addresses and e-mails are claimed without an anchor."""
        yield from self._frames(text, claims)
        yield from self._addresses(text, claims)
        yield from self._quoted(text, claims)
        yield from self._requests(text, claims)
        yield from self._runs(text, claims, top_folders)
        for match in self._name.finditer(text):
            if claims.take(*match.span()):
                yield Found("FILE_PATH", "file", *match.span(), 0.9)

    def _frames(self, text: str, claims: Claims) -> Iterator[Found]:
        if "File " not in text:
            return
        for match in _PYTHON_FRAME.finditer(text):
            path = match[1]
            claims.take(match.start(), match.start(1))
            if path and not path.startswith("<") and claims.take(*match.span(1)):
                yield Found("FILE_PATH", "stack_trace", *match.span(1), 1.0)
            function = match[2]
            if function and function.rstrip(":").isidentifier():
                end = match.start(2) + len(function.rstrip(":"))
                if claims.take(match.start(2), end):
                    yield Found("SYMBOL", "stack_trace", match.start(2), end, 0.95)

    def _addresses(self, text: str, claims: Claims) -> Iterator[Found]:
        if "://" in text or "/blob/" in text or "/tree/" in text:
            for pattern in (_ADDRESS, _BARE_CODE_HOST):
                for match in pattern.finditer(text):
                    if claims.is_free(*match.span()):
                        yield from self._address(match, claims)
        if "@" in text:
            for match in _MAIL.finditer(text):
                claims.take(*match.span())

    def _address(self, match: re.Match[str], claims: Claims) -> Iterator[Found]:
        address, start = match[0], match.start()
        claims.take(*match.span())
        if address.startswith("file://"):
            rest = address.removeprefix("file://")
            path = rest[1:] if _DRIVE.match(rest[1:]) else rest
            begin = match.end() - len(path)
            end = begin + len(_LINE_TAIL.sub("", path.partition("#")[0].rstrip(_TRIM + ")]")))
            if end > begin:
                yield Found("FILE_PATH", "file_url", begin, end, 1.0)
            return
        host = _RAW_HOST_PATH.match(address) or _CODE_HOST_PATH.search(address)
        if host:
            path = re.split(r"[#?)\]]", address[host.end() :], maxsplit=1)[0].rstrip(_TRIM)
            if path:
                yield Found("FILE_PATH", "code_host", start + host.end(), start + host.end() + len(path), 0.95)
            return
        local = _LOCAL_HOST.match(address)
        if local:
            path = re.split(r"[?#)\]]", address[local.end() :], maxsplit=1)[0].rstrip(_TRIM)
            if len(path) > 1:
                yield Found("KEY_TERM", "endpoint", start + local.end(), start + local.end() + len(path), 0.8)

    def _quoted(self, text: str, claims: Claims) -> Iterator[Found]:
        for match in _QUOTED_WINDOWS.finditer(text):
            if claims.take(*match.span(1)):
                yield Found("FILE_PATH", "file", *match.span(1), 0.95)

    def _requests(self, text: str, claims: Claims) -> Iterator[Found]:
        for match in self._request.finditer(text):
            path = match[1].rstrip(_TRIM)
            if "/" in path and not path.startswith("//"):
                end = match.start(1) + len(path)
                if claims.take(match.start(), end):
                    yield Found("KEY_TERM", "endpoint", match.start(), end, 1.0)

    def _runs(self, text: str, claims: Claims, top_folders: frozenset[str]) -> Iterator[Found]:
        for match in _RUN.finditer(text):
            run = match[0]
            if not claims.is_free(*match.span()):
                continue
            for found in self._run(text, run, match.start(), top_folders):
                if claims.take(found.start, found.end):
                    yield found

    def _run(self, text: str, run: str, start: int, top_folders: frozenset[str]) -> Iterator[Found]:
        """What one run of path characters holds."""
        if run.startswith(("</", "//", "--")):
            return
        kept = run.lstrip("*<") if not run.startswith("**/") else run
        if run in self._dot_names:
            kept = run
        start += len(run) - len(kept)
        if _DRIVE.match(kept):
            yield from self._file(kept, start, 0.95)
        elif kept.startswith("/"):
            yield from self._absolute(text, kept, start)
        elif "/" in kept or "\\" in kept:
            yield from self._relative(text, kept, start, top_folders)
        elif kept.rstrip(_TRIM) in self._dot_names:
            yield Found("FILE_PATH", "file", start, start + len(kept.rstrip(_TRIM)), 0.9)
        else:
            yield from self._bare(text, kept, start)

    def _end_of_file(self, path: str) -> int | None:
        """Where the file name ends: after the first known extension that ends a name."""
        for match in _EXTENSION.finditer(path):
            if match[1].lower() in self._known.extensions and match.start() > 0:
                rest = path[match.end() :]
                if "/" not in rest and "\\" not in rest:
                    return match.end()
        return None

    def _file(self, path: str, start: int, confidence: float) -> Iterator[Found]:
        end = self._end_of_file(path)
        kept = path[:end] if end else path.rstrip(_TRIM + "*{}<>")
        if len(kept) > 1:
            subtype = "doc" if self.is_document(kept) else "file" if end else "folder"
            yield Found("FILE_PATH", subtype, start, start + len(kept), confidence)

    def _absolute(self, text: str, path: str, start: int) -> Iterator[Found]:
        """`/x`: an endpoint, unless it ends like a source file or begins like a place on a disk."""
        before = text[start - 1] if start else " "
        if before not in _BEFORE_ENDPOINT:
            return
        first = path[1:].partition("/")[0]
        end = self._end_of_file(path)
        name = path[:end].rpartition("/")[2] if end else ""
        if (end and name not in self._served) or (first in self._disk_roots and path.count("/") > 1):
            yield from self._file(path, start, 0.9)
            return
        kept = path[:end] if end else path.rstrip(_TRIM)
        if kept == "/":
            if self._is_root(text, start):
                yield Found("KEY_TERM", "endpoint", start, start + 1, 0.7)
        elif _ENDPOINT.match(kept) and re.search(r"[A-Za-z*{]", first):
            yield Found("KEY_TERM", "endpoint", start, start + len(kept), 0.9)

    def _is_root(self, text: str, at: int) -> bool:
        """A bare "/" is the root of a site only where the words around say so."""
        before = re.findall(r"\w+", text[max(0, at - 24) : at])
        after = re.match(r"[\s\"'`»”]*(\w*)", text[at + 1 : at + 24])
        follows = self._analyzer.stem(after[1]) if after and after[1] else ""
        quoted = at > 0 and text[at - 1] in "\"'`«“"
        return (
            quoted
            and bool(before)
            and self._analyzer.stem(before[-1]) in self._root_before
            and follows not in self._root_not_after
        )

    def _relative(self, text: str, run: str, start: int, top_folders: frozenset[str]) -> Iterator[Found]:
        colon = run.find(":")
        slash = min(at for at in (run.find("/"), run.find("\\")) if at >= 0)
        if 0 <= colon < slash:
            start += colon + 1
            run = run[colon + 1 :]
            if run.startswith("/"):
                return
        segments = re.split(r"[/\\]+", run)
        host = segments[0].rpartition(".")
        if host[0] and host[2].lower() in self._hosts:
            return
        end = self._end_of_file(run)
        if end is not None:
            yield from self._files(run, start, end)
        elif segments[0] == "api" and _VERSION_SEGMENT.match(segments[1]):
            yield Found("KEY_TERM", "endpoint", start, start + len(run.rstrip(_TRIM)), 0.7)
        else:
            yield from self._folder(text, run, start, top_folders)

    def _files(self, run: str, start: int, end: int) -> Iterator[Found]:
        """One path, or alternatives with a slash between («main.py/app.py»)."""
        parts = run[:end].split("/")
        if len(parts) > 1 and all(self._end_of_file(part) == len(part) for part in parts):
            at = start
            for part in parts:
                yield from self._file(part, at, 0.8)
                at += len(part) + 1
        else:
            yield from self._file(run, start, 0.95)

    def _folder(self, text: str, run: str, start: int, top_folders: frozenset[str]) -> Iterator[Found]:
        """A relative folder is one only by its first segment, a noun before it, a slash at its end, or snake_case."""
        kept = run.rstrip(_TRIM + "*{}<>")
        segments = [segment for segment in re.split(r"[/\\]+", kept) if segment]
        if not segments or not re.search(r"[^\W\d]", kept):
            return
        known = segments[0] in top_folders
        halves = all(segment in self._halves for segment in segments) and len(segments) == 2
        rooted = (segments[0] in self._roots and len(segments) > 1 and not halves) or kept.startswith(
            ("./", "../", "~/")
        )
        snake = any("_" in segment for segment in segments) and all(segment.isidentifier() for segment in segments)
        closed = kept[-1] in "/\\" and len(segments[-1]) > 1
        backslashes = "\\" in kept and len(segments) > 1 and all(len(segment) > 1 for segment in segments)
        if known or rooted or snake or closed or backslashes or self._noun_before(text, start):
            yield Found("FILE_PATH", "folder", start, start + len(kept), 0.8)

    def _noun_before(self, text: str, start: int) -> bool:
        before = re.findall(r"[^\W\d_]+", text[max(0, start - 24) : start])
        return bool(before) and self._analyzer.stem(before[-1]) in self._nouns

    def _bare(self, text: str, run: str, start: int) -> Iterator[Found]:
        """A file name without a folder: `main.py`; not `request.json()`, `.py`, `2.3.1`."""
        colon = run.find(":")
        if colon > 0 and "." in run[colon:] and "." not in run[:colon]:
            start += colon + 1
            run = run[colon + 1 :]
        end = self._end_of_file(run)
        if end is None:
            return
        name = run[:end]
        if name in self._products:
            return
        stem, _, extension = name.rpartition(".")
        if not re.search(r"[^\W\d]", stem) or text[start + end : start + end + 1] == "(":
            return
        if extension.lower() in self._attributes and (
            stem.rpartition(".")[2] in self._receivers or stem.count(".") > 1 or extension != extension.lower()
        ):
            return
        yield Found("FILE_PATH", "doc" if self.is_document(name) else "file", start, start + end, 0.9)
