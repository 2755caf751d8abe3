"""The steps of a test in an installation of its own; clients are processes of their own, which are told their number:

`python -m tests.labeling.labelling_driver FIRST`.
"""

from __future__ import annotations

import faulthandler
import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django

EXAMPLES, CLIENTS, CLIENTS_A_PROCESS = 500, 16, 4
PATIENCE_SECONDS = 400
# So many labels, one is sent twice: a retry must add nothing.
AGAIN_EVERY = 8


def prepare(_: int) -> None:
    """Make the examples and the reviewers."""
    from labeling.datasets.services import dataset_create
    from labeling.imports.services import examples_import
    from tests.fixtures.people import person
    from tests.labeling.rows import SHOP_TOOLS, row
    from toolevals.registry.services import registry_create, registry_publish
    from toolevals.workspace.models import Role
    from toolevals.workspace.projects.services import member_set, project_create

    project = project_create(actor=None, slug="shop", name="Shop")
    for number in range(CLIENTS):
        member_set(project=project, actor=None, user=person(f"client{number}"), role=Role.REVIEWER)
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    tools = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    dataset = dataset_create(project=project, actor=None, slug="support", name="Support", default_tools=tools)
    examples_import(dataset=dataset, actor=None, rows=[row(f"ex-{number}") for number in range(EXAMPLES)])


def label(first: int) -> None:
    """Let some clients, from number `first` on, label until every label is in; print a line for each of theirs."""
    # Whoever holds SQLite's one lock shall not wait long for Python's.
    sys.setswitchinterval(0.0005)
    # What the clients are at, where they take too long: it goes to the log that the test shows.
    faulthandler.dump_traceback_later(PATIENCE_SECONDS // 2)
    with ThreadPoolExecutor(CLIENTS_A_PROCESS) as pool:
        for done in [pool.submit(_label_all, first + number) for number in range(CLIENTS_A_PROCESS)]:
            done.result()


def _label_all(number: int) -> None:
    from django.db import OperationalError, connection

    from labeling.models import Dataset, LabelSlot, SlotState
    from toolevals.workspace.models import User

    user, dataset = User.objects.get(email=f"client{number}@example.org"), Dataset.objects.get()
    refused = ""
    # Before the test loses its patience, so that it hears what is left.
    deadline = time.monotonic() + PATIENCE_SECONDS - 60
    try:
        while time.monotonic() < deadline:
            try:
                if _label_next(dataset, user, number):
                    continue
                if not LabelSlot.objects.exclude(state=SlotState.SUBMITTED).exists():
                    return
            except OperationalError as error:
                refused = str(error)
                continue  # SQLite kept this client waiting for too long: it asks again
            time.sleep(0.25)  # another client holds what is left, or held it and died
        raise SystemExit(f"labelling took too long: {refused or 'nothing refused'}, {_left()}")
    finally:
        connection.close()


def _left() -> list[Any]:
    """Return the slots that are not handed in, with the people who labelled their examples."""

    from labeling.models import Label, LabelSlot, SlotState
    from toolevals.workspace.clock import database_now

    left = LabelSlot.objects.exclude(state=SlotState.SUBMITTED).order_by("pk")
    columns = "revision__example__external_id", "state", "priority", "reviewer__email", "lease_until", "revision_id"
    return [
        (*row, database_now(), list(Label.objects.filter(revision=row[-1]).values_list("reviewer__email", flat=True)))
        for row in left.values_list(*columns)[:5]
    ]


def _label_next(dataset: Any, user: Any, number: int) -> bool:
    """Label what is next in the client's turn; return whether there was anything."""
    from labeling.errors import InvalidAct
    from labeling.label.claims import slot_claim
    from labeling.label.services import label_submit
    from labeling.models import LabelSlot
    from tests.labeling.rows import NO_CALL, call

    slot = slot_claim(dataset_or_project=dataset, actor=user)
    if slot is None:
        return False
    # As the page does, some take one ahead of time: never more than two are held.
    if number % 4 == 0:
        slot_claim(dataset_or_project=dataset, actor=user, beside=slot)
    assert LabelSlot.objects.held_by(user).count() <= 2
    expectation = NO_CALL if number % 3 else call()
    try:
        label = label_submit(slot=slot, actor=user, expectation=expectation)
        if slot.pk.int % AGAIN_EVERY == 0:
            assert label_submit(slot=slot, actor=user, expectation=expectation) == label
    except InvalidAct:
        return True  # too slow: the lease ran out and another has labelled it
    sys.stdout.write("labelled\n")
    sys.stdout.flush()
    return True


def outcome(_: int) -> None:
    """Print how many labels and different reviewers each revision has, and how the revisions stand."""
    from labeling.adjudicate.resolution import settle_due
    from labeling.models import Label, Revision
    from tests.labeling.windows import later

    settle_due(later())
    pairs = list(Label.objects.values_list("revision", "reviewer"))
    found: dict[str, Any] = {
        "labels": len(pairs),
        "labels_each": sorted(set(Counter(revision for revision, _ in pairs).values())),
        "reviewers_each": sorted(set(Counter(revision for revision, _ in set(pairs)).values())),
        "resolutions": Counter(Revision.objects.values_list("resolution", flat=True)),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    django.setup()
    label(int(sys.argv[1]))
