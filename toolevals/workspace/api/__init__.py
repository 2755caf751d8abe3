"""Serves the REST interface of projects, people and tokens.

The REST framework loads whatever it could work with where that is installed: the driver of PostgreSQL on SQLite, too,
a client for HTTP with its own tests, and a highlighter. None is used, and together they take 15 MB of each process.
"""

from toolevals.workspace.api.lean import unloaded

with unloaded("django.contrib.postgres", "pygments", "requests"):
    import rest_framework.compat  # noqa: F401
