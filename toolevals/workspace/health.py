"""Show whether this installation works, for a load balancer or a watchdog."""

from __future__ import annotations

from datetime import timedelta

from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from toolevals.workspace.clock import clock_difference, database_now
from toolevals.workspace.jobs.sweeper import last_sweep
from toolevals.workspace.uploads.services import is_low

SILENT_AFTER = timedelta(minutes=1)


@never_cache
@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """Return 200 if requests can be answered, 503 if the database is away.

    `workers` is "ok", or "silent" if none gave a sign of life in the last minute: pages work then, jobs wait. `disk` is
    "ok", or "low" once only the database's reserve is left: uploads are refused then. `clock` is "ok", or says by how
    much this server's clock differs from the database's.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        seen, now = last_sweep(), database_now()
        clock = clock_difference() or "ok"
    except Error:
        return unreachable()
    alive = seen is not None and now - seen < SILENT_AFTER
    seen_at = seen.isoformat() if seen else None
    workers = "ok" if alive else "silent"
    return JsonResponse(
        {"database": "ok", "workers": workers, "workers_seen_at": seen_at, "disk": _disk(), "clock": clock}
    )


def unreachable() -> JsonResponse:
    """Return the answer while the database is away."""
    return JsonResponse({"database": "unreachable", "workers": "unknown", "disk": _disk()}, status=503)


def _disk() -> str:
    return "low" if is_low() else "ok"
