"""The steps of a test of messages in an installation of its own, which run in its Python."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

PATIENCE_SECONDS = 60


def begin(port: int) -> None:
    """Make a project whose runs a server on a port of this machine is told of, and tell of one."""
    from toolevals.workspace.models import EventKind
    from toolevals.workspace.notifications.events import event_note
    from toolevals.workspace.notifications.services import webhook_save
    from toolevals.workspace.projects.services import project_create

    project = project_create(actor=None, slug="queue", name="Queue")
    url = f"http://127.0.0.1:{port}/in"
    webhook_save(project=project, actor=None, name="alerts", url=url, kinds=["run.failed"])
    event_note(project=project, kind=EventKind.RUN_FAILED, summary="Failed", path="/p/queue/")


def time_out(_: int) -> None:
    """Let the time be over in which the worker that took the message may have sent it."""
    from toolevals.workspace.clock import database_now
    from toolevals.workspace.models import Delivery

    Delivery.objects.filter(state="waiting").update(due_at=database_now())


def wait(_: int) -> None:
    """Wait until the message is sent, and print its attempts."""
    from toolevals.workspace.models import Delivery

    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found: Any = Delivery.objects.get()
        if found.state == "sent":
            sys.stdout.write(json.dumps(found.attempts))
            return
        time.sleep(0.05)
    raise SystemExit(f"the message is {found.state}: {found.error}")
