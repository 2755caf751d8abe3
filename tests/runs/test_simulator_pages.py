"""Simulators on pages and in the REST interface, and which tools need one."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from tests.runs.building import HISTORY, REFUND, STATUS, baseline_run, call, example, uploaded_run, version_of
from toolevals.presentation.numbers import percent
from toolevals.runs.models import DatasetSimulator, Simulator
from toolevals.runs.simulators.needs import needs_of
from toolevals.runs.simulators.services import simulator_begin, simulator_choose, simulator_ensure
from toolevals.workspace.models import Job, Upload

SCRIPT = {"results": [{"tool": STATUS, "result": "sent"}, {"tool": REFUND, "result": "done"}]}
CODE = "from prices import MUG\n\n\ndef price(state):\n    return MUG\n"


def made(project: Any, content: Any = SCRIPT, kind: str = "scripted") -> Any:
    return simulator_ensure(project=project, actor=None, name="Shop", kind=kind, content=content)


def page(name: str, project: Any, *arguments: Any) -> str:
    return reverse(f"runs:{name}", args=[project.slug, *arguments])


def zipped(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "."), text)
    return data.getvalue()


def damaged() -> bytes:
    """An archive whose list of files is whole, and whose file is not."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("simulator.py", CODE)
    return data.getvalue().replace(data.getvalue()[42:50], b"\xff" * 8, 1)


def test_tools_are_counted_in_gold_and_in_runs_and_the_most_called_comes_first(project, version, run_jobs):
    before = needs_of(version.dataset, actor=None)
    assert [(tool.expected, tool.called, tool.is_simulated) for tool in before.tools] == [(1, 0, False)] * 3
    assert (before.coverage, before.runs) == (0.0, ())
    baseline_run(project, version, trials=3)
    run_jobs()
    simulator_choose(dataset=version.dataset, actor=None, simulator=made(project))
    needs = needs_of(version.dataset, actor=None)
    calls = {tool.tool: (tool.expected, tool.called, tool.is_simulated) for tool in needs.tools}
    assert set(calls) == {STATUS, HISTORY, REFUND}
    assert calls[STATUS][2] is calls[REFUND][2] is True
    assert (needs.expected, needs.answered, needs.runs) == (3, 2, (1,))
    assert sum(tool.called for tool in needs.tools) >= 3
    assert [tool.expected + tool.called for tool in needs.tools] == sorted(
        (tool.expected + tool.called for tool in needs.tools), reverse=True
    )
    assert needs.first_missing is not None
    assert needs.first_missing.tool == HISTORY


def test_calls_where_any_call_will_do_are_counted_too_and_stand_in_no_matrix(project, run_jobs):
    rows = [example("free", "Do something", None), example("status", "What is the status of ORD-1?", STATUS)]
    del rows[0]["expected_tool"]
    rows[0]["expectation"] = {"kind": "some_call"}
    version = version_of(project, rows)
    made_up = "no_such_tool"
    both = [{"name": name, "arguments": {}} for name in (HISTORY, REFUND, made_up)]
    run = uploaded_run(project, version, [{"id": "free", "tool_calls": both}, call("status", STATUS)])
    run_jobs()
    run.refresh_from_db()
    called = {tool.tool: tool.called for tool in needs_of(version.dataset, actor=None).tools}
    assert called == {STATUS: 1, HISTORY: 1, REFUND: 1}
    matrices = run.grading.matrix_counts.filter(view__in=("first", "aligned"))
    cells = {("first", STATUS, STATUS), ("aligned", STATUS, STATUS)}
    assert set(matrices.values_list("view", "expected", "actual")) == cells


def test_a_service_that_names_no_tools_is_not_counted_as_answering(project, version):
    service = made(project, {"base_url": "http://127.0.0.1:1"}, "http")
    simulator_choose(dataset=version.dataset, actor=None, simulator=service)
    needs = needs_of(version.dataset, actor=None)
    assert {tool.is_simulated for tool in needs.tools} == {None}
    assert (needs.answered, needs.first_missing) == (0, None)


def test_the_page_says_what_is_simulated_and_costs_the_same_however_much_there_is(
    client, project, adjudicator, version, run_jobs, django_assert_max_num_queries
):
    client.force_login(adjudicator)
    for number in range(3):
        made(project, {"results": [{"tool": STATUS, "result": number}]})
        baseline_run(project, version)
    run_jobs()
    simulator_choose(dataset=version.dataset, actor=None, simulator=made(project))
    with django_assert_max_num_queries(32):
        said = " ".join(client.get(page("simulators", project)).content.decode().split()).replace(" >", ">")
    assert "Shop v4</a>" in said
    assert f"<strong>2 of 3</strong> expected calls ({percent(2 / 3)}&nbsp;%)" in said
    assert f"Simulate this tool first: <code>{HISTORY}</code>" in said
    assert "Called in 3 runs" in said


def test_a_project_without_a_dataset_says_what_is_missing(client, project, adjudicator):
    client.force_login(adjudicator)
    assert "No datasets yet" in client.get(page("simulators", project)).content.decode()


def test_a_simulator_is_chosen_and_taken_away_on_the_page(client, project, adjudicator, viewer, version):
    simulator = made(project)
    sent = {"dataset": version.dataset.slug, "simulator": simulator.pk}
    client.force_login(viewer)
    assert client.post(page("simulators", project), sent).status_code == 403
    client.force_login(adjudicator)
    answer = client.post(page("simulators", project), sent)
    assert answer["Location"].endswith(f"?dataset={version.dataset.slug}")
    assert DatasetSimulator.objects.get().simulator == simulator
    client.post(page("simulators", project), {**sent, "simulator": ""})
    assert not DatasetSimulator.objects.exists()
    client.post(page("simulators", project), {**sent, "dataset": "elsewhere"})
    assert not DatasetSimulator.objects.exists()


def test_the_table_is_there_as_csv(client, project, viewer, version):
    client.force_login(viewer)
    simulator_choose(dataset=version.dataset, actor=None, simulator=made(project))
    answer = client.get(page("simulated-tools-csv", project, version.dataset.slug))
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0] == "tool,expected,called,simulated"
    assert sorted(lines[1:]) == [f"{HISTORY},1,0,false", f"{STATUS},1,0,true", f"{REFUND},1,0,true"]


@pytest.mark.parametrize(
    ("kind", "said", "tools"),
    [
        ("scripted", {"results": json.dumps(SCRIPT["results"])}, [STATUS, REFUND]),
        ("http", {"base_url": "http://world.example", "timeout": "5", "tools": "a, b"}, ["a", "b"]),
        ("code", {"file": SimpleUploadedFile("any.py", b"def price(state):\n    return 1\n")}, ["price"]),
        (
            "code",
            {"file": SimpleUploadedFile("shop.zip", zipped(simulator__py=CODE, prices__py="MUG = 9"))},
            ["price"],
        ),
    ],
    ids=["scripted", "http", "file", "archive"],
)
def test_an_owner_adds_a_simulator_of_each_kind(client, project, owner, settings, run_jobs, kind, said, tools):
    settings.TRUSTED_SIMULATORS = ["*"]
    client.force_login(owner)
    for value in said.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    fields = {f"{kind}-{name}": value for name, value in {"name": "Mine", **said}.items()}
    answer = client.post(page("simulator-new", project), {"kind": kind, **fields})
    run_jobs()
    simulator = Simulator.objects.get()
    address = page("simulator", project, simulator.pk)
    if kind == "code":
        assert f'href="{address}">Open the result' in client.get(answer["Location"]).content.decode()
        # The same again is there, and nothing is asked.
        said["file"].seek(0)
        answer = client.post(page("simulator-new", project), {"kind": kind, **fields})
    assert answer["Location"] == address
    assert simulator.tools == tools
    shown = client.get(answer["Location"]).content.decode()
    assert "Mine v1" in shown
    assert ("as trusted code, without a sandbox" in shown) == (kind == "code")


@pytest.mark.parametrize(
    ("kind", "said", "message"),
    [
        ("scripted", {"results": "[{"}, "Cannot be read: not JSON at line 1, column 3"),
        ("scripted", {"results": "[{}]"}, "0: "),
        ("http", {"base_url": "http://u:p@world.example", "timeout": "5"}, "without a password in it"),
        ("code", {"file": SimpleUploadedFile("a.py", b"\xff\xfe")}, "not text in UTF-8"),
        ("code", {"file": SimpleUploadedFile("a.zip", zipped(other__py="1"))}, "must hold simulator.py"),
        ("code", {"file": SimpleUploadedFile("a.zip", b"PK\x03\x04 no archive")}, "archive that cannot be read"),
        ("code", {"file": SimpleUploadedFile("a.zip", damaged())}, "archive that cannot be read"),
    ],
    ids=["json", "result", "address", "bytes", "archive", "no archive", "damaged archive"],
)
def test_what_is_wrong_stands_beside_its_field(client, project, owner, settings, kind, said, message):
    settings.TRUSTED_SIMULATORS = ["*"]
    client.force_login(owner)
    for value in said.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    fields = {f"{kind}-{name}": value for name, value in {"name": "Mine", **said}.items()}
    answer = client.post(page("simulator-new", project), {"kind": kind, **fields})
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not Simulator.objects.exists()


def test_code_that_does_not_load_fails_its_job_and_says_why(client, project, owner, settings, run_jobs):
    settings.TRUSTED_SIMULATORS = ["*"]
    client.force_login(owner)
    fields = {"kind": "code", "code-name": "Mine", "code-file": SimpleUploadedFile("a.py", b"1 / 0")}
    answer = client.post(page("simulator-new", project), fields)
    run_jobs()
    shown = client.get(answer["Location"]).content.decode()
    assert "ZeroDivisionError" in shown
    assert "/content/files" in shown
    assert not Simulator.objects.exists()


def test_adding_code_by_rest_answers_a_job_that_names_the_simulator(client, project, owner, settings, run_jobs):
    settings.TRUSTED_SIMULATORS = ["*"]
    client.force_login(owner)
    base = f"/api/v1/projects/{project.slug}"
    body = {"name": "Mine", "kind": "code", "content": {"files": {"simulator.py": "def price(state):\n    return 1\n"}}}
    begun = client.post(f"{base}/simulators/", body, content_type="application/json")
    assert (begun.status_code, begun.json()["kind"]) == (202, "simulator")
    run_jobs()
    report = client.get(f"{base}/jobs/{begun.json()['id']}/").json()["report"]
    assert client.get(f"{base}/simulators/{report['simulator']}/").json()["tools"] == ["price"]
    assert (report["name"], report["version"]) == ("Mine", 1)
    again = client.post(f"{base}/simulators/", body, content_type="application/json")
    assert (again.status_code, again.json()["id"]) == (201, report["simulator"])


def test_a_simulator_whose_file_is_gone_is_not_added(client, project, owner, settings, run_jobs):
    content = {"files": {"simulator.py": "def price(state):\n    return 1\n"}}
    job = simulator_begin(project=project, actor=None, name="Mine", kind="code", content=content)
    assert isinstance(job, Job)
    Upload.objects.all().delete()
    run_jobs()
    assert "add it again" in job.failures().get().error


def test_adding_is_the_owners_alone(client, project, adjudicator):
    client.force_login(adjudicator)
    assert client.get(page("simulator-new", project)).status_code == 403


def test_code_on_a_page_is_text(client, project, viewer, settings):
    settings.TRUSTED_SIMULATORS = ["*"]
    code = "# <script>alert(1)</script>\ndef price(state):\n    return 1\n"
    simulator = made(project, {"files": {"simulator.py": code}}, "code")
    client.force_login(viewer)
    said = client.get(page("simulator", project, simulator.pk)).content.decode()
    assert "&lt;script&gt;alert(1)" in said
    assert "<script>alert" not in said


def test_the_rest_interface_does_the_same(client, project, owner, version):
    client.force_login(owner)
    base = f"/api/v1/projects/{project.slug}"
    body = {"name": "Shop", "kind": "scripted", "content": SCRIPT}
    created = client.post(f"{base}/simulators/", body, content_type="application/json")
    assert created.status_code == 201
    key = created.json()["id"]
    assert [one["id"] for one in client.get(f"{base}/simulators/").json()["results"]] == [key]
    assert client.get(f"{base}/simulators/{key}/").json()["content"] == SCRIPT
    chosen = f"{base}/datasets/{version.dataset.slug}/simulator/"
    assert client.get(chosen).json() == {"simulator": None}
    assert client.put(chosen, {"simulator": key}, content_type="application/json").json() == {"simulator": key}
    needs = client.get(f"{chosen}tools/").json()
    assert (needs["answered"], needs["expected"], needs["simulator"]["version"]) == (2, 3, 1)
    assert {tool["tool"]: tool["simulated"] for tool in needs["tools"]} == {STATUS: True, REFUND: True, HISTORY: False}
    assert client.put(chosen, {"simulator": None}, content_type="application/json").json() == {"simulator": None}
    wrong = client.post(f"{base}/simulators/", {**body, "content": {}}, content_type="application/json")
    assert wrong.status_code == 422
    assert wrong.json()["problems"][0]["pointer"] == "/content/results"


def test_a_simulator_of_another_project_is_not_found(client, project, owner, version):
    client.force_login(owner)
    other = version_of(project, slug="other").dataset
    missing = "018f0000-0000-7000-8000-000000000000"
    answer = client.put(
        f"/api/v1/projects/{project.slug}/datasets/{other.slug}/simulator/",
        {"simulator": missing},
        content_type="application/json",
    )
    assert answer.status_code == 404
