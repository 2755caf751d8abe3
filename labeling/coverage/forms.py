"""Define the form of a dataset's quotas."""

from __future__ import annotations

from typing import Any

from django import forms

from labeling.coverage.quotas import BUCKETS, DIFFICULTIES, EDGE_CASES, ERRORS, MOST, NEEDS, quotas_check, quotas_of
from labeling.models import Dataset
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.requests import whole_number

# The groups of fields: the part of the document, its names, whether they are shares in percent, and what they mean.
GROUPS: tuple[tuple[str, tuple[str, ...], bool, str], ...] = (
    ("needs", NEEDS, False, "Examples of each kind, per tool"),
    ("bucket", BUCKETS, True, "Layers, percent of all examples"),
    ("difficulty", DIFFICULTIES, True, "Difficulty, percent of all examples"),
    ("edge_case", EDGE_CASES, False, "Edge cases, for each tool that admits them"),
    ("error_class", ERRORS, False, "Errors, for each tool"),
)
_NARROW = {"class": "form-control num", "inputmode": "decimal"}


class QuotasForm(PlainForm):
    """The form for the wanted number of examples of each kind."""

    per_tool = forms.IntegerField(
        min_value=0,
        max_value=MOST,
        label="Examples for each tool",
        help_text="Number of examples whose gold calls the tool.",
    )
    size = forms.IntegerField(
        min_value=1,
        max_value=100 * MOST,
        required=False,
        label="Planned size",
        help_text="The percentages apply to this number of examples. Leave empty to use the current size.",
    )
    tools = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "form-control mono"}),
        label="Tools with a number of their own",
        help_text="One per line: name = number. 0 means no examples needed.",
    )

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        quotas = quotas_of(dataset)
        initial = {"per_tool": quotas["per_tool"], "size": quotas["size"], "tools": _lines(quotas["tools"])}
        for part, names, percent, _ in GROUPS:
            for name in names:
                number = quotas[part].get(name, 0)
                initial[f"{part}.{name}"] = f"{number * 100:.6g}" if percent else number
        super().__init__(*args, initial=initial, **kwargs)
        for part, names, percent, _ in GROUPS:
            for name in names:
                self.fields[f"{part}.{name}"] = _field(name, percent)

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields of each group under its head."""
        return [(title, [self[f"{part}.{name}"] for name in names]) for part, names, _, title in GROUPS]

    def clean_tools(self) -> dict[str, int]:
        numbers: dict[str, int] = {}
        for number, line in enumerate(self.cleaned_data["tools"].splitlines(), start=1):
            name, sign, count = (part.strip() for part in line.rpartition("="))
            if not line.strip():
                continue
            wanted = whole_number(count)
            if not sign or not name or wanted is None:
                raise forms.ValidationError(f"Line {number} is not “name = number”.")
            numbers[name] = wanted
        return numbers

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if not self.errors:
            try:
                quotas_check(self.document)
            except InvalidDocument as error:
                self.add_error(None, [f"{problem.pointer}: {problem.message}" for problem in error.problems])
        return said

    @property
    def document(self) -> dict[str, Any]:
        """The valid form as quotas."""
        data = self.cleaned_data
        document = {name: data[name] for name in ("per_tool", "size", "tools")}
        for part, names, percent, _ in GROUPS:
            numbers = {name: data[f"{part}.{name}"] for name in names}
            document[part] = {name: round(n / 100, 6) if percent else n for name, n in numbers.items()}
        return document


def _field(name: str, percent: bool) -> forms.Field:
    label = name.replace("_", " ")
    if percent:
        return forms.FloatField(
            min_value=0, max_value=100, label=label, widget=forms.NumberInput({**_NARROW, "step": "any"})
        )
    return forms.IntegerField(min_value=0, max_value=MOST, label=label, widget=forms.NumberInput(_NARROW))


def _lines(tools: dict[str, int]) -> str:
    return "\n".join(f"{name} = {number}" for name, number in tools.items())
