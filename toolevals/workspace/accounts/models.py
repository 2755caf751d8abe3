"""Stores the people who sign in."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models

from toolevals.workspace.fields import MomentField, PublicIdField


class UserAccounts(BaseUserManager["User"]):
    """Makes accounts; an address is kept in lower case, so that one person has one."""

    def create_user(self, *, email: str, name: str, password: str | None = None, **fields: Any) -> User:
        """Return a new account; without a password it cannot sign in."""
        user = self.model(email=email.strip().lower(), name=name.strip(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser):
    """A person, known by an e-mail address."""

    id = PublicIdField()
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120)
    is_active = models.BooleanField(default=True)
    # Made for the sample project: signs in from the loopback interface only.
    is_sample = models.BooleanField(default=False)
    # Made by the operator: may make projects and invite people, unless the operator lets more people do that.
    is_installation_owner = models.BooleanField(default=False)
    # Of a deleted person: the number of the pseudonym that name and address are by now.
    former_number = models.PositiveIntegerField(null=True, unique=True, editable=False)
    created_at = MomentField(auto_now_add=True)

    objects: ClassVar[UserAccounts] = UserAccounts()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """Return the state of the account, in a word."""
        return "deleted" if self.former_number is not None else "active" if self.is_active else "deactivated"

    @property
    def mailbox(self) -> str:
        """The address without its domain."""
        return self.email.partition("@")[0]

    @property
    def initials(self) -> str:
        """The first letters of the first and the last word of the name."""
        words = self.name.split()
        return (words[0][:1] + (words[-1][:1] if len(words) > 1 else "")).upper() if words else "?"


class SignInFailure(models.Model):
    """One refused sign-in; kept for a day, so that guessing can be slowed down."""

    id = PublicIdField()
    # What was typed as the account, in lower case: it need not exist. What is no password has words before it.
    email = models.CharField(max_length=254)
    address = models.CharField(max_length=45)
    at = MomentField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["address", "at"], name="sign_in_address"),
            models.Index(fields=["email", "at"], name="sign_in_email"),
        ]


class SignInAddress(models.Model):
    """An address from which an account has signed in: failures elsewhere do not lock it out. Kept for ninety days."""

    id = PublicIdField()
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    address = models.CharField(max_length=45)
    used_at = MomentField(auto_now=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "address"], name="sign_in_address_once"),
        ]
