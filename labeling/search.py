"""Find datasets and examples by name: see `toolevals.workspace.search`."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from labeling.models import Dataset, Example
from toolevals.workspace.models import within
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.search import MOST, Found


def labeling_found(request: ProjectRequest, words: str) -> Iterator[Found]:
    """Yield datasets by name, and examples whose id begins with the words."""
    project = request.project
    for dataset in Dataset.objects.filter(project=project, name__icontains=words).order_by("name", "pk")[:MOST]:
        yield Found(
            "Datasets", dataset.name, dataset.slug, reverse("labeling:dataset", args=[project.slug, dataset.slug])
        )
    examples = Example.objects.filter(within(project, "dataset"), external_id__startswith=words)
    for example in examples.select_related("dataset").order_by("external_id", "pk")[:MOST]:
        url = reverse("labeling:example", args=[project.slug, example.dataset.slug, example.pk])
        yield Found("Examples", example.external_id, example.dataset.name, url)
