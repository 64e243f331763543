"""Verdicts and explanations as the command line prints them: one JSON document, or sentences for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ragkit import bundle
from ragkit.cli.output import print_line, print_table, print_text
from ragkit.messages import Language, Reason, reason_from_json
from ragkit.retrieval.diagnosis import Diagnosis, reason_sentence, remedy_reasons, verdict_sentence


def why_json(found: Diagnosis, language: Language) -> dict[str, object]:
    """`{id, verdict, stage, sentence, plan, reasons, remedies, profiles}`; reasons and remedies with sentences."""
    messages = bundle.messages()
    body = found.to_json()
    return {
        "id": body["id"],
        "verdict": body["verdict"],
        "stage": body["stage"],
        "sentence": verdict_sentence(found.verdict, messages, language),
        "plan": body["plan"],
        "reasons": [
            {**reason.to_json(), "sentence": reason_sentence(reason, messages, language)}
            for reason in found.verdict.reasons
        ],
        "remedies": [
            {
                **remedy.to_json(),
                "sentences": [reason_sentence(reason, messages, language) for reason in remedy_reasons(remedy)],
            }
            for remedy in found.remedies
        ],
        "profiles": body["profiles"],
    }


def print_why(body: Mapping[str, object], language: Language) -> None:
    """What `why_json` gave, as sentences."""
    messages = bundle.messages()
    verdict = cast("Mapping[str, object]", body["verdict"])
    print_line(str(body["sentence"]))
    print_line(
        messages.sentence(
            "cli.why_stage",
            language,
            verdict=messages.sentence(f"verdict.{verdict['code']}", language),
            stage=messages.sentence(f"stage.{body['stage']}", language),
            plan=body["plan"] or "–",
        )
    )
    for reason in cast("Sequence[Mapping[str, object]]", body["reasons"]):
        print_line(f"  {reason['sentence']}")
    remedies = cast("Sequence[Mapping[str, object]]", body["remedies"])
    if remedies:
        print_line(messages.sentence("cli.why_remedies", language))
        for remedy in remedies:
            print_line("  " + " ".join(cast("Sequence[str]", remedy["sentences"])))
    if body["profiles"]:
        print_line(messages.sentence("cli.why_profiles_asking", language))
        _print_changes(_maps(body["profiles"]), language)


def print_expected(trace: Mapping[str, object], language: Language) -> None:
    """What became of the documents that were expected."""
    for found in cast("Sequence[Mapping[str, object]]", trace["expected"]):
        verdict = cast("Mapping[str, object]", found["verdict"])
        reason = Reason(code=f"why.{verdict['code']}", params=cast("Mapping[str, object]", verdict["params"]))
        print_line(reason_sentence(reason, bundle.messages(), language))


def print_explanation(trace: Mapping[str, object], language: Language) -> None:
    """Filters with their rows, statements, EXPLAIN, and what would lead to other profiles."""
    explained = cast("Mapping[str, object] | None", trace["explain"])
    if explained is None:
        return
    messages = bundle.messages()
    for plan in cast("Sequence[Mapping[str, object]]", explained["plans"]):
        print_line(messages.sentence("cli.why_filters", language, plan=plan["plan"], rows=plan["rows_in_layers"]))
        print_table(("filter", "hard", "value", "from", "alone", "after"), [*map(_filter_row, _maps(plan["filters"]))])
        for step, text in cast("Mapping[str, str]", plan["statements"]).items():
            told = messages.sentence(f"step.{step}", language)
            print_line(messages.sentence("cli.why_trace", language, plan=plan["plan"], step=told))
            print_text(text + ";")
        print_text(cast("Mapping[str, str]", trace["analyzed"])[str(plan["plan"])])
    print_line(messages.sentence("cli.why_profiles", language))
    _print_changes(_maps(explained["profiles"]), language)


def _print_changes(changes: Sequence[Mapping[str, object]], language: Language) -> None:
    """What would lead to each profile."""
    messages = bundle.messages()
    for change in changes:
        print_line("  " + messages.sentence("change.profile", language, profile=change["profile"]))
        for reason in _maps(change["reasons"]):
            print_line("    " + reason_sentence(reason_from_json(reason), messages, language))


def _maps(value: object) -> Sequence[Mapping[str, object]]:
    return cast("Sequence[Mapping[str, object]]", value)


def _filter_row(view: Mapping[str, object]) -> tuple[object, ...]:
    origin = cast("Mapping[str, object]", view["origin"])
    alone = cast("Mapping[str, int] | None", view["alone"])
    after = cast("Mapping[str, int] | None", view["cumulative"])
    return (
        view["name"],
        "yes" if view["hard"] else "",
        view["value"],
        f"{origin['kind']}: {', '.join(cast('Sequence[str]', origin['by']))}",
        "" if alone is None else f"{alone['before']} → {alone['after']}",
        "" if after is None else f"{after['before']} → {after['after']}",
    )
