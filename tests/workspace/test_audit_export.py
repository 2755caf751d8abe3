"""The audit log leaves as lines of JSON: on from where it stopped, in order, and nothing is left out."""

from __future__ import annotations

import io
import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from toolevals.cli import main as cli
from toolevals.workspace.audit import documents
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry
from toolevals.workspace.monitoring.json_log import JsonFormatter

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def a_minute_later(monkeypatch):
    """Let the clock of the export be a minute and more ahead, so that what was just done is told."""
    monkeypatch.setattr(documents, "SETTLED_AFTER", -timedelta(minutes=1))


def acts(capsys, *words: str) -> list[dict[str, Any]]:
    """Return the acts that a call of the verb writes."""
    capsys.readouterr()
    assert cli.main(["audit-export", *words]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


class Full(io.StringIO):
    """A stream on a disk without room."""

    def write(self, _: str) -> int:
        raise OSError(28, "No space left on device")


def told() -> list[str]:
    """Return the verbs of the acts that are told."""
    return [str(act["verb"]) for act in documents.audit_documents(None)]


def test_each_call_goes_on_where_the_last_one_stopped(owner, project, tmp_path, capsys):
    cursor = tmp_path / "cursor"
    first = acts(capsys, "--cursor", str(cursor))
    assert [act["id"] for act in first] == [
        str(pk) for pk in AuditEntry.objects.order_by("pk").values_list("pk", flat=True)
    ]
    for name in ("Old", "Ünïcode\n"):
        audit_record(project=project, actor=owner, verb="project_rename", target=project, detail={"name": name})
    audit_record(project=None, actor=None, verb="sweep", target=project)
    found = acts(capsys, "--cursor", str(cursor))
    who = {"id": str(owner.pk), "name": owner.name, "email": owner.email}
    assert [(act["project"], act["actor"], act["detail"]) for act in found] == [
        ("shop", who, {"name": "Old"}),
        ("shop", who, {"name": "Ünïcode\n"}),
        (None, None, {}),
    ]
    assert acts(capsys, "--cursor", str(cursor)) == []
    assert acts(capsys, "--after", found[0]["id"]) == found[1:]
    assert acts(capsys)[-3:] == found


def test_a_cursor_that_is_none_is_refused_and_stays(tmp_path, capsys):
    cursor = tmp_path / "cursor"
    cursor.write_text("yesterday")
    assert cli.main(["audit-export", "--cursor", str(cursor)]) == 4
    assert "delete it to export all" in capsys.readouterr().err
    assert cursor.read_text() == "yesterday"


def test_acts_that_were_not_written_are_written_again(project, tmp_path, capsys, monkeypatch):
    audit_record(project=project, actor=None, verb="project_rename", target=project)
    cursor = tmp_path / "cursor"
    monkeypatch.setattr("sys.stdout", Full())
    monkeypatch.setattr("toolevals.cli.main.silence", lambda _: None)
    assert cli.main(["audit-export", "--cursor", str(cursor)]) == 4
    monkeypatch.undo()
    assert not cursor.exists()


def test_an_act_waits_until_none_before_it_can_come(project, monkeypatch, capsys):
    monkeypatch.setattr(documents, "SETTLED_AFTER", timedelta(minutes=1))
    audit_record(project=project, actor=None, verb="project_rename", target=project)
    assert "project_rename" not in told()
    later = database_now() + timedelta(minutes=1, seconds=1)
    monkeypatch.setattr(documents, "_all_began", lambda: later)
    assert told()[-1] == "project_rename"


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_is_at_work_holds_later_acts_back(project, monkeypatch):
    monkeypatch.setattr(documents, "SETTLED_AFTER", timedelta(0))
    other = connections.create_connection("default")
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT 1 FROM workspace_project")
        audit_record(project=project, actor=None, verb="project_rename", target=project)
        assert "project_rename" not in told()
        other.rollback()
        assert told()[-1] == "project_rename"
    finally:
        other.close()


def test_an_act_is_a_line_of_the_log_once_it_is_stored(
    project, owner, settings, caplog, django_capture_on_commit_callbacks
):
    settings.AUDIT_LOG = True
    caplog.set_level(logging.INFO, "toolevals.audit")
    with django_capture_on_commit_callbacks() as calls:
        audit_record(project=project, actor=owner, verb="project_rename", target=project, detail={"name": "x"})
    assert not caplog.records
    for call in calls:
        call()
    [record] = caplog.records
    line = json.loads(JsonFormatter().format(record))
    assert (line["message"], line["logger"]) == ("project_rename", "toolevals.audit")
    assert line["audit"] == list(documents.audit_documents(None))[-1]
    settings.AUDIT_LOG = False
    with django_capture_on_commit_callbacks() as calls:
        audit_record(project=project, actor=owner, verb="project_rename", target=project)
    assert calls == []
