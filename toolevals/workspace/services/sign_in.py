"""Signs people in, and slows down those who guess."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth import authenticate
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import SignInFailure, User

WINDOW = timedelta(minutes=15)
# Failures within the window after which nothing is tried any more.
FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT = 5
FROM_ONE_ADDRESS = 30
FOR_ONE_ACCOUNT = 50
KEPT = timedelta(days=1)


class SignInRefused(Exception):  # noqa: N818 - an answer, not a defect
    """No one is signed in. The message is for the person who tried."""


class TooManyFailures(SignInRefused):
    """Too many have failed lately; this one was not even tried."""


def user_sign_in(*, request: HttpRequest, email: str, password: str, address: str, on_this_machine: bool) -> User:
    """Return the account with this address and password. Raises `SignInRefused`, `TooManyFailures` among them."""
    email = email.strip().lower()[:254]
    if _guessing(email, address):
        raise TooManyFailures("Too many failed attempts. Wait fifteen minutes.")
    user = authenticate(request, username=email, password=password)
    if not isinstance(user, User):
        SignInFailure.objects.create(email=email, address=address)
        raise SignInRefused("The address and the password do not belong together.")
    if user.is_sample and not on_this_machine:
        raise SignInRefused("Sample accounts sign in on the machine that runs toolevals only.")
    SignInFailure.objects.filter(email=email, address=address).delete()
    return user


def password_confirm(*, user: User, password: str, address: str) -> None:
    """Let a signed-in person prove who they are. Raises `SignInRefused`; guesses count as those at the sign-in do."""
    if _guessing(user.email, address):
        raise TooManyFailures("Too many failed attempts. Wait fifteen minutes.")
    if not user.check_password(password):
        SignInFailure.objects.create(email=user.email, address=address)
        raise SignInRefused("That is not your password.")
    SignInFailure.objects.filter(email=user.email, address=address).delete()


def sign_in_failures_forget(now: datetime) -> None:
    """Delete the failures that no one counts any more."""
    SignInFailure.objects.filter(at__lt=now - KEPT).delete()


def sessions_forget(now: datetime) -> None:
    """Delete the sessions that have ended."""
    Session.objects.filter(expire_date__lt=now).delete()


def _guessing(email: str, address: str) -> bool:
    recent = SignInFailure.objects.filter(at__gt=database_now() - WINDOW)
    here = recent.filter(address=address)
    return (
        _reaches(here.filter(email=email), FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT)
        or _reaches(here, FROM_ONE_ADDRESS)
        or _reaches(recent.filter(email=email), FOR_ONE_ACCOUNT)
    )


def _reaches(failures: QuerySet[SignInFailure], limit: int) -> bool:
    return len(failures.values_list("pk", flat=True)[:limit]) >= limit
