"""Shows one's own account."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from toolevals.workspace.forms.accounts import PasswordForm, ProfileForm
from toolevals.workspace.hashing import RETRY_SECONDS, PasswordsBusy
from toolevals.workspace.models import Invitation
from toolevals.workspace.requests import SignedInRequest, client_address
from toolevals.workspace.services.sign_in import SignInRefused, TryLater, password_confirm
from toolevals.workspace.services.users import password_change, user_update


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
