"""Every table of reports: its file, its answer in the REST interface, and how the one's columns lie in the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reports.comparison.tables import LAYERS

STATUSES = ("failed", "unanswered", "warned", "skipped", "passed")
Rows = Callable[[Any], Iterable[Mapping[str, Any]]]


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

    def __str__(self) -> str:
        return self.file + "".join(f" {name}={value}" for name, value in self.query.items())


def rate(column: str = "rate", path: str = "rate", *, low: str = "low", high: str = "high") -> dict[str, str]:
    """Return where a rate and its ends lie."""
    return {column: f"{path}.value", f"{column}_low": f"{path}.{low}", f"{column}_high": f"{path}.{high}"}


def ends(column: str, path: str) -> dict[str, str]:
    """Return where the ends of an interval lie."""
    return {f"{column}_low": f"{path}.low", f"{column}_high": f"{path}.high"}


def under(*names: str) -> Rows:
    """Return what finds the list at a path."""

    def find(document: Any) -> Any:
        for name in names:
            document = document[name]
        return document

    return find


def whole(document: Any) -> Any:
    return document


def failures(document: Any) -> Iterable[Mapping[str, Any]]:
    for each in document["failure_tags"]:
        yield each | {"kind": "tag", "name": each["tag"], "layer": ""}
    for each in document["failure_modes"]:
        yield each | {"kind": "mode", "name": each["mode"], "scored": True, "to_do": ""}


def differences(document: Any) -> Iterable[Mapping[str, Any]]:
    return [case | each for case in document["results"] for each in case["differences"]]


def reliability(document: Any) -> Iterable[Mapping[str, Any]]:
    trials = document["trials"]
    for point in trials["curve"]:
        yield point | {"kind": "run", "name": "", "examples": point["pass_at_k"]["count"]}
    for group in trials["groups"]:
        yield group | {"k": trials["k"], "examples": group["pass_at_k"]["count"]}


def recovery(document: Any) -> Iterable[Mapping[str, Any]]:
    return [
        each | {"tool": tool["tool"], "tool_answers": tool["error_rate"]["total"]}
        for tool in document["tools"]
        for each in tool["error_classes"]
    ]


def trends(document: Any) -> Iterable[Mapping[str, Any]]:
    found = [(name, run | each | {"name": name}) for run in document["runs"] for name, each in run["rates"].items()]
    # The file has the judges after all layers.
    return [row for _, row in sorted(found, key=lambda pair: pair[0].startswith("judged:"))]


def moved(document: Any) -> Iterable[Mapping[str, Any]]:
    numbers = {"before": 1, "after": 2}
    return [
        case | {"revision_id": each["revision_id"], "external_id": each["external_id"], "side": side, "run": run}
        for each in document["results"]
        for side, run in numbers.items()
        for case in each[side]
    ]


def checks(document: Any) -> Iterable[Mapping[str, Any]]:
    for number, check in enumerate(document["result"]["checks"], start=1):
        low, high = check["interval"] or (None, None)
        yield check | {"gate_id": document["id"], "check": number, "low": low, "high": high}


def gates(document: Any) -> Iterable[Mapping[str, Any]]:
    for each in document["results"]:
        counts = {f"checks_{status}": each["check_counts"].get(status, 0) for status in STATUSES}
        yield each | counts | {"gate_id": each["id"], "release_candidate": each["is_release_candidate"]}


def suspects(document: Any) -> Iterable[Mapping[str, Any]]:
    for each in document["results"]:
        for reason in each["reasons"]:
            said = {
                "subjects": " ".join(witness["subject"] for witness in reason["witnesses"]),
                "runs": " ".join(str(witness["run"]) for witness in reason["witnesses"]),
                "case_ids": " ".join(witness["case"] for witness in reason["witnesses"]),
                "twin_revision_ids": " ".join(twin["revision_id"] for twin in reason["examples"]),
            }
            yield each | reason | said | {"reason": reason["kind"]}


def floors(document: Any) -> Iterable[Mapping[str, Any]]:
    return [row | {"floor": each["kind"], "run": each["run"]} for each in document["floors"] for row in each["layers"]]


def _beside(pair: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"both_scored": pair["agreement"]["total"], "agree": pair["agreement"]["passed"], **pair}


def dialects(document: Any) -> Iterable[Mapping[str, Any]]:
    ours = document["tools"][0]["key"]
    pairs = {frozenset((pair["one"], pair["other"])): pair for pair in document["pairs"]}
    for tool in document["tools"]:
        pair = pairs.get(frozenset((ours, tool["key"])))
        beside = (
            {"both_scored": None, "agree": None, "agreement": None, "kappa": None} if pair is None else _beside(pair)
        )
        options = (tool["column"] or {}).get("options")
        yield tool | beside | {"options": json.dumps(options) if options else ""}


def dialect_pairs(document: Any) -> Iterable[Mapping[str, Any]]:
    return map(_beside, document["pairs"])


def dialect_reasons(document: Any) -> Iterable[Mapping[str, Any]]:
    return [pair | each for pair in document["pairs"] for each in pair["reasons"]]


def dialect_cases(document: Any) -> Iterable[Mapping[str, Any]]:
    # The file has them by their ids, the answer the newest first.
    cases = sorted(document["results"], key=lambda case: case["case_id"])
    return [case | verdict for case in cases for verdict in case["verdicts"]]


def published(document: Any) -> Iterable[Mapping[str, Any]]:
    # The answer has the newest first, as the file has those of one metric.
    return sorted(document["results"], key=lambda row: tuple(row[name] for name in ("benchmark", "version", "metric")))


def matrix_wide(document: Any) -> Iterable[Mapping[str, Any]]:
    counts = {(cell["expected"], cell["actual"]): cell["count"] for cell in document["cells"]}
    for row in document["rows"]:
        yield {"expected": row} | {column: counts.get((row, column), 0) for column in document["columns"]}


COUNTED = {"passed": "rate.passed"}
TALLY = {
    "episodes": "rate.total",
    "right": "rate.passed",
    "recovered": "recovery.passed",
    "errors": "error_answers",
    **rate(),
}
FIGURE = {
    f"{name}_{part}": f"{name}.{path}"
    for name in ("precision", "recall", "f1")
    for part, path in {
        "before": "before",
        "after": "after",
        "difference": "difference",
        "difference_low": "interval.low",
        "difference_high": "interval.high",
    }.items()
}
MISTAKES = {
    f"{name}_{part}": f"{name}.{part}"
    for name in ("missed", "wrong")
    for part in ("before", "after", "fixed", "broken", "p_value", "p_holm")
}
BOTH_SIDES = {
    f"{name}_{side}": f"{name}.{place}"
    for name in ("support", "predicted")
    for place, side in enumerate(("before", "after"))
}
BESIDE = {**rate("agreement", "agreement"), "kappa": "kappa.value", **ends("kappa", "kappa")}
TIMED = {
    f"{name}_{stat}_{what}": f"{name}_ms.{stat}.{part}"
    for name in ("execution", "step")
    for stat in ("p50", "p95", "p99", "most")
    for what, part in (("ms", "value"), ("case", "case"))
} | {f"{name}_recorded": f"{name}_ms.known" for name in ("execution", "step")}
SPENT = {
    column: f"{name}.{path}"
    for name in ("tokens_in", "tokens_out", "cost")
    for column, path in (
        (name, "total"),
        (f"{name}_recorded", "known"),
        (f"{name}_most", "most.value"),
        (f"{name}_most_case", "most.case"),
    )
}
DELTA = {**ends("before", "before_interval"), **ends("after", "after_interval"), **ends("difference", "interval")}
JUDGED = {
    **{
        f"{side}_{what}": f"{side}.{what}"
        for side in ("before", "after")
        for what in ("judge", "model", "version", "flag")
    },
    **{name: f"passed.{name}" for name in ("before", "after", "difference")},
    **{f"mean_{name}": f"mean.{name}" for name in ("before", "after", "difference")},
    **ends("difference", "passed.interval"),
    **ends("mean_difference", "mean.interval"),
}
TREND = {"passed": "passed", "total": "total", "rate": "value", "rate_low": "low", "rate_high": "high"}

OF_RUN = (
    Table("matrix-csv", "matrix", under("cells")),
    Table("matrix-csv", "matrix", matrix_wide, query={"form": "wide"}),
    Table(
        "tools-csv",
        "tools",
        under("tools"),
        {
            **rate("precision", "precision"),
            **rate("recall", "recall"),
            **ends("f1", "f1_interval"),
            "most_called_instead": "most_called_instead.actual",
            "most_called_instead_count": "most_called_instead.count",
        },
    ),
    Table("layers-csv", "layers", under("layers"), COUNTED | rate()),
    Table("failures-csv", "layers", failures),
    Table("overreach-csv", "overreach", under("rows")),
    Table(
        "arguments-csv",
        "arguments",
        whole,
        {"calls": "wrong.total", "wrong": "wrong.passed"}
        | rate("wrong_share", "wrong")
        | {kind: f"counts.{kind}" for kind in ("changed", "missing", "extra", "invalid")},
    ),
    Table(
        "judges-csv",
        "judges",
        whole,
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
    Table("judged-csv", "judged-cases", under("results")),
    Table("cases-csv", "graded-cases", under("results")),
    Table("cases-csv", "graded-cases", under("results"), query={"mode": "wrong_tool", "trial": "1"}),
    Table("state-csv", "state-differences", differences),
    Table("remarks-csv", "remarks", under("results")),
    Table(
        "reliability-csv",
        "reliability",
        reliability,
        {
            "pass_at_k": "pass_at_k.value",
            **ends("pass_at_k", "pass_at_k.interval"),
            "pass_hat_k": "pass_hat_k.value",
            **ends("pass_hat_k", "pass_hat_k.interval"),
        },
    ),
    Table("trials-csv", "trials", under("results")),
    Table(
        "steps-csv",
        "reliability",
        under("steps", "chains"),
        {
            "passed": "cases.passed",
            "cases": "cases.total",
            **rate("rate", "cases"),
            **ends("predicted", "predicted_interval"),
        },
    ),
    Table("recovery-csv", "recovery", recovery, TALLY),
    Table(
        "reactions-csv",
        "recovery",
        under("reactions"),
        {
            k: f"whole.{v}"
            for k, v in (TALLY | {"bad_answers": "bad_answers", "identical_retries": "identical_retries"}).items()
        },
    ),
    Table("episodes-csv", "episodes", under("results"), {"errors": "error_answers"}),
    Table(
        "dialects-csv",
        "dialects",
        dialects,
        {
            "tool": "key",
            **{name: f"column.{name}" for name in ("package", "version", "metric")},
            **COUNTED,
            **rate(),
            **BESIDE,
        },
    ),
    Table("dialect-pairs-csv", "dialects", dialect_pairs, BESIDE),
    Table("dialect-reasons-csv", "dialects", dialect_reasons, {"reason": "name"}),
    Table("dialect-cases-csv", "dialect-cases", dialect_cases),
    Table("dialect-cases-csv", "dialect-cases", dialect_cases, query={"by": "adk.in_order", "said": "differ"}),
    Table("spending-csv", "spending", under("tools"), TIMED | SPENT),
    Table("spending-csv", "spending", under("tools"), TIMED | SPENT, {"order": "calls"}),
)
OF_PAIR = (
    Table(
        "compare-layers-csv",
        "compare",
        under("layers"),
        DELTA,
    ),
    Table("compare-tools-csv", "compare-tools", under("tools"), FIGURE | MISTAKES | BOTH_SIDES),
    Table("compare-matrix-csv", "compare-matrix", under("cells")),
    Table("compare-registry-csv", "compare-registry", whole),
    Table(
        "compare-strata-csv",
        "compare-strata",
        whole,
        {name: f"change.{DELTA.get(name, name)}" for name in LAYERS},
        {"by": "bucket", "layer": "selection"},
    ),
    Table("compare-judges-csv", "compare-judges", whole, JUDGED),
    Table("compare-cases-csv", "compare-cases", moved),
)
OF_PROJECT = (
    Table("trends-csv", "trends", trends, TREND),
    Table("trends-csv", "trends", trends, TREND, {"of": "tools", "rate": "precision"}),
    Table("subject-trends-csv", "subject-trends", trends, TREND, {"subject": "agent"}),
    Table("gates-csv", "gates", gates),
    Table("run-gates-csv", "run-gates", gates),
    Table("gate-csv", "gate", checks),
    Table("floors-csv", "floors", floors, COUNTED | rate()),
    Table("suspects-csv", "suspects", suspects),
    Table(
        "benchmarks-csv",
        "benchmarks",
        published,
        {"score_id": "id", "low": "rate.low", "high": "rate.high", "recorded_at": "created_at"},
        {"history": "all"},
    ),
)
EVERY = (*OF_RUN, *OF_PAIR, *OF_PROJECT)
