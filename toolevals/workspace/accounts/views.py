"""Signs people in and out, says who is signed in, and shows a person's own account."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from allauth.account.views import LoginView, PasswordResetFromKeyView, PasswordResetView
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.workspace.accounts.adapter import answered, refused, told, who
from toolevals.workspace.accounts.forms import NewPasswordForm, PasswordForm, ProfileForm, ResetForm, SignInForm
from toolevals.workspace.accounts.hashing import RETRY_SECONDS, PasswordsBusy
from toolevals.workspace.accounts.reset import reset_is_by_mail
from toolevals.workspace.accounts.services import (
    SignInRefused,
    TryLater,
    password_change,
    password_confirm,
    user_update,
)
from toolevals.workspace.api.problems import problem_coded
from toolevals.workspace.models import Invitation, User
from toolevals.workspace.requests import SignedInRequest, client_address, is_by_script, is_on_this_machine

ASKED: Final = "If this address has an account with a password, an e-mail with a link is on its way."
SECOND_STEP: Final = "Your account has a second step: enter a code."


class SignInView(LoginView):  # type: ignore[misc]
    """Asks for address and password, then goes where the person wanted to go; a script is told who is signed in."""

    template_name = "workspace/sign_in.html"

    def form_valid(self, form: SignInForm) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        if not is_by_script(self.request):
            return response
        if self.request.user.is_authenticated:
            return who(self.request.user)
        return problem_coded(HTTPStatus.UNPROCESSABLE_ENTITY, SECOND_STEP, "second_step")

    def form_invalid(self, form: SignInForm) -> HttpResponse:
        if not is_by_script(self.request):
            return answered(form, super().form_invalid(form))
        return answered(form, told(form))

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        shown = is_on_this_machine(self.request)
        samples = User.objects.filter(is_sample=True).order_by("pk") if shown else ()
        return {**super().get_context_data(**more), "samples": samples, "sign_on": _sign_on()}


class ResetView(PasswordResetView):  # type: ignore[misc]
    """Sends a link for a new password, where e-mail is set up; else it says whom to ask."""

    template_name = "workspace/password_lost.html"
    success_url = reverse_lazy("account_login")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        answer: HttpResponse = super().post(request) if reset_is_by_mail() else self.get(request)
        return answer

    def form_valid(self, form: ResetForm) -> HttpResponse:
        try:
            response: HttpResponse = super().form_valid(form)
        except TryLater as later:
            form.add_error(None, refused(later))
            return answered(form, self.form_invalid(form))
        messages.info(self.request, ASKED)
        return response

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return {**super().get_context_data(**more), "is_by_mail": reset_is_by_mail()}


class NewPasswordView(PasswordResetFromKeyView):  # type: ignore[misc]
    """Lets a person who has the link set a new password. It is not signed in by that."""

    template_name = "workspace/password_new.html"
    success_url = reverse_lazy("account_login")

    def form_valid(self, form: NewPasswordForm) -> HttpResponse:
        try:
            response: HttpResponse = super().form_valid(form)
        except PasswordsBusy as busy:
            form.add_error(None, refused(TryLater(str(busy), RETRY_SECONDS)))
            return answered(form, self.form_invalid(form))
        return response


@never_cache
@require_safe
def sign_on(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead to the provider of single sign-on, where there is one."""
    if provider_id not in settings.SIGN_ON:
        return redirect("account_login")
    led: HttpResponse = _part(provider_id).begin(request, provider_id)
    return led


@never_cache
@require_safe
def sign_on_answer(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Take the answer of the provider."""
    if provider_id not in settings.SIGN_ON:
        return redirect("account_login")
    done: HttpResponse = _part(provider_id).finish(request, provider_id)
    return done


@csrf_exempt
@never_cache
@require_POST
def saml_receive(request: HttpRequest) -> HttpResponse:
    """Take the form that a provider of SAML has the browser send: a signature stands for it, not a token."""
    return _part("saml").receive(request) if "saml" in settings.SIGN_ON else redirect("account_login")


@never_cache
@require_safe
def saml_metadata(request: HttpRequest) -> HttpResponse:
    """Tell a provider of SAML what it has to know of this installation."""
    return _part("saml").metadata(request) if "saml" in settings.SIGN_ON else redirect("account_login")


def _sign_on() -> list[tuple[str, str]]:
    """Return the name and the address of each provider."""
    ways = {"oidc": "openid_connect_login", "saml": "saml_login"}
    return [(each["name"], reverse(ways[known])) for known, each in settings.SIGN_ON.items()]


def _part(provider_id: str) -> Any:
    """Return what speaks with a provider. It is loaded only where it is used."""
    from toolevals.workspace.accounts import single_sign_on

    if provider_id != "saml":
        return single_sign_on
    from toolevals.workspace.accounts import saml

    return saml


@never_cache
@require_safe
def session(request: HttpRequest) -> HttpResponse:
    """Say who is signed in, as an id, or no one as ""; a browser that lost its CSRF cookie gets a new one."""
    get_token(request)
    return who(request.user)


@require_http_methods(["GET", "POST"])
def profile(request: SignedInRequest) -> HttpResponse:
    """Show the account; by POST, change its name."""
    form = ProfileForm(request.POST or None, initial={"name": request.user.name})
    if request.method == "POST" and form.is_valid():
        user_update(user=request.user, actor=request.user, name=form.cleaned_data["name"])
        messages.info(request, "Your name is saved.")
        return redirect("workspace:profile")
    return _page(request, form, PasswordForm(request.user))


@sensitive_post_parameters("old", "new")
@require_POST
def password(request: SignedInRequest) -> HttpResponse:
    """Change the password; other sessions end, this one goes on. The old one is guessed as rarely as at the sign-in."""
    form = PasswordForm(request.user, request.POST)
    retry_after = 0
    if form.is_valid():
        try:
            password_confirm(user=request.user, password=form.cleaned_data["old"], address=client_address(request))
            password_change(
                user=request.user,
                actor=request.user,
                password=form.cleaned_data["new"],
                end_tokens=form.cleaned_data["end_tokens"],
            )
        except SignInRefused as refusal:
            form.add_error("old", str(refusal))
            retry_after = refusal.retry_after if isinstance(refusal, TryLater) else 0
        except PasswordsBusy as busy:
            form.add_error(None, str(busy))
            retry_after = RETRY_SECONDS
    if form.errors:
        status = HTTPStatus.TOO_MANY_REQUESTS if retry_after else HTTPStatus.OK
        page = _page(request, ProfileForm(initial={"name": request.user.name}), form, status)
        if retry_after:
            page["Retry-After"] = str(retry_after)
        return page
    update_session_auth_hash(request, request.user)
    # Its key is another one now.
    UserSession.objects.create_from_request(request)
    ended = " and your API tokens" if form.cleaned_data["end_tokens"] else ""
    messages.info(request, f"Your password is changed. Other sessions{ended} have ended.")
    return redirect("workspace:profile")


def _page(
    request: SignedInRequest, form: ProfileForm, password_form: PasswordForm, status: int = HTTPStatus.OK
) -> HttpResponse:
    context = {
        "form": form,
        "password_form": password_form,
        "invitations": Invitation.objects.for_person(request.user),
    }
    return render(request, "workspace/profile.html", context, status=status)
