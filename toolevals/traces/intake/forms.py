"""Defines the form of what a project says about its traces."""

from __future__ import annotations

from typing import Any

from django import forms

from toolevals.traces.intake.scrubbing import TITLES, ScrubRule, rules_of
from toolevals.traces.models import TraceSettings
from toolevals.workspace.form_controls import PlainForm

_KNOWN = ("email", "phone", "card", "iban")
_LINES = {"rows": 3, "spellcheck": "false", "class": "form-control mono"}


class TraceSettingsForm(PlainForm):
    """The form for the time that traces stay, the share to take, and what is taken out."""

    retention_days = forms.IntegerField(
        label="Retention (days)", min_value=1, max_value=3650, help_text="Traces that became examples are kept."
    )
    sample_rate = forms.FloatField(
        label="Sampling rate",
        min_value=0,
        max_value=1,
        help_text="From 0 to 1. A trace is stored completely or not at all.",
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
        help_text="In the currency of the recorded costs. Leave empty for no limit.",
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
        help_text="This text is not saved.",
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
