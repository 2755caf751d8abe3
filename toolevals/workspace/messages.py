"""Keeps what the next page says in a cookie that belongs to this installation alone, or in the session."""

from __future__ import annotations

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class _OwnCookie(CookieStorage):
    @property
    def cookie_name(self) -> str:  # type: ignore[override]
        return f"messages{settings.COOKIE_SUFFIX}"


class MessageStorage(FallbackStorage):
    """Django's usual one, under a name of its own for each prefix."""

    storage_classes = (_OwnCookie, SessionStorage)
