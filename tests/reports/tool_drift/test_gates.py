"""Gates ask if the tools of a run are still those that their source lists."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reports.gate_building import checks, hold
from tests.reports.tool_drift.sources import examples, looked, with_changes
from tests.runs.building import STATUS, TOOLS, call, uploaded_run, version_of
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.sources.services import source_set

pytestmark = pytest.mark.django_db


def test_a_gate_fails_warns_or_stays_open_by_what_the_source_of_the_runs_tools_lists(project, registry, site, run_jobs):
    run = uploaded_run(project, version_of(project, examples(registry)), [call("status", STATUS)])
    run_jobs()

    def decided(**rule: Any) -> Any:
        held = hold(run, {"tool_drift": rule})
        (check,) = checks(held)
        return held.status, check

    status, check = decided()
    assert (status, check.status) == ("unanswered", "unanswered")
    source = source_set(registry=registry, actor=None, kind="openapi", options={"url": site.url})
    assert decided()[0] == "unanswered"
    looked(source)
    assert decided()[0] == "passed"
    site.show([*TOOLS, {**TOOLS[2], "name": "cancel_order"}])
    looked(source)
    assert decided()[0] == "passed"
    site.show(with_changes())
    looked(source)
    status, check = decided()
    assert (status, check.bound) == ("failed", "no breaking change at the source")
    assert "get_order_status order_id, pattern added (breaking)" in check.reason
    assert "shop@1 against its source as of" in check.note
    assert decided(on_fail="warn")[0] == "warned"
    site.status = 500
    looked(source)
    assert "A later look failed." in decided()[1].note


def test_a_gate_of_a_file_leaves_tool_drift_unanswered_and_names_a_wrong_rule():
    (check,) = evaluate_gate(read_gate({"tool_drift": {}}), []).checks
    assert (check.name, check.status) == ("tool drift", "unanswered")
    with pytest.raises(InvalidDocument, match="/tool_drift/on_fail"):
        read_gate({"tool_drift": {"on_fail": "never"}})
