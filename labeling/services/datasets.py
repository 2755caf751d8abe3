"""What is done to datasets."""

from __future__ import annotations

from django.db import transaction

from labeling.models import Dataset
from labeling.services.guidelines import guideline_publish
from toolevals.registry.models import RegistryVersion
from toolevals.workspace.models import Project, User
from toolevals.workspace.services import audit_record


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
) -> Dataset:
    """Return a new, empty dataset. Raises `ValidationError` for a malformed or taken slug."""
    dataset = Dataset(
        project=project,
        slug=slug,
        name=name.strip() or slug,
        description=description,
        guideline=guideline,
        default_tools=default_tools,
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
) -> Dataset:
    """Change what is said about a dataset; another guideline becomes a version.

    Other default tools hold for what is imported from now on.
    """
    dataset.name = name.strip() or dataset.slug
    dataset.description, dataset.default_tools = description, default_tools
    dataset.full_clean()
    dataset.save(update_fields=["name", "description", "default_tools"])
    guideline_publish(dataset=dataset, actor=actor, text=guideline)
    audit_record(project=dataset.project, actor=actor, verb="dataset_update", target=dataset)
    return dataset
