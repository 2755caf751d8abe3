"""Keeps sessions in the database by its clock, and what the next page says in a cookie of this installation."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session

from toolevals.workspace.clock import database_now


class SessionStore(db.SessionStore):
    """Sessions as rows of `django_session`."""

    def get_expiry_date(self, **said: Any) -> datetime:
        """Return when the session ends, counted from now by the database's clock."""
        return super().get_expiry_date(**{"modification": database_now(), **said})

    def _get_session_from_db(self) -> Any:
        """Return the row of this session while it is in force; forget its key where there is none."""
        found = Session.objects.filter(session_key=self.session_key, expire_date__gt=database_now()).first()
        if found is None:
            self._session_key = None
        return found


class _OwnCookie(CookieStorage):
    @property
    def cookie_name(self) -> str:  # type: ignore[override]
        return f"messages{settings.COOKIE_SUFFIX}"


class MessageStorage(FallbackStorage):
    """Django's usual one, under a name of its own for each prefix."""

    storage_classes = (_OwnCookie, SessionStorage)
