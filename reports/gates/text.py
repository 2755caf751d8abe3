"""Write a gate's document as text, and its head: its name, and what runs are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from django import forms
from django.http import QueryDict

from reports.services.gates import BRANCH, LAST_PASSING
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.yaml_documents import load_yaml, yaml_text
from toolevals.workspace.form_controls import PlainForm

MAX_TEXT: Final = 1_000_000
_RUN: Final = "run"


class HeadForm(PlainForm):
    """The form for a gate's name, and for the runs to compare with."""

    name = forms.CharField(
        required=False, max_length=60, help_text="Letters, digits, hyphens and _. The command takes it as --name."
    )
    compared = forms.ChoiceField(
        required=False,
        label="Compared with",
        choices=[
            ("", "nothing"),
            (LAST_PASSING, "the newest run that passed a gate"),
            (BRANCH, "the newest run of a branch"),
            (_RUN, "one run"),
        ],
        help_text="For the rules about the run before.",
    )
    of = forms.CharField(required=False, max_length=200, label="Which", help_text="The branch, or the run's number.")

    @classmethod
    def of_gate(cls, name: str, baseline: str) -> HeadForm:
        """Return the form that shows a name and a baseline."""
        compared, of = _said_baseline(baseline)
        return cls(initial={"name": name, "compared": compared, "of": of})

    @property
    def baseline(self) -> str:
        """Return what a run is compared with, as a gate's request says it; the form is valid."""
        compared, of = self.cleaned_data["compared"], self.cleaned_data["of"].strip()
        said: str = {BRANCH: f"{BRANCH}{of}", _RUN: of}.get(compared, compared)
        if compared in (BRANCH, _RUN) and not of:
            raise InvalidDocument.at("/baseline", "is missing: say which")
        return said

    def add_problem(self, problem: Problem) -> bool:
        """Show what is wrong with the name or the baseline, and return whether it is about one of them."""
        name = {"/name": "name", "/baseline": "of"}.get(problem.pointer)
        if name is None:
            return False
        self.add_error(name, problem.message)
        self.fields[name].widget.attrs["class"] += " is-invalid"
        return True


class TextForm(PlainForm):
    """A gate as its document, typed, pasted or from a file."""

    document = forms.CharField(
        required=False,
        strip=False,
        max_length=MAX_TEXT,
        label="Document, as YAML or JSON",
        widget=forms.Textarea({"rows": 18, "class": "form-control mono", "spellcheck": "false"}),
        help_text="bounds, assertions, thresholds, regressions, groups, consistency and unscored.",
    )

    def clean_document(self) -> dict[str, Any]:
        return object_in(self.cleaned_data["document"])


@dataclass
class GateText:
    """A gate's head and its document as text."""

    head: HeadForm
    text: TextForm
    # It is no form: a template asks.
    rows: None = None

    @classmethod
    def of(cls, document: Mapping[str, Any], *, name: str = "", baseline: str = "") -> Self:
        """Return the text of a document."""
        return cls(HeadForm.of_gate(name, baseline), TextForm(initial={"document": yaml_text(document)}))

    @classmethod
    def sent(cls, data: QueryDict) -> Self:
        """Return the text as it was sent."""
        return cls(HeadForm(data), TextForm(data))

    def is_valid(self) -> bool:
        """Return whether the text says a gate; else it is said what is wrong with it and where."""
        if not all([self.head.is_valid(), self.text.is_valid()]):
            return False
        try:
            read_gate(self.document())
        except InvalidDocument as error:
            self.add_problems(error)
            return False
        return True

    def document(self) -> dict[str, Any]:
        """Return the gate's document; the text can be read, though the gate may not be valid."""
        found: dict[str, Any] = self.text.cleaned_data["document"]
        return found

    def add_problems(self, error: InvalidDocument) -> None:
        """Show what is wrong: with the name and the baseline at their fields, all else at the document by pointer."""
        for problem in error.problems:
            if not self.head.add_problem(problem):
                self.text.add_error("document", str(Problem(problem.pointer.removeprefix("/gate"), problem.message)))
                self.text.fields["document"].widget.attrs["class"] += " is-invalid"


def object_in(text: str) -> dict[str, Any]:
    """Return the object that YAML or JSON says, empty where nothing is said; raises ValidationError."""
    if not text.strip():
        return {}
    try:
        found = load_yaml(text)
    except InvalidDocument as error:
        raise forms.ValidationError([str(each) for each in error.problems]) from None
    if not isinstance(found, dict):
        raise forms.ValidationError("It is not an object.")
    return found


def _said_baseline(said: str) -> tuple[str, str]:
    """Return which kind of run a baseline is, and which one of them."""
    if not said or said == LAST_PASSING:
        return said, ""
    return (BRANCH, said.removeprefix(BRANCH)) if said.startswith(BRANCH) else (_RUN, said)
