"""Define the form for a registry's source."""

from __future__ import annotations

from typing import Any

from django import forms

from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.forms import McpServerForm
from toolevals.registry.models import ToolSource
from toolevals.registry.sources.models import SourceKind, SourceSchedule
from toolevals.workspace.models import Project


class SourceForm(McpServerForm):
    """The place where a registry's tools come from, and how often to look there."""

    kind = forms.ChoiceField(choices=SourceKind.choices, label="What is there")
    tags = forms.CharField(
        required=False,
        max_length=2_000,
        help_text="Of an OpenAPI document: take only operations with these tags, separated by commas.",
    )
    schedule = forms.ChoiceField(choices=SourceSchedule.choices, label="Look")
    field_order = ("kind", "url", "command", "secret", "tags", "schedule")

    def __init__(self, *args: Any, project: Project, source: ToolSource | None = None, **kwargs: Any) -> None:
        if source is not None:
            place = source.place
            shown = {"url": place.url, "command": place.line, "secret": place.secret, "tags": ", ".join(source.tags)}
            kwargs["initial"] = {"kind": source.kind, "schedule": source.schedule, **shown}
        super().__init__(*args, **kwargs)
        self.fields["url"].help_text = "Of streamable HTTP, or of the document as JSON or YAML."
        self.offer(project)

    def asked(self) -> dict[str, Any]:
        """Return what `source_set` takes; the form is valid."""
        said = self.cleaned_data
        tags = [tag.strip() for tag in said["tags"].split(",") if tag.strip()]
        return {"kind": said["kind"], "schedule": said["schedule"], "options": self.options(), "tags": tags}

    def add_problems(self, error: InvalidDocument) -> None:
        """Show what a service found wrong, next to the field that it names."""
        for problem in error.problems:
            name = problem.pointer.removeprefix("/")
            self.add_error(name if name in self.fields else None, problem.message)
