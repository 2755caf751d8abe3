"""Makes accounts, signs people in, and slows down those who guess."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from toolevals.workspace.accounts.hashing import RETRY_SECONDS, PasswordsBusy
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import SignInAddress, SignInFailure, User
from toolevals.workspace.tokens.services import token_revoke

WINDOW = timedelta(minutes=15)
# Failures within the window after which nothing is tried any more. Attempts at work count as failures.
FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT = 5
FROM_ONE_ADDRESS = 30
# From all addresses but those from which the account signed in before.
FOR_ONE_ACCOUNT = 50
KEPT = timedelta(days=1)
ADDRESSES_KEPT = timedelta(days=90)
# Before the address of an account, where what is counted is not its password.
NEW_PASSWORD, SECOND_STEP = "new password: ", "second step: "
# A session in which no one is signed in, and which only remembers what was asked.
STATE_SECONDS = 600


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
    with attempt(email, address) as counted:
        user = authenticate(request, username=email, password=password)
        if not isinstance(user, User):
            raise SignInRefused("Wrong e-mail address or password.")
        if user.is_sample and not on_this_machine:
            counted.delete()
            raise SignInRefused("Sample accounts can only sign in from the machine that runs toolevals.")
    _succeeded(user, address)
    return user


def password_confirm(*, user: User, password: str, address: str) -> None:
    """Let a signed-in person prove who they are. Raises as `user_sign_in`; guesses count as those at the sign-in do."""
    with attempt(user.email, address):
        if not user.check_password(password):
            raise SignInRefused("That is not your password.")
    _succeeded(user, address)


def person_failures_forget(email: str) -> None:
    """Forget all that was counted for an account, of which nothing is to be left."""
    SignInFailure.objects.filter(
        email__in=[f"{what}{email}"[:254] for what in ("", NEW_PASSWORD, SECOND_STEP)]
    ).delete()


def account_failures_forget(user: User) -> None:
    """Forget the failures of an account that has a new password, so that its person can sign in at once."""
    SignInFailure.objects.filter(email=user.email).delete()


def sign_in_failures_forget(now: datetime) -> None:
    """Delete the failures that no one counts any more, and the addresses that were not used for long."""
    SignInFailure.objects.filter(at__lt=now - KEPT).delete()
    SignInAddress.objects.filter(used_at__lt=now - ADDRESSES_KEPT).delete()


def sessions_forget(now: datetime) -> None:
    """Delete the sessions that have ended, and from where they were."""
    Session.objects.filter(expire_date__lt=now).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()


@contextmanager
def attempt(account: str, address: str) -> Iterator[SignInFailure]:
    """Count an attempt as a failure for as long as it is at work, and for good where it fails. Raises `TryLater`.

    It is counted before the limit is looked at: of many at once, no more than the limit are tried. What is not the
    password of an account is counted apart, under words of its own before the address.
    """
    account = account[:254]
    if _guessing(account, address, SignInFailure.objects.all()):
        raise TooManyFailures
    counted = SignInFailure.objects.create(email=account, address=address)
    if _guessing(account, address, SignInFailure.objects.exclude(pk=counted.pk)):
        counted.delete()
        raise TooManyFailures
    try:
        yield counted
    except PasswordsBusy as busy:
        counted.delete()
        raise TryLater(str(busy), RETRY_SECONDS) from None


def attempts_forget(account: str, address: str) -> None:
    """Forget the failures from an address after a success."""
    SignInFailure.objects.filter(email=account[:254], address=address).delete()


def _succeeded(user: User, address: str) -> None:
    """Forget the failures of this account from an address, and remember that it signed in from there."""
    attempts_forget(user.email, address)
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


@transaction.atomic
def user_create(
    *,
    actor: User | None,
    email: str,
    name: str,
    password: str | None = None,
    is_sample: bool = False,
    is_installation_owner: bool = False,
) -> User:
    """Make an account; without a password it cannot sign in until it gets one.

    Raises `ValidationError` for a weak password (sample accounts may have one: they work on this machine only) or a
    malformed address, and `IntegrityError` if the address is taken.
    """
    user = User(
        email=email.strip().lower(),
        name=name.strip(),
        is_sample=is_sample,
        is_installation_owner=is_installation_owner,
    )
    if password is not None and not is_sample:
        validate_password(password, user)
    user.set_password(password)
    user.clean_fields()
    user.save()
    audit_record(project=None, actor=actor, verb="user_create", target=user)
    return user


@transaction.atomic
def installation_owner_set(*, user: User, actor: User | None, owns: bool) -> None:
    """Make an account an owner of the installation, or end that. Saying again what is so changes nothing."""
    if not User.objects.filter(pk=user.pk, is_installation_owner=not owns).update(is_installation_owner=owns):
        return
    user.is_installation_owner = owns
    audit_record(project=None, actor=actor, verb="installation_owner_set", target=user, detail={"owns": owns})


@transaction.atomic
def user_update(*, user: User, actor: User | None, name: str) -> User:
    """Change the name that others see. Raises `ValidationError`."""
    user.name = name.strip()
    user.clean_fields()
    user.save(update_fields=["name"])
    audit_record(project=None, actor=actor, verb="user_update", target=user)
    return user


@transaction.atomic
def second_steps_end(*, user: User, actor: User | None) -> int:
    """End every second step of a person who has lost theirs; return how many there were."""
    count: int = Authenticator.objects.filter(user=user).count()
    if count:
        Authenticator.objects.filter(user=user).delete()
        audit_record(project=None, actor=actor, verb="second_steps_end", target=user)
    return count


@transaction.atomic
def password_change(
    *, user: User, actor: User | None, password: str, end_tokens: bool = False, by_mail: bool = False
) -> None:
    """Set a new password, which ends every other session; with `end_tokens`, the person's API tokens end too.

    `by_mail`: the person had forgotten the old one. Raises `ValidationError` for a weak password.
    """
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    audit_record(project=None, actor=actor, verb="password_reset" if by_mail else "password_change", target=user)
    if end_tokens:
        for token in user.tokens.filter(revoked_at=None).select_related("project").order_by("pk"):
            token_revoke(token=token, actor=actor)
