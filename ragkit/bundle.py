"""The data files that travel inside the package, read once and parsed by the pure modules that own them.

Everything from `ragkit.policy` down takes text; this is where the text comes from. Policies that a user wrote lie in
the data folder and are read here too, by name or by path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

from ragkit.errors import InvalidInput, UnknownName
from ragkit.messages import Messages
from ragkit.policy.policy import Policy, parse_policy, policy_hash
from ragkit.routing.rules import RoutingRules
from ragkit.text import Analyzer

BUNDLED_POLICIES = ("spec", "tuned")
MAX_POLICY_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPolicy:
    """A policy and the text that it was read from."""

    policy: Policy
    hash: str
    """First 12 hex digits of the text's SHA-256."""


def read_text(name: str) -> str:
    """Text of a file of the package, such as `policy/spec.toml`."""
    return resources.files("ragkit").joinpath(name).read_text(encoding="utf-8")


@cache
def messages() -> Messages:
    """Sentences of both languages."""
    return Messages(en=read_text("messages/en.toml"), ru=read_text("messages/ru.toml"))


@cache
def analyzer() -> Analyzer:
    """The one analysis of text."""
    return Analyzer.parse(read_text("stems.toml"))


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRules:
    """Routing rules and the texts that they were read from."""

    rules: RoutingRules
    hash: str
    """First 12 hex digits of the texts' SHA-256."""


def routing_rules(data_dir: Path | None = None) -> NamedRules:
    """Cues and key terms; with a data folder also the user's own in its `routing.toml`.

    Raises: InvalidInput naming file and key.
    """
    own = ""
    path = None if data_dir is None else data_dir / "routing.toml"
    if path is not None and path.is_file():
        try:
            own = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as broken:
            raise InvalidInput("data_file", file=str(path), key="", found=str(broken)) from broken
    return _rules(own)


@lru_cache(maxsize=8)
def _rules(own: str) -> NamedRules:
    cues, terms = read_text("routing/cues.toml"), read_text("routing/terms.toml")
    return NamedRules(rules=RoutingRules.parse(cues, terms, own), hash=policy_hash("\0".join((cues, terms, own))))


def demo_corpus() -> Path:
    """Folder of the bundled corpus: inside an installed wheel, or beside the package in a clone.

    (Not a top-level `datasets` of the wheel: a dependency has a package of that name.)
    """
    package = Path(str(resources.files("ragkit")))
    installed = package / "datasets" / "demo" / "corpus"
    return installed if installed.is_dir() else package.parent / "datasets" / "demo" / "corpus"


def policy(name: str, data_dir: Path) -> NamedPolicy:
    """A bundled policy, one of `data_dir/policies`, or the file at a path (anything with a separator or `.toml`).

    Raises: UnknownName with the policies that exist; InvalidInput `policy_unreadable` for what is there and no text,
    or naming the key that is wrong.
    """
    if name in BUNDLED_POLICIES:
        return _parsed(read_text(f"policy/{name}.toml"), origin=name)
    own = data_dir / "policies"
    is_path = "/" in name or "\\" in name or name.endswith(".toml")
    path = Path(name).expanduser() if is_path else own / f"{name}.toml"
    try:
        if path.stat().st_size > MAX_POLICY_BYTES:
            raise InvalidInput("policy_too_large", origin=name, limit=MAX_POLICY_BYTES)
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as broken:
        raise InvalidInput("policy_unreadable", policy=name, problem="not UTF-8") from broken
    except (IsADirectoryError, PermissionError) as broken:
        raise InvalidInput("policy_unreadable", policy=name, problem=broken.strerror or "") from broken
    except (OSError, ValueError) as missing:
        raise UnknownName("policy_unknown", policy=name, known=policy_names(data_dir)) from missing
    parsed = _parsed(text, origin=name)
    if not is_path and parsed.policy.name != name:  # links and runs call a policy by its name
        raise InvalidInput("policy_misnamed", policy=name, name=parsed.policy.name)
    return parsed


def policy_names(data_dir: Path) -> list[str]:
    """Bundled policies first, then the user's own by name."""
    own = data_dir / "policies"
    try:
        found = sorted(path.stem for path in own.glob("*.toml"))
    except OSError:
        found = []
    return [*BUNDLED_POLICIES, *(name for name in found if name not in BUNDLED_POLICIES)]


@lru_cache(maxsize=32)
def _parsed(text: str, *, origin: str) -> NamedPolicy:
    return NamedPolicy(policy=parse_policy(text, origin=origin), hash=policy_hash(text))
