"""Defines the forms of what a project says about its traces, and of the judges that are asked about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms

from toolevals.runs.judging.forms import ServiceForm
from toolevals.runs.models import Judge
from toolevals.traces.models import SpanKind, TraceJudge, TraceSettings
from toolevals.traces.reading.span_judging import MOST_SPANS
from toolevals.traces.scrubbing import TITLES, ScrubRule, rules_of
from toolevals.traces.services.trace_judges import (
    MOST_QUESTIONS_A_DAY,
    MOST_TOKENS_A_DAY,
    QUESTIONS_A_DAY,
    TraceJudgeRequest,
    trace_judges_possible,
)
from toolevals.workspace.forms.controls import PlainForm
from toolevals.workspace.models import Project

_NO_LIMIT = "Empty: no limit."
_KNOWN = ("email", "phone", "card", "iban")
_LINES = {"rows": 3, "spellcheck": "false", "class": "form-control mono"}


class TraceJudgeChangeForm(ServiceForm):
    """Sets how many traces a judge is asked about, and what that may take a day."""

    share = forms.FloatField(
        min_value=0.01, max_value=100, initial=10, label="Share of traces", help_text="Percent, by the trace's id."
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
        Judge.objects.none(), empty_label=None, help_text="Those that judge without an expected call."
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

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        possible = [each.pk for each in trace_judges_possible(project)]
        self.fields["judge"].queryset = Judge.objects.in_project(project).filter(pk__in=possible)  # type: ignore[attr-defined]


class TraceSettingsForm(PlainForm):
    """The form for the time that traces stay, the share to take, and what is taken out."""

    retention_days = forms.IntegerField(
        label="Days that a trace stays", min_value=1, max_value=3650, help_text="Those of examples stay."
    )
    sample_rate = forms.FloatField(
        label="Share of traces that is taken", min_value=0, max_value=1, help_text="From 0 to 1. Each is taken whole."
    )
    most_tokens = forms.IntegerField(
        label="Tokens of a trace at most",
        min_value=1,
        max_value=10**15,
        required=False,
        help_text="In and out together. Empty: no limit. The online rule on cost fails a trace that took more.",
    )
    most_cost = forms.FloatField(
        label="Cost of a trace at most",
        min_value=0,
        max_value=1e12,
        required=False,
        help_text="In the currency in which costs come. Empty: no limit.",
    )
    email, phone, card, iban = (forms.BooleanField(label=TITLES[kind], required=False) for kind in _KNOWN)  # type: ignore[index]
    fields_named = forms.CharField(
        label="Fields",
        required=False,
        max_length=4_000,
        help_text="Names of attributes or JSON fields, one a line, such as customer_name.",
        widget=forms.Textarea(_LINES),
    )
    patterns = forms.CharField(
        label="Patterns",
        required=False,
        max_length=10_000,
        help_text="Regular expressions of RE2, one a line.",
        widget=forms.Textarea(_LINES),
    )
    sample = forms.CharField(
        label="Try the rules on a text",
        required=False,
        max_length=20_000,
        help_text="Nothing of it is kept.",
        widget=forms.Textarea({"rows": 4, "class": "form-control"}),
    )

    @staticmethod
    def values(settings: TraceSettings) -> dict[str, Any]:
        """Return what is set as the form shows it."""
        rules = settings.rules
        lines = {kind: "\n".join(each.value for each in rules if each.kind == kind) for kind in ("field", "pattern")}
        return {
            "retention_days": settings.retention_days,
            "sample_rate": settings.sample_rate,
            "most_tokens": settings.most_tokens,
            "most_cost": settings.most_cost,
            "fields_named": lines["field"],
            "patterns": lines["pattern"],
            **{kind: any(each.kind == kind for each in rules) for kind in _KNOWN},
        }

    def clean(self) -> dict[str, Any]:
        """Read the rules. A rule that cannot be is refused next to its field."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        self.rules: tuple[ScrubRule, ...] = rules_of({"kind": kind} for kind in _KNOWN if data.get(kind))
        for name, kind in (("fields_named", "field"), ("patterns", "pattern")):
            lines = [line.strip() for line in (data.get(name) or "").splitlines() if line.strip()]
            try:
                self.rules += rules_of({"kind": kind, "value": line} for line in lines)
            except ValueError as error:
                self.add_error(name, f"{str(error)[:1].upper()}{str(error)[1:]}.")
        return data
