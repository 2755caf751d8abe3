"""Shows an invitation to the person who is invited, who accepts or declines it.

The link's page sends `Referrer-Policy: no-referrer`, because its address is a secret. Browsers then send `Origin: null`
with its form, which looks like a form from elsewhere: so the check of forgery is off there. Nothing is lost: only
someone who has the link can send the form, and no one is signed in by it.
"""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from toolevals.workspace.compression import shows_secret
from toolevals.workspace.forms.accounts import NewAccountForm
from toolevals.workspace.hashing import RETRY_SECONDS, PasswordsBusy
from toolevals.workspace.models import Invitation, InvitationState, User, untrashed
from toolevals.workspace.requests import SignedInRequest
from toolevals.workspace.services.invitations import (
    ENDED,
    AccountExistsError,
    InvitationEndedError,
    invitation_accept,
    invitation_accept_as_new,
    invitation_decline,
    link_digest,
)

UNKNOWN = "This is no link of an invitation. Copy the whole address, or ask for a new one."
EXPIRED = "The invitation has expired. Ask for a new link."
REVOKED = "The invitation was revoked, or has a new link by now. Ask the person who invited you."
USED = "The invitation was answered already. If it was you who accepted it, sign in."
OTHER = "You are signed in as another person than the invitation is for. Sign out, and open the link again."
NO_ACCOUNT = (
    "This link makes no account. If you have one with this address, sign in: the invitation waits on your page of "
    "projects. Otherwise ask for a new link."
)
ENDS = {InvitationState.ACCEPTED: USED, InvitationState.DECLINED: USED, InvitationState.REVOKED: REVOKED}


@csrf_exempt
@never_cache
@sensitive_variables("link", "form")
@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "POST"])
def link(request: HttpRequest, link: str) -> HttpResponse:
    """Show what an invitation's link offers; by POST, make an account with a password of one's own, and accept."""
    response = _opened(request, link)
    response["Referrer-Policy"] = "no-referrer"
    return shows_secret(response)


@require_POST
def accept(request: SignedInRequest, offer: UUID) -> HttpResponse:
    """Accept an invitation to one's own address."""
    invitation = _own(request, offer)
    try:
        invitation_accept(invitation=invitation, user=request.user)
    except InvitationEndedError as error:
        messages.error(request, str(error))
        return redirect(f"{reverse('workspace:home')}?all")
    return redirect("workspace:project", invitation.project.slug)


@require_POST
def decline(request: SignedInRequest, offer: UUID) -> HttpResponse:
    """Decline an invitation to one's own address."""
    try:
        invitation_decline(invitation=_own(request, offer), user=request.user)
        messages.info(request, "You have declined the invitation.")
    except InvitationEndedError as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('workspace:home')}?all")


def _own(request: SignedInRequest, pk: UUID) -> Invitation:
    return get_object_or_404(
        Invitation.objects.filter(untrashed("project")).select_related("project"), pk=pk, email=request.user.email
    )


@sensitive_variables("secret", "form")
def _opened(request: HttpRequest, secret: str) -> HttpResponse:
    found = (
        Invitation.objects.select_related("project", "actor")
        .filter(untrashed("project"), digest=link_digest(secret))
        .first()
    )
    if found is None:
        return _refused(request, UNKNOWN, HTTPStatus.NOT_FOUND)
    if found.state in ENDS or found.is_expired:
        return _refused(request, ENDS.get(InvitationState(found.state), EXPIRED), HTTPStatus.GONE)
    if isinstance(request.user, User):
        if request.user.email != found.email:
            return _refused(request, OTHER, HTTPStatus.CONFLICT)
        return redirect(f"{reverse('workspace:home')}?all")
    form = NewAccountForm(found.email, request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _accepted(request, found, form)
    return _page(request, found, form)


@sensitive_variables("form")
def _accepted(request: HttpRequest, invitation: Invitation, form: NewAccountForm) -> HttpResponse:
    try:
        invitation_accept_as_new(
            invitation=invitation, name=form.cleaned_data["name"], password=form.cleaned_data["password"]
        )
    except InvitationEndedError:
        return _refused(request, ENDED, HTTPStatus.GONE)
    except AccountExistsError:
        return _refused(request, NO_ACCOUNT, HTTPStatus.CONFLICT)
    except ValidationError as error:
        form.add_error(None, error)
        return _page(request, invitation, form)
    except PasswordsBusy as busy:
        form.add_error(None, str(busy))
        page = _page(request, invitation, form, HTTPStatus.TOO_MANY_REQUESTS)
        page["Retry-After"] = str(RETRY_SECONDS)
        return page
    messages.info(request, f"Your account is made, and you are a member of {invitation.project.name}. Sign in.")
    return redirect(
        f"{reverse('workspace:sign-in')}?next={reverse('workspace:project', args=[invitation.project.slug])}"
    )


def _page(request: HttpRequest, invitation: Invitation, form: NewAccountForm, status: int = 422) -> HttpResponse:
    context = {"invitation": invitation, "form": form}
    return render(request, "workspace/invitation.html", context, status=status if form.errors else 200)


def _refused(request: HttpRequest, reason: str, status: HTTPStatus) -> HttpResponse:
    return render(request, "workspace/invitation_ended.html", {"reason": reason}, status=status)
