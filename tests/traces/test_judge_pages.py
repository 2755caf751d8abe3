"""Shows who sets judges of traces and what people see of them: pages, REST, files, and events."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.runs.judged import judge_of
from tests.traces.promoting import promoted
from tests.traces.sending import conversation, export, send
from toolevals.traces.models import SpanVerdict, Trace, TraceJudge
from toolevals.traces.services import TraceJudgeRequest, trace_judge_set, traces_judge, traces_settle

PAGE, REST = "/p/shop/traces/judges/", "/api/v1/projects/shop/traces/judges/"
ASKED = {"share": "25", "most_questions": "2", "is_on": "on"}


@pytest.fixture(autouse=True)
def nearby(settings: Any) -> None:
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    settings.TRACES_QUIET_SECONDS = 0


@pytest.fixture
def server() -> Any:
    answer = judging(lambda given: {"score": 0 if "order 8" in str(given["conversation"]) else 1})
    with chat_server(answer) as found:
        yield found


@pytest.fixture
def judged(project, owner, server, client, token) -> TraceJudge:
    """Three conversations, of which a judge passed one and failed one; the third was beyond its budget."""
    judge = judge_of(project, server, "task_completion", on=False, prices={"input": 100.0, "output": 100.0})
    request = TraceJudgeRequest(share=1.0, most_questions=2)
    found = trace_judge_set(project=project, actor=owner, judge=judge, request=request)
    for number in (7, 8, 9):
        send(client, token, export(*conversation(f"{number:032x}", asked=f"Where is my order {number}?")))
    traces_settle()
    traces_judge()
    return found


def trace_of(number: int) -> Trace:
    return Trace.objects.get(trace_id=f"{number:032x}")


def test_an_owner_binds_a_judge_and_changes_it(client, project, owner, server):
    judge = judge_of(project, server, "task_completion", on=False)
    judge_of(project, server, "argument_semantics", on=False)
    client.force_login(owner)
    page = client.get(PAGE).content.decode()
    assert "Judge of task_completion" in page
    assert "Judge of argument_semantics" not in page
    assert client.post(PAGE, ASKED | {"judge": str(judge.pk)}).status_code == 302
    found = TraceJudge.objects.get()
    assert (found.share, found.most_questions, found.is_on) == (0.25, 2, True)
    refused = client.post(f"{PAGE}{judge.pk}/", ASKED | {"most_cost": "3"})
    assert refused.status_code == 422
    assert "needs prices" in refused.content.decode()
    del ASKED["is_on"]
    assert client.post(f"{PAGE}{judge.pk}/", ASKED).status_code == 302
    assert not TraceJudge.objects.get().is_on


def test_by_rest_it_is_bound_and_changed_and_only_by_owners(client, project, owner, adjudicator, server):
    judge = judge_of(project, server, "task_completion", on=False)
    client.force_login(owner)
    said = {"judge": str(judge.pk), "share": 0.5, "most_tokens": 1000}
    answer = client.post(REST, said, content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert answer.json()["rule"] == "judge:task_completion"
    changed = client.patch(f"{REST}{judge.pk}/", {"share": 0.75}, content_type="application/json")
    assert (changed.json()["share"], changed.json()["most_tokens"]) == (0.75, 1000)
    refused = client.patch(f"{REST}{judge.pk}/", {"share": 7}, content_type="application/json")
    assert refused.status_code == 422
    assert "above 0 and at most 1" in str(refused.json())
    assert [each["questions_today"] for each in client.get(REST).json()["results"]] == [0]
    client.force_login(adjudicator)
    assert client.get(REST).status_code == 403
    assert client.get(PAGE).status_code == 403


def test_the_trace_page_says_who_judged_and_what_it_cost(judged, client, viewer):
    client.force_login(viewer)
    page = client.get(f"/p/shop/traces/{trace_of(8).pk}/").content.decode()
    assert "Task completion (judge): failed" in page
    assert "As the rubric says." in page
    assert "Judge of task_completion" in page
    assert "judge-2026-01-31-2026-01-01" in page
    beyond = client.get(f"/p/shop/traces/{trace_of(9).pk}/").content.decode()
    assert "not judged" in beyond
    assert "budget of the day was spent" in " ".join(beyond.split())
    detail = client.get(f"/api/v1/projects/shop/traces/{trace_of(8).pk}/").json()
    ((said,), no) = detail["judged"], detail["not_judged"]
    assert (said["status"], said["judge"], said["cost"], no) == ("failed", "Judge of task_completion", 0.0047, [])
    detail = client.get(f"/api/v1/projects/shop/traces/{trace_of(9).pk}/").json()
    assert (detail["judged"], detail["not_judged"][0]["is_waiting"]) == ([], False)


def test_trends_show_the_judge_its_rate_and_whom_it_did_not_judge(judged, client, viewer):
    client.force_login(viewer)
    page = client.get("/p/shop/traces/rules/").content.decode()
    assert "Not judged" in page
    assert "broke=judge%3Atask_completion" in page
    (day,) = [each for each in client.get("/api/v1/projects/shop/traces/rules/").json() if each["judge"]]
    assert [day[name] for name in ("passed", "failed", "unscored", "errored", "not_judged")] == [1, 1, 0, 0, 1]
    assert day["interval"]["low"] < 0.5 < day["interval"]["high"]
    rows = list(csv.DictReader(io.StringIO(content(client, "/p/shop/traces/rules.csv"))))
    (row,) = [each for each in rows if each["judge"]]
    assert (row["rule"], row["not_judged"], row["judge_model"]) == ("judge:task_completion", "1", "judge-2026-01-31")
    assert {each["not_judged"] for each in rows if not each["judge"]} == {""}


def test_its_failures_narrow_the_list_down(judged, client, viewer):
    client.force_login(viewer)
    page = client.get("/p/shop/traces/?broke=judge:task_completion").content.decode()
    assert str(trace_of(8).pk) in page
    assert str(trace_of(7).pk) not in page
    assert "Task completion (judge)" in page


def test_files_and_events_name_the_judge(judged, client, viewer):
    client.force_login(viewer)
    rows = list(csv.DictReader(io.StringIO(content(client, "/p/shop/traces/verdicts.csv"))))
    found = {row["status"]: row for row in rows if row["judge"]}
    assert set(found) == {"passed", "failed"}
    assert found["failed"]["judge"] == "Judge of task_completion"
    assert (found["failed"]["judge_model"], found["failed"]["judge_cost"]) == ("judge-2026-01-31-2026-01-01", "0.0047")
    assert len({row["verdict_id"] for row in rows}) == len(rows) == SpanVerdict.objects.count()
    events = [json.loads(line) for line in content(client, "/p/shop/traces/verdicts.jsonl").splitlines()]
    records = [one for each in events for one in each["resourceLogs"][0]["scopeLogs"][0]["logRecords"]]
    said = [{pair["key"]: pair["value"] for pair in one["attributes"]} for one in records]
    mine = [each for each in said if "toolevals.judge.name" in each]
    assert len(mine) == 2
    assert mine[0]["gen_ai.evaluation.name"] == {"stringValue": "judge:task_completion"}
    assert mine[0]["toolevals.judge.cost"] == {"doubleValue": pytest.approx(0.0047)}


def test_a_closed_trace_shows_no_judges_verdict(judged, client, owner, dataset, adjudicator, run_jobs):
    client.force_login(adjudicator)
    assert "failed" in {row["status"] for row in verdict_rows(client) if row["judge"]}
    promoted(run_jobs, dataset, owner, traces=(trace_of(8).pk,))
    assert client.get(f"/p/shop/traces/{trace_of(8).pk}/").status_code == 403
    assert "failed" not in {row["status"] for row in verdict_rows(client) if row["judge"]}
    assert str(trace_of(8).pk) not in client.get("/p/shop/traces/?broke=judge:task_completion").content.decode()


def verdict_rows(client: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(client, "/p/shop/traces/verdicts.csv"))))


def content(client: Any, address: str) -> str:
    return b"".join(client.get(address).streaming_content).decode()
