"""Define forms about judges and rubrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms

from toolevals.grading.judging import SHIPPED
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.judging.services import JudgeRequest
from toolevals.runs.models import Rubric
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project

# Where a service names a problem otherwise than the form does.
FIELDS = {
    "/prices/input": "input_price",
    "/prices/output": "output_price",
    "/options/base_url": "base_url",
    "/options/secret": "secret",
    "/options/timeout": "timeout",
    "/scale/passes_from": "passes_from",
}
SHIPPED_PREFIX = "shipped:"


class ServiceForm(PlainForm):
    """A form whose service may find further problems."""

    def add_problems(self, error: InvalidDocument) -> None:
        """Show the problems that a service found at the fields that they are about."""
        for problem in error.problems:
            first = problem.pointer.split("/")[1] if "/" in problem.pointer else ""
            name = FIELDS.get(problem.pointer) or first
            self.add_error(name if name in self.fields else None, problem.message)


class JudgeForm(ServiceForm):
    """A judge: its rubric, its model, and how much it is asked."""

    name = forms.CharField(max_length=120, help_text="What it is called here.")
    rubric = forms.ChoiceField()
    base_url = forms.URLField(
        label="Address",
        max_length=500,
        assume_scheme="https",
        help_text="Of its chat-completions interface, such as https://models.example.org/v1.",
    )
    model = forms.CharField(max_length=120, help_text="A snapshot, with its date or hash.")
    secret = forms.ChoiceField(required=False, label="Key", help_text="One of the project's secrets.")
    input_price = forms.FloatField(min_value=0, required=False, label="Price of input", help_text="Per million tokens.")
    output_price = forms.FloatField(
        min_value=0, required=False, label="Price of output", help_text="Per million tokens."
    )
    share = forms.FloatField(
        min_value=0.1, max_value=100, initial=100, label="Share of the examples", help_text="Percent."
    )
    budget = forms.FloatField(min_value=0, required=False, label="Cap", help_text="What one grading may cost.")
    timeout = forms.FloatField(min_value=1, max_value=3600, initial=120, label="Timeout", help_text="Seconds.")
    allow_alias = forms.BooleanField(
        required=False,
        widget=forms.CheckboxInput({"class": "form-check-input"}),
        label="Allow a model alias",
        help_text="Allows a model name without a fixed version. Its verdicts are marked everywhere.",
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = project.secrets.values_list("name", flat=True)
        own = Rubric.objects.in_project(project).filter(is_shipped=False)
        shipped = [(f"{SHIPPED_PREFIX}{name}", rubric.title) for name, rubric in SHIPPED.items()]
        choices = [("Shipped", shipped), ("Your own", [(str(rubric.pk), str(rubric)) for rubric in own])]
        self.fields["secret"].choices = [("", "No key"), *((name, name) for name in names)]  # type: ignore[attr-defined]
        self.fields["rubric"].choices = choices if own else shipped  # type: ignore[attr-defined]

    def clean(self) -> None:
        data = self.cleaned_data
        if (data.get("input_price") is None) != (data.get("output_price") is None):
            self.add_error("output_price", "Enter both prices or neither.")

    def request(self) -> JudgeRequest:
        """Return the judge that is asked for; the form is valid."""
        data = self.cleaned_data
        options = {name: data[name] for name in ("base_url", "secret", "timeout") if data[name]}
        priced = data["input_price"] is not None
        return JudgeRequest(
            name=data["name"],
            model=data["model"],
            options=options,
            prices={"input": data["input_price"], "output": data["output_price"]} if priced else None,
            share=data["share"] / 100,
            budget=data["budget"],
            allow_alias=data["allow_alias"],
        )


class JudgeChangeForm(PlainForm):
    """The form for whether a judge is on, and how much it is asked."""

    is_on = forms.TypedChoiceField(
        choices=[("", ""), ("1", "on"), ("0", "off")], required=False, coerce=lambda text: text == "1", empty_value=None
    )
    share = forms.FloatField(min_value=0.1, max_value=100, required=False)
    budget = forms.FloatField(min_value=0, required=False)

    def changes(self) -> dict[str, Any]:
        """Return what is to change; the form is valid."""
        data = self.cleaned_data
        share = None if data["share"] is None else data["share"] / 100
        return {"is_on": data["is_on"], "share": share, "budget": data["budget"]}


def problem_texts(error: InvalidDocument) -> Iterator[str]:
    """Yield problems as sentences."""
    for problem in error.problems:
        yield f"{problem.pointer.rpartition('/')[2].replace('_', ' ').capitalize()} {problem.message}."
