# /// script
# requires-python = "==3.11.*"
# dependencies = [
#   "doccano==1.8.4",
#   "marshmallow<4",
#   "numpy<2",
#   "setuptools<81",
# ]
# ///
"""Calls doccano's REST interface in one process on SQLite; what it gives to Celery runs at once in that process.

It names no upper bounds, and the newest of three packages no longer work with what it pins.
"""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DISTRIBUTION, TITLE, KIND, LINES = "doccano", "doccano", "labelling", True
PEOPLE = 2


def labeller(folder: Path) -> Any:
    """Return what labels with it."""
    os.environ.update(
        DJANGO_SETTINGS_MODULE="config.settings.production",
        DATABASE_URL=f"sqlite:///{folder}/doccano.sqlite3",
        MEDIA_ROOT=str(folder / "media"),
        DEBUG="False",
    )
    spec = find_spec("backend")
    assert spec is not None
    assert spec.submodule_search_locations
    sys.path.insert(0, next(iter(spec.submodule_search_locations)))
    import config.settings.production as settings  # type: ignore[import-not-found]
    import django

    # Otherwise files that are sent lie in the folder of the installed package.
    settings.DJANGO_DRF_FILEPOND_UPLOAD_TMP = str(folder / "uploads")
    settings.DJANGO_DRF_FILEPOND_ALLOW_EXTERNAL_UPLOAD_DIR = True
    settings.LOGGING["root"]["level"] = "ERROR"
    django.setup()
    from config.celery import app  # type: ignore[import-not-found]
    from django.core.management import call_command

    app.conf.task_always_eager = app.conf.task_store_eager_result = True
    call_command("migrate", verbosity=0)
    call_command("create_roles")
    return _Doccano()


class _Doccano:
    def __init__(self) -> None:
        from django.contrib.auth.models import User
        from django.test import Client

        self.people: list[Any] = [User.objects.create_superuser(f"client{n}", "") for n in range(PEOPLE)]
        self.client: Any = Client()
        self.client.force_login(self.people[0])
        self.project, self.chosen = "", 0
        self.content = b""

    def make(self, wanted: int) -> str:
        """Make a project. It does not count how many labels an example should have: all label all, or once together."""
        made = self._post(
            "/v1/projects",
            name="bench",
            description="bench",
            project_type="DocumentClassification",
            resourcetype="TextClassificationProject",
            collaborative_annotation=True,
        )
        self.project = f"/v1/projects/{made['id']}"
        labels = [
            self._post(f"{self.project}/category-types", text=tool, background_color="#209cee", text_color="#ffffff")
            for tool in ("get_order", "cancel_order", "refund_order", "track_parcel")
        ]
        self.chosen = labels[-1]["id"]
        return self.project

    def take_in(self, path: str) -> int:
        with Path(path).open("rb") as file:
            sent = self.client.post("/v1/fp/process/", {"filepond": file})
        assert sent.status_code == 200, sent.content
        task = {"format": "JSONL", "task": "DocumentClassification"}
        columns = {"column_data": "text", "column_label": "label", "encoding": "utf_8"}
        self._post(f"{self.project}/upload", uploadIds=[sent.content.decode()], **task, **columns)
        count: int = self._asked(self.client.get(f"{self.project}/examples?limit=1"))["count"]
        return count

    def label(self, times: int) -> int:
        return sum(self._labelled() for _ in range(times))

    def annotate(self) -> int:
        from examples.models import Example  # type: ignore[import-not-found]
        from labels.models import Category  # type: ignore[import-not-found]

        examples = Example.objects.filter(project_id=self.project.rpartition("/")[2])
        Category.objects.filter(example__in=examples).delete()
        made = [
            Category(example=example, user=person, label_id=self.chosen + place - 1)
            for example in examples
            for place, person in enumerate(self.people)
        ]
        Category.objects.bulk_create(made, batch_size=1000)
        return len(made)

    def export(self) -> int:
        task = self._post(f"{self.project}/download", format="JSONL", exportApproved=False)["task_id"]
        response = self.client.get(f"{self.project}/download?taskId={task}")
        assert response.status_code == 200, response.status_code
        self.content = b"".join(response.streaming_content)
        return len(self.content)

    def exported(self) -> list[int]:
        with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
            rows = [json.loads(line) for name in archive.namelist() for line in archive.read(name).splitlines()]
        return [len(rows), sum(len(row["label"]) for row in rows)]

    def _labelled(self) -> bool:
        found = self._asked(self.client.get(f"{self.project}/examples?limit=1&offset=0&confirmed=false"))
        if not found["results"]:
            return False
        example = f"{self.project}/examples/{found['results'][0]['id']}"
        self._post(f"{example}/categories", label=self.chosen)
        self._post(f"{example}/states")
        return True

    def _post(self, path: str, **given: Any) -> Any:
        return self._asked(self.client.post(path, given, "application/json"))

    def _asked(self, response: Any) -> Any:
        if response.status_code >= 400:
            raise RuntimeError(f"{response.status_code} {response.content[:300]!r}")
        return response.json()
