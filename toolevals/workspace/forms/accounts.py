"""Forms about oneself."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password

from toolevals.workspace.forms.controls import PlainForm
from toolevals.workspace.models import User


class SignInForm(PlainForm):
    """Who, and the proof."""

    email = forms.CharField(
        label="E-mail address", max_length=254, widget=forms.EmailInput({"autocomplete": "username", "autofocus": True})
    )
    password = forms.CharField(
        max_length=1000, strip=False, widget=forms.PasswordInput({"autocomplete": "current-password"})
    )


class ProfileForm(PlainForm):
    """The name that others see."""

    name = forms.CharField(max_length=120, widget=forms.TextInput({"autocomplete": "name"}))


class PasswordForm(PlainForm):
    """A new password, and the old one to show that it is oneself."""

    old = forms.CharField(
        label="Password now",
        max_length=1000,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )
    new = forms.CharField(
        label="New password",
        max_length=1000,
        strip=False,
        help_text="At least 10 characters, and not a common one.",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_old(self) -> str:
        old: str = self.cleaned_data["old"]
        if not self.user.check_password(old):
            raise forms.ValidationError("That is not your password.")
        return old

    def clean_new(self) -> str:
        new: str = self.cleaned_data["new"]
        validate_password(new, self.user)
        return new
