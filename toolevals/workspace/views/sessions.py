"""Signing in and out."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from toolevals.workspace.forms.accounts import SignInForm
from toolevals.workspace.models import User
from toolevals.workspace.requests import client_address, is_on_this_machine
from toolevals.workspace.services.sign_in import SignInRefused, TooManyFailures, user_sign_in


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for address and password, then go where the person wanted to go."""
    status = 200
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
            status = 429 if isinstance(refusal, TooManyFailures) else 200
        else:
            login(request, user)
            return redirect(_wanted(request))
    samples = User.objects.filter(is_sample=True).order_by("pk") if is_on_this_machine(request) else ()
    return render(request, "workspace/sign_in.html", {"form": form, "samples": samples}, status=status)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect("workspace:sign-in")


def _wanted(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next", "")
    here = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if here else "workspace:home"
