"""Tell what a gate can ask about: every metric by name with a sentence, and the values that its document takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.engine.grader_catalog import GRADERS
from toolevals.grading.gates.results import FUNCTION_CALLS, JUDGED, PUBLISHED_METRICS
from toolevals.grading.values.documents import schema


@dataclass(frozen=True, slots=True)
class GateMetric:
    """A metric that rules can name, where it comes from (verdicts, judges and others), and a sentence."""

    name: str
    source: str
    sentence: str


def gate_metrics(rubrics: Mapping[str, str] | None = None) -> list[GateMetric]:
    """Return every metric that a gate can name; `rubrics` are those that judges are asked, with their titles."""
    return [
        *(GateMetric(each.name, "verdicts", each.sentence) for each in GRADERS.values()),
        *(GateMetric(each.name, "metrics of a case", each.sentence) for each in METRICS.values()),
        *(
            GateMetric(name, "published names", f"Uses {verdict}, or its judge where that was asked.")
            for name, verdict in PUBLISHED_METRICS.items()
            if name not in FUNCTION_CALLS
        ),
        *(GateMetric(name, "of ai-evaluation", "As ai-evaluation scores the calls.") for name in FUNCTION_CALLS),
        *(GateMetric(f"{JUDGED}{name}", "judges", title) for name, title in (rubrics or {}).items()),
    ]


def allowed_values(rule: str, field: str) -> list[str]:
    """Return the values that a field of a rule takes, as `gate.v1.json` lists them, the default first."""
    node = _resolved(schema("gate")["$defs"][rule]["properties"][field])
    values = [str(value) for value in ([node["const"]] if "const" in node else node["enum"])]
    return sorted(values, key=lambda value: value != node.get("default"))


def _resolved(node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    found: dict[str, Any] = schema("gate")["$defs"][node["$ref"].rpartition("/")[2]]
    return found | {key: value for key, value in node.items() if key != "$ref"}
