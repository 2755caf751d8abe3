"""Examples of publications on evaluating tool calls, in code of our own, from the upload to the figures."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from tests.agents.chat_server import chat_server
from tests.agents.judges import MODEL, judging
from tests.fixtures.people import person
from tests.reports.reading import text
from tests.runs.building import cases_of, uploaded_run, version_of
from tests.runs.calibrated import number_in
from tests.runs.judged import judge_of, verdicts_of
from tests.traces.sending import conversation, export, send, sender
from toolevals.grading.judging.shipped import SHIPPED
from toolevals.runs.aggregates.packed_cases import measured_case, metric_names
from toolevals.runs.grading.services import grading_start
from toolevals.runs.judge_calibrations.services import CalibrationRequest, calibration_begin, case_rate
from toolevals.runs.judging.services import JudgeRequest, judge_add, judge_change, rubric_add
from toolevals.runs.models import JudgedCase
from toolevals.traces.judges.services import TraceJudgeRequest, trace_judge_set, traces_judge
from toolevals.traces.models import SpanVerdict
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.models import Project, Role
from toolevals.workspace.projects.services import member_set

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


@pytest.fixture
def reviewers(project: Project) -> list[Any]:
    """Three people who label."""
    found = [person(name) for name in ("Ana", "Ben", "Cleo")]
    for one in found:
        member_set(project=project, actor=None, user=one, role=Role.REVIEWER)
    return found


def tool(name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": arguments, "required": list(arguments)}
    return {"name": name, "description": f"When {name} is due.", "input_schema": schema, **more}


AIRPORT, DATE = {"type": "string", "pattern": "^[A-Z]{3}$"}, {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
FLIGHTS = tool("search_flights", {"departure": AIRPORT, "arrival": AIRPORT, "departure_date": DATE})
TOOLS = [FLIGHTS, tool("check_status", {"order": {"type": "string"}})]
RIGHT = {"departure": "OSL", "arrival": "BGO", "departure_date": "2026-01-09"}
FOUND = {"flight": "SK-255", "price_nok": 899}


def asked(name: str, says: str, tools: list[dict[str, Any]], expected: str, arguments: dict[str, Any]) -> Any:
    talk = {"messages": [{"role": "user", "content": says}]}
    return {"id": name, "input": talk, "tools": tools, "expected_tool": expected, "expected_args": arguments}


def flight(name: str) -> Any:
    return asked(name, "Find a flight from Oslo to Bergen on 9 January 2026.", TOOLS, "search_flights", RIGHT)


def turns(name: str, *said: Any, **more: Any) -> dict[str, Any]:
    """Return a prediction: texts are the agent's, (tool, arguments, result) a call, (text,) is the user's."""
    messages: list[dict[str, Any]] = []
    for place, each in enumerate(said):
        if isinstance(each, str):
            messages.append({"role": "assistant", "content": each})
        elif len(each) == 1:
            messages.append({"role": "user", "content": each[0]})
        else:
            called, arguments, result = each
            call = {"id": f"c{place}", "name": called, "arguments": arguments}
            content = result if isinstance(result, str) else str(result).replace("'", '"')
            messages.append({"role": "assistant", "tool_calls": [call], **more})
            messages.append({"role": "tool", "tool_call_id": f"c{place}", "content": content})
    return {"id": name, "messages": messages}


def graded(project: Project, run_jobs: Any, rows: list[Any], predictions: list[Any]) -> Any:
    run = uploaded_run(project, version_of(project, rows), predictions)
    run_jobs()
    run.refresh_from_db()
    assert run.grading is not None, run.job.report
    return run


LAYERS = "selection", "arguments", "result_use", "recovery"
WORDY, AWAY = {**RIGHT, "departure_date": "next Friday"}, '{"status": 503, "error": "The service is unavailable."}'
REFUSED = '{"status": 400, "error": "departure_date must be a date like 2026-01-09"}'
FAILS = {
    "all right": (
        turns("all right", ("search_flights", RIGHT, FOUND), "SK-255 costs 899 NOK."),
        {},
    ),
    "another tool": (
        turns("another tool", ("check_status", {"order": "OSL"}, {"state": "none"}), "I found nothing."),
        {"selection"},
    ),
    "words for a date, four times again": (
        turns(
            "words for a date, four times again",
            *[("search_flights", WORDY, REFUSED)] * 5,
            "I am sorry, I could not find a flight.",
        ),
        {"arguments", "recovery"},
    ),
    "another price": (
        turns("another price", ("search_flights", RIGHT, FOUND), "SK-255 costs 989 NOK."),
        {"result_use"},
    ),
    "a failure called a success": (
        turns(
            "a failure called a success",
            *[("search_flights", RIGHT, AWAY)] * 2,
            "I found a flight for you on 9 January 2026.",
        ),
        {"recovery"},
    ),
}  # fmt: skip


def test_four_layers_are_scored_separately_and_the_failing_one_is_named(project, run_jobs, as_viewer):
    run = graded(project, run_jobs, [flight(name) for name in FAILS], [made for made, _ in FAILS.values()])
    cases = {name: case for (name, _), case in cases_of(run.grading).items()}
    found = {name: {layer for layer in LAYERS if getattr(case, layer) == "failed"} for name, case in cases.items()}
    assert found == {name: set(layers) for name, (_, layers) in FAILS.items()}
    assert cases["words for a date, four times again"].mode == "schema_error"
    assert cases["another tool"].mode == "wrong_tool"
    page = text(as_viewer.get(reverse("reports:run", args=[project.slug, run.number])))
    assert all(words in page for words in ("Selection", "Arguments", "Use of results", "Error recovery"))
    said = as_viewer.get(f"/api/v1/projects/{project.slug}/runs/{run.number}/gradings/1/").json()
    assert {layer: said["counts"][layer]["failed"] for layer in LAYERS} == {
        "selection": 1, "arguments": 1, "result_use": 1, "recovery": 2,
    }  # fmt: skip
    assert set(said["rates"]) >= set(LAYERS)


ORDER = {"order_id": "ORD-1"}
LOOKUPS = [
    tool(name, {"order_id": {"type": "string"}}) for name in ("get_refund", "get_account_balance", "airline_policy")
]


def looked_up(name: str, says: str, expected: str) -> Any:
    return asked(name, says, LOOKUPS, expected, ORDER)


PENDING = {"refund_status": "pending", "amount_cents": 4500}
BAGS = {"checked_bag": {"weight_kg": 23, "fee_usd": 35}}
TOLD: dict[str, tuple[Any, dict[str, Any]]] = {
    "as told": (
        looked_up("as told", "Where is my refund for ORD-1?", "get_refund"),
        turns("as told", ("get_refund", ORDER, PENDING), "Your refund of $45.00 is pending."),
    ),
    "a number flipped": (
        looked_up("a number flipped", "Where is my refund for ORD-1?", "get_refund"),
        turns("a number flipped", ("get_refund", ORDER, PENDING), "Your refund of $54.00 is processing."),
    ),
    "known before": (
        looked_up("known before", "Is the account of ORD-1 above its minimum?", "get_account_balance"),
        turns(
            "known before",
            ("get_account_balance", ORDER, {"balance_cents": 12400}),
            "Your balance is above the $200 threshold.",
        ),
    ),
    "drifted": (
        looked_up("drifted", "What may I take with ORD-1?", "airline_policy"),
        turns(
            "drifted",
            ("airline_policy", ORDER, BAGS),
            "You may check one bag of 23 kg for $35.",
            ("Thanks. How heavy was that?",),
            "A checked bag may weigh 32 kg.",
        ),
    ),
}


def numbers(value: Any) -> set[float]:
    return {float(each) for each in re.findall(r"\d+(?:\.\d+)?", str(value))}


def claims(inputs: dict[str, Any]) -> dict[str, Any]:
    """Answer as a judge who looks each number of a reply up in what the tools returned, in cents and in dollars."""
    due = numbers([each["content"] for each in inputs["results"]])
    return {
        "claims": [
            {"claim": reply, "supported": all(due & {each, each * 100} for each in numbers(reply))}
            for reply in inputs["replies"]
        ]
    }


def test_what_a_reply_makes_of_a_result_never_passes_unless_it_is_traced(project, run_jobs):
    with chat_server(judging(claims)) as server:
        judge_of(project, server, "result_groundedness")
        run = graded(project, run_jobs, [row for row, _ in TOLD.values()], [made for _, made in TOLD.values()])
    by_rule = {name: case.result_use for (name, _), case in cases_of(run.grading).items()}
    assert by_rule.pop("as told") == "passed"
    assert "passed" not in by_rule.values()
    by_judge = {name: status for name, (status, _) in verdicts_of(run, "result_groundedness").items()}
    assert by_judge == {"as told": "passed", **dict.fromkeys(by_rule, "failed")}
    assert all(case.selection == case.arguments == "passed" for case in cases_of(run.grading).values())


THOUGHTS = [
    "They want to fly next Friday, so I need to search with that date.",
    "The tool wants a date like 2026-01-09, so I will send the date of that Friday.",
    "One flight is there, so I should tell its price and then its number.",
]
GOAL = "A flight of SK-255 or cheaper"
SEARCH = {"action": "Search for flights.", "tool_used": "search_flights"}
TRAJECTORY = {
    "trajectory": [
        {**SEARCH, "thought": THOUGHTS[0], "tool_args": WORDY, "error": REFUSED},
        {**SEARCH, "thought": THOUGHTS[1], "tool_args": RIGHT, "tool_result": FOUND},
        {"thought": THOUGHTS[2], "is_final": True},
    ],
    "task": {"goal": GOAL, "description": "Find a flight from Oslo to Bergen next Friday."},
    "available_tools": ["search_flights", "check_status"],
    "final_result": "SK-255 costs 899 NOK.",
}


def test_a_trajectory_is_scored_as_a_whole_with_its_thoughts_and_its_goal(project, run_jobs, as_viewer):
    shown: list[dict[str, Any]] = []

    def reads(inputs: dict[str, Any]) -> dict[str, Any]:
        shown.append(inputs)
        return {"score": 1}

    with chat_server(judging(reads)) as server:
        judge_of(project, server, "reasoning_quality")
        run = graded(project, run_jobs, [flight("whole")], [{"id": "whole", "steps": TRAJECTORY}])
    case = cases_of(run.grading)["whole", 0]
    assert (case.outcome, case.recovery) == ("passed", "passed")
    metrics = measured_case(case.measured, metric_names(run.grading.graders)).metrics
    assert metrics["reasoning_quality"][0] == "passed"
    # One of the two calls succeeded.
    assert metrics["tool_selection_accuracy"][1] == pytest.approx(0.85)
    assert metrics["goal_progress"][0] == "failed"
    [inputs] = shown
    assert inputs["conversation"]["goal"] == GOAL
    assert [each["thought"] for each in inputs["done"] if "thought" in each] == THOUGHTS
    assert verdicts_of(run, "reasoning_quality") == {"whole": ("passed", 1.0)}
    page = text(as_viewer.get(reverse("reports:case", args=[project.slug, run.number, case.pk])))
    assert page.count(">Thought<") == len(THOUGHTS)
    assert all(thought in page for thought in THOUGHTS)
    assert "The run never came to: cheaper." in page


STATUS, HISTORY = "get_order_status", "get_order_history"
SHOP = [
    tool(STATUS, {"order_id": {"type": "string"}}, cost=1, sensitive_output=["/address"]),
    tool(HISTORY, {"user_id": {"type": "string"}}, cost=3, sensitive_output=["/address", "/orders"]),
]


def took(tokens: int, cost: float) -> dict[str, Any]:
    return {"usage": {"input_tokens": tokens, "output_tokens": 0}, "cost": cost}


def test_a_right_answer_of_a_dearer_tool_shows_what_it_cost_and_gave_away(project, run_jobs, as_viewer):
    package = {"order_id": "ORD-9182"}
    rows = [asked(name, "Where is my package ORD-9182?", SHOP, STATUS, package) for name in ("direct", "over")]
    for row in rows:
        due = {"tool": row.pop("expected_tool"), "arguments": {"order_id": {"exact": "ORD-9182"}}}
        del row["expected_args"]
        alternatives = [{"unordered": [due]}]
        row["expectation"] = {"kind": "calls", "alternatives": alternatives, "answer": {"contains": ["shipped"]}}
    direct = turns("direct", (STATUS, package, {"state": "shipped"}), "It is shipped.", **took(100, 0.01))
    over = turns("over", (HISTORY, {"user_id": "U-1"}, {"state": "shipped"}), "It is shipped.", **took(340, 0.03))
    run = graded(project, run_jobs, rows, [direct, over])
    case = cases_of(run.grading)["over", 0]
    assert (case.answer, case.selection, case.mode) == ("passed", "failed", "wrong_tool")
    said = as_viewer.get(f"/api/v1/projects/{project.slug}/runs/{run.number}/overreach/").json()
    [row] = said["rows"]
    assert (row["expected"], row["actual"], row["kind"], row["calls"]) == (STATUS, HISTORY, "over-tooling", 1)
    assert row["exposed"] == ["/orders"]
    assert (row["extra_cost"], row["extra_tokens"], row["extra_money"]) == (2, 240, pytest.approx(0.02))
    page = text(as_viewer.get(reverse("reports:spending", args=[project.slug, run.number])))
    assert "/orders" in page


OWN = {
    **SHIPPED["argument_semantics"].to_document(),
    "name": "order_meant",
    "title": "The order that was meant",
    "text": "Score whether the order in `actual` is the one that the user of `conversation` meant: 1 if it is, else 0.",
}


def test_a_judge_is_measured_against_people_and_a_rubric_of_ones_own_takes_its_place(project, run_jobs, reviewers):
    """The calibration set is labelled blind by people; the rubric is written anew, and measured by the same cases."""
    rows = [asked(f"o-{n}", f"What became of order {n}?", SHOP, STATUS, {"order_id": f"ORD-{n}"}) for n in range(8)]
    made = [{"id": f"o-{n}", "tool_calls": [{"name": STATUS, "arguments": {"order_id": f"ord {n}"}}]} for n in range(8)]

    def passing(count: int) -> Any:
        return chat_server(judging(lambda inputs: {"score": 1 if number_in(inputs) < count else 0}))

    def measured(judge: Any, run: Any) -> Any:
        request = CalibrationRequest(judge=judge, grading=run.grading, held_out=8)
        calibration = calibration_begin(request=request, actor=None)
        run_jobs()
        while case := calibration.cases.left_for(reviewers[0]).select_related("calibration__judge__rubric").first():
            for one in reviewers:
                case_rate(case=case, actor=one, value=1.0 if number_in(case.questions[0]) < 4 else 0.0)
        calibration.refresh_from_db()
        assert calibration.closed_at is not None
        return calibration.table

    with passing(6) as lenient, passing(4) as strict:
        shipped = judge_of(project, lenient)
        run = graded(project, run_jobs, rows, made)
        before = measured(shipped, run)
        rubric = rubric_add(project=project, actor=None, document=OWN)
        request = JudgeRequest(name="Of orders", model=MODEL, options={"base_url": strict.url, "timeout": 30})
        own = judge_add(project=project, actor=None, rubric=rubric, request=request)
        judge_change(judge=own, actor=None, is_on=True)
        again = grading_start(run=run, actor=None)
        run_jobs()
        run.refresh_from_db()
        after = measured(own, run)
    assert run.grading == again
    assert before == {"both_passed": 4, "only_judge": 2, "only_human": 0, "both_failed": 2}
    assert after == {"both_passed": 4, "only_judge": 0, "only_human": 0, "both_failed": 4}
    assert sorted(each["rubric"] for each in run.grading.judges) == ["argument_semantics", "order_meant"]


def test_one_rubric_gives_one_verdict_in_a_run_and_after_the_export_of_a_trace(
    project, run_jobs, client, owner, settings
):
    """The same words are asked of a case in the gate's run and of what production exported, by the same judge."""
    settings.TRACES_QUIET_SECONDS = 0
    shown: list[dict[str, Any]] = []

    def found(inputs: dict[str, Any]) -> dict[str, Any]:
        shown.append(inputs)
        return claims(inputs)

    result = '{"state": "shipped", "parcels": 2}'
    said = "It is shipped in 3 parcels."
    order = tool("get_order", {"id": {"type": "string"}})
    row = asked("live", "Where is my order 7?", [order], "get_order", {"id": "7"})
    with chat_server(judging(found)) as server:
        judge = judge_of(project, server, "result_groundedness")
        run = graded(project, run_jobs, [row], [turns("live", ("get_order", {"id": "7"}, result), said)])
        trace_judge_set(project=project, actor=owner, judge=judge, request=TraceJudgeRequest(share=1.0))
        send(client, sender(project, owner), export(*conversation(result=result, answer=said)))
        traces_settle()
        assert traces_judge() == 1
    [in_run] = JudgedCase.objects.filter(grading=run.grading)
    [in_production] = SpanVerdict.objects.exclude(judge=None)
    assert (in_run.rubric, in_production.rule) == ("result_groundedness", "judge:result_groundedness")
    assert (in_run.status, in_run.value) == (in_production.status, in_production.value) == ("failed", 0.0)
    first, second = shown
    assert first["replies"] == second["replies"] == [said]
    assert [each["content"] for each in first["results"]] == [each["content"] for each in second["results"]] == [result]
