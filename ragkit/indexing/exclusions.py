"""Which files are not worth, or not safe, to index: told by path, size, and first lines.

Each left-out file has exactly one reason of a closed list; the message files hold a phrase for each.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache, lru_cache
from typing import Literal, get_args

from ragkit.indexing.kinds import kind_of
from ragkit.layers import Family

LeftOutReason = Literal[
    "binary",
    "too_large",
    "secret",
    "generated",
    "vendored",
    "undecodable",
    "malformed",
    "unsupported",
    "symlink",
    "unreadable",
    "failed",
    "empty",
]
LEFT_OUT_REASONS: tuple[LeftOutReason, ...] = get_args(LeftOutReason)

MAX_BYTES = 2_000_000
"""A longer file is data, a bundle or a dump; every sentence of a person fits."""

_SECRETS = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc",
    "*.gpg", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".npmrc", ".pypirc", ".netrc", "_netrc", ".htpasswd",
    ".pgpass", ".git-credentials", ".dockercfg", "kubeconfig", "*.tfstate", "*.tfstate.*", "*.tfvars",
)  # fmt: skip
_NO_SECRETS = (".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", "*.example.env")
_SECRET_DATA = re.compile(r"(?:.*[-_.])?(?:credentials?|secrets?|service[-_]account)(?:[-_.].*)?")
_DATA_EXTENSIONS = frozenset(
    {"", "json", "yaml", "yml", "toml", "ini", "cfg", "conf", "xml", "csv", "properties", "txt"}
)
"""`credentials.json` holds secrets; `credentials.py` and `credentials.md` speak of them."""
_PRIVATE_KEY = re.compile(r"\s*-----BEGIN [A-Z ]*PRIVATE KEY")

_GENERATED = (
    "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum", "gradle.lockfile", "packages.lock.json",
    "*.lock", ".terraform.lock.hcl", "*.min.js", "*.min.css", "*.min.mjs", "*.bundle.js", "*.map",
    "*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*.pb.go", "*.pb.cc", "*.pb.h", "*.g.dart", "*.snap", ".ds_store",
    "*-min.js", "*-min.css", "*.generated.*", "*.g.cs", "*.designer.cs",
    "zz_generated.*", "moc_*.cpp",
)  # fmt: skip
_GENERATED_HEAD = re.compile(
    r"""
      ^\W*@generated\b
    | ^\W*<auto-?generated\b
    | ^\W*(?:this\ (?:file|code)\ (?:is|was|has\ been)\ )?(?:code\ |auto(?:matically)?[-\ ]?)?generated\b
      [^\n]*(?:\n\W*[^\n]*)?\bdo\ not\ (?:edit|modify|change)\b
    | ^\W*(?:generated\ by\ cython|a\ bison\ parser,\ made\ by|a\ lexical\ scanner\ generated\ by)\b
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""What generators write above their output; the request not to edit may stand on the next line. Django's migrations say
that they are generated and do not ask this: people edit them.
"""
_HEAD_CHARS = 600
_MINIFIED = frozenset({"javascript", "typescript", "css", "html", "json"})
_MINIFIED_LINE_CHARS = 5_000

_VENDORED = frozenset(
    {
        "node_modules",
        "bower_components",
        "jspm_packages",
        "site-packages",
        "third_party",
        "third-party",
        "_vendor",
        "pods",
        "carthage",
        ".yarn",
    }
)
_VENDOR = frozenset({"vendor", "vendored"})
_SUBJECT_FOLDERS = frozenset({"docs", "doc", "documentation", "domains"})

_BINARY = frozenset(
    {
        "png", "jpg", "jpeg", "gif", "bmp", "ico", "webp", "avif", "tif", "tiff", "psd", "ai", "eps", "woff",
        "woff2", "ttf", "otf", "eot", "mp3", "mp4", "wav", "ogg", "flac", "avi", "mov", "webm", "mkv", "zip",
        "gz", "tgz", "bz2", "xz", "7z", "rar", "tar", "jar", "war", "whl", "egg", "zst", "exe", "dll", "so",
        "dylib", "a", "o", "obj", "lib", "class", "pyc", "pyo", "pyd", "wasm", "bin", "dat", "db", "sqlite",
        "sqlite3", "mdb", "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "epub",
        "mobi", "djvu", "chm", "pages", "numbers", "keynote", "vsd", "vsdx", "xlsm", "docm", "msg", "heic", "lockb",
        "deb", "rpm", "msi", "m4a", "npy", "npz", "pkl",
        "pickle", "parquet", "feather", "h5", "onnx", "pt", "pth", "safetensors", "gguf", "ipa", "apk", "dmg",
        "iso", "img",
    }
)  # fmt: skip


@lru_cache(maxsize=1 << 16)
def reason_by_path(path: str) -> LeftOutReason | None:
    """Why a file is left out whatever it holds; None when it deserves a look.

    The first reason counts: vendored, secret, generated, binary, unsupported.
    """
    *folders, name = path.lower().split("/")
    if _is_vendored(folders):
        return "vendored"
    if _is_secret(name):
        return "secret"
    if _matches(name, _GENERATED):
        return "generated"
    if name.rpartition(".")[2] in _BINARY and "." in name:
        return "binary"
    return None if kind_of(path) else "unsupported"


def reason_by_text(path: str, text: str) -> LeftOutReason | None:
    """Why a readable file is left out for what it says; None when it is to be indexed."""
    if not text or text.isspace():
        return "empty"
    if _PRIVATE_KEY.match(text):
        return "secret"
    kind = kind_of(path)
    if kind is None or kind.family is Family.DOCS:
        return None
    if _GENERATED_HEAD.search(text[:_HEAD_CHARS]):
        return "generated"
    if kind.language in _MINIFIED and _longest_line(text) > _MINIFIED_LINE_CHARS:
        return "generated"
    return None


def _is_vendored(folders: list[str]) -> bool:
    """A `vendor` folder below documentation is a subject, not a dependency."""
    for index, folder in enumerate(folders):
        if folder in _VENDORED or folder.endswith((".dist-info", ".egg-info")):
            return True
        if folder in _VENDOR and not _SUBJECT_FOLDERS.intersection(folders[:index]):
            return True
    return False


def _is_secret(name: str) -> bool:
    if _matches(name, _NO_SECRETS):
        return False
    if _matches(name, _SECRETS):
        return True
    stem, dot, extension = name.rpartition(".")
    return (extension if dot and stem else "") in _DATA_EXTENSIONS and _SECRET_DATA.fullmatch(name) is not None


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return _one_expression(patterns).match(name) is not None


@cache
def _one_expression(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """All patterns at once: one by one they cost half of an index without changes."""
    return re.compile("|".join(map(translate, patterns)))


def _longest_line(text: str) -> int:
    return max(map(len, text.split("\n")))
