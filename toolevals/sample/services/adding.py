"""Adds a part of the sample to a project of one's own, to try a step before one's own data is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Final

from django.db import transaction

from labeling.expectations.meaning import meaning
from labeling.imports.services import examples_import
from labeling.models import Dataset
from labeling.versions.services import version_freeze
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import Expectation
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.runs.models import Run
from toolevals.sample import content
from toolevals.sample.services.making import dataset_make, runs_make, tools_make
from toolevals.workspace.models import Project, User

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
