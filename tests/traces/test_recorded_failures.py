"""Failures of recorded conversations that are sent as traces: the same keys, as often, as in a run of them."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from tests.grading.failures.test_recorded import FILES, FOLDER
from toolevals.cli.sending import Agent, conversations_read, export_of, spans_of_conversation
from toolevals.grading.failures import failed_calls
from toolevals.grading.reading.parsing.recorded import tau2_runs, tau_runs
from toolevals.grading.reading.telemetry.otlp import TelemetrySpan, spans_in
from toolevals.traces.reading.calls import used_tools
from toolevals.traces.reading.failures import failures_in
from toolevals.traces.reading.rules import verdicts_of
from toolevals.traces.reading.traces import trace_read

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="TOOLEVALS_BENCHMARK_DATA is not set")
AGENT = Agent("shop", "1")
START = 1_795_000_000_000_000_000


@pytest.mark.parametrize("name", FILES)
def test_errors_of_tools_have_the_same_keys_in_runs_and_in_traces(name):
    content = (FOLDER / name).read_bytes()
    runs = (tau2_runs if name.startswith("tau2") else tau_runs)(json.loads(gzip.decompress(content)))
    first = (run for run in runs if run.trial == 0)
    in_runs = Counter(key for run in first for key in {each.key for each in failed_calls(run.transcript)})
    in_traces: Counter[str] = Counter()
    for conversation in conversations_read(content):
        if not conversation.name.endswith("-0"):
            continue
        spans = [span for _, span in spans_in(export_of(spans_of_conversation(conversation, AGENT, START), AGENT))]
        read = trace_read(span for span in spans if isinstance(span, TelemetrySpan))
        used = used_tools(read)
        in_traces.update(each.key for each in failures_in(read, used, verdicts_of(read, used)) if each.layer == "tool")
    assert in_traces == in_runs
    assert in_runs
