"""Hands to the REST framework the person whom the access middleware has already found."""

from __future__ import annotations

from typing import Any

from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request


class AccessAuthentication(SessionAuthentication):
    """By token: nothing more to check. By session: the CSRF token too."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        token = getattr(request._request, "token", None)
        if token is not None:
            return token.user, token
        return super().authenticate(request)

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
