"""The planner is told of new rows."""

from __future__ import annotations

from django.db import connection

from tests.fixtures import planner
from toolevals.workspace import bulk
from toolevals.workspace.models import Project

KNOWN = {
    "sqlite": "SELECT count(*) FROM sqlite_stat1 WHERE tbl = %s",
    "postgresql": "SELECT count(*) FROM pg_class WHERE relname = %s AND reltuples > 0",
}


def test_the_planner_is_told_of_new_rows(project, monkeypatch):
    monkeypatch.setattr(bulk, "analyze_each", planner.analyze_each)
    bulk.tables_analyze(Project)
    with connection.cursor() as cursor:
        cursor.execute(KNOWN[connection.vendor], [Project._meta.db_table])
        assert cursor.fetchone()[0] > 0
