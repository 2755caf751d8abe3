"""Sets the database: SQLite when nothing is configured, PostgreSQL when `DATABASE_URL` says so."""

from __future__ import annotations

from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

from toolevals.json_types import JsonObject
from toolevals.settings.environment import PREFIX

SQLITE, POSTGRESQL = "toolevals.workspace.sqlite3", "toolevals.workspace.postgresql_backend"


def databases(env: environ.Env, data_dir: Path) -> dict[str, JsonObject]:
    """Return Django's settings for the one database, and for its replica where one is set.

    Raises ImproperlyConfigured.
    """
    found = {"default": database(env, data_dir, env.str("DATABASE_URL", ""))}
    if url := env.str("REPLICA_URL", ""):
        replica = database(env, data_dir, url)
        if {each["ENGINE"] for each in (found["default"], replica)} != {POSTGRESQL}:
            raise ImproperlyConfigured(f"{PREFIX}REPLICA_URL is for PostgreSQL: set {PREFIX}DATABASE_URL to one too")
        # Requests wait for no answer of one that is away.
        replica.setdefault("OPTIONS", {}).setdefault("connect_timeout", 2)
        found["replica"] = replica
    return found


def database(env: environ.Env, data_dir: Path, url: str) -> JsonObject:
    """Return Django's settings for an address, or for SQLite."""
    config: JsonObject = env.db_url_config(url) if url else sqlite_at(data_dir / "toolevals.sqlite3")
    if config["ENGINE"].endswith("sqlite3"):
        config["ENGINE"] = SQLITE
        # Opening the file costs more than a query.
        config.setdefault("CONN_MAX_AGE", None)
        # Deferred transactions fail at their first write when another has written since they read.
        config.setdefault("OPTIONS", {}).update(
            transaction_mode="IMMEDIATE",
            # Less than a web server waits for its processes, so that the person who asked gets an answer.
            timeout=20,
            # At most 16 MB of pages for each connection, and every thread of every process has one. What is read
            # again beyond that comes from the system's own cache of the file.
            # What is deleted is overwritten with zeros, as Debian's SQLite does of itself.
            init_command=(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-16384; PRAGMA secure_delete=ON;"
            ),
        )
    else:
        if config["ENGINE"] == "django.db.backends.postgresql":
            config["ENGINE"] = POSTGRESQL
        config.setdefault("CONN_MAX_AGE", 600)
        config.setdefault("CONN_HEALTH_CHECKS", True)
    return config


def sqlite_at(path: Path) -> JsonObject:
    """Return the settings of an SQLite file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return {"ENGINE": SQLITE, "NAME": str(path)}
