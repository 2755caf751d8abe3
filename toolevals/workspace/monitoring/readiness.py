"""Answers `/readyz`: whether each part of the installation does its work."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Final

from django.apps import apps
from django.conf import settings
from django.core.exceptions import BadRequest
from django.db import Error, connection
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from redis import Redis, RedisError

from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.sweeper import last_sweep
from toolevals.workspace.models import SweepTask
from toolevals.workspace.uploads.services import is_low

READY: Final = "/readyz"
OK: Final = "ok"
UNKNOWN: Final = "unknown: the database is away"
# A worker says more often than this that it is alive.
SILENT_AFTER: Final = timedelta(minutes=1)
# At rest, duties come every five minutes.
LATE_AFTER: Final = timedelta(minutes=15)
_BROKER_SECONDS: Final = 2
# A broker that is away takes as long to say so: strangers who ask again must not hold the server's threads.
_BROKER_KEPT: Final = 10.0
_broker_said, _broker_until = "", 0.0


@never_cache
@require_GET
def ready(request: HttpRequest) -> JsonResponse:
    """Return 200 where each part is "ok", else 503. `?exclude=workers` leaves a part out. Raises BadRequest."""
    left_out = request.GET.getlist("exclude")
    if unknown := sorted(set(left_out) - set(_PARTS)):
        raise BadRequest(f"There is no part {unknown[0]!r} to exclude. The parts are {', '.join(_PARTS)}.")
    found = parts(name for name in _PARTS if name not in left_out)
    is_ready = all(state == OK for state in found.values())
    answer = JsonResponse({"ready": is_ready, "parts": found}, status=200 if is_ready else 503)
    # Django would log an error each time that a probe hears no.
    vars(answer)["_has_been_logged"] = True
    return answer


def parts(names: Iterable[str] | None = None) -> dict[str, str]:
    """Return what is to be said of some parts, or of all: "ok", or what is wrong."""
    return {name: _said(_PARTS[name]) for name in (_PARTS if names is None else names)}


def _said(part: Callable[[], str]) -> str:
    try:
        return part() or OK
    except Error:
        return UNKNOWN


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return "unreachable"
    return ""


def _broker() -> str:
    """Ask Redis. Without it there is no broker that could be away: workers look for work themselves."""
    global _broker_said, _broker_until  # noqa: PLW0603 - of the process
    if not settings.REDIS_URL:
        return ""
    if monotonic() < _broker_until:
        return _broker_said
    _broker_until = monotonic() + _BROKER_KEPT
    seconds = _BROKER_SECONDS
    try:
        with Redis.from_url(settings.REDIS_URL, socket_connect_timeout=seconds, socket_timeout=seconds) as broker:
            broker.ping()
        _broker_said = ""
    except (RedisError, OSError):
        _broker_said = "unreachable"
    return _broker_said


def _migrations() -> str:
    missing = sorted(_of_this_version() - set(MigrationRecorder(connection).applied_migrations()))
    if not missing:
        return ""
    app, name = missing[0]
    return f"{len(missing)} not applied, such as {app} {name}: run `python manage.py migrate`"


@cache
def _of_this_version() -> frozenset[tuple[str, str]]:
    """Return every migration by its file: loading them all would cost each process some megabytes."""
    folders = ((each.label, Path(each.path) / "migrations") for each in apps.get_app_configs())
    return frozenset(
        (label, found.name) for label, folder in folders for found in pkgutil.iter_modules([str(folder)])
    )  # fmt: skip


def _disk() -> str:
    return "low" if is_low() else ""


def _workers() -> str:
    seen = last_sweep()
    return "" if seen is not None and database_now() - seen < SILENT_AFTER else "silent"


def _sweeper() -> str:
    """Look for regular duties that no worker has begun in time."""
    late = SweepTask.objects.filter(name__in=settings.SWEEP_TASKS, due_at__lt=database_now() - LATE_AFTER)
    names = list(late.order_by("due_at").values_list("name", flat=True))
    if names:
        return f"late: {len(names)} of its duties, the longest {names[0]}"
    return "" if SweepTask.objects.exists() else "no duty has run yet"


_PARTS: Final[dict[str, Callable[[], str]]] = {
    "database": _database,
    "broker": _broker,
    "migrations": _migrations,
    "disk": _disk,
    "workers": _workers,
    "sweeper": _sweeper,
}
