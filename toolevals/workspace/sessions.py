"""Keeps sessions in the database as Django does; each request's is read by a query that is put together once."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session

from toolevals.workspace.clock import database_now
from toolevals.workspace.querysets.prepared import A_MOMENT, A_TEXT, PreparedQuery

_IN_FORCE = PreparedQuery(
    lambda key, now: Session.objects.filter(session_key=key, expire_date__gt=now), {"key": A_TEXT, "now": A_MOMENT}
)


class SessionStore(db.SessionStore):
    """Sessions as rows of `django_session`."""

    def get_expiry_date(self, **said: Any) -> datetime:
        """Return when the session ends, counted from now by the database's clock."""
        return super().get_expiry_date(**{"modification": database_now(), **said})

    def _get_session_from_db(self) -> Any:
        """Return the row of this session while it is in force; forget its key where there is none."""
        found = _IN_FORCE.first(key=self.session_key, now=database_now())
        if found is None:
            self._session_key = None
        return found
