"""The sample's parts in a project of one's own: each with what it rests on, once, and apart from one's own data."""

from __future__ import annotations

import pytest
from django.urls import reverse

from labeling.datasets.services import dataset_create
from labeling.models import Dataset, Example, Revision
from toolevals.registry.models import Registry
from toolevals.runs.models import Run
from toolevals.sample.services import DATASET, REGISTRY, SamplePart, gold_rows, sample_add, sample_load
from toolevals.workspace.models import Project, User
from toolevals.workspace.trash.services import trash_put

pytestmark = pytest.mark.django_db


def counts(project: Project) -> tuple[int, int, int, int]:
    of_sample = Example.objects.filter(dataset__project=project)
    gold = Revision.objects.current().filter(example__in=of_sample, gold__isnull=False)
    versions = sum(each.versions.count() for each in Registry.objects.filter(project=project))
    return versions, of_sample.count(), gold.count(), Run.objects.filter(project=project).count()


@pytest.mark.parametrize(
    ("part", "found"),
    [("tools", (2, 0, 0, 0)), ("examples", (2, 179, 0, 0)), ("gold", (2, 179, 145, 0)), ("runs", (2, 179, 145, 2))],
)
def test_a_part_comes_with_those_before_it_and_only_once(project, adjudicator, client, part, found):
    client.force_login(adjudicator)
    for _ in range(2 if part == "runs" else 1):
        answer = client.post(reverse("sample:add", args=[project.slug, part]))
        assert (answer.status_code, answer.headers["Location"]) == (302, reverse("workspace:project", args=["shop"]))
        assert counts(project) == found


def test_its_gold_is_that_of_the_sample_project(db):
    sample_load()
    loaded = Revision.objects.current().filter(gold__isnull=False).select_related("gold", "example")
    assert {row.external_id for row in gold_rows()} == {each.example.external_id for each in loaded}
    assert len(list(gold_rows())) == 145


def test_one_s_own_data_stays_and_the_page_leads_on(project, owner, client):
    own = dataset_create(project=project, actor=owner, slug="own", name="Own")
    client.force_login(owner)
    page = client.get(reverse("workspace:project", args=[project.slug])).content.decode()
    assert all(f'id="sample-{part}"' in page for part in SamplePart)
    client.post(reverse("sample:add", args=[project.slug, "gold"]))
    page = client.get(reverse("workspace:project", args=[project.slug])).content.decode()
    assert "3 of 5 done" in page
    assert 'id="sample-gold"' not in page
    assert 'id="sample-runs"' in page
    assert not own.examples.exists()
    assert set(Dataset.objects.filter(project=project).values_list("slug", flat=True)) == {"own", DATASET}


def test_after_it_was_deleted_it_is_added_anew(project, owner):
    sample_add(project=project, actor=owner, part=SamplePart.EXAMPLES)
    trash_put(row=Dataset.objects.get(slug=DATASET), actor=owner)
    sample_add(project=project, actor=owner, part=SamplePart.EXAMPLES)
    assert Dataset.objects.get(slug=DATASET).examples.count() == 179
    trash_put(row=Registry.objects.get(slug=REGISTRY), actor=owner)
    sample_add(project=project, actor=owner, part=SamplePart.TOOLS)
    assert Registry.objects.get(slug=REGISTRY).versions.count() == 2


def test_an_unknown_part_is_not_found(project, owner: User, client):
    client.force_login(owner)
    assert client.post(reverse("sample:add", args=[project.slug, "labels"])).status_code == 404
