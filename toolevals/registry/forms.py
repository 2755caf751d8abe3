"""Defines the forms of the registries' pages."""

from __future__ import annotations

import hashlib
import shlex
from typing import Any

from django import forms
from django.conf import settings

from toolevals.grading.reading.specs import FORMAT_TABLE, document_in
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.large_documents import LARGE, MAX_UNPACKED, previewed_content
from toolevals.registry.models import Registry
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Job, Project

# Of a file; what is pasted has less.
MAX_BYTES = 20_000_000
MAX_PASTED = 4_000_000
FORMATS = (("auto", "detect automatically"), *((each.name, each.label) for each in FORMAT_TABLE))


class RegistryForm(PlainForm):
    """A new registry."""

    name = forms.CharField(max_length=120)
    slug = forms.SlugField(max_length=60, label="Short name", help_text="In addresses: letters, digits, hyphens.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if Registry.objects.filter(project=self.project, slug=slug).exists():
            raise forms.ValidationError("There is a registry of this short name.")
        return slug


class McpServerForm(PlainForm):
    """The form for the place of an MCP server: an address, or one of the commands that the operator allows."""

    url = forms.URLField(
        label="Address",
        required=False,
        max_length=500,
        assume_scheme="https",
        help_text="Of streamable HTTP, such as https://tools.example.org/mcp.",
    )
    command = forms.ChoiceField(required=False, label="Or a command on the server")
    secret = forms.ChoiceField(required=False, label="Key", help_text="One of the project's secrets.")

    def offer(self, project: Project) -> None:
        """Offer the project's secrets, and the commands that are allowed."""
        secrets = [(name, name) for name in project.secrets.values_list("name", flat=True)]
        self.fields["secret"].choices = [("", "No key"), *secrets]  # type: ignore[attr-defined]
        commands = [(line, line) for line in settings.MCP_COMMANDS]
        self.fields["command"].choices = [("", "None"), *commands]  # type: ignore[attr-defined]
        if not commands:
            del self.fields["command"]

    def options(self) -> dict[str, Any]:
        """Return the options of `McpOptions`; the form is valid."""
        said = {name: value for name in ("url", "secret") if (value := self.cleaned_data[name])}
        command = self.cleaned_data.get("command", "")
        return said | ({"command": shlex.split(command)} if command else {})


class McpForm(McpServerForm):
    """A server to ask for its tools."""

    note = forms.CharField(max_length=300, required=False)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, prefix="mcp", **kwargs)
        self.offer(project)

    def asked(self) -> dict[str, Any]:
        """Return the options and the note; the form is valid."""
        return {"note": self.cleaned_data["note"], "options": self.options()}

    def add_problems(self, error: InvalidDocument) -> None:
        """Show what a service found wrong, next to the field that it names."""
        for problem in error.problems:
            name = problem.pointer.removeprefix("/")
            if name in self.fields:
                self.add_error(name, problem.message)
            else:
                self.add_error(None, f"{problem.pointer} {problem.message}".strip())


class PublishForm(PlainForm):
    """Tools to publish: a file, or pasted, or what a job has read (`job`) where neither is there."""

    file = forms.FileField(
        required=False,
        label="File",
        help_text="JSON or YAML: a list of tools, or an OpenAPI document. A zip: its files, or agent skills.",
    )
    text = forms.CharField(
        required=False,
        label="Or paste it",
        strip=False,
        max_length=MAX_PASTED,
        widget=forms.Textarea(attrs={"rows": 10, "class": "form-control mono", "spellcheck": "false"}),
    )
    format = forms.ChoiceField(choices=FORMATS)
    formats = forms.ChoiceField(
        label="Formats of texts",
        required=False,
        choices=(
            ("", "as in the newest version; asserted in a new registry"),
            ("asserted", "asserted: a date in the wrong format breaks the schema"),
            ("annotations", "annotations: not checked"),
        ),
    )
    note = forms.CharField(max_length=300, required=False, help_text="What changed. Shown in the version history.")

    def __init__(self, *args: Any, job: Job | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.job = job

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        file, text = cleaned.get("file"), cleaned.get("text", "")
        if self.job is not None and not file and not text.strip():
            try:
                return cleaned | {"content": previewed_content(self.job)}
            except InvalidDocument as error:
                raise forms.ValidationError([each.message for each in error.problems]) from None
        if bool(file) == bool(text.strip()):
            raise forms.ValidationError("Choose a file, or paste the tools.")
        if file and file.size > MAX_BYTES:
            raise forms.ValidationError(f"The file has {file.size:,} bytes; the limit is {MAX_BYTES:,}.")
        cleaned["content"] = file.read() if file else text.encode()
        return cleaned

    def document(self) -> Any:
        """Return the document that was sent; the form is valid. Raises InvalidDocument."""
        return document_in(self.cleaned_data["content"], max_bytes=MAX_UNPACKED)

    @property
    def assert_formats(self) -> bool | None:
        """Tell whether formats are to be asserted; None where they are as in the newest version."""
        said = self.cleaned_data["formats"]
        return said == "asserted" if said else None

    @property
    def is_large(self) -> bool:
        """Tell whether reading what was sent takes long enough for a job; the form is valid."""
        return len(self.cleaned_data["content"]) > LARGE

    @property
    def name(self) -> str:
        """Return what the file is called, for people; the form is valid."""
        file = self.cleaned_data.get("file")
        return (file.name if file else "") or "pasted tools"

    @property
    def digest(self) -> str:
        """The name by content of what was sent and the format that was said; the form is valid."""
        said = self.cleaned_data["format"].encode() + b"\0" + self.cleaned_data["content"]
        return hashlib.sha256(said).hexdigest()
