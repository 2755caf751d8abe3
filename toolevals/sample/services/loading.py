"""Loads the sample project, through the same services that people use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction

from labeling.models import Dataset, Resolution, Revision
from labeling.services import (
    adjudication_decide,
    examples_import,
    label_submit,
    settle_due,
    slot_claim,
    version_freeze,
)
from toolevals.runs.models import SimulatorKind
from toolevals.runs.simulators.services import simulator_choose, simulator_ensure
from toolevals.sample import content
from toolevals.sample.accounts import ACCOUNTS
from toolevals.sample.passwords import sample_password_renew
from toolevals.sample.services.making import dataset_make, runs_make, tools_make
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.projects.services import member_set, project_create

SLUG, NAME = "shop-support", "Shop support"


def is_loaded() -> bool:
    """Return whether the sample was ever loaded; its accounts outlive its project."""
    return User.objects.filter(is_sample=True).exists()


@transaction.atomic
def sample_load() -> str:
    """Load the sample project and return its accounts' password; empty where the sample was loaded before.

    One transaction: after a crash there is all of it or nothing. The two runs are left to the workers.
    """
    if is_loaded():
        return ""
    people = _people()
    owner, adjudicator = people["otto"], people["ada"]
    project = project_create(actor=owner, slug=SLUG, name=NAME)
    for account in ACCOUNTS:
        member_set(project=project, actor=owner, user=people[account.key], role=account.role)
    before, after = tools_make(project, adjudicator, slug="shop-tools", name="Shop tools")
    dataset = dataset_make(project, adjudicator, slug="support-messages", name="Support messages", tools=after)
    _simulator(project, dataset, owner)
    examples_import(dataset=dataset, actor=adjudicator, rows=content.examples())
    for key in ("lena", "omar"):
        _label(dataset, people[key], content.labels(key))
    settle_due(database_now() + timedelta(seconds=project.undo_seconds + 1), project=project)
    _adjudicate(dataset, adjudicator, content.decisions())
    version = version_freeze(dataset=dataset, actor=adjudicator, note="What had gold on the first day")
    runs_make(adjudicator, version, before, after)
    return sample_password_renew()


def _people() -> dict[str, User]:
    """Make the accounts, which cannot sign in until they get their password. The sample's owner owns the installation.

    A person who starts an installation by `./dev run` has no other account to make projects and invitations with.
    """
    return {
        account.key: user_create(
            actor=None,
            email=account.email,
            name=account.name,
            is_sample=True,
            is_installation_owner=account.role == Role.OWNER,
        )
        for account in ACCOUNTS
    }


def _simulator(project: Project, dataset: Dataset, owner: User) -> None:
    """Put the shop behind the dataset's tools, so that agents which call them meet a world."""
    code = {"files": content.simulator()}
    shop = simulator_ensure(project=project, actor=owner, name="Shop", kind=SimulatorKind.CODE, content=code)
    simulator_choose(dataset=dataset, actor=owner, simulator=shop)


def _label(dataset: Dataset, reviewer: User, labels: Mapping[str, content.Judgement]) -> None:
    """Label what comes in turn, as the page would, until all of this person's labels are in."""
    waiting = dict(labels)
    while waiting:
        slot = slot_claim(dataset_or_project=dataset, actor=reviewer)
        if slot is None:
            raise LookupError(f"no slot is left for the labels of {sorted(waiting)}")
        label = waiting.pop(slot.revision.example.external_id)
        label_submit(
            slot=slot,
            actor=reviewer,
            expectation=label.expectation,
            rationale=label.rationale,
            seconds=label.seconds,
        )


def _adjudicate(dataset: Dataset, adjudicator: User, decisions: Mapping[str, content.Judgement]) -> None:
    differing = Revision.objects.current().filter(example__dataset=dataset, resolution=Resolution.DISAGREED)
    for revision in differing.with_content().order_by("id"):
        decision = decisions.get(revision.example.external_id)
        if decision is not None:
            adjudication_decide(
                revision=revision,
                actor=adjudicator,
                expectation=decision.expectation,
                rationale=decision.rationale,
                seconds=decision.seconds,
            )
