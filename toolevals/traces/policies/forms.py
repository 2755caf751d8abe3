"""Defines the form of the policies that traces are checked by."""

from __future__ import annotations

from typing import Any

from django import forms

from toolevals.registry.models import Policy
from toolevals.runs.judging.forms import ServiceForm
from toolevals.traces.policies.services import MOST_AGAIN, MOST_DAYS
from toolevals.workspace.models import Project


class TracePolicyForm(ServiceForm):
    """Says by which policy how many traces are checked."""

    policy = forms.ModelChoiceField(
        Policy.objects.none(),
        to_field_name="slug",
        empty_label=None,
        help_text="Its active version, or the newest if none is active. A call that it would refuse fails.",
    )
    share = forms.FloatField(
        min_value=0,
        max_value=100,
        initial=100,
        label="Share of traces",
        help_text="Percentage of traces, selected by trace id. 0 checks none.",
    )
    days = forms.IntegerField(
        min_value=0,
        max_value=MOST_DAYS,
        initial=0,
        label="Days before",
        help_text=f"Also check the traces of this many past days (the newest {MOST_AGAIN:,} at most).",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["policy"].queryset = Policy.objects.in_project(project)  # type: ignore[attr-defined]
        self.fields["policy"].label_from_instance = lambda policy: policy.name  # type: ignore[attr-defined]
