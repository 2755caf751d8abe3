"""Recorded runs of 50 airline tasks, four trials each, decided by end state and answer: what the benchmark published.

The benchmark's own pass^1..4 are .420 .273 .220 .200. Two conversations were cut off and count as failed, as there.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from labeling.datasets.services import dataset_create
from labeling.imports.services import import_start
from labeling.versions.services import version_freeze
from tests.grading.benchmark import needs_benchmark
from tests.reports.recorded import airline
from tests.reports.recorded.loading import FOLDER, document, tool_spec
from tests.runs.building import cases_of
from toolevals.grading.reading.parsing.recorded import tau_runs
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.agents.services import agent_ensure, experiment_ensure
from toolevals.runs.models import Connector
from toolevals.runs.runs.services import RunParts, run_upload
from toolevals.runs.simulators.services import simulator_choose, simulator_ensure
from toolevals.workspace.uploads.services import upload_store

pytestmark = [needs_benchmark, pytest.mark.django_db(transaction=True)]
# The benchmark's tools answer what they refuse in words.
IN_WORDS = """

def _answering(tool):
    def answer(state, **said):
        try:
            return tool(state, **said)
        except Refused as refused:
            return f"Error: {refused}"

    return answer


TOOLS = {name: _answering(tool) for name, tool in TOOLS.items()}
"""
NAME = "tau_gpt-4o_airline.slim.json.gz"


def test_the_reliability_page_shows_what_the_benchmark_published(project, adjudicator, run_jobs, settings, client):
    settings.TRUSTED_SIMULATORS = ["*"]
    registry = registry_create(project=project, actor=adjudicator, slug="tools", name="Tools")
    specs = [tool_spec(name, read_only=name not in airline.WRITING) for name in (*airline.READING, *airline.WRITING)]
    tools = registry_publish(registry=registry, actor=adjudicator, document=specs, format="native")
    dataset = dataset_create(
        project=project,
        actor=adjudicator,
        slug="airline",
        name="Airline",
        default_tools=tools,
        decided_by="end_state+answer",
    )
    content = (FOLDER / NAME).read_bytes()
    upload = upload_store(project=project, actor=adjudicator, file=io.BytesIO(content), name=NAME)
    import_start(dataset=dataset, actor=adjudicator, upload=upload, source="tau", options=None)
    run_jobs()
    version = version_freeze(dataset=dataset, actor=adjudicator, misfits_reason="The gold is as it was published.")
    files = {
        "simulator.py": Path(airline.__file__).read_text("utf-8") + IN_WORDS,
        "db.json": json.dumps(document("db_airline_tau1_at_run.json.gz")),
    }
    simulator = simulator_ensure(
        project=project, actor=adjudicator, name="Airline", kind="code", content={"files": files}
    )
    simulator_choose(dataset=dataset, actor=adjudicator, simulator=simulator)
    recorded = list(tau_runs(document(NAME)))
    rows = [
        {
            "id": f"task-{run.task_id}",
            "trial": run.trial,
            "format": "native",
            "messages": [message.to_document() for message in run.transcript.messages],
            **({"ended": run.transcript.ended} if run.transcript.ended else {}),
        }
        for run in recorded
    ]
    sent = "".join(json.dumps(row) + "\n" for row in rows).encode()
    upload = upload_store(project=project, actor=adjudicator, file=io.BytesIO(sent), name="predictions.jsonl")
    parts = RunParts(
        project=project,
        actor=adjudicator,
        experiment=experiment_ensure(project=project, actor=adjudicator, slug="airline"),
        agent=agent_ensure(project=project, actor=adjudicator, name="gpt-4o", connector=Connector.UPLOAD),
        dataset_version=version,
        trials=4,
    )
    run = run_upload(parts, upload=upload)
    run_jobs()
    run.refresh_from_db()
    rewards = {(f"task-{each.task_id}", each.trial): each.reward == 1 for each in recorded}
    passed = {key: case.outcome == "passed" for key, case in cases_of(run.grading).items()}
    assert [key for key in rewards if rewards[key] != passed[key]] == []

    client.force_login(adjudicator)
    page = client.get("/p/shop/runs/1/reliability/")
    assert "The outcome is decided by end state and answer." in page.content.decode()
    curve = page.context["reliability"].curve
    assert [round(point.hat.value, 3) for point in curve] == [0.42, 0.273, 0.22, 0.2]
    # By the calls alone, a run that leaves the right end state by other calls passes less often.
    calls = client.get("/p/shop/runs/1/reliability/?of=equivalence").context["reliability"].curve
    assert calls[0].hat.value < curve[0].hat.value
    (listed,) = client.get("/api/v1/projects/shop/runs/").json()["results"]
    assert (listed["outcome"]["passed"], listed["outcome"]["total"]) == (84, 200)
    assert listed["decided_by"] == ["end_state+answer"]
