"""Adds the sample: as a project of its own with people and labels, or part by part to another project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from typing import Final

from django.db import transaction

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import adjudication_decide
from labeling.datasets.services import dataset_create
from labeling.expectations.meaning import meaning
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import Dataset, DatasetVersion, Resolution, Revision
from labeling.versions.services import version_freeze
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import Expectation
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.agents.services import agent_ensure, experiment_ensure
from toolevals.runs.models import Connector, Run, SimulatorKind
from toolevals.runs.runs.services import RunParts, run_start
from toolevals.runs.simulators.services import simulator_choose, simulator_ensure
from toolevals.sample import content
from toolevals.sample.accounts import ACCOUNTS, sample_password_renew
from toolevals.sample.rest import DAYS, SLUG, rest_start, run_date_back
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.projects.services import member_set, project_create

# Low: the baseline then almost always calls some tool, and the matrix shows which tools it mistakes for which.
THRESHOLD = 0.02


def tools_make(project: Project, actor: User, *, slug: str, name: str) -> tuple[RegistryVersion, RegistryVersion]:
    """Return the two versions of the shop's tools, which differ in their descriptions alone."""
    registry = registry_create(project=project, actor=actor, slug=slug, name=name)
    before = registry_publish(
        registry=registry, actor=actor, document=content.tools("before"), note="As the agent went live"
    )
    after = registry_publish(
        registry=registry,
        actor=actor,
        document=content.tools("after"),
        note="Every description rewritten to start with when to use the tool",
    )
    return before, after


def dataset_make(project: Project, actor: User, *, slug: str, name: str, tools: RegistryVersion) -> Dataset:
    """Return a dataset for the sample's examples, still empty."""
    return dataset_create(
        project=project,
        actor=actor,
        slug=slug,
        name=name,
        description="Decision points from the shop's support chat. Every message is made up.",
        guideline=content.guideline(),
        default_tools=tools,
    )


def runs_make(actor: User, version: DatasetVersion, before: RegistryVersion, after: RegistryVersion) -> None:
    """Start a run of the baseline agent with each wording of the tools; workers do them."""
    project = version.dataset.project
    experiment = experiment_ensure(project=project, actor=actor, slug="descriptions", name="Tool descriptions")
    for wording, tools in (("before", before), ("after", after)):
        agent = agent_ensure(
            project=project,
            actor=actor,
            name=f"baseline, descriptions {wording}",
            connector=Connector.BASELINE,
            tools=tools,
            options={"threshold": THRESHOLD},
        )
        run_start(RunParts(project=project, actor=actor, experiment=experiment, agent=agent, dataset_version=version))


# The short names of what is added: by them it is found again.
REGISTRY, DATASET = "sample-shop-tools", "sample-support-messages"


class SamplePart(StrEnum):
    """Names what a step of an empty project needs, in the order of the steps."""

    TOOLS = "tools"
    EXAMPLES = "examples"
    GOLD = "gold"
    RUNS = "runs"


@transaction.atomic
def sample_add(*, project: Project, actor: User, part: SamplePart) -> None:
    """Add a part of the sample to a project, and the parts before it; what is there already stays as it is.

    It is kept in a registry and a dataset of its own; after those were deleted it is added again.
    """
    # Two clicks at once add it once.
    Project.objects.select_for_update().get(pk=project.pk)
    for step in SamplePart:
        _ADD[step](project, actor)
        if step == part:
            return


def gold_rows() -> Iterator[ExampleRow]:
    """Yield the sample's examples that have gold: what its two reviewers agree on, or else what was decided."""
    first, second, decided = content.labels("lena"), content.labels("omar"), content.decisions()
    for row in content.examples():
        found = decided.get(row.external_id) or first.get(row.external_id)
        other = second.get(row.external_id)
        if found is None or other is None:
            continue
        if row.external_id in decided or meaning("", found.expectation) == meaning("", other.expectation):
            expectation = Expectation.from_document(found.expectation)
            yield replace(row, expectation=expectation, rationale=found.rationale)


def _tools(project: Project, actor: User) -> None:
    if not Registry.objects.filter(project=project, slug=REGISTRY).exists():
        tools_make(project, actor, slug=REGISTRY, name="Sample: shop tools")


def _examples(project: Project, actor: User) -> None:
    if not Dataset.objects.filter(project=project, slug=DATASET).exists():
        name = "Sample: support messages"
        dataset = dataset_make(project, actor, slug=DATASET, name=name, tools=_versions(project)[1])
        examples_import(dataset=dataset, actor=actor, rows=content.examples())


def _gold(project: Project, actor: User) -> None:
    examples_import(dataset=_dataset(project), actor=actor, rows=gold_rows())


def _runs(project: Project, actor: User) -> None:
    dataset = _dataset(project)
    if not Run.objects.filter(dataset_version__dataset=dataset).exists():
        version = version_freeze(dataset=dataset, actor=actor, note="What has gold in the sample")
        runs_make(actor, version, *_versions(project))


_ADD: Final[dict[SamplePart, Callable[[Project, User], None]]] = {
    SamplePart.TOOLS: _tools,
    SamplePart.EXAMPLES: _examples,
    SamplePart.GOLD: _gold,
    SamplePart.RUNS: _runs,
}


def _versions(project: Project) -> tuple[RegistryVersion, RegistryVersion]:
    """Return the first two versions of the sample's tools: the two wordings."""
    registry = Registry.objects.get(project=project, slug=REGISTRY)
    before, after = registry.versions.order_by("number")[:2]
    return before, after


def _dataset(project: Project) -> Dataset:
    return Dataset.objects.get(project=project, slug=DATASET)


NAME = "Shop support"


def is_loaded() -> bool:
    """Return whether the sample was ever loaded; its accounts outlive its project."""
    return User.objects.filter(is_sample=True).exists()


@transaction.atomic
def sample_load() -> str:
    """Load the sample project and return its accounts' password; empty where the sample was loaded before.

    One transaction: after a crash there is all of it or nothing. The two runs and the rest are left to the workers.
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
    for run, days in zip(project.runs.order_by("number"), DAYS[:2], strict=True):
        run_date_back(run, days)
    rest_start(project, adjudicator)
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
