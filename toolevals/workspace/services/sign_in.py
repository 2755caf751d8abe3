"""Signs people in, and slows down those who guess."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.contrib.auth import authenticate
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest

from toolevals.workspace.clock import database_now
from toolevals.workspace.hashing import RETRY_SECONDS, PasswordsBusy
from toolevals.workspace.models import SignInAddress, SignInFailure, User

WINDOW = timedelta(minutes=15)
# Failures within the window after which nothing is tried any more. Attempts at work count as failures.
FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT = 5
FROM_ONE_ADDRESS = 30
# From all addresses but those from which the account signed in before.
FOR_ONE_ACCOUNT = 50
KEPT = timedelta(days=1)
ADDRESSES_KEPT = timedelta(days=90)


class SignInRefused(Exception):  # noqa: N818 - an answer, not a defect
    """No one is signed in. The message is for the person who tried."""


class TryLater(SignInRefused):
    """An attempt that was not even looked at: it may be sent again after so many seconds."""

    def __init__(self, words: str, retry_after: int) -> None:
        super().__init__(words)
        self.retry_after = retry_after


class TooManyFailures(TryLater):
    """Too many have failed lately."""

    def __init__(self) -> None:
        super().__init__("Too many failed attempts. Wait fifteen minutes.", int(WINDOW.total_seconds()))


def user_sign_in(*, request: HttpRequest, email: str, password: str, address: str, on_this_machine: bool) -> User:
    """Return the account with this address and password. Raises `SignInRefused`, `TryLater` among them."""
    email = email.strip().lower()[:254]
    with _attempt(email, address) as attempt:
        user = authenticate(request, username=email, password=password)
        if not isinstance(user, User):
            raise SignInRefused("The address and the password do not belong together.")
        if user.is_sample and not on_this_machine:
            attempt.delete()
            raise SignInRefused("Sample accounts sign in on the machine that runs toolevals only.")
    _succeeded(user, address)
    return user


def password_confirm(*, user: User, password: str, address: str) -> None:
    """Let a signed-in person prove who they are. Raises as `user_sign_in`; guesses count as those at the sign-in do."""
    with _attempt(user.email, address):
        if not user.check_password(password):
            raise SignInRefused("That is not your password.")
    _succeeded(user, address)


def account_failures_forget(user: User) -> None:
    """Forget the failures of an account that has a new password, so that its person can sign in at once."""
    SignInFailure.objects.filter(email=user.email).delete()


def sign_in_failures_forget(now: datetime) -> None:
    """Delete the failures that no one counts any more, and the addresses that were not used for long."""
    SignInFailure.objects.filter(at__lt=now - KEPT).delete()
    SignInAddress.objects.filter(used_at__lt=now - ADDRESSES_KEPT).delete()


def sessions_forget(now: datetime) -> None:
    """Delete the sessions that have ended."""
    Session.objects.filter(expire_date__lt=now).delete()


@contextmanager
def _attempt(email: str, address: str) -> Iterator[SignInFailure]:
    """Count an attempt as a failure for as long as it is at work, and for good where it fails. Raises `TryLater`.

    It is counted before the limit is looked at: of many at once, no more than the limit are tried.
    """
    if _guessing(email, address, SignInFailure.objects.all()):
        raise TooManyFailures
    attempt = SignInFailure.objects.create(email=email, address=address)
    if _guessing(email, address, SignInFailure.objects.exclude(pk=attempt.pk)):
        attempt.delete()
        raise TooManyFailures
    try:
        yield attempt
    except PasswordsBusy as busy:
        attempt.delete()
        raise TryLater(str(busy), RETRY_SECONDS) from None


def _succeeded(user: User, address: str) -> None:
    """Forget the failures of this account from an address, and remember that it signed in from there."""
    SignInFailure.objects.filter(email=user.email, address=address).delete()
    SignInAddress.objects.update_or_create(user=user, address=address)


def _guessing(email: str, address: str, others: QuerySet[SignInFailure]) -> bool:
    recent = others.filter(at__gt=database_now() - WINDOW)
    here = recent.filter(address=address)
    if _reaches(here.filter(email=email), FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT) or _reaches(here, FROM_ONE_ADDRESS):
        return True
    known = SignInAddress.objects.filter(user__email=email, address=address)
    return _reaches(recent.filter(email=email), FOR_ONE_ACCOUNT) and not known.exists()


def _reaches(failures: QuerySet[SignInFailure], limit: int) -> bool:
    return len(failures.values_list("pk", flat=True)[:limit]) >= limit
