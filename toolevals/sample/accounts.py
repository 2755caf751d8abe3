"""Names the made-up people of the sample project, and draws their password. They sign in from this machine only."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.hashers import make_password
from django.db import transaction

from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import Role, User


@dataclass(frozen=True, slots=True)
class SampleAccount:
    """One made-up person. `key` is what the data files call them."""

    key: str
    name: str
    role: Role
    does: str

    @property
    def email(self) -> str:
        """An address that can never receive mail."""
        return f"{self.key}@shop.example"


ACCOUNTS = (
    SampleAccount("lena", "Lena Labelwell", Role.REVIEWER, "labels; is ahead of Omar"),
    SampleAccount("omar", "Omar Obersee", Role.REVIEWER, "labels; has more left to do"),
    SampleAccount("ada", "Ada Judicator", Role.ADJUDICATOR, "decides where Lena and Omar differ, starts runs"),
    SampleAccount("otto", "Otto Owner", Role.OWNER, "also manages members and tokens"),
    SampleAccount("vi", "Vi Viewer", Role.VIEWER, "reads reports"),
)


def logins(password: str) -> list[dict[str, str]]:
    """Return what a person needs to sign in: name, email, password, role, and what the role is for."""
    return [
        {"name": one.name, "email": one.email, "password": password, "role": one.role.label, "does": one.does}
        for one in ACCOUNTS
    ]


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
