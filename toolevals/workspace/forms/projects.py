"""Forms about a project, its members and its tokens."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import forms
from django.utils import timezone

from toolevals.workspace.forms.controls import PlainForm
from toolevals.workspace.models import Project, Role, User


class ProjectForm(PlainForm):
    """A new project."""

    name = forms.CharField(max_length=120)
    slug = forms.SlugField(max_length=60, label="Short name", help_text="For addresses: letters, digits and hyphens.")

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if Project.objects.filter(slug=slug).exists():
            raise forms.ValidationError("Another project has this short name.")
        return slug


class SettingsForm(PlainForm):
    """What an owner can set."""

    name = forms.CharField(max_length=120)


class RoleForm(PlainForm):
    """A member's role."""

    role = forms.TypedChoiceField(choices=Role.choices, coerce=lambda value: Role(int(value)))


class MemberForm(RoleForm):
    """A new member, with or without an account."""

    email = forms.EmailField(label="E-mail address", max_length=254)
    name = forms.CharField(max_length=120, required=False, help_text="For somebody without an account.")
    field_order = ("email", "name", "role")

    def clean(self) -> None:
        email, name = self.cleaned_data.get("email"), self.cleaned_data.get("name")
        if email and not name and not User.objects.filter(email=email.strip().lower()).exists():
            self.add_error("name", "Nobody has this address yet. With a name, an account is made.")


class SecretForm(PlainForm):
    """A value to keep under a name."""

    name = forms.SlugField(max_length=60, help_text="Letters, digits and hyphens, such as “model-host”.")
    value = forms.CharField(
        max_length=10_000,
        strip=True,
        help_text="It cannot be read again.",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )


class TokenForm(RoleForm):
    """A new token."""

    name = forms.CharField(max_length=80, help_text="What it is for, such as “nightly gate”.")
    days = forms.TypedChoiceField(
        label="Ends",
        choices=[("90", "in 90 days"), ("365", "in a year"), ("30", "in 30 days"), ("0", "never")],
        coerce=int,
    )
    field_order = ("name", "role", "days")

    @property
    def expires_at(self) -> datetime | None:
        """When the token ends; None: never."""
        days: int = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None
