"""One's own account."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from toolevals.workspace.forms.accounts import PasswordForm, ProfileForm
from toolevals.workspace.requests import SignedInRequest
from toolevals.workspace.services import password_change, user_update


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
    """Change the password; other sessions end, this one goes on."""
    form = PasswordForm(request.user, request.POST)
    if not form.is_valid():
        return _page(request, ProfileForm(initial={"name": request.user.name}), form)
    password_change(user=request.user, actor=request.user, password=form.cleaned_data["new"])
    update_session_auth_hash(request, request.user)
    messages.info(request, "Your password is changed. Other sessions have ended.")
    return redirect("workspace:profile")


def _page(request: SignedInRequest, form: ProfileForm, password_form: PasswordForm) -> HttpResponse:
    return render(request, "workspace/profile.html", {"form": form, "password_form": password_form})
