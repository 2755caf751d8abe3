"""Shows who sets judges of traces and what people see of them: pages, REST, files, and events."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.runs.judged import judge_of
from tests.traces.promoting import promoted
from tests.traces.sending import conversation, export, send
from toolevals.traces.judges.services import TraceJudgeRequest, trace_judge_set, traces_judge
from toolevals.traces.models import SpanVerdict, Trace, TraceJudge
from toolevals.traces.reading.services import traces_settle

PAGE, REST = "/p/shop/traces/judges/", "/api/v1/projects/shop/traces/judges/"
ASKED = {"share": "25", "most_questions": "2", "is_on": "on"}


pytestmark = pytest.mark.usefixtures("nearby")


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
    assert "daily budget is used up" in " ".join(beyond.split())
    detail = client.get(f"/api/v1/projects/shop/traces/{trace_of(8).pk}/").json()
    ((said,), no) = detail["judged"], detail["not_judged"]
    assert (said["status"], said["judge"], said["cost"], no) == ("failed", "Judge of task_completion", 0.0047, [])
    detail = client.get(f"/api/v1/projects/shop/traces/{trace_of(9).pk}/").json()
    assert (detail["judged"], detail["not_judged"][0]["is_waiting"]) == ([], False)


def test_trends_show_the_judge_its_rate_and_whom_it_did_not_judge(judged, client, viewer):
    client.force_login(viewer)
    page = client.get("/p/shop/traces/rules/").content.decode()
    assert "Not judged" in page
    (section,) = re.findall(r'id="r-judge:task_completion.*?</section>', page, re.DOTALL)
    numbers = re.findall(r'<a href="([^"]+)">([\d.]+)</a>', section)
    assert [number for _, number in numbers] == ["50.0", "1", "1", "1"]
    behind = [listed(client, address) for address, _ in numbers]
    assert behind == [[trace_of(8), trace_of(7)], [trace_of(7)], [trace_of(8)], [trace_of(9)]]
    (day,) = [each for each in client.get("/api/v1/projects/shop/traces/rules/").json() if each["judge"]]
    assert [day[name] for name in ("passed", "failed", "unscored", "errored", "not_judged")] == [1, 1, 0, 0, 1]
    assert day["interval"]["low"] < 0.5 < day["interval"]["high"]
    rows = list(csv.DictReader(io.StringIO(content(client, "/p/shop/traces/rules.csv"))))
    (row,) = [each for each in rows if each["judge"]]
    assert (row["rule"], row["not_judged"], row["judge_model"]) == ("judge:task_completion", "1", "judge-2026-01-31")
    assert {each["not_judged"] for each in rows if not each["judge"]} == {""}


def listed(client: Any, address: str) -> list[Trace]:
    """Return the traces of which a list has a row, the newest first."""
    page = client.get(address.replace("&amp;", "&")).content.decode()
    found = re.findall(r'href="/p/shop/traces/([0-9a-f-]{36})/"', page)
    return [Trace.objects.get(pk=each) for each in dict.fromkeys(found)]


def test_each_number_of_the_judges_opens_its_traces(judged, client, owner, token):
    send(client, token, export(*conversation(f"{10:032x}", asked="Where is my order 10?")))
    traces_settle()
    client.force_login(owner)
    page = client.get(PAGE).content.decode()
    (row,) = re.findall(r"<tr><th scope=\"row\".*?</tr>", page, re.DOTALL)
    numbers = [(address, words) for address, words in re.findall(r'<a\s+href="([^"]+)">(.*?)</a>', row)][1:]
    asked, waits, left = [trace_of(8), trace_of(7)], [trace_of(10)], [trace_of(9)]
    assert [listed(client, address) for address, _ in numbers] == [asked, asked, asked, waits, left]
    assert [words for _, words in numbers] == ["2", "94", "0.0094", "1", "1"]
    (line,) = csv.DictReader(io.StringIO(content(client, "/p/shop/traces/judges.csv")))
    assert line["judge"] == "Judge of task_completion"
    assert [line[f"{name}_today"] for name in ("questions", "tokens", "not_judged")] == ["2", "94", "1"]
    assert float(line["cost_today"]) == pytest.approx(0.0094)
    (answer,) = client.get(REST).json()["results"]
    assert (answer["waiting"], answer["not_judged_today"]) == (1, 1)


def test_a_trace_that_was_not_judged_leads_to_those_like_it(judged, client, viewer):
    client.force_login(viewer)
    page = client.get(f"/p/shop/traces/{trace_of(9).pk}/").content.decode()
    (address,) = re.findall(r'href="([^"]+verdict=[^"]+)"\s*>similar traces', page)
    assert listed(client, address) == [trace_of(9)]
    rest = client.get("/api/v1/projects/shop/traces/?verdict=not_judged").json()["results"]
    assert [each["id"] for each in rest] == [str(trace_of(9).pk)]


@pytest.mark.parametrize(
    "asked",
    [
        "rule=schema&verdict=not_judged",
        "judge=00000000-0000-0000-0000-000000000000",
        "rule=judge:other&verdict=waiting",
    ],
)
def test_what_no_judge_said_lists_nothing(judged, client, viewer, asked):
    client.force_login(viewer)
    assert listed(client, f"/p/shop/traces/?{asked}") == []


@pytest.mark.parametrize("asked", ["verdict=maybe", "judge=7", "asked=soon", "min_call_ms=long"])
def test_what_a_filter_says_wrongly_of_verdicts_is_named(judged, client, viewer, asked):
    client.force_login(viewer)
    name, _, said = asked.partition("=")
    page = client.get(f"/p/shop/traces/?{asked}").content.decode()
    (words,) = re.findall(r'class="field-error">(.*?)<', page)
    assert words.startswith(name)
    assert said in words
    assert client.get(f"/api/v1/projects/shop/traces/?{asked}").status_code == 422


def test_one_judges_numbers_are_not_those_of_another_with_its_rubric(judged, client, project, owner, token, server):
    trace_judge_set(project=project, actor=owner, judge=judged.judge, request=TraceJudgeRequest(share=1.0, is_on=False))
    other = judge_of(project, server, "task_completion", on=False, name="Other")
    trace_judge_set(project=project, actor=owner, judge=other, request=TraceJudgeRequest(share=1.0))
    send(client, token, export(*conversation(f"{8 << 4:032x}", asked="Where is my order 8?")))
    traces_settle()
    traces_judge()
    client.force_login(owner)
    new = Trace.objects.get(trace_id=f"{8 << 4:032x}")
    assert listed(client, f"/p/shop/traces/?judge={other.pk}&verdict=failed") == [new]
    assert listed(client, f"/p/shop/traces/?judge={judged.judge_id}&verdict=failed") == [trace_of(8)]
    assert listed(client, "/p/shop/traces/?rule=judge:task_completion&verdict=failed") == [new, trace_of(8)]
    options = client.get("/p/shop/traces/").content.decode()
    assert options.count('<option value="judge:task_completion"') == 1


@pytest.mark.parametrize("path", [PAGE, REST, "/p/shop/traces/judges.csv"])
def test_the_list_asks_as_often_however_many_judges_there_are(
    judged, client, project, owner, server, path, django_assert_max_num_queries
):
    client.force_login(owner)

    def opened() -> None:
        answer = client.get(path)
        assert answer.status_code == 200
        _ = answer.getvalue() if answer.streaming else answer.content

    with CaptureQueriesContext(connection) as before:
        opened()
    for number in range(4):
        judge = judge_of(project, server, "task_completion", on=False, name=f"Judge {number}")
        trace_judge_set(project=project, actor=owner, judge=judge, request=TraceJudgeRequest(share=1.0, is_on=False))
    with django_assert_max_num_queries(len(before)):
        opened()


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
