"""Test what agents disagree about is written into the queue."""

from __future__ import annotations

import pytest

from labeling.models import Revision
from tests.runs.building import HISTORY, REFUND, STATUS, call, silence, uploaded_run

pytestmark = pytest.mark.django_db


def test_trials_and_agents_that_differ_raise_an_example(project, version, run_jobs):
    lines = [call("status", STATUS), call("history", HISTORY), call("refund", REFUND), silence("hello")]
    uploaded_run(project, version, lines)
    run_jobs()
    assert set(Revision.objects.values_list("disagreement", flat=True)) == {0.0}

    again = [
        call("status", STATUS),
        call("history", STATUS),
        call("refund", REFUND, order_id="ORD-2"),
        silence("hello"),
    ]
    uploaded_run(project, version, again)
    run_jobs()
    found = dict(Revision.objects.values_list("example__external_id", "disagreement"))
    assert found == {"status": 0.0, "history": 0.5, "refund": 0.0, "hello": 0.0}
