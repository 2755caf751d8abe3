"""Create and change datasets, and choose what reviewers see of their examples."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from labeling.guidelines.services import guideline_publish
from labeling.models import Dataset, Example
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import EXPECTED, read_decided_by
from toolevals.registry.models import RegistryVersion
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import Project, User


@transaction.atomic
def dataset_create(
    *,
    project: Project,
    actor: User | None,
    slug: str,
    name: str,
    description: str = "",
    guideline: str = "",
    default_tools: RegistryVersion | None = None,
    decided_by: str = EXPECTED,
) -> Dataset:
    """Return a new, empty dataset.

    Raises `ValidationError` for a malformed or taken slug, InvalidDocument for what cannot decide a case.
    """
    dataset = Dataset(
        project=project,
        slug=slug,
        name=name.strip() or slug,
        description=description,
        guideline=guideline,
        default_tools=default_tools,
        decided_by=read_decided_by(decided_by, "/decided_by") or EXPECTED,
    )
    dataset.full_clean()
    dataset.save()
    guideline_publish(dataset=dataset, actor=actor, text=guideline)
    audit_record(project=project, actor=actor, verb="dataset_create", target=dataset, detail={"slug": slug})
    return dataset


@transaction.atomic
def dataset_update(
    *,
    dataset: Dataset,
    actor: User | None,
    name: str,
    description: str,
    guideline: str,
    default_tools: RegistryVersion | None,
    decided_by: str | None = None,
) -> Dataset:
    """Change what is said about a dataset; another guideline becomes a version. None leaves what decides as it is.

    Other default tools hold for what is imported from now on, and what decides for versions that are frozen from now
    on. Raises InvalidDocument for what cannot decide a case.
    """
    dataset.name = name.strip() or dataset.slug
    dataset.description, dataset.default_tools = description, default_tools
    before = dataset.decided_by
    if decided_by is not None:
        dataset.decided_by = read_decided_by(decided_by, "/decided_by") or EXPECTED
    dataset.full_clean()
    dataset.save(update_fields=["name", "description", "default_tools", "decided_by"])
    guideline_publish(dataset=dataset, actor=actor, text=guideline)
    detail = {} if dataset.decided_by == before else {"decided_by": dataset.decided_by, "before": before}
    audit_record(project=dataset.project, actor=actor, verb="dataset_update", target=dataset, detail=detail)
    return dataset


@transaction.atomic
def example_decide_by(*, example: Example, actor: User | None, decided_by: str) -> Example:
    """Say what decides an example from the next frozen version on; "" leaves it to its dataset.

    Raises:
        InvalidDocument: it cannot decide a case.

    """
    choice = read_decided_by(decided_by, "/decided_by")
    example = Example.objects.select_for_update(of=("self",)).select_related("dataset__project").get(pk=example.pk)
    if choice != example.decided_by:
        detail = {"decided_by": choice, "before": example.decided_by}
        example.decided_by = choice
        example.save(update_fields=["decided_by"])
        audit_record(
            project=example.dataset.project, actor=actor, verb="example_decide_by", target=example, detail=detail
        )
    return example


@transaction.atomic
def strata_show(*, dataset: Dataset, actor: User | None, strata: Collection[str]) -> Dataset:
    """Show reviewers these strata of a dataset besides the safe ones, and no other.

    Raises:
        InvalidDocument: a name is no stratum.

    """
    if unknown := sorted(set(strata) - set(Example.STRATA)):
        raise InvalidDocument.at(
            "/strata", f"There is no stratum {unknown[0]!r}. There are {', '.join(Example.STRATA)}."
        )
    dataset.shown_strata = [name for name in Example.STRATA if name in strata]
    dataset.save(update_fields=["shown_strata"])
    audit_record(
        project=dataset.project,
        actor=actor,
        verb="strata_show",
        target=dataset,
        detail={"strata": dataset.shown_strata},
    )
    return dataset
