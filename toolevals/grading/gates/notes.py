"""Tell what is to be read next to a check and decides nothing: who judged, what the best baseline agent scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from toolevals.grading.gates.results import JUDGED, PUBLISHED_JUDGES, PUBLISHED_METRICS, Check, GateResult
from toolevals.grading.values.verdicts import JudgedVerdict

# Of a published name whose judge was asked about what rules leave unscored alone.
BY_RULES = "Where rules leave no question, they answer."
_ANSWERED_BY = {"result_use": "result_groundedness", "recovery": "trajectory_recovery"}
# So much of an error is quoted.
_LONGEST = 300


def with_notes(result: GateResult, notes: Mapping[str, str], rates: Mapping[str, str] | None = None) -> GateResult:
    """Return the result with a note on each check of a metric that has one, under the published name or ours.

    `rates` are notes on the pass rate of a metric over all cases alone.
    """
    return replace(result, checks=tuple(_noted(check, notes, rates or {}) for check in result.checks))


def _noted(check: Check, notes: Mapping[str, str], rates: Mapping[str, str]) -> Check:
    found = [_of(check, notes)]
    if check.name == f"{check.metric} pass_rate":
        found.append(_of(check, rates))
    note = " ".join(filter(None, (check.note, *found)))
    return replace(check, note=note) if note else check


def _of(check: Check, notes: Mapping[str, str]) -> str:
    return notes.get(check.metric) or notes.get(PUBLISHED_METRICS.get(check.metric, ""), "")


def with_source(check: Check, sources: Mapping[str, str]) -> Check:
    """Return the check of a published name that a judge may answer with a note on who answers it here."""
    judge = PUBLISHED_JUDGES.get(check.metric)
    if judge is None:
        return check
    source = sources[check.metric]
    words = f"Read from the rule {source}: its judge was not asked."
    if source == judge:
        words = f"Read from the judge {judge.removeprefix(JUDGED)}."
    return replace(check, note=f"{words} {check.note}".strip())


def with_judge(check: Check, sources: Mapping[str, str]) -> Check:
    """Return an unanswered check of a layer that reads prose with the judge that answers what its rules leave open."""
    judge = _ANSWERED_BY.get(sources.get(check.metric, check.metric))
    if check.status != "unanswered" or judge is None:
        return check
    words = f"Rules score only what they know: the judge {judge} answers the rest."
    return replace(check, note=f"{check.note} {words}".strip())


def with_errors(check: Check, errored: str) -> Check:
    """Return an unanswered check with what is said of the run's errored cases."""
    return replace(check, note=f"{check.note} {errored}".strip()) if check.status == "unanswered" and errored else check


def errored_note(count: int, first: str) -> str:
    """Return how many cases of a run are errored, with the words of the first; nothing where none is."""
    if not count:
        return ""
    words = " ".join(first.split()).removesuffix(".")
    shown = f"{words[:_LONGEST]} …" if len(words) > _LONGEST else words
    cases = "1 case is errored, and says" if count == 1 else f"{count:,} cases are errored, and the first says"
    return f"{cases}: {shown}."


def judge_notes(judges: Iterable[tuple[str, str, bool]]) -> dict[str, str]:
    """Return a note for each metric of a judge whose model is an alias, by (rubric, model, whether it is pinned)."""
    return {
        f"{JUDGED}{rubric}": f"The judge's model {model} is not pinned: the same answers may be judged otherwise later."
        for rubric, model, pinned in judges
        if not pinned
    }


def judges_in(verdicts: Iterable[JudgedVerdict]) -> set[tuple[str, str, bool]]:
    """Return (rubric, model, whether it is pinned) of the judges that were asked."""
    return {(verdict.rubric, verdict.model, verdict.pinned) for verdict in verdicts if verdict.model}


def baseline_agent_note(share: float, name: str) -> str:
    """Return the note that says what a baseline agent scores, to be read next to a rate."""
    return f"Best baseline agent: {share:.1%} ({name})."
