"""Defines the forms about a project, its members and its tokens."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import forms

from toolevals.agents.secret_binding import OriginError, origins_read
from toolevals.workspace.clock import database_now
from toolevals.workspace.forms.controls import PlainForm
from toolevals.workspace.models import Project, Role, TokenScope


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
    """The form for the settings of an owner."""

    name = forms.CharField(max_length=120)


class RoleForm(PlainForm):
    """A member's role."""

    role = forms.TypedChoiceField(choices=Role.choices, coerce=lambda value: Role(int(value)))


class InvitationForm(RoleForm):
    """Whom to invite, as what."""

    email = forms.EmailField(label="E-mail address", max_length=254)
    field_order = ("email", "role")


class AddressesForm(PlainForm):
    """The addresses that a secret may be sent to, and its value: one changes only together with the other."""

    value = forms.CharField(
        max_length=10_000,
        strip=True,
        help_text="It cannot be read again. Addresses change only together with it.",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )
    addresses = forms.CharField(
        label="May be sent to",
        required=False,
        max_length=20_000,
        help_text="Scheme, host and port, one a line, such as https://models.example.org. It is sent nowhere else.",
        widget=forms.Textarea({"rows": 3, "spellcheck": "false", "class": "form-control mono"}),
    )

    def clean_addresses(self) -> list[str]:
        lines = self.cleaned_data["addresses"].splitlines()
        try:
            return origins_read(line for line in lines if line.strip())
        except OriginError as error:
            raise forms.ValidationError(f"{error}.") from None


class SecretForm(AddressesForm):
    """A value to keep under a name, and where it may be sent."""

    field_order = ("name", "value", "addresses")

    name = forms.SlugField(max_length=60, help_text="Letters, digits and hyphens, such as “model-host”.")


class TokenForm(PlainForm):
    """A new token."""

    # A role by its number, or the scope of a token that has none.
    role = forms.ChoiceField(
        label="At most", choices=[*Role.choices, (TokenScope.TRACES.value, TokenScope.TRACES.label)]
    )
    name = forms.CharField(max_length=80, help_text="What it is for, such as “nightly gate”.")
    days = forms.TypedChoiceField(
        label="Ends",
        choices=[("90", "in 90 days"), ("365", "in a year"), ("30", "in 30 days"), ("0", "never")],
        coerce=int,
    )
    field_order = ("name", "role", "days")

    @property
    def scope(self) -> TokenScope:
        """Return what the token is for."""
        return TokenScope.TRACES if self.cleaned_data["role"] == TokenScope.TRACES else TokenScope.PROJECT

    @property
    def most(self) -> Role:
        """The most that the token may; one that only sends traces has the least role."""
        return Role.VIEWER if self.scope is TokenScope.TRACES else Role(int(self.cleaned_data["role"]))

    @property
    def expires_at(self) -> datetime | None:
        """Return when the token ends; None: never."""
        days: int = self.cleaned_data["days"]
        return database_now() + timedelta(days=days) if days else None
