"""Runs one step of measuring labelling in its own process: `python -m benchmarks._labelling STEP`; prints JSON."""

from __future__ import annotations

import io
import json
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import django

from benchmarks._labelling_load import CALL, WORDS

EXAMPLES, CLIENTS, SECONDS, ALONE = 10_000, 8, 10, 300
LARGE = 1_000_000
EXPORTS = ("jsonl", "csv", "labels_csv")
PROPERTIES = {"order_id": {"type": "string"}, "verbose": {"type": "boolean"}}
TOOLS = [
    {
        "name": name,
        "description": "Does something with an order.",
        "input_schema": {"type": "object", "properties": PROPERTIES, "required": ["order_id"]},
    }
    for name in ("get_order", "cancel_order", "refund_order", "track_parcel")
]


def lines(**more: Any) -> Iterator[bytes]:
    """Yield rows of about one kilobyte."""
    for number in range(EXAMPLES):
        message = {"role": "user", "content": f"{WORDS * 11}{number}"}
        row = {"id": f"ex-{number:05}", "input": {"messages": [message]}, "strata": {"bucket": "selection"}, **more}
        yield json.dumps(row).encode() + b"\n"


def transfer() -> dict[str, float]:
    """Import examples to label, and others with gold; export those. Rates in examples a second, memory in MB."""
    from celery import current_app

    project, tools = _project()
    # As a worker does when it starts.
    current_app.loader.import_default_modules()
    bare = EXAMPLES / _timed(lambda: _bare_import(b"".join(lines())))
    to_label = EXAMPLES / _timed(lambda: _import(project, tools, "support", b"".join(lines())))
    text = b"".join(lines(expectation=CALL, rationale="It asks where the parcel is."))
    with_gold = EXAMPLES / _timed(lambda: _import(project, tools, "gold", text))
    gold = project.datasets.get(slug="gold")
    _labelled_by_two(gold)
    return {"bare": bare, "to_label": to_label, "with_gold": with_gold, **_exported(gold)}


def _exported(dataset: Any) -> dict[str, float]:
    """Return how fast each of EXPORTS leaves, and the most memory that it takes: for all examples, and for a fifth."""
    from labeling.exports import Outcome, Selection, format_named

    def written(name: str, lines: int | None = None) -> int:
        return sum(map(len, islice(format_named(name).write(Selection(dataset), Outcome()), lines)))

    found = {}
    for name in EXPORTS:
        found[name] = EXAMPLES / _timed(partial(written, name))
        for part, lines in (("fifth", EXAMPLES // 5), ("all", None)):
            tracemalloc.start()
            written(name, lines)
            found[f"{name}, {part}"] = tracemalloc.get_traced_memory()[1] / 1e6
            tracemalloc.stop()
    return found


def _labelled_by_two(dataset: Any) -> None:
    """Write two people's labels of each example, as labelling would have left them."""
    from labeling.models import Label, LabelSlot, Revision, SlotState
    from toolevals.workspace.models import User

    people = list(User.objects.order_by("email")[:2])
    revisions = list(Revision.objects.filter(example__dataset=dataset))
    slots = [
        LabelSlot(
            dataset=dataset, revision=revision, number=number, state=SlotState.SUBMITTED, priority=None, reviewer=person
        )
        for revision in revisions
        for number, person in enumerate(people, 1)
    ]
    LabelSlot.objects.bulk_create(slots, batch_size=1000)
    labels = [
        Label(slot=slot, revision=slot.revision, reviewer=slot.reviewer, expectation=CALL, rationale="It asks.")
        for slot in slots
    ]
    Label.objects.bulk_create(labels, batch_size=1000)


def large() -> dict[str, float]:
    """Write a dataset of LARGE examples; return examples a second. PostgreSQL only."""
    from benchmarks._labelling_load import load
    from labeling.services import dataset_create
    from toolevals.workspace.models import User

    project, tools = _project()
    dataset = dataset_create(project=project, actor=None, slug="support", name="Support", default_tools=tools)
    one, other = User.objects.order_by("-email")[:2]
    return {"loaded": LARGE / _timed(lambda: load(dataset, tools.tools, (one, other), LARGE))}


def alone() -> dict[str, list[float]]:
    """Label as the only client; seconds of each claim, each submit, and each bare transaction of one update."""
    found = _label(0, lambda done: done < ALONE)
    return found | {"bare": [_timed(_bare_transaction) for _ in range(ALONE)]}


def _project() -> tuple[Any, Any]:
    """Make the tables, a project with its reviewers, and tools."""
    from django.core.management import call_command

    from toolevals.registry.services import registry_create, registry_publish
    from toolevals.workspace.models import Role
    from toolevals.workspace.services import member_set, project_create, user_create

    call_command("migrate", verbosity=0)
    project = project_create(actor=None, slug="bench", name="Bench")
    for number in range(CLIENTS):
        user = user_create(actor=None, email=f"client{number}@example.org", name=f"Client {number}")
        member_set(project=project, actor=None, user=user, role=Role.REVIEWER)
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    tools = registry_publish(registry=registry, actor=None, document=TOOLS)
    return project, tools


def _label(number: int, go_on: Callable[[int], bool]) -> dict[str, list[float]]:
    from labeling.models import Dataset
    from labeling.services import label_submit, slot_claim
    from toolevals.workspace.models import User

    user, dataset = User.objects.get(email=f"client{number}@example.org"), Dataset.objects.get(slug="support")
    claims: list[float] = []
    submits: list[float] = []
    while go_on(len(claims)):
        begun = time.perf_counter()
        slot = slot_claim(dataset_or_project=dataset, actor=user)
        claimed = time.perf_counter()
        if slot is None:
            raise RuntimeError("there is nothing left to label")
        label_submit(slot=slot, actor=user, expectation=CALL, rationale="It asks where the parcel is.")
        claims.append(claimed - begun)
        submits.append(time.perf_counter() - claimed)
    return {"claims": claims, "submits": submits}


def _import(project: Any, tools: Any, slug: str, text: bytes) -> None:
    """Import as a job, its batches done by this process as one worker would."""
    from celery import current_app
    from django.utils import timezone

    from labeling.services import dataset_create, import_start
    from toolevals.workspace.models import Batch
    from toolevals.workspace.services import upload_store

    dataset = dataset_create(project=project, actor=None, slug=slug, name=slug, default_tools=tools)
    upload = upload_store(project=project, actor=None, file=io.BytesIO(text), name="rows.jsonl")
    import_start(dataset=dataset, actor=None, upload=upload)
    while batch := Batch.objects.due(timezone.now()).order_by("id").first():
        current_app.tasks[batch.task](str(batch.pk))
    if dataset.examples.count() != EXAMPLES:
        raise RuntimeError("not every example was imported")


def _bare_import(text: bytes) -> None:
    """Do the least that an import could: parse each line and keep it in one table."""
    from django.db import connection, transaction

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bare (id varchar(200) PRIMARY KEY, line text)")
        with transaction.atomic():
            rows = [(json.loads(line)["id"], line.decode()) for line in text.splitlines()]
            cursor.executemany("INSERT INTO bare VALUES (%s, %s)", rows)


def _bare_transaction() -> None:
    from django.db import transaction

    from toolevals.workspace.models import Project

    with transaction.atomic():
        Project.objects.update(name="Bench")


def _timed(act: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    django.setup()
    print(json.dumps({"transfer": transfer, "large": large, "alone": alone}[sys.argv[1]]()))
