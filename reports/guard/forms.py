"""Define the forms of the pages of policies."""

from __future__ import annotations

from typing import Any, Final

from django import forms

from reports.guard.measuring import MOST_TRACES, USUAL_TRACES
from toolevals.grading.guard import Request, State
from toolevals.grading.reading.specs import document_in
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonValue
from toolevals.registry.models import Policy, Registry
from toolevals.registry.policies.starter import STARTER, STARTER_WITHOUT_TOOLS
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project

MOST_CHARACTERS: Final = 1_000_000


class RegistryChoice(PlainForm):
    """The registry whose newest tools a policy sees as on offer."""

    registry = forms.ModelChoiceField(
        Registry.objects.none(),
        required=False,
        empty_label="None",
        label="Tools on offer",
        help_text="The newest version of this registry. The schema rule needs it.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.fields["registry"].queryset = Registry.objects.in_project(project)  # type: ignore[attr-defined]
        self.fields["registry"].label_from_instance = lambda registry: registry.name  # type: ignore[attr-defined]


class PolicyForm(RegistryChoice):
    """A new policy, which begins with rules in audit."""

    name = forms.CharField(max_length=120)
    slug = forms.SlugField(max_length=60, label="Short name", help_text="In addresses: letters, digits, hyphens.")
    field_order = ("name", "slug", "registry")

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if Policy.objects.filter(project=self.project, slug=slug).exists():
            raise forms.ValidationError("There is a policy of this short name.")
        return slug

    def asked(self) -> dict[str, Any]:
        """Return what `policy_create` takes; the form is valid."""
        document = STARTER if self.cleaned_data["registry"] else STARTER_WITHOUT_TOOLS
        return {**self.cleaned_data, "document": document, "note": "Begins with usual rules in audit."}


class MeasureForm(PlainForm):
    """The number of the newest traces that are measured."""

    traces = forms.IntegerField(min_value=0, max_value=MOST_TRACES, required=False)

    def clean_traces(self) -> int:
        asked: int | None = self.cleaned_data["traces"]
        return USUAL_TRACES if asked is None else asked


class TryForm(PlainForm):
    """A call to try a version with. It is kept nowhere."""

    tool = forms.CharField(
        max_length=200, widget=forms.TextInput(attrs={"class": "form-control mono", "list": "offered"})
    )
    arguments = forms.CharField(
        strip=False,
        max_length=MOST_CHARACTERS,
        initial="{}",
        widget=forms.Textarea(attrs={"rows": 5, "class": "form-control mono", "spellcheck": "false"}),
        help_text="JSON.",
    )
    said = forms.CharField(
        max_length=MOST_CHARACTERS,
        required=False,
        label="The user said",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Without it the user’s words are not known.",
    )
    result = forms.CharField(
        max_length=MOST_CHARACTERS,
        required=False,
        label="The result",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What the tool answers, if that is to be checked, too.",
    )
    key = forms.CharField(max_length=200, required=False)
    model = forms.CharField(max_length=200, required=False)

    def clean_arguments(self) -> JsonValue:
        """Read the arguments; what is wrong is said with its line and column."""
        try:
            return load_json(self.cleaned_data["arguments"])
        except InvalidDocument as error:
            raise forms.ValidationError([f"{each.pointer} {each.message}".strip() for each in error.problems]) from None

    def asked(self) -> tuple[Request, State]:
        """Return the call, and what is known of what came before it; the form is valid.

        It counts as the first call of its minute.
        """
        said = self.cleaned_data
        request = Request(said["tool"], said["arguments"], key=said["key"], model=said["model"])
        return request, State(
            user_texts=(said["said"],) if said["said"] else None,
            requests_last_minute=0,
            tokens_last_minute=0,
            tool_calls_last_minute={},
        )


class DocumentForm(PlainForm):
    """A policy's document as text."""

    document = forms.CharField(
        strip=False,
        max_length=MOST_CHARACTERS,
        label="Document",
        help_text="JSON. The name and the version are set for you.",
        widget=forms.Textarea(attrs={"rows": 24, "class": "form-control mono", "spellcheck": "false"}),
    )
    note = forms.CharField(max_length=300, required=False, help_text="What changed. Shown in the version history.")

    def read(self) -> JsonValue:
        """Return the document that was sent; the form is valid. Raises InvalidDocument."""
        return document_in(self.cleaned_data["document"].encode())

    def add_problems(self, error: InvalidDocument) -> None:
        """Show what is wrong, each with its JSON pointer."""
        for problem in error.problems:
            self.add_error("document", f"{problem.pointer} {problem.message}".strip())
