"""Test how the rows of a table's file are found in its answer in the REST interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolevals.grading.engine.case_metrics import METRICS

STATUSES = ("failed", "unanswered", "warned", "skipped", "passed")
Rows = Callable[[Any], Iterable[Mapping[str, Any]]]


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


def variance(document: Any) -> Iterable[Mapping[str, Any]]:
    return [document["trials"]["variance"]]


def recovery(document: Any) -> Iterable[Mapping[str, Any]]:
    return [
        each | {"tool": tool["tool"], "tool_answers": tool["error_rate"]["total"]}
        for tool in document["tools"]
        for each in tool["error_classes"]
    ]


def trends(document: Any) -> Iterable[Mapping[str, Any]]:
    found = [(name, run | each | {"name": name}) for run in document["runs"] for name, each in run["rates"].items()]
    # The file has the metrics after all layers, and the judges after all metrics.
    return [row for _, row in sorted(found, key=lambda pair: (pair[0].startswith("judged:"), pair[0] in METRICS))]


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


def previewed(document: Any) -> Iterable[Mapping[str, Any]]:
    for each in document["runs"]:
        yield from ({**check, "run": each["run"]} for check in checks(each))


def gates(document: Any) -> Iterable[Mapping[str, Any]]:
    for each in document["results"]:
        counts = {f"checks_{status}": each["check_counts"].get(status, 0) for status in STATUSES}
        yield each | counts | {"gate_id": each["id"], "release_candidate": each["is_release_candidate"]}


def suspects(document: Any) -> Iterable[Mapping[str, Any]]:
    for each in document["results"]:
        for reason in each["reasons"]:
            said = {
                "agents": " ".join(witness["agent"] for witness in reason["witnesses"]),
                "runs": " ".join(str(witness["run"]) for witness in reason["witnesses"]),
                "case_ids": " ".join(witness["case"] for witness in reason["witnesses"]),
                "twin_revision_ids": " ".join(twin["revision_id"] for twin in reason["examples"]),
            }
            yield each | reason | said | {"reason": reason["kind"]}


def baseline_agents(document: Any) -> Iterable[Mapping[str, Any]]:
    return [
        row | {"baseline_agent": each["kind"], "run": each["run"]}
        for each in document["baseline_agents"]
        for row in each["layers"]
    ]


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


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""


def agents(document: Any) -> Iterable[Mapping[str, Any]]:
    return [each | {"options": _json(each["options"])} for each in document["results"]]


def audit(document: Any) -> Iterable[Mapping[str, Any]]:
    return [each | {"detail": _json(each["detail"])} for each in document["results"]]
