"""Signs people in by the provider of their organization, and decides who that lets in.

A provider's person is known by the provider's id once linked. Before that, an address that the provider says is
verified finds the account; what it does not say is verified finds no one, and makes no account.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from typing import Any, Final, NoReturn

import requests
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import callback
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from toolevals.workspace.accounts.services import STATE_SECONDS
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User
from toolevals.workspace.requests import is_own_page

logger = logging.getLogger(__name__)
# Of this process, for all of its threads.
_PLACES = threading.BoundedSemaphore(2)

FAILED: Final = "Single sign-on did not work. Try again, or sign in another way."
BUSY: Final = "Others are signing in at the moment. Try again in a few seconds."
AWAY: Final = "The provider of single sign-on does not answer. Try again later, or sign in another way."
NOT_VERIFIED: Final = "The provider does not say that this address is verified: {email}. Ask who runs the provider."
NO_ADDRESS: Final = "The provider does not say which e-mail address is yours. Ask who runs the provider."
NO_ACCOUNT: Final = "There is no account for {email} here. Ask an owner of a project for an invitation."


def uid_hashed(provider: str, uid: str) -> str:
    """Return what a person of a provider is known by."""
    return hashlib.sha256(f"{provider}\n{uid}".encode()).hexdigest()


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """The provider of the settings. Only id, name and address of a person are kept."""

    def extract_uid(self, data: dict[str, Any]) -> str:
        """Return the person's id, with the provider's: after a change of provider, no one else has it."""
        return uid_hashed(self.server_url, super().extract_uid(data))

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        return {}


# Here and in no list of apps: its libraries take a tenth of a second to load, in every process.
registry.register(Provider)


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Single sign-on's rules here."""

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        """Return the account of the address, where the provider says that it is verified."""
        for each in sociallogin.email_addresses:
            user = User.objects.filter(email=each.email.lower(), is_sample=False).first() if each.verified else None
            if user is not None:
                # Now it is known whose it is: the account keeps its password.
                known = {"verified": True, "primary": True}
                EmailAddress.objects.update_or_create(user=user, email=user.email, defaults=known)
                return user, user.email
        return None

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return True where an account is made for the verified address; else say why not, on the sign-in page."""
        if not sociallogin.email_addresses:
            _refuse(request, NO_ADDRESS)
        address = sociallogin.email_addresses[0]
        email = address.email.lower()
        if not address.verified:
            _refuse(request, NOT_VERIFIED.format(email=email))
        domains = {domain.lower() for domain in settings.SIGN_ON_DOMAINS}
        if email.rpartition("@")[2] not in domains or User.objects.filter(email=email).exists():
            _refuse(request, NO_ACCOUNT.format(email=email))
        return True

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        user: User = super().populate_user(request, sociallogin, data)
        parts = (data.get("first_name"), data.get("last_name"))
        name = data.get("name") or " ".join(part for part in parts if part) or user.mailbox
        user.name = " ".join(str(name).split())[:120]
        return user

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        user: User = super().save_user(request, sociallogin, form)
        detail = {"provider": sociallogin.account.provider}
        audit_record(project=None, actor=None, verb="user_create", target=user, detail=detail)
        return user

    def on_authentication_error(self, request: HttpRequest, provider: Any, **_: Any) -> NoReturn:
        _refuse(request, FAILED)


def _refuse(request: HttpRequest, words: str) -> NoReturn:
    raise ImmediateHttpResponse(sent_back(request, words))


def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead to the provider. A link does, not a form: the policy of the pages lets forms go nowhere else.

    It signs in and does nothing else: no account is linked because someone was led here.
    """
    wanted = request.GET.get("next", "")
    next_url = wanted if is_own_page(request, wanted) else None
    request.session.set_expiry(STATE_SECONDS)
    provider = get_adapter().get_provider(request, provider_id)
    return asked(request, lambda: provider.redirect(request, process=AuthProcess.LOGIN, next_url=next_url))


def finish(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Let in, or send back to the sign-in page, whom the provider sends here with its answer."""
    return asked(request, lambda: callback(request, provider_id))


def asked(request: HttpRequest, ask: Callable[[], HttpResponse]) -> HttpResponse:
    """Return what asking the provider comes to. Few wait for it at once: other threads are free while it is slow."""
    if not _PLACES.acquire(blocking=False):
        return sent_back(request, BUSY)
    try:
        return ask()
    except requests.RequestException:
        return sent_back(request, AWAY)
    except (OAuth2Error, KeyError, TypeError, ValueError):
        logger.exception("The provider of single sign-on cannot be understood.")
        return sent_back(request, FAILED)
    finally:
        _PLACES.release()


def sent_back(request: HttpRequest, words: str) -> HttpResponse:
    """Return the way to the sign-in page, which says why."""
    messages.error(request, words)
    return redirect("account_login")
