"""Test what real instrumentations sent, by every online rule.

Their conversations are good ones, and nobody is accused.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from toolevals.grading.reading.telemetry.otlp import TelemetrySpan, spans_in
from toolevals.traces.reading.calls import used_tools
from toolevals.traces.reading.rules import verdicts_of
from toolevals.traces.reading.traces import trace_read

FOLDER = Path(__file__).parents[1] / "grading" / "reading" / "telemetry" / "made"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_rules_accuse_nobody(path: Path) -> None:
    traces: dict[str, list[TelemetrySpan]] = defaultdict(list)
    for export in json.loads(path.read_text("utf-8"))["exports"]:
        for _, span in spans_in(export):
            assert isinstance(span, TelemetrySpan)
            traces[span.trace_id].append(span)
    assert traces
    for spans in traces.values():
        trace = trace_read(sorted(spans, key=lambda span: span.start))
        verdicts = verdicts_of(trace, used_tools(trace))
        assert verdicts
        assert [verdict for verdict in verdicts if verdict.status in ("failed", "errored")] == []
