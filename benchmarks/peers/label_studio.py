"""Calls Label Studio's REST interface in one process on SQLite, which it uses unless told otherwise."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DISTRIBUTION = "label-studio"
TOOLS = ("get_order", "cancel_order", "refund_order", "track_parcel")
CONFIG = (
    '<View><Text name="text" value="$text"/><Choices name="tool" toName="text" choice="single">'
    + "".join(f'<Choice value="{tool}"/>' for tool in TOOLS)
    + "</Choices></View>"
)
CHOSEN = [{"from_name": "tool", "to_name": "text", "type": "choices", "value": {"choices": ["track_parcel"]}}]
PEOPLE = 8


def steps(folder: Path) -> Mapping[str, Callable[..., Any]]:
    """Return what `benchmarks.side_by_side` asks of a tool for labelling."""
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
    tool = _LabelStudio()
    return {
        name: getattr(tool, name) for name in ("make", "take_in", "label", "annotate", "export", "exported", "overlap")
    }


class _LabelStudio:
    def __init__(self) -> None:
        from organizations.models import Organization  # type: ignore[import-not-found]
        from users.models import User  # type: ignore[import-not-found]

        self.people = [User.objects.create_user(f"client{n}@example.org", "unused") for n in range(PEOPLE)]
        organization = Organization.create_organization(created_by=self.people[0], title="bench")
        for person in self.people:
            if person != self.people[0]:
                organization.add_user(person)
            person.active_organization = organization
            person.save()
        self.client = self._client(self.people[0])
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
        return sum(self._labelled(self.client) for _ in range(times))

    def annotate(self) -> int:
        from tasks.models import Annotation, Task

        tasks = list(Task.objects.filter(project_id=self.project))
        Annotation.objects.filter(project_id=self.project).delete()
        made = [
            Annotation(task=task, project_id=self.project, completed_by=person, result=CHOSEN)
            for task in tasks
            for person in self.people[:2]
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

    def overlap(self, people: int) -> dict[str, int]:
        from django.db import connections
        from django.db.models import Count
        from tasks.models import Task

        connections.close_all()
        context = multiprocessing.get_context("fork")
        refused = context.Value("i", 0)
        processes = [context.Process(target=self._work, args=(n, refused)) for n in range(people)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        held = Task.objects.filter(project_id=self.project).annotate(held=Count("annotations"))
        found = Counter(held.values_list("held", flat=True))
        return {**{str(count): times for count, times in sorted(found.items())}, "refused": refused.value}

    def _work(self, number: int, refused: Any) -> None:
        client = self._client(self.people[number])
        client.raise_request_exception = False
        idle = 0
        while idle < 5:
            try:
                idle = 0 if self._labelled(client) else idle + 1
            except RuntimeError:
                idle += 1
                with refused.get_lock():
                    refused.value += 1

    def _labelled(self, client: Any) -> bool:
        response = client.get(f"/api/projects/{self.project}/next/")
        if response.status_code == 404:
            return False
        task = self._asked(response)["id"]
        self._asked(
            client.post(f"/api/tasks/{task}/annotations/", {"result": CHOSEN, "lead_time": 1}, "application/json")
        )
        return True

    def _client(self, person: Any) -> Any:
        from django.test import Client

        client = Client()
        client.force_login(person)
        return client

    def _asked(self, response: Any) -> Any:
        if response.status_code >= 400:
            raise RuntimeError(f"{response.status_code} {response.content[:300]!r}")
        return response.json()
