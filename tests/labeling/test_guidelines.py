"""A guideline's wordings: numbered, kept, named by labels."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labeling.datasets.services import dataset_create, dataset_update
from labeling.guidelines.services import guideline_publish
from labeling.models import Dataset, GuidelineVersion, Label, Revision
from tests.labeling.rows import NO_CALL
from toolevals.workspace.models import AuditEntry, Project, User

pytestmark = pytest.mark.django_db


def test_a_wording_becomes_a_version_and_is_in_force(dataset: Dataset, adjudicator: User):
    version = guideline_publish(dataset=dataset, actor=adjudicator, text="# Dates\r\nThe next.", note=" New: dates ")
    assert version is not None
    assert (version.number, version.text, version.note) == (1, "# Dates\nThe next.", "New: dates")
    dataset.refresh_from_db()
    assert dataset.guideline == "# Dates\nThe next."
    assert AuditEntry.objects.filter(verb="guideline_publish").count() == 1


def test_the_same_wording_is_no_version(dataset: Dataset, adjudicator: User):
    guideline_publish(dataset=dataset, actor=adjudicator, text="One")
    assert guideline_publish(dataset=dataset, actor=adjudicator, text="One", note="again") is None
    assert guideline_publish(dataset=dataset, actor=adjudicator, text="Two") is not None
    assert list(dataset.guidelines.values_list("number", "text")) == [(2, "Two"), (1, "One")]


def test_datasets_begin_with_a_version_where_they_have_a_guideline(project: Project, dataset: Dataset):
    assert not dataset.guidelines.exists()
    made = dataset_create(project=project, actor=None, slug="more", name="More", guideline="Say why.")
    assert made.guidelines.get().number == 1


def test_changing_a_dataset_publishes_its_guideline(dataset: Dataset, adjudicator: User):
    for text in ("One", "One", "Two"):
        dataset_update(
            dataset=dataset, actor=adjudicator, name="Core", description="", guideline=text, default_tools=None
        )
    assert GuidelineVersion.objects.filter(dataset=dataset).count() == 2


def test_labels_name_the_version_in_force(
    dataset: Dataset, examples: list[Revision], ann: User, submit: Callable[..., Label]
):
    assert submit(ann, NO_CALL).guideline == 0
    guideline_publish(dataset=dataset, actor=None, text="One")
    assert submit(ann, NO_CALL).guideline == 1
