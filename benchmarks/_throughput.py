"""Measures uploaded predictions from upload to matrix, inside an installation: prints one JSON object.

`prepare EXAMPLES` makes a dataset; `measure TRIALS` uploads so many single-call predictions of
each example, waits for the grades, then grades again; workers run next to it. Started by `benchmarks.throughput`.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import django

from benchmarks._processor import processor_seconds

# Between two looks at a job, which cost something themselves.
PAUSE = 0.05
ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TOOLS = [{"name": f"tool_{n}", "description": f"Does thing {n} to an order.", "input_schema": ORDER} for n in range(10)]
# Of a hundred answers so many name another tool than the right one.
WRONG = 20


def examples(count: int) -> Iterator[dict[str, Any]]:
    """Yield rows of an import: each expects one call."""
    for number in range(count):
        yield {
            "id": f"ex-{number}",
            "input": {"messages": [{"role": "user", "content": f"Do thing {number % 10} to order ORD-{number}"}]},
            "tools": TOOLS,
            "expected_tool": f"tool_{number % 10}",
            "expected_args": {"order_id": f"ORD-{number}"},
        }


def predictions(count: int, trials: int) -> bytes:
    """Return JSON Lines of answers, mostly right."""
    lines = []
    for number in range(count):
        for trial in range(trials):
            tool = (number + ((number * trials + trial) % 100 < WRONG)) % 10
            made = [{"name": f"tool_{tool}", "arguments": {"order_id": f"ORD-{number}"}}]
            lines.append(json.dumps({"id": f"ex-{number}", "trial": trial, "tool_calls": made}))
    return "\n".join(lines).encode()


def prepare(count: int) -> dict[str, Any]:
    """Make the dataset, and wait for the baseline agents, which the workers run of themselves."""
    from labeling.services import dataset_create, examples_import, version_freeze
    from toolevals.grading.reading.examples import read_example
    from toolevals.workspace.services import project_create

    project = project_create(actor=None, slug="bench", name="Bench")
    dataset = dataset_create(project=project, actor=None, slug="bench", name="Bench")
    examples_import(dataset=dataset, actor=None, rows=[read_example(row) for row in examples(count)])
    version = version_freeze(dataset=dataset, actor=None)
    _settle()
    return {"examples": version.size}


def measure(trials: int) -> dict[str, Any]:
    """Return seconds from upload to matrix, and of grading alone, by the clock and of all workers and servers."""
    from django.urls import reverse

    from labeling.models import DatasetVersion
    from toolevals.runs.models import MatrixCount
    from toolevals.runs.services import RunRequest, grading_start, run_request_upload

    version = DatasetVersion.objects.select_related("dataset__project").get()
    content = predictions(version.size, trials)
    # A server has its pages loaded.
    reverse("reports:run", args=["bench", 1])
    whole, grading = _Times(), _Times()
    with whole:
        run: Any = run_request_upload(
            project=version.dataset.project,
            actor=None,
            request=RunRequest(experiment="bench", dataset_version=version, trials=trials, name="agent"),
            file=io.BytesIO(content),
            file_name="predictions.jsonl",
        )
        stages = _wait(run.job)
    again = grading_start(run=run, actor=None)
    with grading:
        _wait(again.job)
    assert sum(MatrixCount.objects.filter(grading=again, view="first").values_list("count", flat=True)) == (
        version.size * trials
    )
    return {
        "predictions": version.size * trials,
        "whole": whole.seconds,
        "grading": grading.seconds,
        "processor": {"whole": whole.processor, "grading": grading.processor},
        "stages": stages,
    }


class _Times:
    """The time of a block by the clock, and the processor time of all that its measurement started, without this."""

    seconds = processor = 0.0

    def __enter__(self) -> None:
        self.seconds, self.processor = time.monotonic(), _processor()

    def __exit__(self, *_: object) -> None:
        self.seconds, self.processor = time.monotonic() - self.seconds, _processor() - self.processor


def _processor() -> float:
    return processor_seconds(os.getppid(), without=os.getpid())


def _settle() -> None:
    from toolevals.workspace.models import Job

    baseline_agents = Job.objects.filter(kind="baseline_agent")
    while not baseline_agents.exists() or baseline_agents.open().exists():
        time.sleep(PAUSE)


def _wait(job: Any) -> list[float]:
    """Return how long each stage took, once the job has ended. Raises RuntimeError where it did not end well."""
    since, stage, took = time.monotonic(), 0, []
    while True:
        job.refresh_from_db(fields=["state", "stage"])
        if job.stage != stage or not job.is_open:
            took.append(time.monotonic() - since)
            since, stage = time.monotonic(), job.stage
        if not job.is_open:
            break
        time.sleep(PAUSE)
    if job.state != "succeeded":
        raise RuntimeError(f"{job.title} {job.state}: {[batch.error for batch in job.failures()]}")
    return took


if __name__ == "__main__":
    django.setup()
    step = {"prepare": prepare, "measure": measure}[sys.argv[1]]
    sys.stdout.write(json.dumps(step(int(sys.argv[2]))))
