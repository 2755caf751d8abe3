"""Makes and changes accounts."""

from __future__ import annotations

from django.contrib.auth.password_validation import validate_password
from django.db import transaction

from toolevals.workspace.models import User
from toolevals.workspace.services.audit import audit_record
from toolevals.workspace.services.tokens import token_revoke


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
def password_change(*, user: User, actor: User | None, password: str, end_tokens: bool = False) -> None:
    """Set a new password, which ends every other session; with `end_tokens`, the person's API tokens end too.

    Raises `ValidationError` for a weak password.
    """
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    audit_record(project=None, actor=actor, verb="password_change", target=user)
    if end_tokens:
        for token in user.tokens.filter(revoked_at=None).select_related("project").order_by("pk"):
            token_revoke(token=token, actor=actor)
