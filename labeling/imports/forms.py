"""Define the forms of imports and exports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django import forms

from labeling.exports import FORMATS
from labeling.imports.formats import AUTO, SOURCES
from labeling.imports.readers.columns import (
    ARGUMENT,
    TARGETS,
    argument_name,
    argument_names,
    detected_targets,
    targets_problems,
)
from labeling.imports.tables import Preview
from labeling.models import Dataset, DatasetVersion
from toolevals.grading.files.evaluation_files.conversations import DECISIONS
from toolevals.grading.values import ToolSpec
from toolevals.workspace.form_controls import PlainForm

SOURCE_CHOICES = [
    (AUTO, "Detect automatically"),
    *((source.name, source.title) for source in SOURCES.values()),
]


class ImportForm(PlainForm):
    """A file of examples, and its format."""

    source = forms.ChoiceField(label="Format", choices=SOURCE_CHOICES)
    file = forms.FileField(
        label="File", help_text="UTF-8; may be packed with gzip. The file is imported completely or not at all."
    )


class ColumnsForm(PlainForm):
    """The form for the meaning of each column of a table."""

    def __init__(self, *args: Any, table: Preview, tools: Iterable[ToolSpec] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table
        detected = detected_targets(table.columns, argument_names(tools))
        for number, column in enumerate(table.columns):
            self.fields[f"column-{number}"] = _target_field(column, detected[column])

    @property
    def rows(self) -> Iterator[tuple[str, list[str], forms.BoundField]]:
        """Each column: its name, its first values, its control."""
        for number, column in enumerate(self.table.columns):
            values = [row[number][:120] for row in self.table.rows if row[number].strip()]
            yield column, values[:3], self[f"column-{number}"]

    @property
    def options(self) -> dict[str, Any]:
        """Return what the import is to know; the form is valid."""
        return {"delimiter": self.table.delimiter, "columns": self._targets()}

    def clean(self) -> dict[str, Any]:
        places = {column: f"column-{number}" for number, column in enumerate(self.table.columns)}
        for problem in targets_problems(self._targets()):
            column = problem.pointer.removeprefix("/").replace("~1", "/").replace("~0", "~")
            self.add_error(places.get(column), problem.message)
        return self.cleaned_data

    def _targets(self) -> dict[str, str]:
        data = self.cleaned_data
        return {column: data.get(f"column-{number}", "") for number, column in enumerate(self.table.columns)}


def _target_field(column: str, detected: str) -> forms.ChoiceField:
    name = argument_name(detected) or argument_name(column) or column
    argument = (f"{ARGUMENT}{name}", f"expected argument {name}")
    choices = [("", "not used"), *TARGETS.items(), argument]
    select = forms.Select(attrs={"class": "form-select", "aria-label": f"Column {column} holds"})
    return forms.ChoiceField(choices=choices, required=False, initial=detected, label=column, widget=select)


class RecordedForm(PlainForm):
    """The form for the use of recorded runs."""

    examples = forms.ChoiceField(
        label="Create one example from",
        choices=[
            ("tasks", "each task: a whole scenario, with what it expects"),
            ("decisions", "each turn at which the agent called a tool, to be labelled"),
        ],
    )
    order = forms.ChoiceField(
        label="Order of expected actions",
        choices=[("unordered", "in any order, as the benchmark checks them"), ("ordered", "in the order written")],
    )
    decided_by = forms.ChoiceField(
        label="Each task is decided by",
        choices=[
            ("benchmark", "what the benchmark rewards: the end state (needs a simulator) and the answer"),
            ("dataset", "what the dataset says"),
        ],
        required=False,
    )

    @property
    def options(self) -> dict[str, Any]:
        """Return what the import is to know; the form is valid."""
        return {name: value for name, value in self.cleaned_data.items() if value}


class ConversationsForm(PlainForm):
    """The form for the use of whole conversations."""

    decision = forms.ChoiceField(
        label="Create one example from",
        choices=list(DECISIONS.items()),
        initial=next(iter(DECISIONS)),
        widget=forms.RadioSelect,
    )

    @property
    def options(self) -> dict[str, Any]:
        """Return what the import is to know; the form is valid."""
        return {"decision": self.cleaned_data["decision"]}


class VersionChoice(forms.ModelChoiceField[DatasetVersion]):
    """A choice among a dataset's frozen versions."""

    def label_from_instance(self, obj: Any) -> str:
        tags = f" ({', '.join(obj.tags)})" if obj.tags else ""
        return f"version {obj.number}{tags}{f': {obj.note}' if obj.note else ''}"


class ExportForm(PlainForm):
    """The form for an export: its content and format."""

    format = forms.ChoiceField(
        label="Format", choices=[(each.name, f"{each.title}: {each.holds}") for each in FORMATS.values()]
    )
    version = VersionChoice(
        queryset=DatasetVersion.objects.none(), required=False, label="What", empty_label="the dataset as it is now"
    )

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["version"]
        if isinstance(choice, forms.ModelChoiceField):
            choice.queryset = DatasetVersion.objects.filter(dataset=dataset).order_by("-number")

    def clean_format(self) -> str:
        name: str = self.cleaned_data["format"]
        if missing := FORMATS[name].missing():
            raise forms.ValidationError(missing)
        return name
