"""Pages of datasets: the list, the examples, settings, import, export, versions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.services import adjudication_decide
from labeling.imports.services import examples_import
from labeling.models import Dataset, DatasetVersion, Example, Revision
from labeling.tasks import coverage_count as coverage_task
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import returned, row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import Job, Project, User

AsUser = Callable[[User], Client]
PLAIN = {"expected_tool": "get_order", "expected_args": {"order_id": "A-1"}}


def url(name: str, *arguments: object) -> str:
    return reverse(f"labeling:{name}", args=["shop", *arguments])


@pytest.fixture
def client(adjudicator: User, as_user: AsUser) -> Client:
    return as_user(adjudicator)


def lines(*documents: Any) -> SimpleUploadedFile:
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in documents)
    return SimpleUploadedFile("examples.jsonl", text.encode())


def test_the_list_counts(dataset: Dataset, viewer: User, as_user: AsUser):
    page = body(as_user(viewer).get(url("datasets")))
    assert "Core" in page
    assert '<td class="r">3</td>' in page
    assert "Add a dataset" not in page


def test_a_dataset_is_added(project: Project, client: Client):
    entered = {"name": "New", "slug": "new", "guideline": "# One"}
    assert client.post(url("datasets"), entered)["Location"] == url("import", "new")
    assert Dataset.objects.get(slug="new").guideline == "# One"
    assert "A dataset with this short name already exists." in body(client.post(url("datasets"), entered))


def test_reviewers_add_none(project: Project, reviewer: User, as_user: AsUser):
    assert as_user(reviewer).post(url("datasets"), {"name": "New", "slug": "new"}).status_code == 403


def test_the_examples_are_filtered_by_address(dataset: Dataset, client: Client):
    examples_import(dataset=dataset, actor=None, rows=[read_example(row(7, strata={"bucket": "selection"}, **PLAIN))])
    assert "ex-7" in body(client.get(url("dataset", "core")))
    for query, count in (
        ("q=ex-7", 1),
        ("bucket=selection", 1),
        ("status=resolved", 1),
        ("status=open", 3),
        ("q=no", 0),
    ):
        page = body(client.get(url("dataset", "core") + f"?{query}"))
        assert page.count('<a class="mono"') == count, query
    assert "No example matches." in page


def test_pages_follow_each_other(dataset: Dataset, client: Client):
    rows = [read_example(row(number)) for number in range(100, 210)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    first = client.get(url("dataset", "core") + "?q=ex-")
    assert body(first).count('<a class="mono"') == 100
    second = body(client.get(url("dataset", "core") + first.context["older_url"]))
    assert second.count('<a class="mono"') == 13
    assert client.get(url("dataset", "core") + "?before=nonsense").status_code == 200


def test_reviewers_are_not_told_who_differs(disagreed: Revision, reviewer: User, client: Client, as_user: AsUser):
    assert "labels differ" in body(client.get(url("dataset", "core")))
    page = body(as_user(reviewer).get(url("dataset", "core")))
    assert "labels differ" not in page
    assert "to adjudicate" not in page


def test_other_projects_datasets_are_not_there(dataset: Dataset, outsider: User, as_user: AsUser, client: Client):
    assert as_user(outsider).get(url("dataset", "core")).status_code == 404
    assert client.get(url("dataset", "other")).status_code == 404


def test_the_settings_are_changed(dataset: Dataset, client: Client, reviewer: User, as_user: AsUser):
    client.post(url("dataset-settings", "core"), {"name": "Core 2", "guideline": "- `a`"})
    dataset.refresh_from_db()
    assert (dataset.name, dataset.guideline, dataset.default_tools) == ("Core 2", "- `a`", None)
    assert "Change it" not in body(as_user(reviewer).get(url("dataset-settings", "core")))
    assert as_user(reviewer).post(url("dataset-settings", "core"), {"name": "x"}).status_code == 403
    assert client.post(url("dataset-settings", "core"), {"name": ""}).status_code == 200


def test_a_file_is_imported(dataset: Dataset, client: Client, run_jobs: Callable[..., int]):
    response = client.post(url("import", "core"), {"source": "jsonl", "file": lines(row(8, **PLAIN), row(0))})
    assert "hx-trigger" in body(client.get(response["Location"]))
    run_jobs()
    page = body(client.get(response["Location"]))
    assert "1 new" in page
    assert "1 unchanged" in page
    assert Example.objects.get(external_id="ex-8").current.gold is not None  # type: ignore[union-attr]


def test_a_files_errors_are_listed_by_line(dataset: Dataset, client: Client, run_jobs: Callable[..., int]):
    response = client.post(url("import", "core"), {"source": "jsonl", "file": lines(row(8), "{", {"id": 3})})
    run_jobs(impatient=True)
    page = body(client.get(response["Location"]))
    assert "line 2" in page
    assert "line 3" in page
    assert not Example.objects.filter(external_id="ex-8").exists()


def test_an_import_needs_a_file_and_a_known_format(dataset: Dataset, client: Client):
    assert client.post(url("import", "core"), {"source": "jsonl"}).status_code == 422
    assert client.post(url("import", "core"), {"source": "xml", "file": lines(row(1))}).status_code == 422


def test_reviewers_import_nothing(dataset: Dataset, reviewer: User, as_user: AsUser):
    assert as_user(reviewer).get(url("import", "core")).status_code == 403


def test_another_projects_job_is_not_shown(dataset: Dataset, client: Client):
    assert "This import" not in body(client.get(url("import", "core") + "?job=01990000-0000-7000-8000-000000000000"))
    assert "This import" not in body(client.get(url("import", "core") + "?job=x"))


def test_the_export_streams_every_example(dataset: Dataset, viewer: User, as_user: AsUser):
    response = as_user(viewer).get(url("export", "core"))
    text = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
    assert [json.loads(line)["id"] for line in text.splitlines()] == ["ex-0", "ex-1", "ex-2"]
    assert response["Content-Disposition"] == 'attachment; filename="core.jsonl"'


def test_a_version_is_frozen(disagreed: Revision, client: Client, owner: User):
    response = client.post(url("versions", "core"), {"note": "first"})
    assert response.status_code == 409
    assert "nothing to freeze" in body(response)
    adjudication_decide(revision=disagreed, actor=owner, expectation=returned(), rationale="So.")
    after = client.post(url("versions", "core"), {"note": "first"})
    version = DatasetVersion.objects.get()
    assert (version.size, version.note) == (1, "first")
    # What comes next is a run, on this version.
    next_page = body(client.get(after["Location"]))
    assert "Version 1 is frozen" in next_page
    start = f"{reverse('runs:new', args=['shop'])}?dataset_version={version.pk}"
    assert f'href="{start}"' in next_page
    assert f'<option value="{version.pk}" selected>' in body(client.get(start))
    assert "is frozen" not in body(client.get(url("versions", "core") + "?frozen=9"))
    page = body(client.get(url("versions", "core")))
    assert "first" in page
    export = client.get(url("version-export", "core", 1))
    assert json.loads(b"".join(export.streaming_content))["id"] == "ex-0"  # type: ignore[attr-defined]
    assert client.get(url("version-export", "core", 2)).status_code == 404


def test_the_page_asks_why_labels_that_break_a_schema_are_frozen(dataset: Dataset, client: Client):
    wrong = row(60, expected_tool="get_order", expected_args={"order_id": 5})
    examples_import(dataset=dataset, actor=None, rows=[read_example(wrong)])
    refused = client.post(url("versions", "core"), {"note": "first"})
    assert refused.status_code == 409
    assert "ex-60: /alternatives/0/" in body(refused)
    assert not DatasetVersion.objects.exists()
    client.post(url("versions", "core"), {"note": "first", "misfits_reason": "It tests refusals."})
    assert "It tests refusals." in DatasetVersion.objects.get().note


def test_reviewers_freeze_nothing(dataset: Dataset, reviewer: User, as_user: AsUser):
    assert as_user(reviewer).post(url("versions", "core"), {}).status_code == 403


def test_a_version_gets_a_note_and_a_tag_that_moves(disagreed: Revision, client: Client, owner: User, reviewer: User):
    rows = [read_example(row(number, expected_tool=None)) for number in (60, 61)]
    for one in rows:
        examples_import(dataset=disagreed.example.dataset, actor=None, rows=[one])
        client.post(url("versions", "core"), {"note": ""})
    first, second = url("version-describe", "core", 1), url("version-describe", "core", 2)
    assert client.post(first, {"note": "for CI", "tags": "stable v1.0"}).status_code == 302
    assert "stable" in body(client.get(url("versions", "core")))
    assert client.get(url("version-export", "core", "stable")).status_code == 200
    refused = client.post(second, {"tags": "stable"})
    assert refused.status_code == 409
    assert "Save and move the tag to this version" in body(refused)
    assert client.post(second, {"tags": "stable", "move": "1"}).status_code == 302
    assert list(DatasetVersion.objects.order_by("number").values_list("tags", flat=True)) == [["v1.0"], ["stable"]]
    wrong = client.post(second, {"tags": "9"})
    assert wrong.status_code == 422
    assert "begins with a lower-case letter" in body(wrong)
    client.force_login(reviewer)
    assert client.post(first, {"note": "mine"}).status_code == 403


def test_a_large_dataset_is_counted_by_a_job(dataset: Dataset, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [read_example(row(number, strata={"bucket": "selection"}, **PLAIN)) for number in (7, 8)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    exact = client.get(url("dataset", "core")).context
    monkeypatch.setattr("labeling.coverage.cache.COUNTED_AT_ONCE", 2)
    first = client.get(url("dataset", "core") + "?bucket=no_call").context
    assert first["counts"] == []
    assert [stratum["values"] for stratum in first["strata"]] == [["no_call", "selection"]]
    coverage_task(str(Job.objects.get(kind="coverage").batches.get().pk))
    second = client.get(url("dataset", "core"))
    assert second.context["counts"] == exact["counts"]
    assert "counted" in body(second)


def test_lists_tell_how_large_a_dataset_was_when_it_was_counted(
    dataset: Dataset, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/api/v1/projects/shop/datasets/{dataset.slug}/"
    now = client.get(address).json()
    assert (now["size"], now["counted_at"]) == (dataset.examples.count(), None)
    monkeypatch.setattr("labeling.coverage.cache.COUNTED_AT_ONCE", 1)
    assert "being counted" in body(client.get(url("datasets")))
    assert "being counted for the first time" in body(client.get(url("versions", "core")))
    assert client.get(address).json()["size"] is None
    coverage_task(str(Job.objects.get(kind="coverage").batches.get().pk))
    kept = client.get(address).json()
    assert (kept["size"], kept["with_gold"]) == (now["size"], now["with_gold"])
    assert kept["counted_at"] is not None
    assert "counted <time" in body(client.get(url("datasets")))
    assert "when they were counted" in body(client.get(url("versions", "core")))


def test_reviewers_are_told_nothing_of_disagreement(dataset: Dataset, reviewer: User, as_user: AsUser) -> None:
    assert as_user(reviewer).get(url("dataset", "core") + "?status=disagreed").context["rows"] == []
