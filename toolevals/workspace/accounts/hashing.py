"""Hashes passwords, few at once: hashing is slow on purpose, and what else a process does must go on meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher

RETRY_SECONDS = 5


class PasswordsBusy(Exception):  # noqa: N818 - an answer, not a defect
    """As many passwords are at work in this process as may be. Nothing was hashed, and nothing changed."""

    def __init__(self) -> None:
        super().__init__("The server is busy with other sign-ins. Try again in a few seconds.")


class _Places:
    """The places of this process, for all of its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold a place. Raises `PasswordsBusy` where none is free."""
        with self._lock:
            if self._taken >= settings.PASSWORDS_AT_ONCE:
                raise PasswordsBusy
            self._taken += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken -= 1


_PLACES = _Places()


class BoundedPasswordHasher(PBKDF2PasswordHasher):
    """Django's usual hasher, within the places of the process: whatever hashes a password comes through here.

    Raises `PasswordsBusy` where none is free.
    """

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with _PLACES.one():
            return super().encode(password, salt, iterations)
