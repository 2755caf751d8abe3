"""Define forms about rubrics: a new one, and a trial of one before it is used."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from toolevals.grading.judging import GATES
from toolevals.grading.judging.rubrics import RUBRIC_LAYERS
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping
from toolevals.runs.judging.forms import ServiceForm
from toolevals.runs.models import Judge, Run
from toolevals.runs.rubrics.services import TryoutRequest
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project

# Runs that are offered to try a rubric on: the newest graded ones.
MOST_RUNS = 30
SCORINGS = (
    ("said", "the score that it says"),
    ("supported", "the share of its claims that are supported"),
    ("attributed", "the share of its claims whose field was given"),
    ("used", "the share of the relevant fields that are used"),
)


class RubricForm(ServiceForm):
    """A rubric of one's own; without a schema its answer is a reason and a score."""

    name = forms.SlugField(
        max_length=50, help_text="Lower-case letters, digits and _. An existing name gets a new version."
    )
    title = forms.CharField(max_length=120)
    layer = forms.ChoiceField(choices=[(name, name.replace("_", " ")) for name in RUBRIC_LAYERS])
    gate = forms.ChoiceField(
        label="Asked", choices=[(name, gate.sentence) for name, gate in GATES.items()], help_text="After the rules."
    )
    inputs = forms.MultipleChoiceField(
        choices=[(name, name) for name in dict.fromkeys(name for gate in GATES.values() for name in gate.all_inputs)],
        widget=forms.CheckboxSelectMultiple({"class": "choices"}),
        label="Given",
        help_text="What the judge sees. Criteria, value, expected and actual are available only with their own "
        "conditions.",
    )
    text = forms.CharField(
        label="Instruction",
        widget=forms.Textarea({"rows": 8}),
        help_text="What to score and how, using the values below. Case data is not inserted into this text.",
    )
    values = forms.CharField(
        initial="0, 0.5, 1",
        label="Values",
        help_text="Numbers from 0 to 1, separated by commas. Leave empty to allow any number.",
        required=False,
    )
    passes_from = forms.FloatField(min_value=0, max_value=1, initial=1, label="Passes from")
    scoring = forms.ChoiceField(
        choices=SCORINGS,
        initial="said",
        required=False,
        label="Value of an answer",
        help_text="How the value is read from the answer.",
    )
    answer_schema = forms.CharField(
        required=False,
        label="JSON Schema of the answer",
        widget=forms.Textarea({"rows": 8, "class": "form-control mono", "spellcheck": "false"}),
        help_text="Empty: a reason, and a score that is one of the values.",
    )

    def clean_values(self) -> list[float]:
        try:
            return [float(part) for part in self.cleaned_data["values"].split(",") if part.strip()]
        except ValueError:
            raise forms.ValidationError("Numbers with commas between.") from None

    def clean_answer_schema(self) -> Any:
        said: str = self.cleaned_data["answer_schema"].strip()
        if not said:
            return None
        try:
            return load_json(said)
        except InvalidDocument as error:
            raise forms.ValidationError([_placed(each.pointer, each.message) for each in error.problems]) from None

    def add_problems(self, error: InvalidDocument) -> None:
        """Show problems at their fields; those within the schema say where, by JSON pointer."""
        inside = [each for each in error.problems if each.pointer.startswith("/answer_schema")]
        for problem in inside:
            self.add_error("answer_schema", _placed(problem.pointer.removeprefix("/answer_schema"), problem.message))
        if others := [each for each in error.problems if each not in inside]:
            super().add_problems(InvalidDocument(others))

    def document(self) -> dict[str, Any]:
        """Return the rubric's document, still without its version; the form is valid."""
        data = self.cleaned_data
        own = data["answer_schema"]
        return {
            **{name: data[name] for name in ("name", "title", "layer", "gate", "inputs", "text")},
            "answer_schema": score_schema(data["values"]) if own is None else own,
            "scale": {"values": data["values"], "passes_from": data["passes_from"]},
            "scoring": data["scoring"] or "said",
        }


def score_schema(values: list[float]) -> dict[str, Any]:
    """Return the schema of an answer with a reason and a score, one of these values; any from 0 to 1 without."""
    score: dict[str, Any] = {"type": "number"}
    score |= {"enum": values} if values else {"minimum": 0, "maximum": 1}
    reason = {"type": "string", "description": "One or two sentences that a person can act on."}
    return {
        "type": "object",
        "required": ["reason", "score"],
        "additionalProperties": False,
        "properties": {"reason": reason, "score": score},
    }


def rubric_initial(document: JsonMapping) -> dict[str, Any]:
    """Return a rubric's document as the form begins with it; a schema that the form makes itself is left out."""
    values = document["scale"].get("values", [])
    schema = document["answer_schema"]
    names = ("name", "title", "layer", "gate", "inputs", "text")
    return {
        **{name: document[name] for name in names},
        "values": ", ".join(f"{value:g}" for value in values),
        "passes_from": document["scale"]["passes_from"],
        "scoring": document.get("scoring", "said"),
        "answer_schema": "" if schema == score_schema(values) else json.dumps(schema, indent=2, ensure_ascii=False),
    }


class TryoutForm(PlainForm):
    """The form for the cases that a rubric is tried on, and the judge's connection."""

    run = forms.ChoiceField(required=False, help_text="Ten random cases of this run that meet the rubric’s condition.")
    judge = forms.ChoiceField(
        required=False, label="Judge", help_text="Uses this judge’s address, key, model and prices, not its rubric."
    )
    seed = forms.CharField(
        max_length=100,
        required=False,
        help_text="Any text. The same seed selects the same cases. Leave empty to use today’s date.",
    )
    budget = forms.FloatField(min_value=0, required=False, label="Cap", help_text="What it may cost; empty for none.")
    thumbs = forms.BooleanField(
        required=False, label="Those with a thumb down first", help_text="By a rubric with this name."
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs = Run.objects.filter(project=project, grading__finished_at__isnull=False, baseline_agent="")
        choices = runs.select_related("grading__run").order_by("-number")[:MOST_RUNS]
        self.gradings = {str(run.number): run.grading for run in choices if run.grading is not None}
        self.judges = {str(judge.pk): judge for judge in Judge.objects.in_project(project)}
        self.fields["run"].choices = [(number, f"Run {number}") for number in self.gradings]  # type: ignore[attr-defined]
        self.fields["judge"].choices = [(key, f"{row.name}, {row.model}") for key, row in self.judges.items()]  # type: ignore[attr-defined]

    @property
    def is_possible(self) -> bool:
        """Return whether there is a run to try on and a judge to ask."""
        return bool(self.gradings and self.judges)

    def clean(self) -> None:
        for name in ("run", "judge"):
            if not self.cleaned_data.get(name) and name not in self.errors:
                self.add_error(name, "Choose one.")

    def request(self, document: JsonMapping) -> TryoutRequest:
        """Return what is tried; the form is valid."""
        data = self.cleaned_data
        return TryoutRequest(
            document=document,
            judge=self.judges[data["judge"]],
            grading=self.gradings[data["run"]],
            seed=data["seed"],
            thumbs=data["thumbs"],
            budget=data["budget"],
        )


def _placed(pointer: str, message: str) -> str:
    return f"{pointer}: {message}" if pointer else message
