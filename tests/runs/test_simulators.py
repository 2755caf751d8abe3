"""Simulators of a project: kept by content, chosen for a dataset, and behind the tools of its runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.chat_server import chat_server
from tests.agents.players import call
from tests.agents.world_server import world_server
from tests.runs.building import STATUS, cases_of, example, version_of
from tests.runs.live import live_run, shop_agent
from toolevals.agents.secret_binding import Origin
from toolevals.agents.worlds import NotSimulatedError
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import DatasetSimulator, Simulator, Transcript
from toolevals.runs.simulators.contents import code_digest
from toolevals.runs.simulators.opening import simulator_of
from toolevals.runs.simulators.services import simulator_choose, simulator_ensure
from toolevals.workspace.models import AuditEntry, JobState, Project
from toolevals.workspace.secrets.services import SecretRefusedError, secret_set

pytestmark = pytest.mark.django_db(transaction=True)
CODE = """
STATE = {"seen": []}


def get_order_status(state, order_id):
    state["seen"].append(order_id)
    return {"state": "sent"}


def hang(state):
    while True:
        pass
"""
FILES = {"files": {"simulator.py": CODE}}
SCRIPT = {"results": [{"tool": STATUS, "result": {"state": "lost"}}]}


@pytest.fixture
def trusting(settings: Any) -> None:
    settings.TRUSTED_SIMULATORS = [code_digest(FILES["files"])]


def made(project: Any, content: Any = FILES, kind: str = "code", name: str = "Shop") -> Any:
    return simulator_ensure(project=project, actor=None, name=name, kind=kind, content=content)


def test_the_same_content_is_the_same_simulator_and_another_the_next_version(project, trusting):
    first = made(project)
    assert (str(first), first.tools) == ("Shop v1", ["get_order_status", "hang"])
    assert made(project) == first
    second = made(project, SCRIPT, "scripted")
    assert (str(second), second.tools) == ("Shop v2", [STATUS])
    assert str(made(project, SCRIPT, "scripted", "Other")) == "Other v1"
    assert AuditEntry.objects.filter(verb="simulator_ensure").count() == 3


@pytest.mark.parametrize(
    ("kind", "content", "pointer"),
    [
        ("magic", {}, "/kind"),
        ("scripted", {"results": []}, "/content/results"),
        ("scripted", {"results": [{"tool": "a"}]}, "/content/results/0"),
        ("scripted", {**SCRIPT, "colour": 1}, "/content/colour"),
        ("code", {"files": {"other.py": ""}}, "/content/files"),
        ("code", {"files": {"simulator.py": "", "../x.py": ""}}, "/content/files"),
        ("code", {"files": {"simulator.py": "", "/etc/x": ""}}, "/content/files"),
        ("code", {"files": {"simulator.py": 1}}, "/content/files"),
        ("code", {"files": {"simulator.py": "", "simulator.py/x.py": ""}}, "/content/files"),
        ("code", {"files": {"simulator.py": "", "data/a": "", "data/a/b/c.json": ""}}, "/content/files"),
        ("http", {"base_url": "ftp://x"}, "/content/base_url"),
        ("http", {"base_url": "http://x", "secret": "missing"}, "/content/secret"),
    ],
)
def test_what_is_wrong_with_a_simulator_is_named(project, kind, content, pointer):
    with pytest.raises(InvalidDocument) as caught:
        made(project, content, kind)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]
    assert not Simulator.objects.exists()


def test_code_that_is_not_trusted_is_refused_where_there_is_no_sandbox(project, monkeypatch, settings):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InvalidDocument, match="bubblewrap is not installed"):
        made(project)
    settings.TRUSTED_SIMULATORS = ["*"]
    assert made(project).number == 1


def test_code_without_tools_or_that_fails_to_load_is_refused(project, settings):
    settings.TRUSTED_SIMULATORS = ["*"]
    for code, said in (("STATE = {}", "has no tools"), ("1 / 0", "ZeroDivisionError")):
        with pytest.raises(InvalidDocument, match=said):
            made(project, {"files": {"simulator.py": code}})


def test_a_dataset_has_the_simulator_that_was_chosen_last(project, version, trusting):
    dataset = version.dataset
    with simulator_of(dataset) as simulator, simulator.world(example("x", "x", None)["input"]) as world:
        with pytest.raises(NotSimulatedError):
            world.call(call(STATUS))
        assert world.state() is None
    for simulator_row in (made(project, SCRIPT, "scripted"), made(project)):
        simulator_choose(dataset=dataset, actor=None, simulator=simulator_row)
    with simulator_of(dataset) as simulator, simulator.world(example("x", "x", None)["input"]) as world:
        world.call(call(STATUS, order_id="A-1"))
        assert world.state() == {"seen": ["A-1"]}
    simulator_choose(dataset=dataset, actor=None, simulator=None)
    assert not DatasetSimulator.objects.exists()


def test_a_simulator_of_another_project_is_refused(project, version, trusting):
    other = Project.objects.create(slug="other", name="Other")
    with pytest.raises(InvalidDocument):
        simulator_choose(dataset=version.dataset, actor=None, simulator=made(other))


def test_a_live_run_meets_the_datasets_simulator_as_it_was_when_the_run_began(project, run_jobs, settings, trusting):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    row = example("status", "What is the shipping status of order ORD-1?", STATUS)
    scripted = example("other", "What is the shipping status of order ORD-2?", STATUS)
    scripted["input"]["simulation"] = SCRIPT
    version = version_of(project, [row, scripted])
    first = made(project)
    simulator_choose(dataset=version.dataset, actor=None, simulator=first)
    with chat_server(shop_agent) as server:
        run = live_run(project, version, server)
        simulator_choose(dataset=version.dataset, actor=None, simulator=made(project, SCRIPT, "scripted"))
        run_jobs()
    run.refresh_from_db()
    assert (run.job.state, run.simulator) == (JobState.SUCCEEDED, first)
    documents = [transcript.document for transcript in Transcript.objects.of_run(run)]
    assert [document["answer"] for document in documents] == [
        'It says: {"state": "sent"}',
        'It says: {"state": "lost"}',
    ]
    assert [document["state_changes"]["patch"] for document in documents] == [
        [{"op": "replace", "path": "/seen", "value": ["ORD-1"]}],
        [],
    ]


def test_a_simulator_that_hangs_errors_its_conversation_alone(project, run_jobs, settings):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    settings.TRUSTED_SIMULATORS = ["*"]
    settings.SIMULATOR_SECONDS = 0.2
    code = CODE.replace('    state["seen"].append(order_id)', '    while order_id == "ORD-1" and state["slow"]: pass')
    rows = [example(name, "What is the shipping status of order ORD-1?", STATUS) for name in ("slow", "quick")]
    for row, slow in zip(rows, (True, False), strict=True):
        row["input"]["simulation"] = {"state": {"slow": slow}}
    version = version_of(project, rows)
    simulator_choose(dataset=version.dataset, actor=None, simulator=made(project, {"files": {"simulator.py": code}}))
    with chat_server(shop_agent) as server:
        run = live_run(project, version, server, settings={"concurrency": 1})
        run_jobs()
    run.refresh_from_db()
    cases = cases_of(run.grading)
    assert (cases["slow", 0].outcome, cases["slow", 0].tag) == ("errored", "ADAPTER_ERROR")
    assert "took too long" in Transcript.objects.of_run(run)[0].document["error"]
    assert cases["quick", 0].outcome == "passed"


def test_a_run_whose_simulator_cannot_be_run_here_fails_and_says_so(project, version, run_jobs, settings, monkeypatch):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    settings.TRUSTED_SIMULATORS = ["*"]
    simulator_choose(dataset=version.dataset, actor=None, simulator=made(project))
    settings.TRUSTED_SIMULATORS = []
    monkeypatch.setenv("PATH", "/nowhere")
    with chat_server(shop_agent) as server:
        run = live_run(project, version, server)
        run_jobs()
    run.job.refresh_from_db()
    assert run.job.state == JobState.FAILED
    assert "bubblewrap is not installed" in run.job.failures().first().error


def test_a_service_is_called_with_its_key_and_keeps_the_state(project, version, settings):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    with world_server() as server:
        secret = secret_set(
            project=project, actor=None, name="world", value="key-7", addresses=[str(Origin.of(server.url))]
        )
        content = {"base_url": server.url, "secret": "world", "tools": ["cancel"]}
        row = made(project, content, "http")
        assert (row.tools, row.content["timeout"]) == (["cancel"], 30.0)
        simulator_choose(dataset=version.dataset, actor=None, simulator=row)
        with simulator_of(version.dataset) as simulator, simulator.world({"messages": []}) as world:
            world.call(call("cancel", order_id="A-1"))
            assert world.state() == {"orders": {"A-1": "cancelled"}}
        with pytest.raises(InvalidDocument, match="may not be sent to"):
            made(project, {**content, "base_url": "https://evil.example"}, "http")
        asked = len(server.keys)
        secret_set(project=project, actor=None, name=secret.name, value="another", addresses=[])
        with pytest.raises(SecretRefusedError), simulator_of(version.dataset):
            pass
        assert len(server.keys) == asked
    assert set(server.keys) == {"Bearer key-7"}
    assert made(project, {"base_url": server.url}, "http").tools is None
