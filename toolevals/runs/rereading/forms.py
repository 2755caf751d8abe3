"""Define forms about re-readings: a new one, and one reading."""

from __future__ import annotations

from typing import Any, Final

from django import forms

from toolevals.runs.judging.forms import ServiceForm
from toolevals.runs.models import Grading, Said
from toolevals.runs.services import RereadingRequest
from toolevals.runs.services.calibrating import LONGEST_NOTE
from toolevals.runs.services.rereading import MOST_CASES, MOST_READERS, USUAL_SIZE

# Key -> what is said, in words.
CHOICES: Final = (
    ("1", Said.RIGHT.value, "right"),
    ("2", Said.WRONG.value, "wrong"),
    ("0", Said.CANNOT_SAY.value, "cannot say"),
)


class RereadingForm(ServiceForm):
    """How many cases are drawn of a grading, and how many people read each."""

    passed = forms.IntegerField(min_value=1, max_value=MOST_CASES, initial=USUAL_SIZE, label="Passed cases")
    failed = forms.IntegerField(min_value=1, max_value=MOST_CASES, initial=USUAL_SIZE, label="Failed cases")
    readers = forms.IntegerField(min_value=1, max_value=MOST_READERS, initial=1, label="Readers of each case")
    seed = forms.CharField(
        max_length=100,
        required=False,
        help_text="Any text: the same text draws the same cases. Empty: the date.",
    )

    def request(self, grading: Grading) -> RereadingRequest:
        """Return the re-reading that is asked for; the form is valid."""
        return RereadingRequest(grading=grading, **self.cleaned_data)


class ReadingForm(forms.Form):
    """What one person says of one case."""

    value = forms.ChoiceField(
        choices=Said.choices, error_messages={"required": "Choose an answer.", "invalid_choice": "Choose an answer."}
    )
    note = forms.CharField(required=False, max_length=LONGEST_NOTE, strip=True)

    def said(self) -> dict[str, Any]:
        """Return what is said; the form is valid."""
        return {"said": self.cleaned_data["value"], "note": self.cleaned_data["note"]}
