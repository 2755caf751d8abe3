"""Shows judges of traces next to online rules: each with the name of its rule, its title, and who judges."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from toolevals.traces.intake.models import Trace
from toolevals.traces.judges.asking import MOST_SPANS, spans_of_kind
from toolevals.traces.judges.models import QuestionState
from toolevals.traces.models import SpanVerdict, TraceJudge, TraceQuestion
from toolevals.traces.reading.traces import TraceReading
from toolevals.workspace.models import Project


@dataclass(frozen=True, slots=True)
class JudgeRule:
    """A judge as a rule: `judge` is its name and `model` the snapshot that is asked."""

    name: str
    version: int
    title: str
    judge: str
    model: str
    kind: str = ""
    judge_id: UUID | None = None

    @classmethod
    def of(cls, judge: TraceJudge) -> JudgeRule:
        """Return the rule of a judge that was read with its rubric."""
        row = judge.judge
        title = row.rubric.title
        if judge.span_kind:
            title += f", {judge.get_span_kind_display()[:1].lower()}{judge.get_span_kind_display()[1:]}"
        name, version = judge.rule, row.rubric.version
        return cls(name, version, title, row.name, row.model, judge.span_kind, row.pk)


@dataclass(frozen=True, slots=True)
class TraceQuestionShown:
    """A question without a verdict about a trace, or a span: whether it waits, and why there is none."""

    rule: JudgeRule
    is_waiting: bool
    reason: str
    span_id: str = ""


def judge_rules(project: Project) -> dict[int, JudgeRule]:
    """Return the judges that a project's traces are, or were, judged by, by the key of each."""
    return {each.pk: JudgeRule.of(each) for each in TraceJudge.objects.in_project(project)}


def judge_verdicts(trace: Trace) -> list[tuple[JudgeRule, SpanVerdict]]:
    """Return what judges said of a trace."""
    rows = SpanVerdict.objects.filter(trace=trace).exclude(judge=None).select_related("judge__judge__rubric")
    return [(JudgeRule.of(each.judge), each) for each in rows.order_by("number") if each.judge is not None]


def open_questions(trace: Trace, reading: TraceReading) -> list[TraceQuestionShown]:
    """Return the questions about a trace to which there is no answer, and those that are too many to be asked."""
    rows = TraceQuestion.objects.filter(trace=trace).exclude(state=QuestionState.JUDGED)
    found = [
        TraceQuestionShown(JudgeRule.of(each.judge), each.state == QuestionState.WAITING, each.reason, each.span_id)
        for each in rows.select_related("judge__judge__rubric").order_by("judge", "pk")
    ]
    for judge in TraceJudge.objects.in_project(trace.project).filter(questions__trace=trace).distinct():
        if judge.span_kind and (count := len(spans_of_kind(reading, judge.span_kind))) > MOST_SPANS:
            reason = f"Asked about the first {MOST_SPANS} of the {count:,} spans of its kind alone."
            found.append(TraceQuestionShown(JudgeRule.of(judge), is_waiting=False, reason=reason))
    return found
