"""The pages of import and export, and the same over REST."""

from __future__ import annotations

import gzip
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from labeling.imports.services import examples_import
from labeling.models import Dataset, Example
from tests.labeling.rows import SHOP_TOOLS, row
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.files import job_files_forget
from toolevals.workspace.models import Job, Project, Upload

CSV = b'Case,Question,Tool,arg.order_id\na,"<b>Where?</b>",get_order,A-1\nb,Hello,(none),\n'
MAPPING = {"column-0": "id", "column-1": "user", "column-2": "tool", "column-3": "argument:order_id"}


@pytest.fixture
def dataset(project: Project) -> Dataset:
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    tools = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    return Dataset.objects.create(project=project, slug="core", name="Core", default_tools=tools)


@pytest.fixture
def page(client, adjudicator, project) -> str:
    """Return the dataset's address; an adjudicator is signed in."""
    client.force_login(adjudicator)
    return f"/p/{project.slug}/datasets/core/"


def api(project: Project) -> str:
    return f"/api/v1/projects/{project.slug}/"


# The last is named like an argument of the dataset's tools.
@pytest.mark.parametrize("column", [b"arg.order_id", b"Order ID"])
def test_a_table_is_previewed_mapped_and_imported(client, page, dataset, run_jobs, column):
    file = SimpleUploadedFile("cases.csv", CSV.replace(b"arg.order_id", column))
    asked = client.post(f"{page}import/", {"source": "csv", "file": file})
    assert asked.status_code == 302
    shown = client.get(asked.url).content.decode()
    assert "&lt;b&gt;Where?&lt;/b&gt;" in shown
    assert '<option value="argument:order_id" selected>' in shown
    assert not Example.objects.exists()
    wrong = client.post(asked.url, MAPPING | {"column-0": "user"})
    assert wrong.status_code == 422
    assert "holds the same as column Case" in wrong.content.decode()
    started = client.post(asked.url, MAPPING)
    run_jobs()
    done = client.get(started.url).content.decode()
    assert "2 new" in done
    assert Job.objects.get().batches.get(stage=0).payload["options"]["columns"]["Question"] == "user"


def imported(client, page, run_jobs, file: bytes) -> str:
    """Import a file of lines and return the page of how it went."""
    started = client.post(f"{page}import/", {"source": "jsonl", "file": SimpleUploadedFile("rows.jsonl", file)})
    run_jobs()
    return str(client.get(started.url).content.decode())


def lines_of(client, shown: str) -> list[str]:
    """Follow the page's link to the lines and return them."""
    found = re.search(r'href="([^"]+/lines/)"', shown)
    assert found is not None
    return b"".join(client.get(found[1])).decode().splitlines()


def a_line(name: str, words: str, **more: Any) -> bytes:
    return (
        json.dumps({"id": name, "input": {"messages": [{"role": "user", "content": words}]}, **more}).encode() + b"\n"
    )


def test_the_fate_of_every_line_is_told(client, page, dataset, run_jobs):
    examples_import(dataset=dataset, actor=None, rows=[row("same"), row("other"), row("strata")])
    rows = [
        a_line("=new", "Hi", expected_tool="get_order", expected_args={"order": "A-1"}),
        b"\n",
        a_line("same", "Where is order same?"),
        a_line("other", "Quite another question"),
        a_line("strata", "Where is order strata?", strata={"difficulty": "hard"}),
    ]
    told = lines_of(client, imported(client, page, run_jobs, b"".join(rows)))
    assert told[0] == "line,id,fate,pointer,message"
    assert [line for line in told[1:] if not line.startswith("1,")] == [
        "3,same,unchanged,,",
        "4,other,revised,,",
        "5,strata,strata changed,,",
    ]
    warnings = [line for line in told if line.startswith("1,")]
    assert warnings
    assert all(line.startswith("1,'=new,added,/expectation") for line in warnings)


def test_the_lines_of_a_refused_file_say_what_stood_in_the_way(client, page, dataset, run_jobs):
    rows = [a_line("a", "Hi"), b"{broken\n", a_line("a", "Hi again"), b'{"id": "c"}\n', a_line("d", "Hi")]
    shown = imported(client, page, run_jobs, b"".join(rows))
    told = [line.split(",", 4) for line in lines_of(client, shown)[1:]]
    assert [line[:3] for line in told] == [
        ["1", "a", "not imported"],
        ["2", "", "refused"],
        ["3", "a", "refused"],
        ["4", "", "refused"],
        ["5", "d", "not imported"],
    ]
    assert "already used in line 1" in told[2][4]
    assert not Example.objects.exists()


def test_a_file_that_is_no_table_says_so(client, page, dataset):
    asked = client.post(f"{page}import/", {"source": "csv", "file": SimpleUploadedFile("x.csv", b"\xff\xfea,b")})
    answer = client.get(asked.url)
    assert answer.status_code == 422
    assert "is UTF-16" in answer.content.decode()


def test_a_person_chooses_the_decision_of_conversations(client, page, dataset, run_jobs):
    turns = [{"role": "user", "content": "A-1?"}, {"role": "assistant", "content": "Which?"},
             {"role": "user", "content": "A-1"}, {"role": "assistant", "content": "Sent."}]  # fmt: skip
    file = SimpleUploadedFile("x.jsonl", json.dumps({"id": "a", "messages": turns}).encode() + b"\n")
    asked = client.post(f"{page}import/", {"source": "auto", "file": file})
    shown = client.get(asked.url).content.decode()
    assert "every turn of the assistant" in shown
    assert client.post(asked.url, {"decision": "second"}).status_code == 422
    client.post(asked.url, {"decision": "every"})
    run_jobs()
    assert sorted(Example.objects.values_list("external_id", flat=True)) == ["a-1", "a-2"]


def test_recorded_runs_ask_what_to_make_of_them(client, page, dataset, run_jobs):
    record = {"task_id": 1, "reward": 1.0, "traj": [], "info": {"task": {"instruction": "Cancel.", "actions": []}}}
    file = SimpleUploadedFile("runs.json", json.dumps([record]).encode())
    asked = client.post(f"{page}import/", {"source": "tau", "file": file})
    assert "in any order" in client.get(asked.url).content.decode()
    client.post(asked.url, {"examples": "tasks", "order": "ordered"})
    run_jobs()
    assert Example.objects.get().external_id == "task-1"


def test_an_upload_of_another_project_is_not_there(client, page, dataset):
    elsewhere = Project.objects.create(slug="elsewhere", name="Elsewhere")
    other = Upload.objects.create(project=elsewhere, name="x", file="x", size=1)
    assert client.get(f"{page}import/{other.pk}/?source=csv").status_code == 404


def test_formats_that_say_all_are_sent_at_once(client, page, dataset):
    examples_import(dataset=dataset, actor=None, rows=[row("a", expected_tool=None)])
    for name, head in (("csv", b"id,user"), ("jsonl", b'{"id"'), ("langsmith", b'{"id"')):
        sent = client.post(f"{page}exports/", {"format": name}, follow=True)
        assert b"".join(sent.streaming_content).startswith(head)
        assert "attachment" in sent["Content-Disposition"]
    assert client.get(f"{page}export/?as=xml").status_code == 404
    assert not Job.objects.exists()


def test_what_may_leave_something_out_is_written_by_a_job_and_reported(client, page, dataset, run_jobs):
    examples_import(dataset=dataset, actor=None, rows=[row("yes", expected_tool=None), row("<i>no</i>")])
    started = client.post(f"{page}exports/", {"format": "bfcl"})
    run_jobs()
    shown = client.get(started.url).content.decode()
    assert "1 written" in shown
    assert "there is no gold yet" in shown
    assert "&lt;i&gt;no&lt;/i&gt;" in shown
    address = f"{page}exports/{Job.objects.get().pk}/file/"
    assert address in shown
    assert b"".join(client.get(address).streaming_content).startswith(b"PK")
    assert job_files_forget(database_now()) == 0
    assert job_files_forget(database_now() + timedelta(days=1, minutes=1)) == 1
    assert client.get(address).status_code == 410
    assert "is gone" in client.get(started.url).content.decode()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-ndjson", b'{"messages": [{"role": "user", "content": "Hi"}]}\n'),
        ("application/gzip", gzip.compress(b'{"messages": [{"role": "user", "content": "Hi"}]}\n', mtime=0)),
    ],
)
def test_rest_takes_a_bare_body(client, page, project, dataset, run_jobs, kind, body):
    address = f"{api(project)}datasets/core/imports/?source=openai_chat"
    answer = client.generic("POST", address, body, kind)
    assert answer.status_code == 202, answer.content
    run_jobs()
    assert Example.objects.count() == 1


def test_rest_takes_a_table_with_its_options(client, page, project, dataset, run_jobs):
    options = json.dumps({"columns": {"Question": "user", "Case": "id"}})
    form: dict[str, Any] = {"file": SimpleUploadedFile("c.csv", CSV), "source": "csv", "options": options}
    assert client.post(f"{api(project)}datasets/core/imports/", form).status_code == 202
    run_jobs()
    assert Example.objects.count() == 2
    for bad in ("{", "[]", '{"columns": {"Question": "mood"}}', ""):
        form["file"] = SimpleUploadedFile("c.csv", CSV)
        assert client.post(f"{api(project)}datasets/core/imports/", form | {"options": bad}).status_code in (400, 422)


def test_rest_exports(client, page, project, dataset, run_jobs):
    examples_import(dataset=dataset, actor=None, rows=[row("yes", expected_tool=None), row("no")])
    base = f"{api(project)}datasets/core/"
    assert b"".join(client.get(f"{base}export/?as=csv").streaming_content).startswith(b"id,user")
    summary = client.get(f"{base}export/?as=bfcl&summary=true").json()
    assert (summary["written"], summary["skipped_by_reason"]) == (1, {"there is no gold yet": 1})
    assert client.get(f"{base}export/?as=xml").status_code in (400, 422)
    job = client.post(f"{base}exports/", json.dumps({"format": "jsonl"}), content_type="application/json")
    assert job.status_code == 202
    file = f"{api(project)}exports/{job.json()['id']}/file/"
    assert client.get(file).status_code == 410
    run_jobs()
    assert b"".join(client.get(file).streaming_content).count(b"\n") == 2
