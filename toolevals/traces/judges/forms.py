"""Defines the forms of the judges that are asked about traces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms

from toolevals.grading.values.canonical import canonical
from toolevals.runs.judging.forms import ServiceForm
from toolevals.runs.models import Judge
from toolevals.traces.judges.asking import MOST_SPANS
from toolevals.traces.judges.services import (
    MOST_QUESTIONS_A_DAY,
    MOST_TOKENS_A_DAY,
    QUESTIONS_A_DAY,
    TraceJudgeRequest,
    trace_judges_possible,
)
from toolevals.traces.models import SpanKind, TraceJudge
from toolevals.workspace.models import Project

_NO_LIMIT = "Empty: no limit."


class TraceJudgeChangeForm(ServiceForm):
    """Sets how many traces a judge is asked about, and what that may take a day."""

    share = forms.FloatField(
        min_value=0.01,
        max_value=100,
        initial=10,
        label="Share of traces",
        help_text="Percentage of traces, selected by trace id.",
    )
    most_questions = forms.IntegerField(
        min_value=1, max_value=MOST_QUESTIONS_A_DAY, initial=QUESTIONS_A_DAY, label="Questions a day"
    )
    most_tokens = forms.IntegerField(
        min_value=1, max_value=MOST_TOKENS_A_DAY, required=False, label="Tokens a day", help_text=_NO_LIMIT
    )
    most_cost = forms.FloatField(
        min_value=0,
        required=False,
        label="Cost a day",
        help_text=f"In the currency of the judge's prices. {_NO_LIMIT}",
    )
    is_on = forms.BooleanField(required=False, initial=True, label="Ask it about new traces")

    @staticmethod
    def values(judge: TraceJudge) -> dict[str, Any]:
        """Return what is set as the form shows it."""
        return {
            "share": round(100 * judge.share, 6),
            **{name: getattr(judge, name) for name in ("most_questions", "most_tokens", "most_cost", "is_on")},
        }

    def request(self) -> TraceJudgeRequest:
        """Return what is asked for."""
        said = {name: self.cleaned_data[name] for name in ("most_questions", "most_tokens", "most_cost", "is_on")}
        return TraceJudgeRequest(share=self.cleaned_data["share"] / 100, **said)


class TraceJudgeForm(TraceJudgeChangeForm):
    """The same for a judge that is not asked about traces so far."""

    judge = forms.ModelChoiceField(
        Judge.objects.none(), empty_label=None, help_text="Only judges that need no expected call are listed."
    )

    span_kind = forms.ChoiceField(
        choices=SpanKind.choices,
        required=False,
        label="Ask about",
        help_text=f"Spans of one kind are each a question, the first {MOST_SPANS} of a trace. This never changes.",
    )

    field_order = ("judge", "span_kind")

    def request(self) -> TraceJudgeRequest:
        """Return what is asked for."""
        return replace(super().request(), span_kind=self.cleaned_data["span_kind"])

    def __init__(self, *args: object, project: Project, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        possible = [each.pk for each in trace_judges_possible(project)]
        self.fields["judge"].queryset = Judge.objects.in_project(project).filter(pk__in=possible)  # type: ignore[attr-defined]


class TraceScoresForm(ServiceForm):
    """Has all four scores given by a model that a judge of the project asks."""

    judge = forms.ModelChoiceField(
        Judge.objects.none(), empty_label=None, label="Model", help_text="With the key and the prices of its judge."
    )

    def __init__(self, *args: object, project: Project, **kwargs: object) -> None:
        # Another form of its page has a field of the same name.
        super().__init__(*args, auto_id="scores_%s", **kwargs)
        judges = Judge.objects.in_project(project)
        one_each = {canonical([each.options, each.prices]): each.pk for each in judges}
        field = self.fields["judge"]
        field.queryset = judges.filter(pk__in=one_each.values())  # type: ignore[attr-defined]
        field.label_from_instance = lambda judge: f"{judge.model} at {judge.options['base_url']}"  # type: ignore[attr-defined]
