"""Every page that the sample project's owner is shown, from the table of addresses, printed by the application.

An argument is one of the sample project's own objects where there is one, else what access to it is tested with;
so a new page is found without being named here.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import reverse

from labeling.batches.services import Choice, batch_create
from labeling.exports import Selection
from labeling.exports.services import export_start
from labeling.label.claims import slot_claim
from labeling.lint.services import lint_start
from labeling.models import Dataset, Gold, Resolution, Revision
from labeling.proposals.services import proposals_make
from labeling.questions.services import comment_add
from tests.access.addresses import addresses
from tests.access.arguments import argument
from tests.access.world import World
from toolevals.path_prefix import path_below
from toolevals.sample.rest import SLUG
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.services import job_pause
from toolevals.workspace.models import Batch, Job, JobState, Membership, Project, Role, User

PATIENCE = 120


def pages_print() -> None:
    """Print a JSON list of name and path: what is sent as a whole HTML page for a GET."""
    sys.stdout.write(json.dumps(list(_pages())))


def _pages() -> Iterator[tuple[str, str]]:
    project = Project.objects.get(slug=SLUG)
    people = {Role(each.role): each.user for each in Membership.objects.filter(project=project).select_related("user")}
    world = World(project, people, people[Role.OWNER])
    known = _work(project, people)
    client = Client(raise_request_exception=False, headers={"host": "localhost"})
    client.force_login(world.owner)
    for address in addresses():
        if address.is_api:
            continue
        app = address.name.partition(":")[0]
        # What is made for an address that is no page is not kept: it would be in the way of the next.
        with transaction.atomic():
            values = {
                name: known[app, name] if (app, name) in known else argument(address.name, name)(world, world.owner)
                for name in address.arguments
            }
            path = reverse(address.name, kwargs=values)
            response = client.get(path_below(path, settings.PATH_PREFIX))
            is_file = response.streaming or "Content-Disposition" in response
            is_page = response.status_code == 200 and not is_file and b"<html" in response.content
            transaction.set_rollback(not is_page)
        if is_page:
            yield address.name, path
    # The worker of the application does what the application knows, and not what a test has for itself.
    assert not Batch.objects.due(database_now()).exclude(task__in=current_app.tasks)


def _work(project: Project, people: dict[Role, User]) -> dict[tuple[str, str], Any]:
    """Let something stand on every page, wait until background work is done, and return arguments of addresses."""
    dataset = Dataset.objects.get(project=project)
    owner, reviewer = people[Role.OWNER], people[Role.REVIEWER]
    proposals_make(dataset=dataset, actor=owner)
    lint_start(dataset=dataset, actor=owner)
    batch = batch_create(dataset=dataset, actor=owner, name="First week", choice=Choice(first=20), owner=reviewer)
    slot = slot_claim(dataset_or_project=dataset, actor=owner)
    assert slot is not None
    revision = Revision.objects.filter(example__dataset=dataset, resolution=Resolution.DISAGREED).order_by("id")[0]
    comment_add(revision=revision, asker=reviewer, actor=reviewer, text="Is the second order meant as well?")
    gold = Gold.objects.filter(revision__example__dataset=dataset, source="adjudicated").order_by("id")[0]
    jobs_finish(project)
    held = _job_held(project, owner)
    known = {
        "dataset": dataset.slug,
        "batch": batch.pk,
        "slot": slot.pk,
        "revision": revision.pk,
        "example": gold.revision.example_id,
        "gold": gold.pk,
        "number": 1,
    }
    apps = {address.name.partition(":")[0] for address in addresses()}
    return (
        {("labeling", name): value for name, value in known.items()}
        | {(app, "project"): project.slug for app in apps}
        | {("workspace", "job"): held.pk}
    )


@transaction.atomic
def _job_held(project: Project, owner: User) -> Job:
    """Begin a job that stays open: it is paused before the worker of the application sees it."""
    dataset = Dataset.objects.get(project=project)
    job = export_start(selection=Selection(dataset), actor=owner, format="jsonl")
    return job_pause(job=job, actor=owner)


def jobs_finish(project: Project) -> None:
    """Help the worker until nothing is left to do."""
    current_app.loader.import_default_modules()
    end = time.monotonic() + PATIENCE
    while Job.objects.filter(project=project, state=JobState.RUNNING).exists() and time.monotonic() < end:
        batch = Batch.objects.due(database_now()).filter(job__project=project).first()
        if batch is None:
            time.sleep(0.1)
        else:
            current_app.tasks[batch.task](str(batch.pk))
