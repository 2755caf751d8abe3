"""Define the rows of a gate's form: a bound, a rule about the run before, a consistency rule, a demand on scoring.

Each is a form that is filled from a part of the document and gives it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from django import forms

from toolevals.grading.gates.results import GateMetric, allowed_values
from toolevals.grading.reading.examples import STRATA
from toolevals.grading.values.problems import Problem
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.workspace.form_controls import PlainForm

STRATUM: Final = "stratum:"
_LINES = forms.Textarea({"rows": 2, "class": "form-control mono", "spellcheck": "false"})
# What the values of a gate's document are called.
_WORDS: Final = {
    "value": "the value",
    "interval": "the whole interval",
    "error": "fails the gate",
    "warn": "warns",
    "skip": "is set aside",
    "tool": "each tool separately",
    "error_class": "each class of error",
    "failure": "each tool with each class of error",
    "cases": "single examples",
    "paired": "paired test",
    "averages": "averages",
}

Choices = list[tuple[str, str]]


def worded(rule: str, field: str) -> Choices:
    """Return the choices of a field with the words for people."""
    return [(value, _WORDS.get(value, value.replace("_", " "))) for value in allowed_values(rule, field)]


def metric_choices(metrics: Sequence[GateMetric], *named: str) -> list[tuple[str, Choices]]:
    """Return metrics as choices by their source; those that a document names and no one knows are offered too."""
    known = {each.name for each in metrics}
    groups: dict[str, Choices] = {}
    for each in metrics:
        groups.setdefault(each.source, []).append((each.name, each.name))
    if others := [(name, name) for name in dict.fromkeys(named) if name and name not in known]:
        groups["named in the document"] = others
    return list(groups.items())


def grouping_choices(rule: str) -> Choices:
    """Return by what a rule can be asked: all together, by tool, and by each stratum."""
    strata = [(f"{STRATUM}{name}", f"each {name.replace('_', ' ')}") for name in STRATA]
    return [("", "all together"), *worded(rule, "per"), *strata]


def lines_of(values: JsonMapping) -> str:
    """Return an object as lines, `name = value`."""
    return "\n".join(f"{name} = {value}" for name, value in values.items())


class Row(PlainForm):
    """A part of a gate's document as a form. `KEY` is where the document holds it."""

    KEY: ClassVar[str]
    # Fields that are left out of the document where they are empty, by what they are called there.
    PLAIN: ClassVar[Sequence[str]] = ()

    def __init__(self, *args: Any, metrics: Sequence[GateMetric] = (), **kwargs: Any) -> None:
        super().__init__(*args, use_required_attribute=False, **kwargs)
        self.offered = metrics
        for field in self.fields.values():
            field.required = False
            if isinstance(field, forms.FloatField):
                field.widget.attrs["step"] = "any"

    @classmethod
    def initial_of(cls, document: JsonMapping) -> JsonObject:
        """Return what the form begins with for a part of a document."""
        said = {name: document[name] for name in cls.PLAIN if name in document}
        if "groups" in cls.base_fields:
            said["groups"] = document.get("per") or (
                f"{STRATUM}{document['per_stratum']}" if "per_stratum" in document else ""
            )
        for name in ("where", "overrides"):
            if name in cls.base_fields:
                said[name] = lines_of(document.get(name, {}))
        return said

    def document(self) -> JsonObject:
        """Return the part of the document that the form says; it is valid, though the rule may not be."""
        said = {
            name: value for name in self.PLAIN if (value := self.cleaned_data.get(name)) not in (None, "", [], False)
        }
        groups = self.cleaned_data.get("groups", "")
        if groups.startswith(STRATUM):
            said["per_stratum"] = groups.removeprefix(STRATUM)
        elif groups:
            said["per"] = groups
        for name in ("where", "overrides"):
            if value := self.cleaned_data.get(name):
                said[name] = value
        return said

    def clean_where(self) -> dict[str, str]:
        return dict(_pairs(self.cleaned_data["where"], last=False))

    def clean_overrides(self) -> dict[str, float]:
        found = {}
        for name, written in _pairs(self.cleaned_data["overrides"], last=True):
            try:
                value = float(written)
            except ValueError:
                raise forms.ValidationError(f"{name} = {written}: the value is not a number.") from None
            found[name] = int(value) if value.is_integer() and "." not in written else value
        return found

    def add_problem(self, problem: Problem) -> None:
        """Show what is wrong at the field that the pointer, from this part on, begins with; else above the row."""
        name = problem.pointer[1:].partition("/")[0]
        field = {"per": "groups", "per_stratum": "groups"}.get(name, name)
        if field not in self.fields:
            self.add_error(None, f"{problem.pointer} {problem.message}".strip())
            return
        rest = problem.pointer[1 + len(name) :]
        self.add_error(field, f"{rest[1:]}: {problem.message}" if rest else problem.message)
        self.fields[field].widget.attrs["class"] += " is-invalid"


class _AboutMetric(Row):
    metric = forms.ChoiceField(help_text="The metric to check.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        said = self.data.get(self.add_prefix("metric"), "") if self.is_bound else self.initial.get("metric", "")
        self.fields["metric"].choices = metric_choices(self.offered, said)  # type: ignore[attr-defined]


class BoundRow(_AboutMetric):
    """A figure that must lie within limits."""

    KEY = "bounds"
    PLAIN = ("metric", "statistic", "min", "max", "decide_by", "on_fail")

    statistic = forms.ChoiceField(choices=worded("bound", "statistic"))
    min = forms.FloatField(label="At least", help_text="A share from 0 to 1, of a rate or a score.")
    max = forms.FloatField(label="At most", help_text="Of cost and tokens: the mean of a case. Of latency: ms.")
    groups = forms.ChoiceField(label="Applies to", choices=grouping_choices("bound"))
    where = forms.CharField(
        label="Filter by strata",
        strip=False,
        widget=_LINES,
        help_text="One stratum per line, for example: bucket = refusal",
    )
    overrides = forms.CharField(
        label="Other limits",
        strip=False,
        widget=_LINES,
        help_text="One group per line, for example: search_orders = 0.8",
    )
    decide_by = forms.ChoiceField(label="Decided by", choices=worded("bound", "decide_by"))
    on_fail = forms.ChoiceField(label="If it fails", choices=worded("bound", "on_fail"))


class RegressionRow(Row):
    """The form for the differences that a run may have from the one before."""

    KEY = "regressions"
    PLAIN = ("rule", "metrics", "most", "alpha", "correction", "max_drop", "skip_below", "ignore_removed", "on_fail")

    rule = forms.ChoiceField(label="Compared by", choices=worded("regression", "rule"))
    metrics = forms.MultipleChoiceField(widget=forms.SelectMultiple({"size": 5}), help_text="One or several.")
    most = forms.IntegerField(
        label="Allowed new failures", help_text="For single examples: how many may fail that passed before."
    )
    alpha = forms.FloatField(help_text="For the paired test. Default: 0.05.")
    correction = forms.ChoiceField(choices=[("", "default"), *worded("regression", "correction")])
    max_drop = forms.FloatField(label="Allowed drop", help_text="Averages: a share from 0 to 1.")
    groups = forms.ChoiceField(label="Applies to", choices=grouping_choices("regression"))
    where = forms.CharField(
        label="Filter by strata",
        strip=False,
        widget=_LINES,
        help_text="One stratum per line, for example: bucket = refusal",
    )
    overrides = forms.CharField(
        label="Other limits", strip=False, widget=_LINES, help_text="A line for each group: search_orders = 1"
    )
    skip_below = forms.IntegerField(
        label="Skip groups below", help_text="Skip groups with fewer shared examples than this."
    )
    ignore_removed = forms.BooleanField(
        label="Ignore removed examples", help_text="Otherwise an example that this run does not hold is not scored."
    )
    on_fail = forms.ChoiceField(label="If it fails", choices=worded("regression", "on_fail"))

    def __init__(self, *args: Any, metrics: Sequence[GateMetric] = (), **kwargs: Any) -> None:
        super().__init__(*args, metrics=metrics, **kwargs)
        said = self.initial.get("metrics", [])
        if self.is_bound:
            name = self.add_prefix("metrics")
            said = self.data.getlist(name) if hasattr(self.data, "getlist") else self.data.get(name, [])
        self.fields["metrics"].choices = metric_choices(metrics, *said)  # type: ignore[attr-defined]

    def clean(self) -> None:
        if self.cleaned_data.get("rule") == "cases" and self.cleaned_data.get("most") is None:
            self.add_error("most", "Say how many. An agent as good as before often fails a limit of 0.")


class ConsistencyRow(_AboutMetric):
    """The form for how often an example must pass, of several trials: for release candidates alone."""

    KEY = "consistency"
    PLAIN = ("metric", "k", "min", "decide_by", "on_fail")

    k = forms.IntegerField(label="Trials", help_text="Default: 8.")
    min = forms.FloatField(label="At least", help_text="Required pass^k: the chance that all trials pass, from 0 to 1.")
    decide_by = forms.ChoiceField(label="Decided by", choices=worded("consistency", "decide_by"))
    on_fail = forms.ChoiceField(label="If it fails", choices=worded("consistency", "on_fail"))


class UnscoredRow(Row):
    """The form for how many of the cases must be scored before they decide."""

    KEY = "unscored"
    PLAIN = ("minimum_share", "minimum_count")

    minimum_share = forms.FloatField(
        label="Share that must be scored",
        help_text="Leave empty to pass a check only if no unscored case could change the result.",
    )
    minimum_count = forms.IntegerField(label="Cases that must be scored")


ROWS: Final[Sequence[type[Row]]] = (BoundRow, RegressionRow, ConsistencyRow)


def _pairs(text: str, *, last: bool) -> Iterator[tuple[str, str]]:
    """Yield `name = value` of each line; with `last` the last sign of equality counts, else the first."""
    for line in filter(str.strip, text.splitlines()):
        name, sign, value = line.rpartition("=") if last else line.partition("=")
        if not sign or not name.strip():
            raise forms.ValidationError(f"{line.strip()}: write it as name = value.")
        yield name.strip(), value.strip()
