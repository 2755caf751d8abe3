"""Define forms that add simulators and choose them for datasets."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from typing import Any

from django import forms

from labeling.models import Dataset
from toolevals.archives import UNREADABLE
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping
from toolevals.registry.forms import McpServerForm
from toolevals.runs.models import Simulator, SimulatorKind
from toolevals.runs.simulators.contents import MAIN, MAX_CHARACTERS, MAX_FILES
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project

# Where the service names a problem otherwise than the form does.
FIELDS: Mapping[str, str] = {"files": "file"}


class JsonField(forms.JSONField):
    """A value that is entered as JSON. Where it is none, the place is said."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip():
            try:
                load_json(value)
            except InvalidDocument as error:
                raise forms.ValidationError([f"Cannot be read: {one.message}" for one in error.problems]) from None
        return super().to_python(value)


class SimulatorForm(PlainForm):
    """The form for the name that every simulator has. `kind` and `content` are what the service takes."""

    kind: SimulatorKind
    name = forms.CharField(max_length=120, help_text="If the name exists, different content becomes its next version.")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, prefix=self.kind.value, **kwargs)
        self.project = project

    def content(self) -> JsonMapping:
        """Return what the simulator is made of: every field but its name, by its name. The form is valid."""
        return {name: value for name, value in self.cleaned_data.items() if name != "name"}

    def add_problems(self, error: InvalidDocument) -> None:
        """Show what the service found wrong, next to the field that it names."""
        for problem in error.problems:
            name = problem.pointer.removeprefix("/content").removeprefix("/").partition("/")[0]
            name = FIELDS.get(name, name)
            where = name if name in self.fields else None
            place = "/".join(problem.pointer.split("/")[3:]) if where else ""
            self.add_error(where, f"{place}: {problem.message}" if place else problem.message)


class ScriptedForm(SimulatorForm):
    """Results by tool and matchers of arguments."""

    kind = SimulatorKind.SCRIPTED
    results = JsonField(
        help_text="A JSON list, in the format of results in an example’s simulation.",
        widget=forms.Textarea({"rows": 8, "class": "form-control mono", "spellcheck": "false"}),
        initial=[{"tool": "get_order", "arguments": {"order_id": {"exact": "A-1"}}, "result": {"total": 45}}],
    )


class CodeForm(SimulatorForm):
    """One file of Python, or several in an archive."""

    kind = SimulatorKind.CODE
    file = forms.FileField(
        help_text="simulator.py, or a ZIP archive of it with the modules and JSON files that it reads.",
    )

    def clean_file(self) -> Mapping[str, str]:
        upload = self.cleaned_data["file"]
        if upload.size > MAX_CHARACTERS:
            raise forms.ValidationError(f"Must have at most {MAX_CHARACTERS:,} bytes.")
        try:
            if upload.name.lower().endswith(".zip") or zipfile.is_zipfile(upload):
                return _unpacked(zipfile.ZipFile(upload))
            upload.seek(0)
            return {MAIN: upload.read().decode()}
        except UnicodeDecodeError:
            raise forms.ValidationError("Holds a file that is not text in UTF-8.") from None
        except UNREADABLE:
            raise forms.ValidationError("Is an archive that cannot be read.") from None

    def content(self) -> JsonMapping:
        return {"files": self.cleaned_data["file"]}


class ServerForm(SimulatorForm):
    """Something that is called, perhaps with a key."""

    secret = forms.ChoiceField(required=False, label="Key", help_text="One of the project's secrets.")
    timeout = forms.FloatField(min_value=1, max_value=600, initial=30, label="Timeout", help_text="Seconds.")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(project, *args, **kwargs)
        names = project.secrets.values_list("name", flat=True)
        self.fields["secret"].choices = [("", "No key"), *((name, name) for name in names)]  # type: ignore[attr-defined]


class HttpForm(ServerForm):
    """A service that keeps worlds."""

    kind = SimulatorKind.HTTP
    base_url = forms.URLField(
        label="Address",
        max_length=500,
        assume_scheme="https",
        help_text="The address below which /reset, /call and /state are. Private addresses need the operator’s "
        "permission.",
    )
    tools = forms.CharField(
        required=False,
        help_text="Names of the tools it answers, separated by commas. Leave empty if the "
        "service decides at each call.",
    )
    field_order = ("name", "base_url", "secret", "timeout", "tools")

    def content(self) -> JsonMapping:
        tools = [name.strip() for name in self.cleaned_data["tools"].split(",") if name.strip()]
        return {**super().content(), "tools": tools}


class McpForm(McpServerForm, ServerForm):
    """A server of the Model Context Protocol."""

    kind = SimulatorKind.MCP
    field_order = ("name", "url", "command", "secret", "timeout")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(project, *args, **kwargs)
        self.offer(project)

    def content(self) -> JsonMapping:
        return self.options() | {"timeout": self.cleaned_data["timeout"]}


FORMS: Mapping[str, type[SimulatorForm]] = {
    form.kind.value: form for form in (CodeForm, ScriptedForm, HttpForm, McpForm)
}


class ChoiceForm(PlainForm):
    """The form for the simulator of a dataset's tools."""

    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="slug", widget=forms.HiddenInput)
    simulator = forms.ModelChoiceField(Simulator.objects.none(), required=False, empty_label="None")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = Dataset.objects.in_project(project)  # type: ignore[attr-defined]
        self.fields["simulator"].queryset = Simulator.objects.in_project(project)  # type: ignore[attr-defined]


def shown_content(simulator: Simulator) -> list[tuple[str, str]]:
    """Return what a simulator is made of as titles and texts, the main one first."""
    if simulator.kind == SimulatorKind.CODE:
        files = simulator.content["files"]
        return [(name, files[name]) for name in sorted(files, key=lambda name: (name != MAIN, name))]
    title = "Results" if simulator.kind == SimulatorKind.SCRIPTED else "Service"
    return [(title, json.dumps(simulator.content, ensure_ascii=False, indent=2))]


def _unpacked(archive: zipfile.ZipFile) -> dict[str, str]:
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) > MAX_FILES or sum(member.file_size for member in members) > MAX_CHARACTERS:
        raise forms.ValidationError(f"Holds too much: {MAX_FILES} files and {MAX_CHARACTERS:,} bytes fit.")
    return {member.filename: archive.read(member).decode() for member in members}
