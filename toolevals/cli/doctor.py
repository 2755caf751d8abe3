"""Runs `toolevals doctor`: says of an installation what works and what does not."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from toolevals.cli.output import Exit, say
from toolevals.cli.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("doctor")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each check; return FAILED if one failed."""
    failed = False
    for name, check in _checks():
        try:
            say(f"ok    {name}: {check()}")
        except Exception as error:  # noqa: BLE001 - whatever is wrong is what is to be told
            failed = True
            say(f"FAIL  {name}: {error}")
    return Exit.FAILED if failed else Exit.OK


def _checks() -> Iterator[tuple[str, Callable[[], str]]]:
    yield "python", lambda: sys.version.split()[0]
    yield "patterns and validators", _core
    yield "server packages", _server
    yield "addresses", _addresses
    yield "data folder", _data_folder
    yield "uploads", _uploads
    yield "database", _database
    yield "clock", _clock
    yield "migrations", _migrations
    yield "broker", _broker
    yield "sandbox", _sandbox


def _core() -> str:
    import jsonschema_rs
    import re2

    jsonschema_rs.validator_for({"type": "integer"}).validate(1)
    re2.compile("a+")
    return "load and run"


def _server() -> str:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    import django

    django.setup()
    return f"Django {django.get_version()}"


def _addresses() -> str:
    from django.conf import settings

    return f"begin with {settings.PATH_PREFIX}/" if settings.PATH_PREFIX else "have no prefix"


def _data_folder() -> str:
    from django.conf import settings

    folder = Path(settings.DATA_DIR)
    with tempfile.NamedTemporaryFile(dir=folder):
        return f"{folder} can be written"


def _uploads() -> str:
    from django.conf import settings
    from django.core.files.storage import default_storage

    if not settings.STORAGES["default"].get("OPTIONS"):
        return "are in the data folder"
    default_storage.listdir("")
    return "are in the bucket, which answers"


def _database() -> str:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return connection.vendor


def _clock() -> str:
    from toolevals.workspace.clock import clock_difference

    if difference := clock_difference():
        raise RuntimeError(f"this machine's is {difference}: set one of them, by NTP for example")
    return "agrees with the database's"


def _migrations() -> str:
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise RuntimeError(f"{len(missing)} not applied: start toolevals serve, or run manage.py migrate")
    return "all applied"


def _broker() -> str:
    from django.conf import settings

    if not settings.REDIS_URL:
        return "none configured; the one worker's sweeper finds the work"
    import redis

    redis.Redis.from_url(settings.REDIS_URL, socket_timeout=3).ping()
    return "Redis answers"


def _sandbox() -> str:
    from toolevals.agents.code import NoSandboxError, tools_of_code

    try:
        tools_of_code({"simulator.py": "def nothing(state): ..."})
    except NoSandboxError:
        # Not a failure: everything but simulators of untrusted code works.
        return "bubblewrap is not installed, so simulator code runs only if you declare it trusted"
    return "code of simulators runs in bubblewrap"
