"""Reads settings that owners of the installation may change while it runs: by the environment, the page, a default."""

from __future__ import annotations

from time import monotonic
from typing import Any, Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from toolevals.grading.values.canonical import parse

# A change is known to every process within so many seconds.
KEPT_SECONDS: Final = 5.0
# By name: the attribute of Django's settings that holds what the environment or the default says.
EDITABLE: Final = {
    "WHO_MAKES_PROJECTS": "WHO_MAKES_PROJECTS",
    "WHO_INVITES": "WHO_INVITES",
    "PROJECT_FILES_MAX_BYTES": "PROJECT_FILES_MAX_BYTES",
    "EMAIL_FROM": "DEFAULT_FROM_EMAIL",
}
_kept: dict[str, Any] = {}
_until = 0.0


def is_locked(name: str) -> bool:
    """Return whether the environment sets a setting: then no page changes it."""
    return bool(settings.SETTINGS_ASKED[name][0])


def installation_setting(name: str) -> Any:
    """Return the value of one of `EDITABLE` that is in force. Raises what the database raises."""
    if not is_locked(name) and name in (changed := _changed()):
        return changed[name]
    return getattr(settings, EDITABLE[name])


def reading_forget() -> None:
    """Read the table again at the next question."""
    global _until  # noqa: PLW0603 - of the process
    _until = 0.0


def _changed() -> dict[str, Any]:
    global _kept, _until
    if monotonic() >= _until:
        connection = connections[DEFAULT_DB_ALIAS]
        # As Django's cursors do: a connection that the server has ended is made again.
        connection.close_if_health_check_failed()
        connection.ensure_connection()
        # Beside Django's cursors: what counts the queries of a page does not count this one.
        with connection.wrap_database_errors:
            cursor = connection.connection.cursor()
            rows = cursor.execute("SELECT name, value FROM workspace_installationsetting").fetchall()
            cursor.close()
        _kept, _until = {name: parse(value) for name, value in rows}, monotonic() + KEPT_SECONDS
    return _kept
