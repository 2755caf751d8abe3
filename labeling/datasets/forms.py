"""Define the forms of the datasets' pages."""

from __future__ import annotations

from typing import Any

from django import forms

from labeling.examples.shown_strata import SAFE
from labeling.models import Dataset, Example
from labeling.versions.models import TAG_RULE, tags_require
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import EXPECTED, PART_SENTENCES, PARTS, read_decided_by
from toolevals.registry.models import RegistryVersion
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project


class RegistryVersionChoice(forms.ModelChoiceField[RegistryVersion]):
    """A choice among the project's registry versions."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.registry.name}, version {obj.number}"


class DecidedByField(forms.MultipleChoiceField):
    """The parts that decide a case, as text of `toolevals.grading.values.verdicts`; "" where none is marked."""

    widget = forms.CheckboxSelectMultiple({"class": "choices"})

    def __init__(self, *names: str, help_text: str) -> None:
        choices = [(name, f"{name.replace('_', ' ')}: {PART_SENTENCES[name]}") for name in names]
        super().__init__(choices=choices, required=False, label="Decided by", help_text=help_text)

    def prepare_value(self, value: Any) -> Any:
        return [name for name in value.split("+") if name] if isinstance(value, str) else value

    def clean(self, value: Any) -> Any:
        try:
            return read_decided_by("+".join(super().clean(value)))
        except InvalidDocument as error:
            raise forms.ValidationError([problem.message for problem in error.problems]) from error


class DecidedByForm(PlainForm):
    """The form for the parts that decide one example."""

    decided_by = DecidedByField(EXPECTED, *PARTS, help_text="Select none to use the dataset’s default.")


class DatasetForm(PlainForm):
    """The form for a dataset's description."""

    name = forms.CharField(max_length=120)
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    decided_by = DecidedByField(
        *PARTS,
        help_text="Decides whether a case passes, unless an example overrides it. Applies from the next frozen "
        "version. Select none to check everything the gold expects.",
    )
    default_tools = RegistryVersionChoice(
        queryset=RegistryVersion.objects.none(),
        required=False,
        empty_label="none: each example has its own tools",
        label="Default tools",
        help_text="Used for examples without their own tools, starting with the next import.",
    )
    guideline = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="Reviewers read it next to the example. Lines starting with # are headings, lines starting "
        "with - are list items.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["default_tools"]
        if isinstance(choice, forms.ModelChoiceField):
            known = RegistryVersion.objects.in_project(project)
            # Those in force stay a choice when their registry is deleted.
            if (now := self.initial.get("default_tools")) is not None:
                known |= RegistryVersion.objects.filter(pk=now.pk).select_related("registry", "tools")
            choice.queryset = known


class ShownStrataForm(PlainForm):
    """The strata that reviewers see of examples that are still to label."""

    strata = forms.MultipleChoiceField(
        choices=[(name, name.replace("_", " ")) for name in Example.STRATA if name not in SAFE],
        required=False,
        widget=forms.CheckboxSelectMultiple({"class": "choices"}),
        label="Shown to reviewers",
        help_text="Select a stratum only if its values do not give away the right label.",
    )


class NewDatasetForm(DatasetForm):
    """The form for a new dataset."""

    slug = forms.SlugField(max_length=60, label="Short name", help_text="In addresses: letters, digits, hyphens.")

    field_order = ("name", "slug", "description", "decided_by", "default_tools", "guideline")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        self.project = project
        # Examples without tools can be labelled with no call alone: the tools that were brought last are chosen.
        self.initial.setdefault("default_tools", RegistryVersion.objects.newest(project))

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if Dataset.objects.filter(project=self.project, slug=slug).exists():
            raise forms.ValidationError("A dataset with this short name already exists.")
        return slug


class FreezeForm(PlainForm):
    """A version to freeze."""

    note = forms.CharField(
        max_length=300, required=False, help_text="What changed. Shown when people choose a version."
    )
    without_second_looks = forms.BooleanField(
        required=False,
        label="Leave out gold that came after a second look",
        help_text="Such gold is based on an agent’s proposal and is not used to grade that agent.",
    )
    misfits_reason = forms.CharField(
        max_length=200,
        required=False,
        label="Why freeze labels that break their tools' schemas",
        help_text="Only where such a label is to stay as it is. The note keeps the reason.",
    )


class DescribeForm(PlainForm):
    """The form for a frozen version's description."""

    note = forms.CharField(
        max_length=300, required=False, help_text="Purpose of this version. Shown when people choose a version."
    )
    tags = forms.CharField(max_length=700, required=False, help_text=f"Separate tags with spaces. {TAG_RULE}")

    def clean_tags(self) -> list[str]:
        try:
            return tags_require(self.cleaned_data["tags"].split())
        except InvalidDocument as error:
            raise forms.ValidationError([problem.message for problem in error.problems]) from error


class DisputeForm(PlainForm):
    """The form for the reason why the gold of an example is wrong."""

    MOST = 4000
    reason = forms.CharField(
        max_length=MOST, label="What should it be, and why?", widget=forms.Textarea(attrs={"rows": 3})
    )


class ReasonForm(PlainForm):
    """The form for the reason of a new label, or of earlier gold put in force again."""

    reason = forms.CharField(max_length=4000, label="Why?", widget=forms.Textarea(attrs={"rows": 2}))
