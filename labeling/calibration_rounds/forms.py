"""Define the form of a new calibration round."""

from __future__ import annotations

from typing import Any

from django import forms

from labeling.calibration_rounds.services import MOST_ITEMS, USUAL_SIZE
from toolevals.workspace.form_controls import PlainForm


class CalibrationForm(PlainForm):
    """A name, and which examples."""

    name = forms.CharField(max_length=120)
    size = forms.IntegerField(
        min_value=1,
        max_value=MOST_ITEMS,
        initial=USUAL_SIZE,
        label="Examples",
        help_text="Number of solved examples to propose, spread over tools and strata.",
    )
    names = forms.CharField(
        required=False,
        label="Only these ids",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=f"One a line, {MOST_ITEMS} at most; all must be solved examples. Leave empty to use the proposal.",
    )
    comes_first = forms.BooleanField(
        required=False,
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
        label="It comes first",
        help_text="While the round is open, labellers must answer it before they get other examples of this dataset.",
    )

    def clean_names(self) -> list[str]:
        names = [line.strip() for line in self.cleaned_data["names"].splitlines() if line.strip()]
        if len(names) > MOST_ITEMS:
            raise forms.ValidationError(f"These are {len(names):,} ids; a round holds {MOST_ITEMS} at most.")
        return names

    def proposing(self, names: list[str]) -> CalibrationForm:
        """Return the valid form again, with these ids filled in."""
        data: dict[str, Any] = {**self.cleaned_data, "names": "\n".join(names), "size": len(names) or USUAL_SIZE}
        return CalibrationForm(initial=data)
