"""A project with a job of each kind begun, and pages to work on: `python -m tests.slow_lane.seed JUDGE MCP`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import django

django.setup()

from django.core.files.base import ContentFile  # noqa: E402
from django.urls import reverse  # noqa: E402

from labeling.agreement import cache as agreement  # noqa: E402
from labeling.agreement.filters import Filters  # noqa: E402
from labeling.batches import ordering  # noqa: E402
from labeling.batches.overlap import overlap_apply  # noqa: E402
from labeling.coverage import cache as coverage  # noqa: E402
from labeling.datasets.services import dataset_create  # noqa: E402
from labeling.exports import Selection  # noqa: E402
from labeling.exports.services import export_start  # noqa: E402
from labeling.imports.services import examples_import, import_start  # noqa: E402
from labeling.lint import services as linting  # noqa: E402
from reports.dialects.grade_with_dialects import dialects_start  # noqa: E402
from reports.downloads.long_tables import TableRequest  # noqa: E402
from reports.downloads.services import bundle_start, table_start  # noqa: E402
from reports.dropped.preview import LARGE, file_drop  # noqa: E402
from reports.gates.services import GateRequest, gate_hold, gate_preview_start  # noqa: E402
from reports.guard.measuring import rates_start  # noqa: E402
from reports.suspects import services as suspects  # noqa: E402
from tests.fixtures.jobs import jobs_run  # noqa: E402
from tests.fixtures.people import PASSWORD  # noqa: E402
from tests.labeling.rows import NO_CALL, row  # noqa: E402
from tests.runs.building import EXAMPLES, TOOLS, baseline_run, jsonl, stored, version_of  # noqa: E402
from tests.runs.calibrated import SIZE, calibration_made, rate_all  # noqa: E402
from tests.slow_lane.work_pages import SLUG, pages_made, reviewer_of  # noqa: E402
from tests.traces.sending import conversation, export  # noqa: E402
from toolevals.grading.judging import SHIPPED  # noqa: E402
from toolevals.registry.large_documents import large_preview_start, large_publish_start  # noqa: E402
from toolevals.registry.mcp_servers import registry_fetch_begin  # noqa: E402
from toolevals.registry.policies.services import policy_create  # noqa: E402
from toolevals.registry.policies.starter import STARTER_WITHOUT_TOOLS  # noqa: E402
from toolevals.registry.services import registry_create  # noqa: E402
from toolevals.runs.agents.services import agent_ensure  # noqa: E402
from toolevals.runs.baseline.starting import baseline_agents_start  # noqa: E402
from toolevals.runs.drift.services import drift_begin  # noqa: E402
from toolevals.runs.grading.services import grading_start  # noqa: E402
from toolevals.runs.judge_calibrations.services import CalibrationRequest, calibration_begin  # noqa: E402
from toolevals.runs.models import JudgeCalibration, Run  # noqa: E402
from toolevals.runs.probes.services import probes_begin  # noqa: E402
from toolevals.runs.rereading.services import RereadingRequest, rereading_begin  # noqa: E402
from toolevals.runs.rubrics.services import TryoutRequest, tryout_begin  # noqa: E402
from toolevals.runs.simulators.services import simulator_begin  # noqa: E402
from toolevals.sample.rest import rest_start  # noqa: E402
from toolevals.traces.intake.services import spans_store  # noqa: E402
from toolevals.traces.intake.sorting import sorted_spans  # noqa: E402
from toolevals.traces.models import Promotion, PromotionState, Trace, TraceExample  # noqa: E402
from toolevals.traces.promotion.asking_today import TodayRequest, today_start  # noqa: E402
from toolevals.traces.promotion.services import (  # noqa: E402
    PromotionRequest,
    promotion_start,
    promotion_undo,
)
from toolevals.traces.reading.services import trace_settle  # noqa: E402
from toolevals.workspace.accounts.services import user_create  # noqa: E402
from toolevals.workspace.models import Job, Role  # noqa: E402
from toolevals.workspace.projects import export as whole  # noqa: E402
from toolevals.workspace.projects.services import project_create  # noqa: E402
from toolevals.workspace.tokens.services import token_create  # noqa: E402
from toolevals.workspace.trash.services import trash_destroy, trash_put  # noqa: E402

OWN = {**SHIPPED["argument_semantics"].to_document(), "name": "close_enough"}


@dataclass(frozen=True)
class Ground:
    """The objects that jobs begin on: a project, a dataset to label, a graded run, and a judge calibrated once."""

    project: Any
    owner: Any
    dataset: Any
    version: Any
    run: Any
    judge: Any
    calibration: Any
    # The address of an MCP server.
    shop: str


def agreement_start(ground: Ground) -> Any:
    return agreement._count_in_a_job(ground.dataset, Filters(), ground.owner).job


def gate_start(ground: Ground) -> Any:
    request = GateRequest({"bounds": [{"metric": "outcome", "min": 0}]})
    return gate_hold(run=ground.run, actor=ground.owner, request=request).job


def preview_start(ground: Ground) -> Any:
    gate = {"bounds": [{"metric": "outcome", "min": 0}]}
    return gate_preview_start(project=ground.project, actor=ground.owner, gate=gate).job


def order_start(ground: Ground) -> Any:
    ordering.AT_ONCE_IN_A_REQUEST = -1
    return ordering.queue_order(dataset=ground.dataset, actor=ground.owner)


def lint_begin(ground: Ground) -> Any:
    linting.LINTED_AT_ONCE = -1
    return linting.lint_start(dataset=ground.dataset, actor=ground.owner)


def promotion_begin(ground: Ground) -> Any:
    spans_store(project=ground.project, traces=sorted_spans(export(*conversation())).traces)
    trace_settle(trace=Trace.objects.exclude(trace_id=f"{7:032x}").get(project=ground.project))
    request = PromotionRequest(dataset=ground.dataset, wanted={}, count=1, seed=1)
    return promotion_start(request=request, actor=ground.owner).job


def project_export_begin(ground: Ground) -> Any:
    # What is blind keeps an owner from it: what counts here is the job.
    whole.still_blind = lambda project: []  # noqa: ARG005
    return whole.project_export_start(project=ground.project, actor=ground.owner)


def undo_begin(ground: Ground) -> Any:
    # Nothing was made of it: what counts here is the job.
    made = Promotion.objects.create(project=ground.project, dataset=ground.dataset, state=PromotionState.MADE)
    return promotion_undo(promotion=made, actor=ground.owner).job


def today_begin(ground: Ground) -> Any:
    # A session of its own: while an example of the same session waits for gold, its traces are closed.
    spans = conversation(f"{7:032x}", **{"gen_ai.conversation.id": "s-7"})
    spans_store(project=ground.project, traces=sorted_spans(export(*spans)).traces)
    trace = Trace.objects.get(project=ground.project, trace_id=f"{7:032x}")
    trace_settle(trace=trace)
    entry = ground.version.entries.select_related("revision__example").first()
    example = entry.revision.example
    TraceExample.objects.create(project=ground.project, trace=trace, example=example, turn=1)
    # An agent that is away: what counts here is the job that starts the runs.
    away = agent_ensure(
        project=ground.project,
        actor=None,
        name="away",
        connector="openai",
        model="small",
        options={"base_url": "http://127.0.0.1:9/v1"},
    )
    Run.objects.create(
        project=ground.project,
        number=900,
        experiment=ground.run.experiment,
        agent=away,
        dataset_version=ground.version,
        settings={"tries": 1},
    )
    request = TodayRequest(dataset=ground.version.dataset, agent=away, wanted={})
    return today_start(request=request, actor=ground.owner, role=Role.OWNER)


def rows_start(ground: Ground) -> Any:
    upload = stored(ground.project, jsonl(EXAMPLES))
    return import_start(dataset=ground.dataset, actor=ground.owner, upload=upload)


def tryout_start(ground: Ground) -> Any:
    request = TryoutRequest(document=OWN, judge=ground.judge, grading=ground.run.grading, seed="one")
    return tryout_begin(project=ground.project, actor=ground.owner, request=request).job


def calibration_start(ground: Ground) -> Any:
    request = CalibrationRequest(judge=ground.judge, grading=ground.run.grading, held_out=SIZE, raters=1)
    return calibration_begin(request=request, actor=ground.owner).job


def drift_start(ground: Ground) -> Any:
    return drift_begin(judge=ground.judge, calibration=ground.calibration, actor=ground.owner).job


def simulator_start(ground: Ground) -> Any:
    return simulator_begin(
        project=ground.project, actor=ground.owner, name="Shop", kind="mcp", content={"url": ground.shop}
    )


def tools_start(ground: Ground) -> Any:
    registry = registry_create(project=ground.project, actor=ground.owner, slug="shop", name="Shop")
    return registry_fetch_begin(registry=registry, actor=ground.owner, options={"url": ground.shop})


def large_start(ground: Ground) -> Any:
    registry = registry_create(project=ground.project, actor=ground.owner, slug="large", name="Large")
    content = json.dumps(TOOLS).encode()
    return large_preview_start(registry=registry, actor=ground.owner, content=content, format="auto", name="tools.json")


def publish_start(ground: Ground) -> Any:
    registry = registry_create(project=ground.project, actor=ground.owner, slug="published", name="Published")
    content = json.dumps(TOOLS).encode()
    return large_publish_start(registry=registry, actor=ground.owner, content=content, format="auto", name="tools.json")


def rates_of_policy(ground: Ground) -> Any:
    version = policy_create(
        project=ground.project, actor=ground.owner, slug="desk", name="Desk", document=STARTER_WITHOUT_TOOLS
    )
    return rates_start(version=version, actor=ground.owner).job


def look_start(ground: Ground) -> Any:
    content = jsonl(EXAMPLES) + b"\n" * LARGE
    file = ContentFile(content)
    return file_drop(project=ground.project, actor=ground.owner, file=file, name="examples.jsonl")[1]


def destroy_start(ground: Ground) -> Any:
    made = dataset_create(project=ground.project, actor=ground.owner, slug="doomed", name="Doomed")
    trash_put(row=made, actor=ground.owner)
    trash_destroy(row=made, actor=ground.owner, typed="doomed")
    return Job.objects.destroying().get(trashed_with=made.pk)


# How a job of each kind is begun. A new kind needs a line.
STARTERS: dict[str, Callable[[Ground], Any]] = {
    "agreement": agreement_start,
    "bundle": lambda ground: bundle_start(grading=ground.run.grading, actor=ground.owner),
    "calibration": calibration_start,
    "coverage": lambda ground: coverage._count_in_a_job(ground.dataset, ground.owner, coverage.FRESH).job,
    "destroy": destroy_start,
    "dialects": lambda ground: dialects_start(grading=ground.run.grading, actor=ground.owner).job,
    "drift": drift_start,
    "export": lambda ground: export_start(selection=Selection(ground.dataset), actor=ground.owner, format="jsonl"),
    "file_look": look_start,
    "baseline_agent": lambda ground: baseline_agents_start(version=ground.version)[0].job,
    "gate": gate_start,
    "gate_preview": preview_start,
    "grading": lambda ground: grading_start(run=ground.run, actor=ground.owner).job,
    "import": rows_start,
    "lint": lint_begin,
    "order": order_start,
    "overlap": lambda ground: overlap_apply(project=ground.project, actor=ground.owner),
    "policy_rates": rates_of_policy,
    "probes": lambda ground: probes_begin(judge=ground.judge, actor=ground.owner).job,
    "production_run": today_begin,
    "project_export": project_export_begin,
    "promotion": promotion_begin,
    "promotion_undo": undo_begin,
    "sample": lambda ground: rest_start(ground.project, ground.owner, ["traces"]),
    "run": lambda ground: baseline_run(ground.project, ground.version).job,
    "simulator": simulator_start,
    "suspects": lambda ground: suspects._count_in_a_job(ground.version, ground.owner, ground.version.size).job,
    "table": lambda ground: table_start(
        table_request=TableRequest("cases", ground.run.grading, {}), actor=ground.owner
    ),
    "tools": tools_start,
    "tools_preview": large_start,
    "tools_publish": publish_start,
    "tryout": tryout_start,
}


def main(judge_url: str, shop_url: str) -> dict[str, Any]:
    """Create project, begin the jobs, and return their ids by kind, a token, and the pages of work."""
    ground = ground_made(judge_url, shop_url)
    pages = pages_made(ground.dataset, ground.owner, ground.run.number)
    _, secret = token_create(
        project=ground.project, actor=ground.owner, user=ground.owner, name="slow lane", role=Role.OWNER
    )
    jobs = {kind: str(start(ground).pk) for kind, start in STARTERS.items()}
    rereading = rereading_begin(request=RereadingRequest(ground.run.grading), actor=ground.owner)
    pages |= {
        "rate": reverse("runs:rate", args=[SLUG, JudgeCalibration.objects.latest("pk").pk]),
        "reread": reverse("runs:reread", args=[SLUG, rereading.pk]),
        "run at work": reverse("reports:run", args=[SLUG, Run.objects.get(job_id=jobs["run"]).number]),
        "import at work": f"{reverse('labeling:import', args=[SLUG, 'desk'])}?job={jobs['import']}",
        "job": reverse("workspace:job", args=[SLUG, jobs["export"]]),
    }
    return {"jobs": jobs, "token": secret, "run": ground.run.number, "pages": pages}


def ground_made(judge_url: str, shop_url: str) -> Ground:
    """Make what the jobs are begun on; what of it is a job is done here and at once."""
    owner = user_create(actor=None, email="ann@example.org", name="Ann", password=PASSWORD)
    project = project_create(actor=owner, slug=SLUG, name="Shop support")
    server: Any = SimpleNamespace(url=judge_url)
    calibration = calibration_made(project, server, jobs_run, raters=1)
    rate_all(calibration, reviewer_of(project, "Ben"))
    calibration.refresh_from_db()
    version = version_of(project, slug="other")
    dataset = dataset_create(project=project, actor=owner, slug="desk", name="Desk")
    rows = [row(f"ex-{number}", tools=TOOLS) for number in range(20)]
    examples_import(dataset=dataset, actor=owner, rows=[*rows, row("solved", tools=TOOLS, expectation=NO_CALL)])
    run = Run.objects.select_related("grading").get(pk=calibration.grading.run_id)
    return Ground(project, owner, dataset, version, run, calibration.judge, calibration, shop_url)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])))
