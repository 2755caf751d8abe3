"""Every table of reports: its file, its answer in the REST interface, and how the one's columns lie in the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reports.compare.table import LAYERS
from tests.reports import table_rows as rows_of
from tests.reports.table_paths import (
    BESIDE,
    BOTH_SIDES,
    COUNTED,
    DELTA,
    FIGURE,
    JUDGED,
    MISTAKES,
    SPENT,
    TALLY,
    TIMED,
    TREND,
    ends,
    rate,
)
from tests.reports.table_rows import Rows
from toolevals.grading.engine.case_metrics import METRICS


@dataclass(frozen=True)
class Table:
    """`file` and `api` are the names of the addresses, `query` what both are asked, `rows` finds the file's rows.

    `at` is where a column lies in such a row, as a path with dots; by default under its own name.
    """

    file: str
    api: str
    rows: Rows
    at: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    app: str = "reports"

    def __str__(self) -> str:
        return self.file + "".join(f" {name}={value}" for name, value in self.query.items())


METRIC_VALUES = {name: f"metrics.{name}" for name in METRICS}

OF_RUN = (
    Table("matrix-csv", "matrix", rows_of.under("cells")),
    Table("matrix-csv", "matrix", rows_of.matrix_wide, query={"form": "wide"}),
    Table("matrix-csv", "matrix", rows_of.under("cells"), query={"split": "value", "split_argument": "/order_id"}),
    Table(
        "tools-csv",
        "tools",
        rows_of.under("tools"),
        {
            **rate("precision", "precision"),
            "precision_examples": "precision.examples",
            **rate("recall", "recall"),
            "recall_examples": "recall.examples",
            **ends("f1", "f1_interval"),
            "most_called_instead": "most_called_instead.actual",
            "most_called_instead_count": "most_called_instead.count",
        },
    ),
    Table("layers-csv", "layers", rows_of.under("layers"), COUNTED | rate() | ends("noise", "noise")),
    Table("readings-csv", "readings", rows_of.under("rows")),
    Table("recorded-csv", "recorded", rows_of.under("cells")),
    Table("golds-csv", "golds", rows_of.under("results")),
    Table("gold-changed-csv", "gold-changed", rows_of.under("results")),
    Table("proxies-csv", "proxies", rows_of.whole, rate("precision", "precision") | rate("recall", "recall")),
    Table("failures-csv", "layers", rows_of.failures),
    Table(
        "metrics-csv",
        "metrics",
        rows_of.whole,
        {"passed": "rate.passed", "mean": "rate.value", **ends("mean", "rate")},
    ),
    Table("overreach-csv", "overreach", rows_of.under("rows")),
    Table("findings-csv", "findings", rows_of.whole, {"scored": "rate.total"} | rate("share", "rate")),
    Table(
        "arguments-csv",
        "arguments",
        rows_of.whole,
        {"calls": "wrong.total", "wrong": "wrong.passed"}
        | rate("wrong_share", "wrong")
        | {kind: f"counts.{kind}" for kind in ("changed", "missing", "extra", "invalid")},
    ),
    Table(
        "judges-csv",
        "judges",
        rows_of.whole,
        {
            **COUNTED,
            **rate(),
            "corrected": "corrected.value",
            **ends("corrected", "corrected"),
            "calibration_id": "calibration",
            "kappa": "kappa.value",
            "agreement": "agreement.value",
        },
    ),
    Table("judged-csv", "judged-cases", rows_of.under("results")),
    Table("cases-csv", "graded-cases", rows_of.under("results"), METRIC_VALUES),
    Table(
        "cases-csv", "graded-cases", rows_of.under("results"), METRIC_VALUES, query={"mode": "wrong_tool", "trial": "1"}
    ),
    Table("state-csv", "state-differences", rows_of.differences),
    Table("remarks-csv", "remarks", rows_of.under("results")),
    Table(
        "reliability-csv",
        "reliability",
        rows_of.reliability,
        {
            "pass_at_k": "pass_at_k.value",
            **ends("pass_at_k", "pass_at_k.interval"),
            "pass_hat_k": "pass_hat_k.value",
            **ends("pass_hat_k", "pass_hat_k.interval"),
        },
    ),
    Table("variance-csv", "reliability", rows_of.variance, {"examples": "count"}),
    Table("trials-csv", "trials", rows_of.under("results")),
    Table(
        "steps-csv",
        "reliability",
        rows_of.under("steps", "chains"),
        {
            "passed": "cases.passed",
            "cases": "cases.total",
            **rate("rate", "cases"),
            **ends("predicted", "predicted_interval"),
        },
    ),
    Table("recovery-csv", "recovery", rows_of.recovery, TALLY),
    Table(
        "reactions-csv",
        "recovery",
        rows_of.under("reactions"),
        {
            k: f"whole.{v}"
            for k, v in (
                TALLY | {"unscored": "unscored", "bad_answers": "bad_answers", "identical_retries": "identical_retries"}
            ).items()
        },
    ),
    Table("episodes-csv", "episodes", rows_of.under("results"), {"errors": "error_answers"}),
    Table(
        "dialects-csv",
        "dialects",
        rows_of.dialects,
        {
            "tool": "key",
            **{name: f"column.{name}" for name in ("package", "version", "metric")},
            **COUNTED,
            **rate(),
            **BESIDE,
        },
    ),
    Table("dialect-pairs-csv", "dialects", rows_of.dialect_pairs, BESIDE),
    Table("dialect-reasons-csv", "dialects", rows_of.dialect_reasons, {"reason": "name"}),
    Table("dialect-cases-csv", "dialect-cases", rows_of.dialect_cases),
    Table("dialect-cases-csv", "dialect-cases", rows_of.dialect_cases, query={"by": "adk.in_order", "said": "differ"}),
    Table("spending-csv", "spending", rows_of.under("tools"), TIMED | SPENT),
    Table("spending-csv", "spending", rows_of.under("tools"), TIMED | SPENT, {"order": "calls"}),
)
OF_PAIR = (
    Table(
        "compare-layers-csv",
        "compare",
        rows_of.under("layers"),
        DELTA,
    ),
    Table("compare-tools-csv", "compare-tools", rows_of.under("tools"), FIGURE | MISTAKES | BOTH_SIDES),
    Table("compare-matrix-csv", "compare-matrix", rows_of.under("cells")),
    Table("compare-registry-csv", "compare-registry", rows_of.whole),
    Table(
        "compare-strata-csv",
        "compare-strata",
        rows_of.whole,
        {name: f"change.{DELTA.get(name, name)}" for name in LAYERS.head},
        {"by": "bucket", "layer": "selection"},
    ),
    Table("compare-judges-csv", "compare-judges", rows_of.whole, JUDGED),
    Table(
        "compare-metrics-csv",
        "compare-metrics",
        rows_of.whole,
        {name: f"mean.{name}" for name in ("before", "after", "difference")} | ends("difference", "mean.interval"),
    ),
    Table(
        "compare-parameters-csv",
        "compare-parameters",
        rows_of.whole,
        {name: f"right.{name}" for name in ("before", "after", "difference")} | ends("difference", "right.interval"),
    ),
    Table(
        "compare-spending-csv",
        "compare-spending",
        rows_of.whole,
        {name: f"mean.{name}" for name in ("before", "after", "difference")} | ends("difference", "mean.interval"),
    ),
    Table("compare-cases-csv", "compare-cases", rows_of.moved),
)
OF_PROJECT = (
    Table(
        "policies-csv",
        "policies",
        rows_of.under("results"),
        {"policy_id": "id", "policy": "slug", "in_force": "active_number", "newest_version": "newest_number"},
    ),
    Table(
        "policy-versions-csv",
        "policy-versions",
        rows_of.under("results"),
        {"version_id": "id", "version": "number", "is_in_force": "is_active"},
    ),
    Table(
        "policy-rules-csv",
        "policy-rates",
        rows_of.under("rules"),
        {
            name: at
            for column in ("wrongly", "rightly", "in_traces", "false_share")
            for name, at in ends(column, column).items()
        },
    ),
    Table("policy-refusals-csv", "policy-refusals", rows_of.under("results"), query={"rule": "blocked"}),
    Table("policy-refusals-csv", "policy-refusals", rows_of.under("results"), query={"rule": "blocked", "of": "gold"}),
    Table(
        "policy-refusals-csv", "policy-refusals", rows_of.under("results"), query={"rule": "blocked", "of": "traces"}
    ),
    Table("policy-preconditions-csv", "policy-preconditions", rows_of.whole),
    Table(
        "policy-precondition-csv",
        "policy-precondition",
        rows_of.whole,
        query={"tool": "cancel_order", "after": "get_order"},
    ),
    Table("tool-source-csv", "tool-source", rows_of.under("changes")),
    Table("tool-source-gold-csv", "tool-source", rows_of.under("misfits")),
    Table("digest-csv", "digest", rows_of.under("lines")),
    Table("policy-days-csv", "policy-days", rows_of.under("results")),
    Table("solved-csv", "solved", rows_of.under("cells")),
    Table("solved-csv", "solved", rows_of.under("cells"), query={"by": "run", "layer": "selection", "sort": "split"}),
    Table("solved-csv", "solved", rows_of.under("agents"), query={"of": "agents"}),
    Table("trends-csv", "trends", rows_of.trends, TREND),
    Table("trends-csv", "trends", rows_of.trends, TREND, {"of": "tools", "rate": "precision"}),
    Table("trends-csv", "trends", rows_of.trends, TREND, {"of": "parameters"}),
    Table("agent-trends-csv", "agent-trends", rows_of.trends, TREND, {"agent": "agent"}),
    Table("gates-csv", "gates", rows_of.gates),
    Table("run-gates-csv", "run-gates", rows_of.gates),
    Table("gate-csv", "gate", rows_of.checks),
    Table("gate-preview-csv", "gate-preview", rows_of.previewed),
    Table("baseline-agents-csv", "baseline-agents", rows_of.baseline_agents, COUNTED | rate()),
    Table("suspects-csv", "suspects", rows_of.suspects),
    Table("issues-csv", "issues", rows_of.under("results"), query={"layer": "selection"}),
    Table("issue-cases-csv", "issue", rows_of.under("newest_cases")),
    Table("issue-traces-csv", "issue", rows_of.under("newest_traces")),
    Table(
        "benchmarks-csv",
        "benchmarks",
        rows_of.published,
        {"score_id": "id", "low": "rate.low", "high": "rate.high", "recorded_at": "created_at"},
        {"history": "all"},
    ),
)
RUN = {
    "run_id": "id",
    "run": "number",
    "agent_id": "agent.id",
    "agent": "agent.name",
    **{name: f"agent.{name}" for name in ("connector", "model", "prompt_version", "commit")},
    "dataset": "dataset_version.dataset",
    "version": "dataset_version.version",
    "passed": "outcome.passed",
    "scored": "outcome.total",
    "rate": "outcome.value",
    **ends("rate", "outcome.interval"),
    "label_noise": "label_noise.share",
    "label_noise_high": "label_noise.high",
    **ends("noise", "label_noise.bounds"),
}
# Lists of other apps, of things that reports are made of.
LISTS = (
    Table(
        "runs-csv",
        "runs",
        rows_of.under("results"),
        RUN,
        app="runs",
    ),
    Table("runs-csv", "runs", rows_of.under("results"), RUN, {"experiment": "nightly"}, app="runs"),
    Table(
        "experiments-csv",
        "experiments",
        rows_of.under("results"),
        {"experiment_id": "id", "experiment": "slug"},
        app="runs",
    ),
    Table(
        "agents-csv",
        "agents",
        rows_of.agents,
        {"agent_id": "id", "registry": "tools.registry", "registry_version": "tools.version"},
        app="runs",
    ),
    Table(
        "audit-csv",
        "audit",
        rows_of.audit,
        {"entry_id": "id", "actor_id": "actor.id", "actor": "actor.name"},
        app="workspace",
    ),
    Table("jobs-csv", "jobs", rows_of.under("results"), {"job_id": "id"}, app="workspace"),
    Table(
        "members-csv",
        "members",
        rows_of.under("results"),
        {"member_id": "id", "user_id": "user.id", "name": "user.name", "email": "user.email"},
        app="workspace",
    ),
    Table(
        "tokens-csv",
        "tokens",
        rows_of.under("results"),
        {"token_id": "id", "user_id": "user.id", "user": "user.name"},
        app="workspace",
    ),
    Table("webhooks-csv", "webhooks", rows_of.under("results"), {"webhook_id": "id"}, app="workspace"),
    Table(
        "deliveries-csv",
        "deliveries",
        rows_of.under("results"),
        {"delivery_id": "id"},
        app="workspace",
    ),
    Table(
        "datasets-csv",
        "datasets",
        rows_of.under("results"),
        {"dataset_id": "id", "dataset": "slug"},
        app="labeling",
    ),
    Table(
        "registries-csv",
        "registries",
        rows_of.under("results"),
        {
            "registry_id": "id",
            "registry": "slug",
            "newest_version_id": "newest_id",
            "newest_version": "newest_number",
            "tools": "newest_size",
        },
        app="registry",
    ),
)
EVERY = (*OF_RUN, *OF_PAIR, *OF_PROJECT, *LISTS)
