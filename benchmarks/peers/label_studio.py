# /// script
# requires-python = "==3.11.*"
# dependencies = [
#   "label-studio==1.23.2",
# ]
# ///
"""Calls Label Studio's REST interface in one process on SQLite, which it uses unless told otherwise."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DISTRIBUTION, TITLE, KIND, LINES = "label-studio", "Label Studio", "labelling", False
TOOLS = ("get_order", "cancel_order", "refund_order", "track_parcel")
CONFIG = (
    '<View><Text name="text" value="$text"/><Choices name="tool" toName="text" choice="single">'
    + "".join(f'<Choice value="{tool}"/>' for tool in TOOLS)
    + "</Choices></View>"
)
CHOSEN = [{"from_name": "tool", "to_name": "text", "type": "choices", "value": {"choices": ["track_parcel"]}}]
PEOPLE = 2


def labeller(folder: Path) -> Any:
    """Return what labels with it."""
    os.environ.update(
        DJANGO_SETTINGS_MODULE="core.settings.label_studio",
        LABEL_STUDIO_BASE_DATA_DIR=str(folder),
        DJANGO_DB="sqlite",
        SENTRY_DSN="",
        FRONTEND_SENTRY_DSN="",
        COLLECT_ANALYTICS="false",
        LATEST_VERSION_CHECK="false",
        # Otherwise a session needs the time of its sign-in, which only the page writes.
        INACTIVITY_SESSION_TIMEOUT_ENABLED="0",
        LOG_LEVEL="ERROR",
    )
    spec = find_spec("label_studio")
    assert spec is not None
    assert spec.submodule_search_locations
    sys.path.insert(0, spec.submodule_search_locations[0])
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    return _LabelStudio()


class _LabelStudio:
    def __init__(self) -> None:
        from django.test import Client
        from organizations.models import Organization  # type: ignore[import-not-found]
        from users.models import User  # type: ignore[import-not-found]

        self.people = [User.objects.create_user(f"client{n}@example.org", "unused") for n in range(PEOPLE)]
        organization = Organization.create_organization(created_by=self.people[0], title="bench")
        for person in self.people:
            if person != self.people[0]:
                organization.add_user(person)
            person.active_organization = organization
            person.save()
        self.client: Any = Client()
        self.client.force_login(self.people[0])
        self.project = 0
        self.content = b""

    def make(self, wanted: int) -> int:
        asked = {
            "title": "bench",
            "label_config": CONFIG,
            "maximum_annotations": wanted,
            "sampling": "Sequential sampling",
        }
        self.project = self._asked(self.client.post("/api/projects/", asked, "application/json"))["id"]
        return self.project

    def take_in(self, path: str) -> int:
        from tasks.models import Task  # type: ignore[import-not-found]

        with Path(path).open("rb") as file:
            self._asked(self.client.post(f"/api/projects/{self.project}/import", {"file": file}))
        count: int = Task.objects.filter(project_id=self.project).count()
        return count

    def label(self, times: int) -> int:
        return sum(self._labelled() for _ in range(times))

    def annotate(self) -> int:
        from tasks.models import Annotation, Task

        tasks = list(Task.objects.filter(project_id=self.project))
        Annotation.objects.filter(project_id=self.project).delete()
        made = [
            Annotation(task=task, project_id=self.project, completed_by=person, result=CHOSEN)
            for task in tasks
            for person in self.people
        ]
        Annotation.objects.bulk_create(made, batch_size=1000)
        Task.objects.filter(project_id=self.project).update(is_labeled=True, total_annotations=2)
        return len(made)

    def export(self) -> int:
        response = self.client.get(f"/api/projects/{self.project}/export?exportType=JSON&download_all_tasks=true")
        assert response.status_code == 200, response.status_code
        self.content = b"".join(response.streaming_content) if response.streaming else response.content
        return len(self.content)

    def exported(self) -> list[int]:
        tasks = json.loads(self.content)
        return [len(tasks), sum(len(task["annotations"]) for task in tasks)]

    def _labelled(self) -> bool:
        response = self.client.get(f"/api/projects/{self.project}/next/")
        if response.status_code == 404:
            return False
        task = self._asked(response)["id"]
        self._asked(
            self.client.post(f"/api/tasks/{task}/annotations/", {"result": CHOSEN, "lead_time": 1}, "application/json")
        )
        return True

    def _asked(self, response: Any) -> Any:
        if response.status_code >= 400:
            raise RuntimeError(f"{response.status_code} {response.content[:300]!r}")
        return response.json()
