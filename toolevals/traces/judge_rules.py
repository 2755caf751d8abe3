"""Shows judges of traces next to online rules: each with the name of its rule, its title, and who judges."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from toolevals.traces.models import SpanVerdict, TraceJudge, TraceQuestion
from toolevals.traces.models.judges import QuestionState
from toolevals.traces.models.traces import Trace
from toolevals.workspace.models import Project


@dataclass(frozen=True, slots=True)
class JudgeRule:
    """A judge as a rule: `judge` is its name and `model` the snapshot that is asked."""

    name: str
    version: int
    title: str
    judge: str
    model: str
    kind: str = "agent"
    judge_id: UUID | None = None

    @classmethod
    def of(cls, judge: TraceJudge) -> JudgeRule:
        """Return the rule of a judge that was read with its rubric."""
        row = judge.judge
        return cls(judge.rule, row.rubric.version, row.rubric.title, row.name, row.model, judge_id=row.pk)


@dataclass(frozen=True, slots=True)
class TraceQuestionShown:
    """A question about a trace without a verdict: whether it waits, and why there is none."""

    rule: JudgeRule
    is_waiting: bool
    reason: str


def judge_rules(project: Project) -> dict[int, JudgeRule]:
    """Return the judges that a project's traces are, or were, judged by, by the key of each."""
    return {each.pk: JudgeRule.of(each) for each in TraceJudge.objects.in_project(project)}


def judge_verdicts(trace: Trace) -> list[tuple[JudgeRule, SpanVerdict]]:
    """Return what judges said of a trace."""
    rows = SpanVerdict.objects.filter(trace=trace).exclude(judge=None).select_related("judge__judge__rubric")
    return [(JudgeRule.of(each.judge), each) for each in rows.order_by("number") if each.judge is not None]


def open_questions(trace: Trace) -> list[TraceQuestionShown]:
    """Return the questions about a trace to which there is no answer."""
    rows = TraceQuestion.objects.filter(trace=trace).exclude(state=QuestionState.JUDGED)
    return [
        TraceQuestionShown(JudgeRule.of(each.judge), each.state == QuestionState.WAITING, each.reason)
        for each in rows.select_related("judge__judge__rubric").order_by("judge")
    ]
