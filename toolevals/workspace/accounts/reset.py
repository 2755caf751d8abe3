"""Sends links for a new password, from the background: how long an answer takes tells no one who exists."""

from __future__ import annotations

from datetime import timedelta

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from uuid_utils.compat import uuid7

from toolevals.workspace.accounts.services import NEW_PASSWORD, attempt
from toolevals.workspace.models import EventKind, User
from toolevals.workspace.notifications.events import deliveries_add, mail_is_set_up


def link_lasts() -> timedelta:
    """Return how long a link for a new password is good."""
    return timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)


def reset_is_by_mail() -> bool:
    """Return whether links for a new password are sent: a mail server is named, and where people reach this."""
    return mail_is_set_up() and bool(settings.PUBLIC_URL)


def reset_ask(*, email: str, address: str) -> None:
    """Send a link to the account with this address, if there is one with a password; asking often is refused.

    Raises `TryLater`, counted apart from sign-ins.
    """
    email = email.strip().lower()
    with attempt(f"{NEW_PASSWORD}{email}", address), transaction.atomic():
        user = User.objects.filter(email=email, is_active=True, is_sample=False).first()
        if user is not None and user.has_usable_password():
            deliveries_add(EventKind.PASSWORD_RESET, {}, {}, {user: uuid7()}, None)


def reset_path(user: User) -> str:
    """Return the path of the page on which the person sets a new password, for an hour and once."""
    key = default_token_generator.make_token(user)
    path: str = reverse("account_reset_password_from_key", args=[user_pk_to_url_str(user), key])
    return path
