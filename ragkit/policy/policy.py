"""A policy: everything about routing's consequences that a person may want to change, as one validated TOML file.

The resolver interprets it and holds no number or prefix of its own. `spec.toml` is the specification to the letter;
a user copies it, changes it, and evaluates the change. Spec: POLICY §6–§9; system.md §3, §6.
"""

from __future__ import annotations

import hashlib
import tomllib
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from ragkit.errors import InvalidInput, UnknownName
from ragkit.layers import Layer, layer_of
from ragkit.policy.plan import MAX_LIMIT

SignalName = Literal["FIND_FILES", "API_ENDPOINT", "ARCHITECTURE", "LOGIC_FLOW", "DOMAIN_ENTITY"]
SIGNALS: tuple[SignalName, ...] = ("FIND_FILES", "API_ENDPOINT", "ARCHITECTURE", "LOGIC_FLOW", "DOMAIN_ENTITY")
"""In the order of POLICY §6; signals and unions of prefixes come in this order."""

MarkerField = Literal["target_doc_hints", "file_names", "matched_aliases"]
AnchorField = Literal["endpoint_paths", "entity_names"]
MarkerMatch = Literal["substring", "word"]
FilterMode = Literal["hard", "soft"]
Weight = Annotated[float, Field(ge=0, le=100, strict=True, allow_inf_nan=False)]
"""Strict, as all numbers here: "8" is no number, true is none either; 8 where 8.0 is meant is."""
Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]


def _as_layer(value: object) -> object:
    if isinstance(value, Layer):
        return value
    try:
        return layer_of(str(value))
    except UnknownName as unknown:
        raise ValueError(
            f"layer {value!r} is unknown; known are {', '.join(layer.value for layer in Layer)}"
        ) from unknown


PlanLayer = Annotated[Layer, BeforeValidator(_as_layer)]


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("the text holds a NUL character, which no path has")
    return text


def _whole_pattern(pattern: str) -> str:
    backslashes = len(pattern) - len(pattern.rstrip("\\"))
    if backslashes % 2:
        raise ValueError("the pattern ends in a backslash that escapes nothing; write two for one that is meant")
    return pattern


Prefix = Annotated[str, AfterValidator(_storable)]
Pattern = Annotated[Prefix, AfterValidator(_whole_pattern)]
"""Of SQL's LIKE."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SignalRule(_Table):
    """When a signal fires, and what it brings. Spec: POLICY §6, §7, §9."""

    any_of: tuple[AnchorField, ...] = ()
    """Fires when one of these fields is not empty."""
    markers: tuple[str, ...]
    """Fires when one of these stands in a lower-cased value of `marker_fields`; how: `marker_match`."""
    profile: str
    """The summary profile, when this signal is the only meaningful one."""
    summary_prefer: tuple[Prefix, ...]
    summary_hard: tuple[Prefix, ...] = ()
    """Hard `path_prefixes` of a summary in which this signal fired."""
    find_files: tuple[Prefix, ...]


class Profile(_Table):
    """Spec: POLICY §8."""

    layers: Annotated[tuple[PlanLayer, ...], Field(min_length=1)]
    limit: Annotated[int, Field(gt=0, le=MAX_LIMIT, strict=True)]

    @model_validator(mode="after")
    def _one_family(self) -> Profile:
        if len({layer.family for layer in self.layers}) > 1:
            raise ValueError("layers of one profile must be of one family")
        return self


class GeneralBranch(_Table):
    """Spec: POLICY §9, general branch."""

    profile: str
    prefer_path_prefixes: tuple[Prefix, ...]
    prefer_like_patterns: tuple[Pattern, ...]


class SummaryBranch(_Table):
    """Spec: POLICY §9, summary branch."""

    generic_profile: str
    default_prefer: tuple[Prefix, ...]


class FindFilesBranch(_Table):
    """Spec: POLICY §9, FIND_FILES branch."""

    profile: str
    file_name_root: Prefix
    """Only names below it give their directory."""
    default_prefixes: tuple[Prefix, ...]
    domain_prefer: tuple[Prefix, ...]
    """Added to the preferences when a domain or subdomain is known."""
    path_filter: FilterMode = "hard"
    """`soft`: the folders are preferred, and no other is hidden: not every repository keeps its documents in one."""


class CodeProfiles(_Table):
    """Which profile a code plan takes. Source: system.md §3, D2."""

    code_qa: str
    file_lookup: str
    generate_docs: str
    project: str


Language3 = Literal["ru", "en", "mixed"]


class LexicalWeights(_Table):
    """Weight of the words, by the language of query and row. Source: evidence.md."""

    same: Weight
    """Query and row in one language, or either mixed."""
    cross: Weight
    """Query in one language, row in the other."""
    code_en: Weight
    """Row is code, query English."""
    code_ru: Weight
    """Row is code, query Russian."""
    expansions: Share
    """Share of a term's weight when it comes from expansions or keyword hints."""


class PartWeights(_Table):
    """The further parts of a score, in the units of a cosine. Source: system.md §6."""

    path: Weight
    """The row's file is one that the query names."""
    definition: Weight
    """The row defines a symbol or carries a title that the query names."""
    prefer_path: Weight
    """The path begins with a preferred prefix; the first prefix counts whole, each later one half of the one before."""
    prefer_like: Weight
    """Path or title match a preferred pattern."""
    layer: Weight
    """The plan's first layer counts whole, the last nothing."""
    non_tests: Weight
    """The row is no test, where the plan prefers those."""
    graph: Weight = 0.0
    """The row points to one that the query names: a caller, a callee, a relation; half for each further one. 0: no step
    along the graph is taken."""
    seed: Weight
    """The row belongs to a document that the plan names: large enough to come first."""
    support: Weight = 0.0
    """Share of the score that the file's best row of another layer has."""
    repeat: Weight
    """Taken off for each row of the same file that stands above."""


class Ranking(_Table):
    """How rows of a plan are scored. Source: system.md §6."""

    dense: Weight
    lexical: LexicalWeights
    parts: PartWeights
    depth: Annotated[int, Field(gt=0, le=200, strict=True)]
    """Candidates a layer gives to each leg, where `retrieval_spec.layer_queries` does not say."""
    common_share: Annotated[Share, Field(gt=0)]
    """Words in more than this share of the rows score but find nothing by themselves."""
    graph_rows: Annotated[int, Field(gt=0, le=20, strict=True)] = 3
    """Rows that a graph step starts from."""
    seed_rows: Annotated[int, Field(gt=0, le=50, strict=True)]
    """Rows of one named document that count as seeds."""
    seed_title: Weight | None = None
    """`seed` of a document that the query names by title or id and not by its path; absent: as large as `seed`."""


class Rankings(_Table):
    """By `rerank_profile`."""

    docs: Ranking
    code: Ranking
    generate: Ranking
    project: Ranking


class Policy(_Table):
    """The whole file."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    signals: dict[SignalName, SignalRule]
    marker_fields: tuple[MarkerField, ...]
    marker_match: MarkerMatch = "substring"
    """`word`: a word may not go on at the ends of a marker, but behind a `*`: `api` is in «api-keys.md» and not in
    «capital», `endpoint*` is in «endpoints»."""
    domain_filter: FilterMode = "hard"
    """`soft`: a domain or subdomain that the question names is preferred by its name, and hides nothing."""
    general: GeneralBranch
    summary: SummaryBranch
    find_files: FindFilesBranch
    code: CodeProfiles
    profiles: dict[str, Profile]
    ranking: Rankings

    @model_validator(mode="after")
    def _complete(self) -> Policy:
        missing = [name for name in SIGNALS[1:] if name not in self.signals]
        if missing or "FIND_FILES" in self.signals:
            raise ValueError(f"signals must be exactly {', '.join(SIGNALS[1:])}")
        unknown = sorted(self.profile_names() - set(self.profiles))
        if unknown:
            raise ValueError(f"profiles lacks {', '.join(unknown)}")
        return self

    def profile_names(self) -> set[str]:
        """Every profile that a rule names."""
        return {
            self.general.profile,
            self.summary.generic_profile,
            self.find_files.profile,
            *(rule.profile for rule in self.signals.values()),
            *cast("dict[str, str]", self.code.model_dump()).values(),
        }


def parse_policy(text: str, *, origin: str) -> Policy:
    """The policy that a TOML text holds; `origin` names the file in errors.

    Raises: InvalidInput naming the key and what is wrong with it.
    """
    try:
        body = tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise InvalidInput("policy_not_toml", origin=origin, problem=str(broken)) from broken
    try:
        return Policy.model_validate(body)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"] if part != "[key]") or "policy"
        raise InvalidInput("policy_invalid", origin=origin, key=key, problem=first["msg"]) from invalid


def policy_hash(text: str) -> str:
    """The first 12 hex digits of the file's SHA-256: what a run or a trace names beside the policy's name."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
