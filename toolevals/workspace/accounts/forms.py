"""Defines the forms about one's own account."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as allauth_forms
from allauth.account.fields import SetPasswordField
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.http import HttpRequest

from toolevals.workspace.accounts.reset import reset_ask
from toolevals.workspace.accounts.services import account_failures_forget, password_change
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import User
from toolevals.workspace.requests import client_address

RULES = "At least 10 characters; not a common one, and not like your name or address."
NEW_PASSWORD = forms.PasswordInput({"autocomplete": "new-password"})


class SignInForm(PlainForm, allauth_forms.LoginForm):  # type: ignore[misc]
    """The form for a sign-in: name and proof."""

    email = forms.CharField(
        label="E-mail address", max_length=254, widget=forms.EmailInput({"autocomplete": "username", "autofocus": True})
    )
    password = forms.CharField(
        max_length=1000, strip=False, widget=forms.PasswordInput({"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["login"]
        self.order_fields(("email", "password"))

    def user_credentials(self) -> dict[str, str]:
        return {"email": self.cleaned_data["email"], "password": self.cleaned_data["password"]}


class ConfirmForm(PlainForm, allauth_forms.ReauthenticateForm):  # type: ignore[misc]
    """The password, once more, before what protects an account is changed."""

    password = forms.CharField(
        label="Your password",
        max_length=1000,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password", "autofocus": True}),
    )


class ResetForm(PlainForm, allauth_forms.ResetPasswordForm):  # type: ignore[misc]
    """The address of an account whose password is lost. The answer is the same whether there is one."""

    email = forms.EmailField(
        label="E-mail address", max_length=254, widget=forms.EmailInput({"autocomplete": "username", "autofocus": True})
    )

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        return email

    def save(self, request: HttpRequest, **more: Any) -> str:
        email: str = self.cleaned_data["email"]
        reset_ask(email=email, address=client_address(request))
        return email


class NewPasswordForm(PlainForm, allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    """A new password for a person who has the link."""

    password1 = SetPasswordField(label="New password", max_length=1000, help_text=RULES)
    password2 = forms.CharField(label="Confirm password", max_length=1000, strip=False, widget=NEW_PASSWORD)

    def save(self) -> None:
        password_change(user=self.user, actor=self.user, password=self.cleaned_data["password1"], by_mail=True)
        account_failures_forget(self.user)


class ProfileForm(PlainForm):
    """The name that others see."""

    name = forms.CharField(max_length=120, widget=forms.TextInput({"autocomplete": "name"}))


class PasswordForm(PlainForm):
    """A new password, and the old one to show that it is oneself. The view proves the old one."""

    old = forms.CharField(
        label="Current password",
        max_length=1000,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )
    new = forms.CharField(label="New password", max_length=1000, strip=False, help_text=RULES, widget=NEW_PASSWORD)
    end_tokens = forms.BooleanField(
        label="Revoke my API tokens, too",
        required=False,
        help_text="Programs that use these tokens lose access immediately.",
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_new(self) -> str:
        new: str = self.cleaned_data["new"]
        validate_password(new, self.user)
        return new


class NewAccountForm(PlainForm):
    """The account that an invited person makes: a name, and a password that the person alone knows."""

    name = forms.CharField(
        max_length=120,
        label="Your name",
        help_text="Other members see it.",
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    password = forms.CharField(max_length=1000, strip=False, help_text=RULES, widget=NEW_PASSWORD)
    again = forms.CharField(label="Confirm password", max_length=1000, strip=False, widget=NEW_PASSWORD)

    def __init__(self, email: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def clean(self) -> None:
        password = self.cleaned_data.get("password")
        if password is None:
            return
        try:
            validate_password(password, User(email=self.email, name=self.cleaned_data.get("name", "")))
        except forms.ValidationError as error:
            self.add_error("password", error)
        if self.cleaned_data.get("again", password) != password:
            self.add_error("again", "The two passwords differ.")
