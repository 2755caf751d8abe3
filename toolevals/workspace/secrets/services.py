"""Binds secrets to addresses, hands them to the work that needs them, and forgets them.

They are sealed by Fernet (AES-128-CBC, HMAC-SHA-256) under the installation's key, which is derived from `SECRET_KEY`
(HKDF-SHA-256, RFC 5869), so that a copy of the database alone opens nothing. After a change of `SECRET_KEY`, what was
sealed before opens with the old one in `SECRET_KEY_FALLBACKS`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from toolevals.agents.secret_binding import OriginError, SecretBinding, SecretForbiddenError, origins_read
from toolevals.workspace.addresses import address as page_address
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Project, Secret, User

PURPOSE = b"toolevals secrets 1"


class SealBrokenError(Exception):
    """It was sealed under a key that this installation no longer has, or was changed since."""


def seal(text: str) -> str:
    """Return the text encrypted, another result each time."""
    return _fernet().encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Return the text that was sealed. Raises SealBrokenError."""
    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SealBrokenError("It was encrypted with a different TOOLEVALS_SECRET_KEY. Enter it again.") from None


def _fernet() -> MultiFernet:
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(derived_key(str(key), PURPOSE))) for key in keys])


@lru_cache(maxsize=16)
def derived_key(key: str, purpose: bytes) -> bytes:
    """Return the 32 bytes that are derived from a secret key for one purpose."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(key.encode())


MAX_LENGTH = 10_000
MOST_ADDRESSES = 50
NEEDS_VALUE = "A secret's addresses change only together with its value. Give the value again, or a new one."
# The same refusal is audited no more often: a job may ask for a secret with each of its batches.
REFUSED_AGAIN = timedelta(hours=1)
# What was refused in the transaction under way: (secret, actor, reason). None outside of `refusals_kept`.
_refused: ContextVar[list[tuple[Secret, User | None, str]] | None] = ContextVar("refused", default=None)


class SecretUnusableError(LookupError):
    """A secret cannot be had, or not for this address. The text says why and never holds its value."""


class SecretMissingError(SecretUnusableError):
    """The project has no secret of this name."""


class SecretRefusedError(SecretUnusableError):
    """The secret is not bound to the address."""


@transaction.atomic
def secret_set(
    *, project: Project, actor: User | None, name: str, value: str = "", addresses: Sequence[str] | None = None
) -> Secret:
    """Keep a value and where it may be sent under a name; of a secret that is there, what is not said stays.

    `addresses` are schemes, hosts and ports. They change only together with the value: who may set addresses need not
    know it, and could have it sent to a server of their own. Raises ValidationError.
    """
    # One at a time: two who set a new name at once meet in one row.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    known = Secret.objects.filter(project=project, name=name.strip()).first()
    if len(value) > MAX_LENGTH or (not value and known is None):
        raise ValidationError({"value": f"Must have 1 to {MAX_LENGTH:,} characters."})
    secret = known or Secret(project=project, name=name.strip())
    if value:
        secret.sealed = seal(value)
    if addresses is not None:
        read = _addresses_read(addresses)
        if not value and sorted(read) != sorted(secret.addresses):
            raise ValidationError({"value": NEEDS_VALUE})
        secret.addresses = read
    secret.actor = actor
    secret.clean_fields(exclude=["actor", "addresses"])
    secret.save()
    verb = "secret_set" if known is None else "secret_replace"
    detail = {"name": secret.name, "addresses": secret.addresses, "value": bool(value)}
    audit_record(project=project, actor=actor, verb=verb, target=secret, detail=detail)
    return secret


@transaction.atomic
def secret_forget(*, secret: Secret, actor: User | None) -> None:
    """Delete a secret; what refers to it can no longer be let in."""
    audit_record(project=secret.project, actor=actor, verb="secret_forget", target=secret, detail={"name": secret.name})
    secret.delete()


def secret_check(*, project: Project, actor: User | None, name: str, address: str) -> None:
    """Refuse what names a secret for an address that it is not bound to; a refusal is audited.

    Called outside of transactions, or within `refusals_kept`, so that the audit row outlives the refusal.
    Raises SecretUnusableError.
    """
    _key(project, actor, name, address, "")


@contextmanager
def refusals_kept() -> Iterator[None]:
    """Audit again what was refused in a transaction that is rolled back: it stands around that transaction."""
    refused: list[tuple[Secret, User | None, str]] = []
    outer = _refused.set(refused)
    try:
        yield
    except BaseException:
        for secret, actor, reason in refused:
            _refusal_record(secret, actor, reason)
        raise
    finally:
        _refused.reset(outer)


def secret_for(*, project: Project, name: str, address: str, actor: User | None = None) -> str:
    """Return a secret's value, to be sent to this address and nowhere else; a refusal is audited.

    Raises SecretUnusableError.
    """
    return _key(project, actor, name, address, None)


def _key(project: Project, actor: User | None, name: str, address: str, value: str | None) -> str:
    secret = Secret.objects.filter(project=project, name=name).first()
    if secret is None:
        raise SecretMissingError(f"The project has no secret named {name!r}: an owner sets it first.")
    try:
        said = unseal(secret.sealed) if value is None else value
        return SecretBinding.of(name, secret.addresses, said).key_for(address)
    except SealBrokenError as error:
        raise SecretUnusableError(f"The secret {name!r} cannot be read. {error}") from None
    except SecretForbiddenError as error:
        _refusal_record(secret, actor, str(error))
        if (refused := _refused.get()) is not None:
            refused.append((secret, actor, str(error)))
        where = page_address("workspace:secrets", project.slug)
        raise SecretRefusedError(f"{error} An owner names the addresses under Secrets: {where}") from None


def _refusal_record(secret: Secret, actor: User | None, reason: str) -> None:
    detail = {"name": secret.name, "reason": reason}
    lately = AuditEntry.objects.filter(
        target_id=secret.pk, verb="secret_refuse", actor=actor, at__gt=database_now() - REFUSED_AGAIN
    )
    if not any(entry.detail == detail for entry in lately):
        audit_record(project=secret.project, actor=actor, verb="secret_refuse", target=secret, detail=detail)


def _addresses_read(addresses: Sequence[str]) -> list[str]:
    try:
        found = origins_read(addresses)
    except OriginError as error:
        raise ValidationError({"addresses": f"{error}."}) from None
    if len(found) > MOST_ADDRESSES:
        raise ValidationError({"addresses": f"Must be at most {MOST_ADDRESSES} addresses."})
    return found
