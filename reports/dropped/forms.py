"""Enter where the content of a dropped file goes: a registry, a dataset, or a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from labeling.datasets.forms import RegistryVersionChoice
from labeling.datasets.services import dataset_create
from labeling.models import Dataset
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.services import registry_create
from toolevals.runs.runs.forms import UploadForm
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project, User


class _TargetForm(PlainForm):
    """One of what there is, or the name of a new one."""

    there = forms.ChoiceField(required=False)
    name = forms.CharField(required=False, max_length=60, label="Or a new one", help_text="Name of the new one.")
    WHAT: ClassVar[str]
    MODEL: ClassVar[type[Registry | Dataset]]
    # The newest first.
    ORDER: ClassVar[tuple[str, ...]]
    # Makes a new one of a project, an actor, a short name and a name.
    create: ClassVar[Callable[..., Registry | Dataset]]

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        known = [(each.slug, each.name) for each in self.rows()]
        if known:
            # The newest is chosen: no new one is named.
            self.initial.pop("name", None)
        self.fields["there"].label = self.WHAT.capitalize()
        self.fields["there"].choices = [*known, ("", f"A new {self.WHAT}")]  # type: ignore[attr-defined]

    def rows(self) -> Any:
        """Return what there is in the project, the newest first."""
        return self.MODEL.objects.filter(project=self.project).order_by(*self.ORDER)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("there"):
            slug = slugify(cleaned.get("name", ""))[:60].strip("-")
            if not slug:
                self.add_error("name", f"Enter a name for the new {self.WHAT}. It needs at least one letter or digit.")
            elif self.rows().filter(slug=slug).exists():
                self.add_error("name", f"A {self.WHAT} with the short name {slug} already exists.")
            cleaned["slug"] = slug
        return cleaned

    def extra(self) -> dict[str, Any]:
        """Return what a new one is made with besides its names."""
        return {}

    def target(self, actor: User | None) -> Any:
        """Return what was chosen, made where it is new; the form is valid."""
        if there := self.cleaned_data["there"]:
            return self.rows().get(slug=there)
        try:
            new = {"slug": self.cleaned_data["slug"], "name": self.cleaned_data["name"], **self.extra()}
            return self.create(project=self.project, actor=actor, **new)
        except ValidationError as error:
            raise forms.ValidationError(error.messages) from None


class RegistryTarget(_TargetForm):
    """The registry that tools are published to."""

    WHAT = "registry"
    MODEL = Registry
    ORDER = ("-pk",)
    create = staticmethod(registry_create)


class DatasetTarget(_TargetForm):
    """The dataset that examples are imported into."""

    WHAT = "dataset"
    MODEL = Dataset
    ORDER = ("-created_at", "-pk")
    create = staticmethod(dataset_create)
    tools = RegistryVersionChoice(
        queryset=RegistryVersion.objects.none(),
        required=False,
        empty_label="none: each example has its own tools",
        label="Default tools for a new dataset",
        help_text="Offered where an example brings no tools of its own.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        choice = self.fields["tools"]
        choice.queryset = RegistryVersion.objects.in_project(project)  # type: ignore[attr-defined]
        self.initial["tools"] = RegistryVersion.objects.newest(project)

    def extra(self) -> dict[str, Any]:
        return {"default_tools": self.cleaned_data["tools"]}


class RunTarget(UploadForm):
    """The run that predictions are of; the file is there already."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["file"]
