"""Signs people in and out, by a page and from within one, and says who is signed in."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.workspace.api.problems import problem
from toolevals.workspace.forms.accounts import SignInForm
from toolevals.workspace.models import User
from toolevals.workspace.requests import client_address, is_by_script, is_on_this_machine, is_own_page
from toolevals.workspace.services.sign_in import SignInRefused, TryLater, user_sign_in


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
