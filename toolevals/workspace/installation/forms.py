"""Defines the form of the settings that owners of the installation may change."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.conf import settings

from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.installation.reading import EDITABLE, is_locked

_MEGABYTE: Final = 1024 * 1024
CHOICES: Final = {
    "WHO_MAKES_PROJECTS": [
        ("installation-owners", "owners of the installation"),
        ("everyone", "everyone with an account"),
    ],
    "WHO_INVITES": [
        ("installation-owners", "those who own the installation"),
        ("project-owners", "all owners of the project"),
    ],
}


class InstallationForm(PlainForm):
    """The settings; what is left empty has its default. What the environment sets is shown and cannot be changed."""

    WHO_MAKES_PROJECTS = forms.ChoiceField(
        label="Who may create projects", required=False, choices=CHOICES["WHO_MAKES_PROJECTS"]
    )
    WHO_INVITES = forms.ChoiceField(
        label="Which owners of a project may invite people",
        required=False,
        choices=CHOICES["WHO_INVITES"],
    )
    PROJECT_FILES_MAX_BYTES = forms.IntegerField(
        label="Files of one project, in MB", required=False, min_value=1, max_value=2**40
    )
    EMAIL_FROM = forms.EmailField(label="Who e-mails are from", required=False, max_length=254)

    def __init__(self, data: Any = None, *, changed: dict[str, Any]) -> None:
        shown = {name: _shown(name, value) for name, value in changed.items() if not is_locked(name)}
        super().__init__(data, initial=shown)
        for name, field in self.fields.items():
            said = getattr(settings, EDITABLE[name])
            if is_locked(name):
                field.disabled, field.initial = True, _shown(name, said)
                field.help_text = f"TOOLEVALS_{name} sets it."
                self.initial.pop(name, None)
            elif isinstance(field, forms.ChoiceField):
                names = CHOICES[name]
                field.choices = [("", f"{dict(names).get(said, said)} (default)"), *names]
            else:
                field.widget.attrs["placeholder"] = f"{_shown(name, said)} (default)"

    def values(self) -> dict[str, Any]:
        """Return what was entered, None for the default; nothing that the environment sets."""
        found = {name: self.cleaned_data[name] or None for name in self.fields if not is_locked(name)}
        most = found.get("PROJECT_FILES_MAX_BYTES")
        return found | ({"PROJECT_FILES_MAX_BYTES": most * _MEGABYTE} if most else {})


def _shown(name: str, value: Any) -> Any:
    return value // _MEGABYTE if name == "PROJECT_FILES_MAX_BYTES" else value
