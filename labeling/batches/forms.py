"""Define the forms of the queue's pages: settings of labelling, order, parts of the work, and kept work."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from labeling.batches.services import MAX_EXAMPLES, Choice, names_unknown
from labeling.coverage.quotas import class_of
from labeling.models import Dataset, Example, LabelBatch, LabelSlot, QueueOrder
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project, Role, User

MAX_NAMES = 2000
MAX_UNDO_SECONDS = 3600
MAX_SEED = 2**31 - 1
# So many ids that are none are named; of the rest it is said how many.
MOST_NAMED = 10


def reviewers_of(project: Project, role: Role = Role.REVIEWER) -> QuerySet[User]:
    """Return who may label in a project, or has a higher role at least, by name."""
    labelling = project.members.filter(memberships__project=project, memberships__role__gte=role)
    return labelling.filter(is_active=True).order_by("name")


class PersonChoice(forms.ModelChoiceField[User]):
    """A choice among those who label."""

    def label_from_instance(self, obj: Any) -> str:
        return str(obj.name)


class AssigneeForm(PlainForm):
    """The adjudicator who should decide something, and until when."""

    person = PersonChoice(queryset=User.objects.none(), required=False)
    due_on = forms.DateField(required=False)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["person"].queryset = reviewers_of(project, Role.ADJUDICATOR)  # type: ignore[attr-defined]


class LabellingForm(PlainForm):
    """The form for a project's labelling settings."""

    labels_wanted = forms.IntegerField(
        min_value=1,
        max_value=5,
        label="Labels for each example",
        help_text="How many people label each example (1 to 5), without seeing each other’s labels. If they "
        "agree, their label becomes gold.",
    )
    share_percent = forms.FloatField(
        min_value=0,
        max_value=100,
        label="Percentage of examples that get this many labels",
        help_text="The other examples get one label, which becomes gold directly (source: single). The selection "
        "depends on the example id only, so re-importing does not change it.",
    )
    undo_seconds = forms.IntegerField(
        min_value=0,
        max_value=MAX_UNDO_SECONDS,
        label="Seconds to undo",
        help_text="How long a label can be changed or undone. After that, labels are compared.",
    )
    decide_own = forms.BooleanField(
        required=False,
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
        label="Adjudicators may decide what they have labelled",
        help_text="For teams of two. Otherwise a third person decides.",
    )
    suggestions = forms.BooleanField(
        required=False,
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
        label="Show reviewers what a model suggests",
        help_text="Suggestions influence people. Each label records whether one was shown.",
    )

    @classmethod
    def of(cls, project: Project, data: Any = None) -> LabellingForm:
        """Return the form as the project is set."""
        names = ("labels_wanted", "undo_seconds", "decide_own", "suggestions")
        initial = {name: getattr(project, name) for name in names}
        return cls(data, initial=initial | {"share_percent": round(project.labels_share * 100, 2)})

    @property
    def settings(self) -> dict[str, Any]:
        """The valid form's values, as `labelling_set` takes them."""
        data = dict(self.cleaned_data)
        return data | {"labels_share": data.pop("share_percent") / 100}


class OrderForm(PlainForm):
    """In which order a dataset's examples are labelled."""

    order = forms.ChoiceField(
        choices=QueueOrder.choices, label="Order", help_text="Reopened examples always come first."
    )
    order_seed = forms.IntegerField(
        min_value=0, max_value=MAX_SEED, label="Seed", help_text="For random order. The same seed gives the same order."
    )


def _unknown_words(unknown: list[tuple[int, str]], place: str) -> str:
    named = ", ".join(f"“{name}” (line {number})" for number, name in unknown[:MOST_NAMED])
    more = f" and {len(unknown) - MOST_NAMED:,} more" if len(unknown) > MOST_NAMED else ""
    return f"No example of this {place} has the id {named}{more}."


class ChoiceForm(PlainForm):
    """The choice of examples of `dataset`, or of its `batch`: of these strata, of these ids, the first so many."""

    dataset: Dataset
    batch: LabelBatch | None = None

    names = forms.CharField(
        required=False,
        label="Only these ids",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=f"One a line, {MAX_NAMES:,} at most. Leave empty for the next examples in the queue.",
    )
    first = forms.IntegerField(
        required=False, min_value=1, max_value=MAX_EXAMPLES, label="Limit", help_text="Maximum number of examples."
    )

    def clean_names(self) -> list[str]:
        lines = enumerate(self.cleaned_data["names"].splitlines(), start=1)
        said = [(number, line.strip()) for number, line in lines if line.strip()]
        if len(said) > MAX_NAMES:
            raise forms.ValidationError(f"You entered {len(said):,} ids. The maximum is {MAX_NAMES:,}.")
        names = [name for _, name in said]
        if unknown := [said[place] for place in names_unknown(names, self.dataset, self.batch)]:
            raise forms.ValidationError(_unknown_words(unknown, "batch" if self.batch else "dataset"))
        return names

    @property
    def choice(self) -> Choice:
        """The valid form's choice."""
        data = self.cleaned_data
        strata = {name: data[name] for name in Example.STRATA if data.get(name)}
        return Choice(strata=strata, names=data.get("names", ()), first=data.get("first") or MAX_EXAMPLES)


class BatchForm(PlainForm):
    """The form for a batch's description."""

    name = forms.CharField(max_length=120)
    owner = PersonChoice(
        queryset=User.objects.none(),
        required=False,
        empty_label="nobody",
        help_text="The person responsible for this batch.",
    )
    due_on = forms.DateField(
        required=False, label="Due", widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    note = forms.CharField(max_length=300, required=False)

    def __init__(self, *args: Any, dataset: Dataset, batch: LabelBatch | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset, self.batch = dataset, batch
        owner = self.fields["owner"]
        if isinstance(owner, forms.ModelChoiceField):
            owner.queryset = reviewers_of(dataset.project)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        same = LabelBatch.objects.filter(dataset=self.dataset, name=name)
        if (same.exclude(pk=self.batch.pk) if self.batch else same).exists():
            raise forms.ValidationError("A batch with this name already exists.")
        return name

    @property
    def said(self) -> dict[str, Any]:
        """Return what is said about the batch, without the choice of examples."""
        return {name: self.cleaned_data[name] for name in ("name", "owner", "due_on", "note")}


class NewBatchForm(BatchForm, ChoiceForm):
    """A new batch: what is said about it, and which examples it holds."""

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, dataset=dataset, **kwargs)
        for name, values in LabelSlot.objects.of_dataset(dataset).waiting_strata().items():
            choices = [("", "any"), *((value, value) for value in values)]
            self.fields[name] = forms.ChoiceField(required=False, choices=choices)
            self.fields[name].widget.attrs["class"] = "form-select"
            if asked := self.initial.get(name):
                same = (value for value in values if class_of(name, value) == class_of(name, asked))
                self.initial[name] = next(same, "")
        self.order_fields(["name", "owner", "due_on", "note", *Example.STRATA, "first", "names"])


class AssignForm(ChoiceForm):
    """The form that assigns the chosen examples to a person."""

    person = PersonChoice(queryset=User.objects.none(), label="Person")
    field_order = ("person", "first", "names")

    def __init__(self, *args: Any, batch: LabelBatch, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset, self.batch = batch.dataset, batch
        person = self.fields["person"]
        if isinstance(person, forms.ModelChoiceField):
            person.queryset = reviewers_of(batch.dataset.project)
