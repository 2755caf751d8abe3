"""Names the app for Django, and loads the Celery app in every process that loads Django."""

from __future__ import annotations

import os
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, register
from django.core.checks import Warning as CheckWarning
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from toolevals.settings.environment import PREFIX, old_names_in


class WorkspaceConfig(AppConfig):
    """`toolevals.workspace`."""

    name = "toolevals.workspace"

    def ready(self) -> None:
        """Load the Celery app for web processes too, which ring its broker; prepare connections."""
        import toolevals.celery  # noqa: F401
        from toolevals.workspace.accounts import security_events  # noqa: F401
        from toolevals.workspace.log_filters import database_reached

        if settings.SENTRY_DSN:
            from toolevals.workspace.monitoring.sentry import sentry_start

            sentry_start(settings.SENTRY_DSN, settings.RELEASE)
        connection_created.connect(connection_prepare)
        connection_created.connect(database_reached)


@register()
def names_of_settings(**_: Any) -> list[CheckMessage]:
    """Return a warning for each variable whose name lacks the prefix; Django prints them when a command starts."""
    return [
        CheckWarning(f"{name} is read, but is called {PREFIX}{name} now.", hint="Rename it.", id="toolevals.W001")
        for name in old_names_in(os.environ)
    ]


def connection_prepare(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Have PostgreSQL compile no query: that takes half a second, and what is asked here is answered in a tenth."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET jit = off")
