"""Makes what people work on in the slow lane: labels, questions and a calibration, each on its page."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from labeling.calibration_rounds.services import calibration_open
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import Revision
from labeling.questions.services import comment_add
from tests.fixtures.people import PASSWORD
from tests.labeling.rows import NO_CALL, call
from tests.runs.building import STATUS
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.models import Role, User
from toolevals.workspace.projects.services import member_set

SLUG = "shop"


def reviewer_of(project: Any, name: str) -> Any:
    """Make a reviewer who can sign in."""
    user = user_create(actor=None, email=f"{name.lower()}@example.org", name=name, password=PASSWORD)
    member_set(project=project, actor=None, user=user, role=Role.REVIEWER)
    return user


def pages_made(dataset: Any, owner: Any, run: int) -> dict[str, str]:
    """Make what there is to work on, and return the paths of the pages by name; `run` is the number of a run."""
    ben, cleo = User.objects.get(name="Ben"), reviewer_of(dataset.project, "Cleo")
    for person, said in ((ben, NO_CALL), (cleo, call(STATUS))):
        slot = slot_claim(dataset_or_project=dataset, actor=person)
        assert slot is not None
        comment_add(revision=slot.revision, asker=person, actor=person, text="What is meant?")
        label_submit(slot=slot, actor=person, expectation=said)
    calibration_open(dataset=dataset, actor=owner, name="First", names=["solved"])
    revision = Revision.objects.filter(example__dataset=dataset).latest("pk")
    named: dict[str, tuple[str, list[Any]]] = {
        "label": ("labeling:label", []),
        "adjudicate": ("labeling:adjudicate", []),
        "questions": ("labeling:questions", []),
        "calibration": ("labeling:calibration-waiting", []),
        "example": ("labeling:example", ["desk", revision.example_id]),
        "dataset": ("labeling:dataset", ["desk"]),
        "run": ("reports:run", [run]),
        "matrix": ("reports:matrix", [run]),
        "cases": ("reports:cases", [run]),
        "jobs": ("workspace:jobs", []),
    }
    return {name: reverse(address, args=[SLUG, *args]) for name, (address, args) in named.items()}
