"""Calls this project's labelling by REST in one process on SQLite, which does the batches of jobs, too."""

from __future__ import annotations

import csv
import io
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import _labelling
from benchmarks._labelling_load import CALL

VERSION = "this checkout"
BASE = "/api/v1/projects/bench"
SAID = {"expectation": CALL, "rationale": "It asks where the parcel is."}


def steps(folder: Path) -> Mapping[str, Callable[..., Any]]:
    """Return what `benchmarks.side_by_side` asks of a tool for labelling."""
    os.environ.update(DJANGO_SETTINGS_MODULE="toolevals.settings", TOOLEVALS_DATA_DIR=str(folder), TOOLEVALS_DEBUG="")
    import django

    django.setup()
    tool = _Toolevals()
    names = ("make", "take_in", "label", "annotate", "export", "exported", "overlap")
    return {name: getattr(tool, name) for name in names}


class _Toolevals:
    def __init__(self) -> None:
        from celery import current_app

        from toolevals.workspace.models import User

        self.project, self.tools = _labelling._project()
        # As a worker does when it starts.
        current_app.loader.import_default_modules()
        self.people = list(User.objects.order_by("email"))
        self.clients = [self._client(person) for person in self.people]
        self.number = 0
        self.dataset: Any = None
        self.files: list[bytes] = []

    def make(self, wanted: int) -> str:
        from labeling.services import dataset_create

        # The number of people for an example is two unless said otherwise.
        assert wanted == 2
        self.number += 1
        slug = f"support-{self.number}"
        self.dataset = dataset_create(project=self.project, actor=None, slug=slug, name=slug, default_tools=self.tools)
        return slug

    def take_in(self, path: str) -> int:
        from celery import current_app
        from django.utils import timezone

        from labeling.services import import_start
        from toolevals.workspace.models import Batch
        from toolevals.workspace.services import upload_store

        with Path(path).open("rb") as file:
            upload = upload_store(project=self.project, actor=None, file=file, name="rows.jsonl")
        import_start(dataset=self.dataset, actor=None, upload=upload)
        while batch := Batch.objects.due(timezone.now()).order_by("id").first():
            current_app.tasks[batch.task](str(batch.pk))
        count: int = self.dataset.examples.count()
        return count

    def label(self, times: int) -> int:
        return sum(self._labelled(self.clients[0]) for _ in range(times))

    def annotate(self) -> int:
        """Write two labels of each example and the gold on which they agree: only what is resolved leaves a dataset."""
        from labeling.models import Gold, Label, LabelSlot, Revision

        Label.objects.filter(slot__dataset=self.dataset).delete()
        LabelSlot.objects.filter(dataset=self.dataset).delete()
        _labelling._labelled_by_two(self.dataset)
        revisions = list(Revision.objects.filter(example__dataset=self.dataset, gold=None))
        made = [Gold(revision=each, expectation=CALL, rationale="It asks.", source="agreed") for each in revisions]
        Gold.objects.bulk_create(made, batch_size=1000)
        for revision, gold in zip(revisions, made, strict=True):
            revision.gold, revision.resolution = gold, "resolved"
        Revision.objects.bulk_update(revisions, ["gold", "resolution"], batch_size=500)
        count: int = Label.objects.filter(slot__dataset=self.dataset).count()
        return count

    def export(self) -> int:
        """Write both files: the examples with their gold, and a row for each label."""
        from labeling.exports import Outcome, Selection, format_named

        self.files = [
            b"".join(format_named(name).write(Selection(self.dataset), Outcome())) for name in ("jsonl", "labels_csv")
        ]
        return sum(map(len, self.files))

    def exported(self) -> list[int]:
        examples, labels = self.files
        rows = csv.DictReader(io.StringIO(labels.decode()))
        return [len(examples.splitlines()), sum(1 for row in rows if "track_parcel" in str(row))]

    def overlap(self, people: int) -> dict[str, int]:
        from django.db import connections
        from django.db.models import Count

        connections.close_all()
        context = multiprocessing.get_context("fork")
        refused = context.Value("i", 0)
        processes = [context.Process(target=self._work, args=(number, refused)) for number in range(people)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        held = self.dataset.examples.annotate(held=Count("revisions__labels")).values_list("held", flat=True)
        found = Counter(held.order_by())
        return {**{str(count): times for count, times in sorted(found.items())}, "refused": refused.value}

    def _work(self, number: int, refused: Any) -> None:
        client = self.clients[number]
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
        asked = {"dataset": self.dataset.slug}
        claimed = self._asked(client.post(f"{BASE}/claims/", asked, "application/json"))
        if claimed is None:
            return False
        self._asked(client.post(f"{BASE}/claims/{claimed['id']}/label/", SAID, "application/json"))
        return True

    def _client(self, person: Any) -> Any:
        from django.test import Client

        from toolevals.workspace.models import Role
        from toolevals.workspace.services import token_create

        _, secret = token_create(project=self.project, actor=None, user=person, name="bench", role=Role.REVIEWER)
        return Client(SERVER_NAME="localhost", headers={"Authorization": f"Bearer {secret}"})

    def _asked(self, response: Any) -> Any:
        if response.status_code >= 400:
            raise RuntimeError(f"{response.status_code} {response.content[:300]!r}")
        return None if response.status_code == 204 else response.json()
