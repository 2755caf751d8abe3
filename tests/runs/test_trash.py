"""Say what was deleted is found nowhere, comes back whole, and is destroyed with all that hangs on it after 30 days."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from labeling.adjudicate.services import dispute_open
from labeling.datasets.services import dataset_create
from labeling.errors import InvalidAct
from labeling.imports.services import examples_import, import_start
from labeling.label.claims import slot_claim
from labeling.models import (
    Dataset,
    DatasetVersion,
    Draft,
    Example,
    Gold,
    ImportPart,
    Label,
    LabelSlot,
    Revision,
    SlotState,
    StagedExample,
    VersionEntry,
)
from tests.labeling.rows import SHOP_TOOLS, row
from tests.runs.building import EXAMPLES, HISTORY, REFUND, baseline_run, call, example, stored, uploaded_run
from tests.runs.trashing import destroyed, jobs_destroy, swept
from toolevals.grading.guard import Request
from toolevals.grading.reading.examples import read_example
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.policies.queries import active_guard
from toolevals.registry.policies.services import policy_activate, policy_create, policy_delete
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.baseline.starting import baseline_agents_start
from toolevals.runs.models import CaseGrade, Grading, MatrixCount, Run, Transcript
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Batch, Job, JobState, Project, Upload
from toolevals.workspace.trash.services import TrashError, trash_destroy, trash_put, trash_restore, trash_sweep

pytestmark = pytest.mark.django_db


@pytest.fixture
def failed_import(project, run_jobs):
    """A dataset whose import was refused: it is empty."""
    dataset = dataset_create(project=project, actor=None, slug="failed", name="Failed")
    import_start(dataset=dataset, actor=None, upload=stored(project, b'{"id": "a"}\nnot JSON\n'))
    run_jobs()
    assert not Example.objects.filter(dataset=dataset).exists()
    return dataset


@pytest.fixture
def run(project, version, run_jobs):
    """A graded run."""
    made = uploaded_run(project, version, [call("status", HISTORY), call("refund", REFUND)])
    run_jobs()
    made.refresh_from_db()
    return made


def verbs(target: Any) -> list[str]:
    return list(AuditEntry.objects.filter(target_id=target.pk).order_by("id").values_list("verb", flat=True))


def test_what_is_deleted_is_found_no_more_and_comes_back(project, failed_import, owner):
    trash_put(row=failed_import, actor=owner)
    assert not Dataset.objects.filter(pk=failed_import.pk).exists()
    assert not project.datasets.filter(pk=failed_import.pk).exists()
    found = Dataset.with_trash.get(pk=failed_import.pk)
    assert found.deleted_by == owner
    assert found.deleted_at is not None
    assert found.destroy_at == found.deleted_at + timedelta(days=30)
    with pytest.raises(TrashError, match="was deleted before"):
        trash_put(row=failed_import, actor=owner)
    trash_restore(row=failed_import, actor=owner)
    back = Dataset.objects.get(pk=failed_import.pk)
    assert (back.deleted_at, back.deleted_by, back.destroy_at, back.deletion) == (None, None, None, None)
    with pytest.raises(TrashError, match="is not in the trash"):
        trash_restore(row=failed_import, actor=owner)
    assert verbs(failed_import) == ["dataset_create", "import_start", "dataset_delete", "dataset_restore"]


def test_a_name_in_the_trash_is_free_and_a_clash_is_refused_by_name(project, failed_import, owner):
    trash_put(row=failed_import, actor=owner)
    again = dataset_create(project=project, actor=owner, slug="failed", name="Another")
    with pytest.raises(TrashError, match="Another dataset now has the short name failed"):
        trash_restore(row=failed_import, actor=owner)
    trash_put(row=again, actor=owner)
    trash_restore(row=failed_import, actor=owner)
    with pytest.raises(TrashError, match="Another dataset"):
        trash_restore(row=again, actor=owner)


def test_a_failed_import_is_destroyed_with_its_file_and_staged_rows(project, failed_import):
    paths = [Path(settings.MEDIA_ROOT, str(upload.file.name)) for upload in Upload.objects.all()]
    # What was sent, and what became of its lines.
    assert [path.exists() for path in paths] == [True, True]
    assert destroyed(failed_import) == 1
    assert not Dataset.with_trash.filter(pk=failed_import.pk).exists()
    assert not any(path.exists() for path in paths)
    for model in (Upload, ImportPart, StagedExample):
        assert not model.objects.exists(), model
    # The job that destroyed it stays, and says so.
    job, batch = Job.objects.get(), Batch.objects.get()
    assert (job.title, job.state) == ("Permanently delete dataset Failed", JobState.SUCCEEDED)
    assert job.progress == (batch.size, batch.size)
    assert list(Job.objects.of_project(project)) == [job]
    assert verbs(failed_import)[-1] == "dataset_destroy"


def test_nothing_is_destroyed_before_its_days_are_over(failed_import):
    trash_put(row=failed_import, actor=None)
    assert trash_sweep(database_now() + timedelta(days=29, hours=23)) == 0
    assert Dataset.with_trash.filter(pk=failed_import.pk, tombstone=None).exists()


def test_it_is_destroyed_now_where_its_name_is_typed(failed_import, owner):
    trash_put(row=failed_import, actor=owner)
    with pytest.raises(TrashError, match="Type failed to delete it permanently"):
        trash_destroy(row=failed_import, actor=owner, typed="Failed")
    assert trash_sweep(database_now()) == 0
    trash_destroy(row=failed_import, actor=owner, typed="failed")
    assert trash_sweep(database_now()) == 0
    assert jobs_destroy() == 1
    assert not Dataset.with_trash.filter(pk=failed_import.pk).exists()


def test_unfinished_work_is_cancelled_and_other_work_goes_on(project, version, run_jobs, owner):
    other = dataset_create(project=project, actor=None, slug="other", name="Other")
    doomed = dataset_create(project=project, actor=None, slug="doomed", name="Doomed")
    jobs = [
        import_start(dataset=each, actor=None, upload=stored(project, b'{"id": "a"}\n')) for each in (doomed, other)
    ]
    trash_put(row=doomed, actor=owner)
    for job in jobs:
        job.refresh_from_db()
    assert [job.state for job in jobs] == [JobState.CANCELLED, JobState.RUNNING]
    assert [job.trashed_with for job in jobs] == [doomed.pk, None]
    assert list(Job.objects.of_project(project)) == [jobs[1]]
    trash_restore(row=doomed, actor=owner)
    assert Job.objects.of_project(project).count() == 2


def test_a_trashed_dataset_hands_out_nothing_and_releases_its_claims(project, dataset_of_three, reviewer):
    slot = slot_claim(dataset_or_project=project, actor=reviewer)
    assert slot is not None
    trash_put(row=dataset_of_three, actor=None)
    slot.refresh_from_db()
    assert (slot.state, slot.reviewer) == (SlotState.OPEN, None)
    assert slot_claim(dataset_or_project=project, actor=reviewer) is None
    trash_restore(row=dataset_of_three, actor=None)
    assert slot_claim(dataset_or_project=project, actor=reviewer) is not None


@pytest.fixture
def dataset_of_three(project):
    """Three examples to label."""
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    tools = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    made = dataset_create(project=project, actor=None, slug="support", name="Support", default_tools=tools)
    examples_import(dataset=made, actor=None, rows=[row(f"ex-{n}") for n in range(3)])
    return made


def test_a_dataset_goes_with_labels_claims_and_baseline_agents(project, dataset_of_three, version, run_jobs, reviewer):
    slot_claim(dataset_or_project=dataset_of_three, actor=reviewer)
    Draft.objects.create(
        revision=Revision.objects.filter(example__dataset=dataset_of_three)[0], user=reviewer, document={}
    )
    baseline_agents_start(version=version)
    run_jobs()
    baseline_agents = Run.objects.exclude(baseline_agent="").count()
    assert baseline_agents >= 3
    destroyed(dataset_of_three)
    assert not LabelSlot.objects.filter(dataset=dataset_of_three.pk).exists()
    assert Run.objects.exclude(baseline_agent="").count() == baseline_agents
    destroyed(version.dataset)
    for model in (Example, Revision, Gold, VersionEntry, DatasetVersion, LabelSlot, Label, Draft, Transcript, Grading):
        assert not model.objects.exists(), model
    assert not Dataset.with_trash.exclude(project__slug="--arriving").exists()
    assert not Run.with_trash.exists()


def test_a_version_that_a_run_rests_on_stays_until_the_run_is_destroyed(project, version, run):
    examples_import(dataset=version.dataset, actor=None, rows=[read_example(example("later", "Hello again", None))])
    destroyed(version.dataset)
    tombstone = Dataset.with_trash.get(pk=version.dataset_id)
    assert tombstone.destroyed_at
    assert tombstone.tombstone["examples"] == len(EXAMPLES) + 1
    assert [each["number"] for each in tombstone.tombstone["versions"]] == [1]
    assert VersionEntry.objects.filter(version=version).count() == len(EXAMPLES)
    assert Example.objects.filter(dataset=tombstone).count() == len(EXAMPLES)
    assert not Label.objects.exists()
    assert not LabelSlot.objects.filter(dataset=tombstone).exists()
    with pytest.raises(InvalidAct, match="was deleted"):
        dispute_open(revision=Revision.objects.order_by("pk")[0], actor=None, reason="wrong")
    with pytest.raises(TrashError, match="already deleted"):
        trash_restore(row=tombstone, actor=None)

    destroyed(run)
    assert not Example.objects.exists()
    # The run's tombstone names its version.
    assert DatasetVersion.objects.get().entries.count() == 0
    assert Dataset.with_trash.get(pk=tombstone.pk).destroyed_at


def test_a_run_leaves_its_number_and_gradings_and_nothing_else(project, version, run, run_jobs):
    destroyed(run)
    left = Run.with_trash.get(pk=run.pk)
    assert left.tombstone["outcomes"]["passed"] == 1
    assert left.tombstone["transcripts"] == 4
    assert left.gradings.count() == 1
    for model in (Transcript, CaseGrade, MatrixCount):
        assert not model.objects.exists(), model
    assert not Job.objects.filter(kind="run").exists()
    assert not Upload.objects.exists()
    assert baseline_run(project, version).number == run.number + 1


def test_a_registry_keeps_the_version_that_a_dataset_uses(project, dataset_of_three):
    registry = Registry.objects.get()
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS[:1])
    destroyed(registry)
    assert list(RegistryVersion.objects.values_list("number", flat=True)) == [1]
    assert Registry.with_trash.get().destroyed_at
    assert Dataset.objects.filter(pk=dataset_of_three.pk, default_tools__registry__deleted_at__isnull=False).exists()
    destroyed(dataset_of_three)
    swept()
    assert not Registry.with_trash.exists()


def test_a_registry_keeps_the_versions_that_a_policy_uses(project):
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    rules = {"rules": {"schema": {"kind": "schema", "mode": "enforce"}}}
    made = policy_create(project=project, actor=None, slug="guard", name="Guard", document=rules, registry=registry)
    policy_activate(version=made, actor=None)
    destroyed(registry)
    in_force = active_guard(project, None)
    assert in_force is not None
    assert in_force.guard.check(Request("get_order", {"order_id": "A-1"})).allowed
    policy_delete(policy=made.policy, actor=None)
    swept()
    assert not Registry.with_trash.exists()


def test_a_registry_that_nothing_uses_goes_whole(project):
    registry = registry_create(project=project, actor=None, slug="unused", name="Unused")
    registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    destroyed(registry)
    assert not Registry.with_trash.exists()
    assert not RegistryVersion.objects.exists()


def test_a_project_goes_whole_and_leaves_a_line_in_the_log(project, version, run, failed_import, owner):
    other = Project.objects.create(slug="other", name="Other")
    folder = Path(settings.MEDIA_ROOT, str(project.pk))
    assert list(folder.iterdir())
    destroyed(project, owner)
    assert list(Project.with_trash.exclude(slug="--arriving")) == [other]
    for model in (Example, Revision, Run.with_trash.model, Grading, Job, Upload, RegistryVersion):
        assert not model._base_manager.exists(), model
    assert list(folder.iterdir()) == []
    line = AuditEntry.objects.get(target_id=project.pk, verb="project_destroy")
    assert (line.project, line.detail["name"], line.detail["runs"]) == (None, "shop", 1)


def test_nothing_new_is_run_on_a_deleted_dataset(project, version, owner):
    trash_put(row=version.dataset, actor=owner)
    with pytest.raises(InvalidDocument, match="is of a dataset that was deleted"):
        baseline_run(project, DatasetVersion.objects.get(pk=version.pk))
