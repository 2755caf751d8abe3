"""Define forms about calibrations: a new one, one rating, and a judge's threshold."""

from __future__ import annotations

from typing import Any

from django import forms

from toolevals.grading.judging import Scale
from toolevals.runs.judge_calibrations.services import (
    LONGEST_NOTE,
    MOST_CASES,
    MOST_RATERS,
    USUAL_RATERS,
    USUAL_SIZE,
    CalibrationRequest,
)
from toolevals.runs.judging.forms import ServiceForm
from toolevals.runs.models import Grading, Judge, Measure
from toolevals.workspace.form_controls import PlainForm

CANNOT_TELL = "none"
# Gradings that are offered: the newest ones that this rubric version and model judged.
MOST_GRADINGS = 30


class CalibrationForm(ServiceForm):
    """The form for the cases of a calibration, and its size."""

    grading = forms.ChoiceField(
        label="Cases of", help_text="Only gradings judged with this rubric version and model are listed."
    )
    held_out = forms.IntegerField(
        min_value=1,
        max_value=MOST_CASES,
        initial=USUAL_SIZE,
        label="Held out",
        help_text="Cases used to measure the judge.",
    )
    tuning = forms.IntegerField(
        min_value=0,
        max_value=MOST_CASES,
        initial=0,
        label="For tuning",
        help_text="Extra cases for improving the rubric.",
    )
    raters = forms.IntegerField(min_value=1, max_value=MOST_RATERS, initial=USUAL_RATERS, label="Raters of each case")
    seed = forms.CharField(
        max_length=100,
        required=False,
        help_text="Any text. The same seed selects the same cases. Leave empty to use today’s date.",
    )

    thumbs = forms.BooleanField(
        required=False,
        label="With a thumb down",
        help_text="Verdicts of that grading that people called wrong are rated as well. They are in no figure.",
    )

    def __init__(self, judge: Judge, gradings: dict[str, Grading], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.judge, self.gradings = judge, gradings
        self.fields["grading"].choices = [  # type: ignore[attr-defined]
            (key, f"Run {grading.run.number}, grading {grading.number}") for key, grading in gradings.items()
        ]

    def request(self) -> CalibrationRequest:
        """Return the calibration that is asked for; the form is valid."""
        data = {**self.cleaned_data, "grading": self.gradings[self.cleaned_data["grading"]]}
        return CalibrationRequest(judge=self.judge, **data)


class RatingForm(forms.Form):
    """One person's rating of one case, on the rubric's scale."""

    value = forms.CharField(error_messages={"required": "Choose a value."})
    note = forms.CharField(required=False, max_length=LONGEST_NOTE, strip=True)

    def clean_value(self) -> float | None:
        said: str = self.cleaned_data["value"]
        if said == CANNOT_TELL:
            return None
        try:
            return float(said)
        except ValueError:
            raise forms.ValidationError("A value is a number of the scale.") from None


class JudgeSettingsForm(PlainForm):
    """The form for how much a judge is asked, and for its threshold."""

    share = forms.FloatField(min_value=0.1, max_value=100, label="Share of the examples", help_text="Percent.")
    budget = forms.FloatField(
        min_value=0,
        required=False,
        label="Cap",
        help_text="Maximum cost of one grading. Leave empty to keep the current cap.",
    )
    measure = forms.ChoiceField(
        choices=Measure.choices, label="Measure", help_text="Agreement with people, on held-out cases."
    )
    threshold = forms.FloatField(
        min_value=0, max_value=1, help_text="From 0 to 1. Scores are flagged if the measure is below it."
    )
    tolerance = forms.FloatField(
        min_value=0,
        max_value=100,
        label="Allowed changed verdicts",
        help_text="In percent, when the judge is asked again. Scores are flagged if significantly more verdicts "
        "change.",
    )

    @classmethod
    def of(cls, judge: Judge) -> JudgeSettingsForm:
        """Return the form as the judge stands."""
        share = round(100 * judge.share, 4)
        return cls(
            initial={
                "share": share,
                "budget": judge.budget,
                "measure": judge.measure,
                "threshold": judge.threshold,
                "tolerance": round(100 * judge.tolerance, 4),
            }
        )

    def changes(self) -> dict[str, Any]:
        """Return what is to change; the form is valid."""
        return {**self.cleaned_data, **{name: self.cleaned_data[name] / 100 for name in ("share", "tolerance")}}


def choices_of(scale: Scale) -> list[tuple[str, str, str]]:
    """Return (key, value, words) of each value of a scale, the best first, and of not being able to tell."""
    values = sorted(scale.values, reverse=True)
    named = [
        (str(place), f"{value:g}", f"{value:g}, {'passes' if scale.passes(value) else 'fails'}")
        for place, value in enumerate(values, start=1)
    ]
    return [*named, ("0", CANNOT_TELL, "cannot tell")]
