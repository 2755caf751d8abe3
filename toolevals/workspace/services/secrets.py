"""Secrets: set, read by the work that needs them, forgotten."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction

from toolevals.workspace.models import Project, Secret, User
from toolevals.workspace.services.audit import audit_record
from toolevals.workspace.vault import seal, unseal

MAX_LENGTH = 10_000


class SecretMissingError(LookupError):
    """The project has no secret of this name."""


@transaction.atomic
def secret_set(*, project: Project, actor: User | None, name: str, value: str) -> Secret:
    """Keep a value under a name, in place of the one that was there. Raises ValidationError."""
    if not value or len(value) > MAX_LENGTH:
        raise ValidationError({"value": f"Must have 1 to {MAX_LENGTH:,} characters."})
    secret = Secret(project=project, name=name.strip(), sealed=seal(value), actor=actor)
    secret.clean_fields(exclude=["actor"])
    kept, made = Secret.objects.update_or_create(
        project=project, name=secret.name, defaults={"sealed": secret.sealed, "actor": actor}
    )
    verb = "secret_set" if made else "secret_replace"
    audit_record(project=project, actor=actor, verb=verb, target=kept, detail={"name": kept.name})
    return kept


@transaction.atomic
def secret_forget(*, secret: Secret, actor: User | None) -> None:
    """Delete a secret; what refers to it can no longer be let in."""
    audit_record(project=secret.project, actor=actor, verb="secret_forget", target=secret, detail={"name": secret.name})
    secret.delete()


def secret_read(*, project: Project, name: str) -> str:
    """Return a secret's value, for the work that needs it. Raises SecretMissingError and SealBrokenError."""
    sealed = Secret.objects.filter(project=project, name=name).values_list("sealed", flat=True).first()
    if sealed is None:
        raise SecretMissingError(f"The project has no secret named {name!r}.")
    return unseal(sealed)
