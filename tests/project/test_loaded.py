"""A process that begins with the application loaded is as one that has loaded it in its own environment."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from scripts.dev.environment import ROOT
from tests.fixtures.kept_python import KeptPython
from tests.fixtures.loaded import LOADED
from tests.fixtures.prepared import ALONE

# Nobody listens there: nothing is asked of either.
ELSEWHERE = {
    "DATABASE_URL": "postgresql://somebody@127.0.0.1:9/nothing",
    "REDIS_URL": "redis://127.0.0.1:9/3",
    "DJANGO_SETTINGS_MODULE": "toolevals.settings",
    "TOOLEVALS_SECRET_KEY": "another",
    "BATCH_LEASE_SECONDS": "2",
    "HTTPS_ONLY": "1",
    "TZ_NAME": "Asia/Tokyo",
    "LOG_LEVEL": "ERROR",
}
TELL = """
import json, logging, os, time
from django.apps import apps
from django.conf import settings
from django.contrib.auth.hashers import get_hashers
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone
from toolevals.celery import app
app.loader.import_default_modules()
# The first to ask for the connection completes the setting.
database = repr([type(connection).__module__, connection.connection, connection.settings_dict])
conf = app.conf.table(with_defaults=True)
# In no order.
del conf["deprecated_settings"]
print(json.dumps({
    "environment": {name: value for name, value in os.environ.items() if name != "LC_CTYPE"},
    "settings": {name: repr(getattr(settings, name)) for name in dir(settings) if name.isupper()},
    "tables": {model._meta.label: model._meta.db_table for model in apps.get_models(include_auto_created=True)},
    "database": database,
    "celery": {name: repr(value) for name, value in conf.items()},
    "tasks": sorted(app.tasks),
    "hashers": [type(each).__name__ for each in get_hashers()],
    "stored": [default_storage.location, staticfiles_storage.location],
    "time": [time.tzname, timezone.get_default_timezone_name()],
    "logging": logging.getLogger().level,
}))
"""


@pytest.mark.servers
@pytest.mark.parametrize("more", [{}, ELSEWHERE], ids=["alone", "elsewhere"])
def test_it_knows_of_its_own_environment_alone(more: dict[str, str], tmp_path: Path) -> None:
    environment = os.environ | ALONE | {"TOOLEVALS_DATA_DIR": str(tmp_path), "PYTHONUNBUFFERED": "1"} | more
    fresh = subprocess.run(
        [sys.executable, "-c", f"import django\ndjango.setup()\n{TELL}"],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    with closing(KeptPython(environment)) as python:
        assert json.loads(python.run(TELL)) == json.loads(fresh.stdout)


@pytest.mark.servers
def test_settings_that_name_other_applications_are_refused(tmp_path: Path) -> None:
    faulty = ALONE | {"DJANGO_SETTINGS_MODULE": "tests.workspace.faulty_settings", "TOOLEVALS_DATA_DIR": str(tmp_path)}
    errors = tmp_path / "errors"
    assert LOADED.run(os.environ | faulty, errors, "celery").wait(60) == 1
    assert "other applications" in errors.read_text()


def read_at_import(node: ast.AST) -> Iterator[str]:
    """Yield the settings that code reads when it is imported, in no function, but for the model of users."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*child.decorator_list, child.args):
                yield from read_at_import(part)
        elif not isinstance(child, ast.Lambda):
            if isinstance(child, ast.Attribute) and ast.unparse(child.value) == "settings" and child.attr.isupper():
                yield from {child.attr} - {"AUTH_USER_MODEL"}
            yield from read_at_import(child)


def test_no_module_reads_a_setting_while_it_is_imported() -> None:
    kept = "from django.conf import settings\nclass A:\n    b = settings.DEBUG\ndef f(a=settings.TZ): settings.X"
    assert list(read_at_import(ast.parse(kept))) == ["DEBUG", "TZ"]
    found = {
        str(path.relative_to(ROOT)): names
        for folder in ("toolevals", "labeling", "reports")
        for path in (ROOT / folder).rglob("*.py")
        if (names := list(read_at_import(ast.parse(path.read_text()))))
    }
    assert found == {}
