"""A worker is killed while a judge answers what rules left unscored: nothing kept is asked twice, or counted twice."""

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

EXAMPLES = 6
RUN = """
from tests.runs.building import STATUS, example, uploaded_run, version_of
from tests.runs.test_unscored import talk
from toolevals.workspace.projects.services import project_create
rows = [example(f"ex-{{n}}", f"Where is order {{n}}?", STATUS) for n in range({examples})]
told = [talk(f"ex-{{n}}", '{{"order_id": "ORD-1"}}', "It has left us.") for n in range({examples})]
uploaded_run(project := project_create(actor=None, slug="shop", name="Shop"), version_of(project, rows), told)
"""
ASK = """
from types import SimpleNamespace
from tests.runs.judged import judge_of
from toolevals.runs.models import Run
from toolevals.runs.grading.services import unscored_ask
run = Run.objects.select_related("project").get(baseline_agent="")
judge = judge_of(run.project, SimpleNamespace(url="{url}"), "result_groundedness", on=False, timeout=5)
unscored_ask(run=run, actor=None, judge=judge)
"""
STATE = """
import json
from toolevals.runs.models import JudgeCount, JudgedCase, Judgement, Run
run = Run.objects.select_related("grading").get(baseline_agent="")
count = JudgeCount.objects.filter(grading=run.grading).first()
print(json.dumps({
    "grading": run.grading.number if run.grading else 0,
    "counted": [count.passed, count.asked] if count else None,
    "verdicts": JudgedCase.objects.count(),
    "answers": Judgement.objects.filter(error="").count(),
}))
"""


def test_what_was_kept_is_not_asked_again_and_each_case_has_one_verdict(live_app_start):
    heard, go_on = threading.Event(), threading.Event()
    seen: list[str] = []

    def answer(given: Any) -> Any:
        seen.append(given["conversation"]["messages"][-1]["content"])
        if len(seen) == EXAMPLES // 2:
            heard.set()
            go_on.wait(60)
        return {"claims": [{"claim": "It has left us.", "supported": True}]}

    with chat_server(judging(answer)) as server:
        app = live_app_start(loaded=False, **SHARED)

        def wait_for(grading: int) -> Any:
            end = time.monotonic() + 180
            while (state := json.loads(app.python(STATE)))["grading"] < grading and time.monotonic() < end:
                time.sleep(0.5)
            return state

        app.python(RUN.format(examples=EXAMPLES))
        assert wait_for(1) == {"grading": 1, "counted": None, "verdicts": 0, "answers": 0}
        app.python(ASK.format(url=server.url))
        assert heard.wait(120)
        # The question that waits holds up no other: an answer is kept before the worker ends.
        end = time.monotonic() + 50
        while not json.loads(app.python(STATE))["answers"]:
            assert time.monotonic() < end
        # Ends it as a crash would, and starts another.
        app.application.restart(WORKER)
        go_on.set()
        state = wait_for(2)
    assert state == {"grading": 2, "counted": [EXAMPLES, EXAMPLES], "verdicts": EXAMPLES, "answers": EXAMPLES}
    # Under way when the worker ended were those that it had not kept yet.
    assert set(seen) == {f"Where is order {number}?" for number in range(EXAMPLES)}
    assert len(seen) < 2 * EXAMPLES
