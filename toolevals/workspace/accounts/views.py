"""Signs people in and out, says who is signed in, and shows a person's own account."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.workspace.accounts.forms import PasswordForm, ProfileForm, SignInForm
from toolevals.workspace.accounts.hashing import RETRY_SECONDS, PasswordsBusy
from toolevals.workspace.accounts.services import (
    SignInRefused,
    TryLater,
    password_change,
    password_confirm,
    user_sign_in,
    user_update,
)
from toolevals.workspace.api.problems import problem
from toolevals.workspace.models import Invitation, User
from toolevals.workspace.requests import SignedInRequest, client_address, is_by_script, is_on_this_machine, is_own_page


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for address and password, then go where the person wanted to go; a script is told who is signed in."""
    status, retry_after = 200, 0
    form = SignInForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = user_sign_in(
                request=request,
                **form.cleaned_data,
                address=client_address(request),
                on_this_machine=is_on_this_machine(request),
            )
        except SignInRefused as refusal:
            form.add_error(None, str(refusal))
            if isinstance(refusal, TryLater):
                status, retry_after = 429, refusal.retry_after
        else:
            login(request, user)
            return _who(user) if is_by_script(request) else redirect(_wanted(request))
    if request.method == "POST" and is_by_script(request):
        words = " ".join(str(text) for texts in form.errors.values() for text in texts)
        return _later(problem(status if status != 200 else 422, words), retry_after)
    samples = User.objects.filter(is_sample=True).order_by("pk") if is_on_this_machine(request) else ()
    page = render(request, "workspace/sign_in.html", {"form": form, "samples": samples}, status=status)
    return _later(page, retry_after)


@never_cache
@require_safe
def session(request: HttpRequest) -> HttpResponse:
    """Say who is signed in, as an id, or no one as ""; a browser that lost its CSRF cookie gets a new one."""
    get_token(request)
    return _who(request.user)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect("workspace:sign-in")


def _later(response: HttpResponse, seconds: int) -> HttpResponse:
    if seconds:
        response["Retry-After"] = str(seconds)
    return response


def _who(user: User | AnonymousUser) -> JsonResponse:
    return JsonResponse({"person": str(user.pk) if user.is_authenticated else ""})


def _wanted(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next", "")
    return wanted if is_own_page(request, wanted) else "workspace:home"


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
