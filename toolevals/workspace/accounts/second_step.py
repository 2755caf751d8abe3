"""Asks for a second step after the password: a code of an app, a recovery code or a passkey.

What makes codes is sealed as secrets are. Guesses are counted with the failures of sign-ins, under words of their own,
and a code of an app opens once, whichever process it reaches.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from allauth.core import context
from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.internal import auth as webauthn
from allauth.mfa.webauthn.views import LoginWebAuthnView, ReauthenticateWebAuthnView, RemoveWebAuthnView
from cryptography.exceptions import InvalidSignature
from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy

from toolevals.workspace.accounts.adapter import answered, refused, told, who
from toolevals.workspace.accounts.services import SECOND_STEP, STATE_SECONDS, TryLater, attempt, attempts_forget
from toolevals.workspace.api.problems import problem_coded
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import User
from toolevals.workspace.requests import client_address, is_by_script
from toolevals.workspace.secrets.services import SealBrokenError, seal, unseal

NAME = "toolevals"
WRONG = "That is not right, or was used before. Try the next code."
TOO_LATE = "Too much time has passed since the password. Enter it again."
KEY_LOST = "Your second step was sealed with another key of this installation. Ask its operator to end it."


class SecondStepAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """The second step's rules here."""

    error_messages = DefaultMFAAdapter.error_messages | {"incorrect_code": WRONG}

    def encrypt(self, text: str) -> str:
        return seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        return unseal(encrypted_text)

    def get_totp_issuer(self) -> str:
        return NAME

    def generate_authenticator_name(self, user: User, kind: Authenticator.Type) -> str:
        return f"Passkey {Authenticator.objects.filter(user=user, type=kind).count() + 1}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {**super().get_public_key_credential_rp_entity(), "name": NAME}


def _code_field(label: str) -> forms.CharField:
    widget = forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True})
    return forms.CharField(label=label, max_length=20, widget=widget)


class _Counted:
    """Counts guesses at a code."""

    user: User
    authenticator: Authenticator

    def clean_code(self) -> str:
        account, address = f"{SECOND_STEP}{self.user.email}", client_address(context.request)
        try:
            with attempt(account, address):
                code: str = super().clean_code()  # type: ignore[misc]
                _use_once(self.authenticator, code)
        except TryLater as later:
            raise refused(later) from None
        except SealBrokenError:
            raise ValidationError(KEY_LOST) from None
        attempts_forget(account, address)
        return code


@transaction.atomic
def _use_once(authenticator: Authenticator, code: str) -> None:
    """Let a code of an app pass only once, for all processes. Raises ValidationError."""
    if authenticator.type != Authenticator.Type.TOTP:
        return
    row = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
    secret = unseal(row.data["secret"])
    steps = yield_hotp_counters_from_time()
    step = max(each for each in steps if compare_user_code(actual=code, expected=_code(secret, each)))
    if step <= row.data.get("used", 0):
        raise ValidationError(WRONG)
    row.data["used"] = step
    row.save(update_fields=["data"])


def _code(secret: str, step: int) -> str:
    return str(format_hotp_value(hotp_value(secret, step)))


class SecondStepForm(_Counted, PlainForm, AuthenticateForm):  # type: ignore[misc]
    """A code, at the sign-in."""

    code = _code_field("Code of your app, or a recovery code")


class ConfirmCodeForm(_Counted, PlainForm, ReauthenticateForm):  # type: ignore[misc]
    """A code, before what protects an account is changed."""

    code = _code_field("Code of your app, or a recovery code")


class AppForm(PlainForm, ActivateTOTPForm):  # type: ignore[misc]
    """The first code of an authenticator app: it shows that the app has the key."""

    code = _code_field("Code that the app shows")


# What a made-up answer of a passkey ends in, somewhere in the libraries that read it.
_UNREADABLE = (AttributeError, IndexError, InvalidSignature, KeyError, TypeError, ValueError)


class _Readable:
    """Refuses an answer of a passkey that is not one."""

    def clean_credential(self) -> Authenticator:
        try:
            return super().clean_credential()  # type: ignore[misc]
        except _UNREADABLE:
            raise ValidationError(WRONG) from None


class PasskeySignInForm(_Readable, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey, in the place of address and password."""


class PasskeyStepForm(_Readable, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey, after the password."""


class PasskeyConfirmForm(_Readable, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey, before what protects an account is changed."""


class PasskeyForm(PlainForm, AddWebAuthnForm):  # type: ignore[misc]
    """A new passkey. It says itself that it knows its person, so that it needs no password."""

    name = forms.CharField(max_length=60, required=False)
    passwordless = forms.BooleanField(widget=forms.HiddenInput, initial=True)

    def clean(self) -> dict[str, Any]:
        try:
            cleaned = super().clean() or {}
        except _UNREADABLE:
            raise ValidationError(WRONG) from None
        return cleaned


class SecondStepView(AuthenticateView):  # type: ignore[misc]
    """Asks for the second step of a sign-in."""

    template_name = "workspace/second_step.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer; a script is led nowhere, but told who is signed in, or that the password comes first."""
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        if not is_by_script(request) or response.status_code != HTTPStatus.FOUND:
            return response
        if request.user.is_authenticated:
            return who(request.user)
        return problem_coded(HTTPStatus.UNPROCESSABLE_ENTITY, TOO_LATE, "password")

    def form_invalid(self, form: forms.Form) -> HttpResponse:
        if not is_by_script(self.request):
            return answered(form, super().form_invalid(form))
        return answered(form, told(form))


class SecondStepsView(IndexView):  # type: ignore[misc]
    """Shows a person's second steps."""

    template_name = "workspace/second_steps.html"

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        known = super().get_context_data(**more)
        codes = known["authenticators"].get(Authenticator.Type.RECOVERY_CODES)
        try:
            left = len(codes.get_unused_codes()) if codes else 0
        except SealBrokenError:
            left = 0
        return {**known, "codes_left": left, "can_prove": bool(get_reauthentication_flows(self.request.user))}


class PasskeySignInView(LoginWebAuthnView):  # type: ignore[misc]
    """Signs in by a passkey alone; by GET, a page's script is told what to ask it."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        request.session.set_expiry(STATE_SECONDS)
        return JsonResponse({"request_options": webauthn.begin_authentication()}, json_dumps_params={"default": dict})


class ConfirmPasskeyView(ReauthenticateWebAuthnView):  # type: ignore[misc]
    """Asks for a passkey before what protects an account is changed."""

    template_name = "workspace/confirm.html"

    def form_invalid(self, form: forms.Form) -> HttpResponse:
        messages.error(self.request, WRONG)
        return redirect(self.request.get_full_path())


class PasskeyRemoveView(RemoveWebAuthnView):  # type: ignore[misc]
    """Removes a passkey."""

    template_name = "workspace/second_step_remove.html"
    success_url = reverse_lazy("mfa_index")
