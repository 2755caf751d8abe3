"""The recorded runs of tau2-bench, taken in through the services that people use."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from labeling.datasets.services import dataset_create
from labeling.imports.services import import_start
from labeling.models import Dataset, DatasetVersion
from labeling.versions.services import version_freeze
from tests.reports.recorded import airline
from toolevals.grading.reading.parsing.recorded import tau2_runs
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.agents.services import agent_ensure, experiment_ensure
from toolevals.runs.models import Connector
from toolevals.runs.runs.services import RunParts, run_upload
from toolevals.runs.simulators.services import simulator_choose, simulator_ensure
from toolevals.workspace.models import Project, User
from toolevals.workspace.uploads.services import upload_store

FOLDER = Path(os.environ.get("TOOLEVALS_BENCHMARK_DATA", "")) / "tau"
# Domain -> the agents' files, by model.
RUNS: Mapping[str, Mapping[str, str]] = {
    "airline": {
        "gpt-4.1": "tau2_gpt-4.1_airline_1trial.json.gz",
        "ft-gpt-4.1-sft": "tau2_ft-gpt-4.1-sft_airline_1trial.json.gz",
        "gpt-oss-120b": "tau2_gpt-oss-120b_airline.slim.json.gz",
        "qwen2.5-7b": "tau2_qwen2.5-7b_airline_1trial.slim.json.gz",
    },
    "retail": {
        "gpt-4.1": "tau2_gpt-4.1_retail_1trial.slim.json.gz",
        "ft-gpt-4.1-sft": "tau2_ft-gpt-4.1-sft_retail_1trial.slim.json.gz",
    },
}
RETAIL_READING = (
    "calculate",
    "find_user_id_by_email",
    "find_user_id_by_name_zip",
    "get_order_details",
    "get_product_details",
    "get_user_details",
    "list_all_product_types",
)
RETAIL_WRITING = (
    "cancel_pending_order",
    "exchange_delivered_order_items",
    "modify_pending_order_address",
    "modify_pending_order_items",
    "modify_pending_order_payment",
    "modify_user_address",
    "return_delivered_order_items",
    "transfer_to_human_agents",
)
TOOLS = {"airline": (airline.READING, airline.WRITING), "retail": (RETAIL_READING, RETAIL_WRITING)}


def document(name: str) -> Any:
    return json.loads(gzip.decompress((FOLDER / name).read_bytes()))


def loaded(project: Project, actor: User, domain: str, work: Callable[[], None]) -> DatasetVersion:
    """Import a domain's tasks with their gold, freeze them, upload and grade its runs; `work` does waiting jobs."""
    dataset = _tasks(project, actor, domain)
    work()
    version = version_freeze(dataset=dataset, actor=actor, misfits_reason="The gold is as it was published.")
    if domain == "airline":
        _put_world_behind(dataset, actor)
    for model, name in RUNS[domain].items():
        _upload(project, actor, version, model, domain, document(name))
    work()
    return version


def _tasks(project: Project, actor: User, domain: str) -> Dataset:
    reading, writing = TOOLS[domain]
    specs = [tool_spec(name, read_only=True) for name in reading] + [
        tool_spec(name, read_only=False) for name in writing
    ]
    registry = registry_create(project=project, actor=actor, slug=f"{domain}-tools", name=domain.title())
    tools = registry_publish(registry=registry, actor=actor, document=specs, format="native")
    dataset = dataset_create(project=project, actor=actor, slug=domain, name=domain.title(), default_tools=tools)
    file = FOLDER / f"gold_tau2_v0_{domain}.json.gz"
    upload = upload_store(project=project, actor=actor, file=io.BytesIO(file.read_bytes()), name=file.name)
    import_start(dataset=dataset, actor=actor, upload=upload, source="tau2", options={"decided_by": "dataset"})
    return dataset


def tool_spec(name: str, *, read_only: bool) -> dict[str, Any]:
    return {
        "name": name,
        "description": name.replace("_", " ").capitalize() + ".",
        "input_schema": {"type": "object"},
        "annotations": {"read_only": read_only},
    }


def _put_world_behind(dataset: Dataset, actor: User) -> None:
    files = {
        "simulator.py": Path(airline.__file__).read_text(encoding="utf-8"),
        "db.json": json.dumps(document("db_airline_tau1_at_run.json.gz")),
    }
    simulator = simulator_ensure(
        project=dataset.project, actor=actor, name="Airline", kind="code", content={"files": files}
    )
    simulator_choose(dataset=dataset, actor=actor, simulator=simulator)


def _upload(
    project: Project, actor: User, version: DatasetVersion, model: str, domain: str, recorded: Mapping[str, Any]
) -> None:
    rows = [
        {
            "id": f"{domain}-{run.task_id}",
            "trial": 0,
            "format": "native",
            "messages": [message.to_document() for message in run.transcript.messages],
        }
        for run in tau2_runs(recorded)
    ]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    upload = upload_store(project=project, actor=actor, file=io.BytesIO(content), name="predictions.jsonl")
    agent = agent_ensure(project=project, actor=actor, name=model, connector=Connector.UPLOAD, model=model)
    parts = RunParts(
        project=project,
        actor=actor,
        experiment=experiment_ensure(project=project, actor=actor, slug=f"recorded-{domain}"),
        agent=agent,
        dataset_version=version,
    )
    run_upload(parts, upload=upload)
