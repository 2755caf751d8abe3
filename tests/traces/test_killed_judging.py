"""A worker is killed while a judge answers: one question is asked again, and no trace or span has two verdicts."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.fixtures.application import SHARED, WORKER

pytestmark = [pytest.mark.servers, pytest.mark.once]

TRACES = 6
SEED = """
from tests.agents.judges import MODEL
from tests.traces.sending import conversation, export
from toolevals.runs.judging.services import JudgeRequest, judge_add, rubric_use
from toolevals.traces.intake.services import spans_store
from toolevals.traces.intake.sorting import sorted_spans
from toolevals.traces.judges.services import TraceJudgeRequest, trace_judge_set
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.accounts.services import user_create
owner = user_create(actor=None, email="o@example.org", name="O")
project = project_create(actor=owner, slug="shop", name="Shop")
rubric = rubric_use(project=project, actor=owner, name="task_completion")
asked = JudgeRequest("J", MODEL, {{"base_url": "{url}", "timeout": 5}})
judge = judge_add(project=project, actor=owner, rubric=rubric, request=asked)
trace_judge_set(project=project, actor=owner, judge=judge, request=TraceJudgeRequest(share=1.0, span_kind="{kind}"))
for number in range(1, {traces} + 1):
    spans = conversation(f"{{number:032x}}", asked=f"Where is my order {{number}}?")
    spans_store(project=project, traces=sorted_spans(export(*spans)).traces)
"""
STATE = """
import json
from toolevals.traces.models import SpanVerdict, TraceJudgeDay, TraceQuestion
verdicts = SpanVerdict.objects.exclude(judge=None)
print(json.dumps({
    "judged": TraceQuestion.objects.filter(state="judged").count(),
    "verdicts": verdicts.count(),
    "spans": verdicts.values("trace", "span_id").distinct().count(),
    "questions": sum(TraceJudgeDay.objects.values_list("questions", flat=True)),
}))
"""


@pytest.mark.parametrize(("kind", "spans"), [("", 1), ("model", 2)])
def test_one_question_is_asked_again_and_no_trace_or_span_has_two_verdicts(live_app_start, kind, spans):
    wanted = TRACES * spans
    heard, go_on = threading.Event(), threading.Event()
    seen: list[str] = []

    def answer(given: Any) -> Any:
        seen.append(given["conversation"]["messages"][-1]["content"])
        if len(seen) == 3:
            heard.set()
            go_on.wait(60)
        return {"score": 1}

    with chat_server(judging(answer)) as server:
        app = live_app_start(loaded=False, TRACES_QUIET_SECONDS="0", **SHARED)
        app.python(SEED.format(url=server.url, traces=TRACES, kind=kind))
        assert heard.wait(120)
        # Ends it as a crash would, and starts another.
        app.application.restart(WORKER)
        go_on.set()
        end = time.monotonic() + 180
        while (state := json.loads(app.python(STATE)))["judged"] < wanted and time.monotonic() < end:
            time.sleep(0.5)
    assert (state["judged"], state["verdicts"], state["spans"]) == (wanted, wanted, wanted)
    # The judge may give up waiting before the kill: then nobody heard it, and it does not count.
    assert wanted <= state["questions"] <= wanted + 1
    assert wanted <= len(seen) <= wanted + 1
    assert set(seen) == {f"Where is my order {number}?" for number in range(1, TRACES + 1)}
