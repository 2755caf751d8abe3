"""Decides who may read figures of the whole installation: who shows the operator's token, or this machine itself."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from toolevals.workspace.requests import is_on_this_machine
from toolevals.workspace.tokens.services import UnknownToken, bearer_token

NO_OPERATOR: Final = (
    "The operator's token is needed: Authorization: Bearer TOKEN, as TOOLEVALS_METRICS_TOKEN says it. Without that "
    "setting only this machine is answered, at a loopback address, and only where no proxy is in front."
)


def is_operator(request: HttpRequest) -> bool:
    """Return whether the request shows the token; where none is set, whether it comes from this machine.

    What is set for a proxy alone says that one is in front: then anyone's request may come from this machine.
    """
    if settings.METRICS_TOKEN:
        try:
            shown = bearer_token(request.headers.get("Authorization", ""))
        except UnknownToken:
            return False
        return constant_time_compare(shown, settings.METRICS_TOKEN)
    proxied = settings.BEHIND_PROXY or settings.PATH_PREFIX or settings.CSRF_TRUSTED_ORIGINS or settings.PUBLIC_URL
    return not proxied and is_on_this_machine(request)
