"""Reads settings from environment variables, which share one prefix; names from before the prefix are still read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Final

import environ
from django.core.exceptions import ImproperlyConfigured

from toolevals.path_prefix import PathPrefixError, prefix_of

PREFIX: Final = "TOOLEVALS_"
# Hosts of databases and brokers set these: they are as good without the prefix.
CONVENTIONAL: Final = ("DATABASE_URL", "REDIS_URL")
# What was read without the prefix before: read still, with a notice from `toolevals.workspace.apps`.
OLD_NAMES: Final = (
    "AGENT_NETWORKS",
    "ALLOWED_HOSTS",
    "BATCH_LEASE_SECONDS",
    "BATCH_MAX_ATTEMPTS",
    "BATCH_MAX_SECONDS",
    "BEHIND_PROXY",
    "CSRF_TRUSTED_ORIGINS",
    "CSV_ROWS_AT_ONCE",
    "DISK_RESERVE_BYTES",
    "DOCUMENT_MAX_BYTES",
    "HTTPS_ONLY",
    "LOG_LEVEL",
    "MCP_COMMANDS",
    "PROJECT_FILES_MAX_BYTES",
    "SECRET_KEY",
    "SECRET_KEY_FALLBACKS",
    "SIMULATOR_MEMORY_MB",
    "SIMULATOR_SECONDS",
    "SLOT_LEASE_SECONDS",
    "SWEEP_SECONDS",
    "TRACES_AT_ONCE",
    "TRACES_MAX_BYTES",
    "TRACES_MAX_UNPACKED_BYTES",
    "TRACES_QUIET_SECONDS",
    "TRACES_ROOTLESS_SECONDS",
    "TRACES_SPANS_PER_SECOND",
    "TRACE_MAX_BYTES",
    "TRACE_MAX_SPANS",
    "TRUSTED_SIMULATORS",
    "TZ_NAME",
    "UPLOAD_MAX_BYTES",
    "WHO_INVITES",
    "WHO_MAKES_PROJECTS",
)


class Environment(environ.Env):  # type: ignore[misc]
    """The reader of settings, which knows afterwards what it was asked for.

    `asked` has, by name, whether the environment sets it, and its value where that is a number or a truth: nothing that
    could be a secret.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, tuple[bool, bool | int | float | None]] = {}

    def get_value(self, var: str, *args: Any, **options: Any) -> Any:
        value = super().get_value(var, *args, **options)
        plain = value if isinstance(value, bool | int | float) else None
        self.asked[var] = (f"{self.prefix}{var}" in self.ENVIRON, plain)
        return value


def environment(given: Mapping[str, str] = os.environ) -> Environment:
    """Return the reader of settings: `env.int("UPLOAD_MAX_BYTES")` reads `TOOLEVALS_UPLOAD_MAX_BYTES`."""
    env = Environment()
    env.prefix = PREFIX
    env.ENVIRON = {PREFIX + name: given[name] for name in CONVENTIONAL + OLD_NAMES if name in given} | dict(given)
    return env


def old_names_in(given: Mapping[str, str]) -> list[str]:
    """Return the variables that are read by a name from before the prefix."""
    return [name for name in OLD_NAMES if name in given and PREFIX + name not in given]


def path_prefix(given: str) -> str:
    """Return the path below which the application is served. Raises ImproperlyConfigured, which commands tell."""
    try:
        return prefix_of(given)
    except PathPrefixError as error:
        raise ImproperlyConfigured(str(error)) from error


def sentry_dsn(given: str) -> str:
    """Return where errors are sent, "" for nowhere. Raises ImproperlyConfigured, without the key in the address."""
    if not given:
        return ""
    if find_spec("sentry_sdk") is None:
        raise ImproperlyConfigured(f"{PREFIX}SENTRY_DSN is set, and needs another package: install toolevals[sentry]")
    from sentry_sdk.utils import BadDsn, Dsn

    try:
        Dsn(given)
    except BadDsn:
        words = "is no address of a project in Sentry, such as https://KEY@sentry.example.org/1"
        raise ImproperlyConfigured(f"{PREFIX}SENTRY_DSN {words}") from None
    return given


def log_format(given: str) -> str:
    """Return the form of the log's lines. Raises ImproperlyConfigured."""
    if given not in ("text", "json"):
        raise ImproperlyConfigured(f"{PREFIX}LOG_FORMAT is {given!r}: it must be text or json")
    return given
