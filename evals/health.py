"""Is a dataset fit to judge with? What is wrong with its questions, counted apart and never as a loss of ranking."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.dataset import Case, Dataset
from evals.run import Digest
from ragkit.messages import Reason
from ragkit.retrieval.public_id import Located

NO_ANSWER = "no-answer"
"""Tag of questions that nothing in the corpus answers: their empty judgements are meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with one question."""

    case: str
    reason: Reason
    """`health.*`."""
    is_unwinnable: bool
    """Whether no ranking could answer it: such questions stay out of retrieval metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is wrong, in the order of the cases."""

    problems: tuple[Problem, ...]

    def counts(self) -> dict[str, int]:
        """Code → questions."""
        return dict(sorted(Counter(problem.reason.code for problem in self.problems).items()))

    @property
    def unwinnable(self) -> frozenset[str]:
        """Ids of questions that no ranking could answer."""
        return frozenset(problem.case for problem in self.problems if problem.is_unwinnable)


def check(dataset: Dataset, located: Mapping[str, Located]) -> Health:
    """What can be told before anything is asked."""
    problems: list[Problem] = [*_judgements(dataset.cases, located), *_repeats(dataset.cases)]
    place = {case.id: number for number, case in enumerate(dataset.cases)}
    return Health(problems=tuple(sorted(problems, key=lambda p: (place[p.case], p.reason.code))))


def check_layers(
    cases: Iterable[Case], digests: Mapping[str, Digest], located: Mapping[str, Located]
) -> tuple[Problem, ...]:
    """Questions all of whose answers lie in layers that their plans did not ask: a matter of routing, not of rank."""
    problems: list[Problem] = []
    for case in cases:
        asked = set(digests[case.id].layers)
        found = [located[item.id] for item in case.relevant if item.grade and located[item.id].status == "found"]
        if found and not any(asked & {layer.value for layer in item.layers} for item in found):
            reason = Reason(code="health.layer_not_asked", params={"ids": [item.id for item in found][:5]})
            problems.append(Problem(case=case.id, reason=reason, is_unwinnable=False))
    return tuple(problems)


def _judgements(cases: Iterable[Case], located: Mapping[str, Located]) -> Iterable[Problem]:
    for case in cases:
        positive = [item.id for item in case.relevant if item.grade]
        if not positive:
            if NO_ANSWER not in case.tags:
                yield _problem(case, "health.no_judged_document", {}, unwinnable=False)
            continue
        for status in ("unknown", "stale"):
            ids = [item for item in positive if located[item].status == status]
            if ids:
                yield _problem(case, f"health.{status}_id", {"ids": ids[:5]}, unwinnable=len(ids) == len(positive))
        if (
            all(located[item].status != "found" for item in positive)
            and len({located[item].status for item in positive}) > 1
        ):
            yield _problem(case, "health.not_indexed", {"ids": positive[:5]}, unwinnable=True)


def _repeats(cases: Sequence[Case]) -> Iterable[Problem]:
    """The same question twice; and where its labels differ, which."""
    groups: defaultdict[tuple[str, tuple[str, ...]], list[Case]] = defaultdict(list)
    for case in cases:
        groups[" ".join(case.query.casefold().split()), case.turns].append(case)
    for group in groups.values():
        first, *others = group
        for other in others:
            same = (other.intent, other.profile, sorted((i.id, i.grade) for i in other.relevant)) == (
                first.intent,
                first.profile,
                sorted((i.id, i.grade) for i in first.relevant),
            )
            code = "health.duplicate" if same else "health.conflicting_labels"
            yield _problem(other, code, {"first": first.id}, unwinnable=False)


def _problem(case: Case, code: str, params: Mapping[str, object], *, unwinnable: bool) -> Problem:
    return Problem(case=case.id, reason=Reason(code=code, params=params), is_unwinnable=unwinnable)
