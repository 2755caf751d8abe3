"""Define forms that start runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms

from labeling.models import Dataset, DatasetVersion
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import RegistryVersion
from toolevals.runs.baseline.agent import THRESHOLD
from toolevals.runs.models import Experiment
from toolevals.runs.runs.recorded import RecordedRequest
from toolevals.runs.runs.requesting import RunRequest
from toolevals.runs.runs.services import MAX_TRIALS
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project, within


class DatasetVersionField(forms.ModelChoiceField[DatasetVersion]):
    """A frozen dataset version, by name, tags and size; also taken as "dataset@number" or "dataset@tag"."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project: Project | None = None

    def label_from_instance(self, obj: Any) -> str:
        tags = f" ({', '.join(obj.tags)})" if obj.tags else ""
        return f"{obj.dataset.name} v{obj.number}{tags}, {obj.size:,} examples"

    def to_python(self, value: Any) -> DatasetVersion | None:
        return super().to_python(self.prepare_value(value))

    def prepare_value(self, value: Any) -> Any:
        if self.project is None or not isinstance(value, str) or "@" not in value:
            return super().prepare_value(value)
        version = DatasetVersion.objects.named(self.project, value)
        return version.pk if version else value


class ToolsField(forms.ModelChoiceField[RegistryVersion]):
    """A registry version, by name."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.registry.name} v{obj.number}"


# What a form says of a run by fields of the same names.
SAID = (
    "experiment",
    "dataset_version",
    "trials",
    "tools",
    "name",
    "model",
    "prompt_version",
    "commit",
    "preset",
    "cut_off",
)


class RunForm(PlainForm):
    """The form for the fields that every run needs."""

    experiment = forms.CharField(
        max_length=60,
        help_text="Choose an experiment or enter a new name. Runs in one experiment are listed and charted together.",
        widget=forms.TextInput({"list": "experiments", "autocomplete": "off"}),
    )
    dataset_version = DatasetVersionField(
        DatasetVersion.objects.none(), label="Dataset version", empty_label="Choose a version"
    )
    tools = ToolsField(
        RegistryVersion.objects.none(),
        required=False,
        label="Tools",
        empty_label="Tools from the examples",
        help_text="Only if your agent uses different descriptions for the same tools.",
    )
    trials = forms.IntegerField(min_value=1, max_value=MAX_TRIALS, initial=1, help_text="Number of runs per example.")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.experiments = Experiment.objects.in_project(project).values_list("name", flat=True)
        versions, tools = self.fields["dataset_version"], self.fields["tools"]
        versions.project = project  # type: ignore[attr-defined]
        versions.queryset = DatasetVersion.objects.in_project(project)  # type: ignore[attr-defined]
        registered = RegistryVersion.objects.filter(within(project, "registry")).select_related("registry")
        tools.queryset = registered.order_by("registry__name", "-number")  # type: ignore[attr-defined]

    def request(self) -> RunRequest:
        """Return what is asked for, as far as fields of these names say it; the form is valid."""
        return RunRequest(**{name: self.cleaned_data[name] for name in SAID if name in self.fields})

    def add_problems(self, error: InvalidDocument) -> None:
        """Show what a service found wrong, next to the field that it names."""
        for problem in error.problems:
            name = problem.pointer.removeprefix("/")
            self.add_error(name if name in self.fields else None, problem.message)


class BaselineForm(RunForm):
    """A run of the built-in baseline."""

    threshold = forms.FloatField(
        min_value=0,
        max_value=1,
        initial=THRESHOLD,
        help_text="Minimum relevance (0 to 1). Below it, no tool is called.",
        widget=forms.NumberInput({"step": "0.01"}),
    )

    def request(self) -> RunRequest:
        return replace(super().request(), options={"threshold": self.cleaned_data["threshold"]})


# What becomes of how to grade conversations that stopped early before their end.
CUT_OFF_WORDS = (("failed", "count as failed"), ("left_out", "are left out"))


class UploadForm(RunForm):
    """A run of predictions that an agent made elsewhere."""

    name = forms.CharField(max_length=120, label="Agent", help_text="Name of the agent.")
    model = forms.CharField(
        max_length=120, required=False, help_text="Exact model version, for example small-2026-01-01."
    )
    prompt_version = forms.CharField(max_length=60, required=False, label="Prompt version")
    commit = forms.CharField(max_length=64, required=False, label="Git commit")
    cut_off = forms.ChoiceField(
        choices=CUT_OFF_WORDS,
        initial="failed",
        required=False,
        label="Conversations that stopped early",
        help_text="Stopped by the turn limit, a loop or too many errors.",
    )
    file = forms.FileField(
        label="Predictions", help_text="JSON Lines, one example per line: its id and what the agent did."
    )
    field_order = (
        "experiment",
        "dataset_version",
        "name",
        "model",
        "prompt_version",
        "commit",
        "tools",
        "trials",
        "cut_off",
        "file",
    )

    def clean_cut_off(self) -> str:
        """Return what the field says, and what holds where it says nothing."""
        return self.cleaned_data["cut_off"] or "failed"


class DatasetField(forms.ModelChoiceField[Dataset]):
    """A dataset, by name."""

    def label_from_instance(self, obj: Any) -> str:
        return str(obj.name)


class RecordedForm(PlainForm):
    """A benchmark's result file: its tasks go into a dataset, its recorded trials become a run."""

    dataset = DatasetField(
        Dataset.objects.none(),
        to_field_name="slug",
        empty_label="Choose a dataset",
        help_text="Tasks that are already in the dataset are matched by content.",
    )
    experiment = forms.CharField(
        max_length=60,
        help_text="Choose an experiment or enter a new name. Runs in one experiment are listed and charted together.",
        widget=forms.TextInput({"list": "experiments", "autocomplete": "off"}),
    )
    name = forms.CharField(max_length=120, label="Agent", help_text="The agent that was recorded.")
    model = forms.CharField(
        max_length=120, required=False, help_text="Exact model version, for example small-2026-01-01."
    )
    order = forms.ChoiceField(
        label="Order of expected actions",
        choices=[("unordered", "in any order, as the benchmark checks them"), ("ordered", "in the order written")],
    )
    cut_off = forms.ChoiceField(choices=CUT_OFF_WORDS, label="Conversations that stopped early")
    file = forms.FileField(
        label="Result file", help_text="Of tau-bench or tau2-bench: JSON, plain or packed with gzip, up to 100 MB."
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.experiments = Experiment.objects.in_project(project).values_list("name", flat=True)
        datasets = Dataset.objects.in_project(project).select_related("default_tools").order_by("name", "pk")
        self.fields["dataset"].queryset = datasets  # type: ignore[attr-defined]

    def request(self) -> RecordedRequest:
        """Return what is asked for; the form is valid."""
        return RecordedRequest(**{name: self.cleaned_data[name] for name in self.fields if name != "file"})
