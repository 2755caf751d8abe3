"""Tells django-allauth what is ours of a sign-in: who is let in, how guessing is slowed down, and what a page says."""

from __future__ import annotations

from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, Final

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

from toolevals.workspace.accounts.services import SignInRefused, TryLater, password_confirm, user_sign_in
from toolevals.workspace.api.problems import problem
from toolevals.workspace.models import User
from toolevals.workspace.requests import client_address, is_on_this_machine, is_own_page

INACTIVE: Final = "This account is switched off. Ask the operator of this installation."
# What a page says after an act, by the template that allauth names; it says nothing of the others.
_SAID: Final = {
    "account/messages/password_changed.txt": "Your password is changed. Sign in with it.",
    "mfa/messages/totp_activated.txt": "Your authenticator app is added.",
    "mfa/messages/totp_deactivated.txt": "Your authenticator app is removed.",
    "mfa/messages/recovery_codes_generated.txt": "Your recovery codes are made. Store them in a safe place.",
    "mfa/messages/webauthn_added.txt": "Your passkey is added.",
    "mfa/messages/webauthn_removed.txt": "Your passkey is removed.",
    "usersessions/messages/sessions_logged_out.txt": "Your other sessions have ended.",
}
_UNKNOWN_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - a column that takes no text


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """The account app's rules here."""

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User:
        """Return the account with this address and password, within the limits. Raises ValidationError."""
        try:
            return user_sign_in(
                request=request,
                email=credentials["email"],
                password=credentials["password"],
                address=client_address(request),
                on_this_machine=is_on_this_machine(request),
            )
        except SignInRefused as refusal:
            raise refused(refusal) from None

    def reauthenticate(self, user: User, password: str) -> bool:
        """Let a signed-in person prove who they are, within the limits. Raises ValidationError."""
        try:
            password_confirm(user=user, password=password, address=client_address(self.request))
        except SignInRefused as refusal:
            raise refused(refusal) from None
        return True

    def pre_login(self, request: HttpRequest, user: User, **more: Any) -> HttpResponse | None:
        """End another person's session in this browser: a second step is for someone who is signed out."""
        if request.user.is_authenticated and request.user.pk != user.pk:
            logout(request)
        refusal: HttpResponse | None = super().pre_login(request, user, **more)
        return refusal

    def login(self, request: HttpRequest, user: User) -> None:
        super().login(request, user)
        # What was only to be remembered for a moment is a session now.
        request.session.set_expiry(None)

    def is_safe_url(self, url: str) -> bool:
        return is_own_page(self.request, url)

    def is_ajax(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        try:
            return str(ip_address(client_address(request)))
        except ValueError:
            return _UNKNOWN_ADDRESS

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:
        messages.error(request, INACTIVE)
        return redirect("account_login")

    def add_message(
        self, request: HttpRequest, level: int, message_template: str = "", *more: Any, message: str = "", **others: Any
    ) -> None:
        if said := message or _SAID.get(message_template, ""):
            messages.add_message(request, level, said)


def who(user: User | AnonymousUser) -> JsonResponse:
    """Return who is signed in, as an id, as a page's script reads it."""
    return JsonResponse({"person": str(user.pk) if user.is_authenticated else ""})


def told(form: Form) -> HttpResponse:
    """Return what is wrong with a form, as a page's script reads it."""
    words = " ".join(str(text) for texts in form.errors.values() for text in texts)
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, words)


def refused(refusal: SignInRefused) -> ValidationError:
    """Return a refusal as a form shows it; it knows when to come back."""
    later = refusal.retry_after if isinstance(refusal, TryLater) else 0
    return ValidationError(str(refusal), code="refused", params={"retry_after": later})


def retry_after(form: Form) -> int:
    """Return the seconds after which a refused form may be sent again; 0 where it was looked at."""
    found = [error for errors in form.errors.as_data().values() for error in errors]
    return max((error.params.get("retry_after", 0) for error in found if error.params), default=0)


def answered(form: Form, response: HttpResponse) -> HttpResponse:
    """Return the page of a refused form, with the status and the wait that it says."""
    if seconds := retry_after(form):
        response.status_code = HTTPStatus.TOO_MANY_REQUESTS
        response["Retry-After"] = str(seconds)
    return response
