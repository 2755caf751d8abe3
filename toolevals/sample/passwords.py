"""Draws the password of the sample accounts at each installation, and tells it to the operator alone."""

from __future__ import annotations

import json
import secrets
from typing import Final

from django.contrib.auth.hashers import make_password
from django.db import transaction

from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User

# Without letters and digits that look alike.
CHARACTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
GROUPS, GROUP_LENGTH = 3, 4


def password_draw() -> str:
    """Return a new password of some 59 random bits that is easy to type."""
    groups = ("".join(secrets.choice(CHARACTERS) for _ in range(GROUP_LENGTH)) for _ in range(GROUPS))
    return "-".join(groups)


def password_still_used(known: str) -> str:
    """Return the password in logins printed earlier, as JSON, if an account still takes it; empty otherwise."""
    try:
        passwords = {str(login["email"]): str(login["password"]) for login in json.loads(known or "[]")}
    except (ValueError, TypeError, KeyError):
        return ""
    users = User.objects.filter(is_sample=True, email__in=passwords).order_by("pk")
    return next((passwords[user.email] for user in users if user.check_password(passwords[user.email])), "")


@transaction.atomic
def sample_password_renew() -> str:
    """Give every sample account a new password, which ends their sessions, and return it."""
    password = password_draw()
    # Hashed once for all: hashing is slow on purpose.
    hashed = make_password(password)
    for user in User.objects.filter(is_sample=True).order_by("pk"):
        user.password = hashed
        user.save(update_fields=["password"])
        audit_record(project=None, actor=None, verb="sample_password_renew", target=user)
    return password
