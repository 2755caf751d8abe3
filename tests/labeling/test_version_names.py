"""Notes and tags of frozen versions, and names by which a version is found."""

from __future__ import annotations

import pytest

from labeling.datasets.services import dataset_create
from labeling.errors import InvalidAct
from labeling.imports.services import examples_import
from labeling.models import Dataset, DatasetVersion
from labeling.versions.models import MOST_TAGS, is_tag
from labeling.versions.services import version_describe, version_freeze
from tests.labeling.rows import NO_CALL, call, row
from tests.labeling.test_api import Program
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.runs.forms import BaselineForm
from toolevals.workspace.models import AuditEntry, Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def versions(dataset: Dataset) -> list[DatasetVersion]:
    """Two versions, the older first."""
    made = []
    for number in range(2):
        examples_import(dataset=dataset, actor=None, rows=[row(f"v-{number}", expectation=call())])
        made.append(version_freeze(dataset=dataset, actor=None, note=f"note {number}"))
    return made


@pytest.mark.parametrize("name", ["release-3", "v1.2", "a", "x_y", "a" * 60])
def test_what_can_be_a_tag(name: str):
    assert is_tag(name)


@pytest.mark.parametrize("name", ["", "3", "Release", "-a", "now", "newest", "a b", 'a"', "é", "a@b", "a" * 61, "a\n"])
def test_what_cannot_be_a_tag(name: str):
    assert not is_tag(name)


@pytest.mark.database
def test_a_version_is_found_by_number_and_by_tag(project: Project, versions: list[DatasetVersion]):
    version_describe(version=versions[0], actor=None, tags=["release-3", "v1.2"])
    named = DatasetVersion.objects.named
    assert named(project, "support") == versions[1]
    assert named(project, "support@1") == versions[0]
    assert named(project, "support@release-3") == named(project, "support@v1.2") == versions[0]
    for name in ("support@3", "support@release", "support@release_3", "support@%", "support@", "other", "support@²"):
        assert named(project, name) is None, name


def test_a_note_and_tags_change_and_leave_one_audit_row(versions: list[DatasetVersion], owner):
    changed = version_describe(version=versions[0], actor=owner, note=" for the release ", tags=["a", "b", "a"])
    assert (changed.note, changed.tags, changed.size) == ("for the release", ["a", "b"], 1)
    version_describe(version=versions[0], actor=owner, note="for the release", tags=["a", "b"])
    entry = AuditEntry.objects.get(verb="version_describe")
    assert (entry.actor, entry.target_id, entry.detail["tags"]) == (owner, changed.pk, ["a", "b"])
    assert version_describe(version=versions[0], actor=owner, note="other").tags == ["a", "b"]


@pytest.mark.database
def test_a_tag_names_one_version_until_it_is_moved(versions: list[DatasetVersion]):
    first, second = versions
    version_describe(version=first, actor=None, tags=["stable", "old"])
    with pytest.raises(InvalidAct, match=r"stable \(version 1\)"):
        version_describe(version=second, actor=None, tags=["stable"])
    version_describe(version=second, actor=None, tags=["stable"], move=True)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.tags, second.tags) == (["old"], ["stable"])
    assert AuditEntry.objects.filter(verb="version_describe").order_by("-id")[0].detail["moved_from"] == {"stable": 1}


def test_another_dataset_may_use_the_same_tag(project: Project, dataset: Dataset, versions: list[DatasetVersion]):
    version_describe(version=versions[0], actor=None, tags=["stable"])
    other = dataset_create(project=project, actor=None, slug="other", name="Other", default_tools=dataset.default_tools)
    examples_import(dataset=other, actor=None, rows=[row("o", expectation=NO_CALL)])
    made = version_describe(version=version_freeze(dataset=other, actor=None), actor=None, tags=["stable"])
    assert DatasetVersion.objects.named(project, "other@stable") == made


def test_what_is_no_tag_is_refused_with_its_place(versions: list[DatasetVersion]):
    with pytest.raises(InvalidDocument) as caught:
        version_describe(version=versions[0], actor=None, tags=["fine", "Not fine"])
    assert [problem.pointer for problem in caught.value.problems] == ["/tags/1"]
    with pytest.raises(InvalidDocument):
        version_describe(version=versions[0], actor=None, tags=[f"t{n}" for n in range(MOST_TAGS + 1)])


def test_programs_describe_and_use_names(versions: list[DatasetVersion], adjudicator, reviewer):
    chief = Program(adjudicator)
    address = "datasets/support/versions/1/"
    assert chief.send("PATCH", address, {"tags": ["stable"]})["tags"] == ["stable"]
    assert chief.get("datasets/support/versions/stable/")["note"] == "note 0"
    assert chief.send("PATCH", "datasets/support/versions/2/", {"tags": ["stable"]}, 409)["status"] == 409
    chief.send("PATCH", "datasets/support/versions/2/", {"tags": ["stable"], "move": True})
    assert chief.get("datasets/support/versions/stable/")["number"] == 2
    assert chief.send("PATCH", address, {"tags": ["9"]}, 422)["problems"][0]["pointer"] == "/tags/0"
    assert chief.lines("datasets/support/versions/stable/export/").count(b"\n") == 2
    assert chief.send("POST", "datasets/support/exports/", {"version": "stable"}, 202)["kind"] == "export"
    chief.get("datasets/support/versions/unknown/", 404)
    Program(reviewer).send("PATCH", address, {"note": "mine"}, 403)


def test_a_run_names_its_version_by_tag(versions: list[DatasetVersion], adjudicator):
    chief = Program(adjudicator)
    version_describe(version=versions[0], actor=None, tags=["stable"])
    for asked in ({"dataset": "support@stable"}, {"dataset": "support", "version": "stable"}, {"dataset": "support@1"}):
        run = chief.send("POST", "runs/", {"experiment": "e", **asked}, 202)["run"]
        assert run["dataset_version"]["version"] == 1
    wrong = chief.send("POST", "runs/", {"experiment": "e", "dataset": "support@gone"}, 422)
    assert wrong["problems"][0]["pointer"] == "/dataset"


def test_the_form_of_a_run_takes_a_name(versions: list[DatasetVersion], project: Project):
    version_describe(version=versions[0], actor=None, tags=["stable"])
    form = BaselineForm(
        project, {"experiment": "e", "dataset_version": "support@stable", "trials": "1", "threshold": "0.5"}
    )
    assert form.is_valid(), form.errors
    assert form.cleaned_data["dataset_version"] == versions[0]
    assert "(stable)" in str(form["dataset_version"])
    shown = str(BaselineForm(project, initial={"dataset_version": "support@stable"})["dataset_version"])
    assert f'value="{versions[0].pk}" selected' in shown
    wrong = BaselineForm(project, {"experiment": "e", "dataset_version": "support@gone", "trials": "1"})
    assert "dataset_version" in wrong.errors
