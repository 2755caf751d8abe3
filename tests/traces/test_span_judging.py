"""Judges of single spans: calls of tools, calls of models, and agents, each asked about by itself."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from tests.agents.judges import given, judging
from tests.runs.judged import judge_of
from tests.traces.sending import TOOL, TRACE, conversation, export, send, span
from toolevals.grading.engine.compiled import compile_case
from toolevals.grading.engine.grading import grade
from toolevals.grading.judging import Briefing, Judgements, needed_judgements
from toolevals.grading.judging.shipped import SHIPPED
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.reading.telemetry.otlp import spans_in
from toolevals.grading.values import Expectation
from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.judges.asking import MOST_SPANS, TraceJudging, span_reading, spans_asked
from toolevals.traces.judges.services import TraceJudgeRequest, trace_judge_set, traces_judge
from toolevals.traces.models import QuestionState, SpanVerdict, Trace, TraceJudge, TraceQuestion
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.services import traces_settle
from toolevals.traces.reading.traces import TraceReading, trace_read

pytestmark = pytest.mark.usefixtures("nearby")


def call(number: int) -> dict[str, Any]:
    return {"type": "tool_call", "id": f"c{number}", "name": "get_order", "arguments": {"id": str(number)}}


def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "content": words}


def two_calls(trace: str = TRACE, *, tool_spans: int = 2, below: int = 1) -> list[dict[str, Any]]:
    """Return a conversation in which a model calls a tool, says something and calls it again, and answers."""
    asked = said("user", text("Where are my orders 1 and 2?"))
    first = [asked, said("assistant", text("Let me look."), call(1)), said("tool", _result(1))]
    second = [*first, said("assistant", text("Now the other."), call(2)), said("tool", _result(2))]
    inputs = ([asked], first, second)
    outputs = (
        [said("assistant", text("Let me look."), call(1))],
        [said("assistant", text("Now the other."), call(2))],
        [said("assistant", text("Both are shipped."))],
    )
    root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
    model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "small-1", "gen_ai.tool.definitions": [TOOL]}
    spans = [span(1, "invoke_agent shop", trace=trace, ms=9000, attributes=root)]
    for place in range(3):
        told = {"gen_ai.input.messages": inputs[place], "gen_ai.output.messages": outputs[place]}
        spans.append(span(2 + 2 * place, "chat small-1", trace=trace, parent=below, attributes=model | told))
    for place in range(tool_spans):
        ran = {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order",
            "gen_ai.tool.call.id": f"c{place + 1}", "gen_ai.tool.call.arguments": {"id": str(place + 1)},
            "gen_ai.tool.call.result": f"shipped {place + 1}",
        }  # fmt: skip
        number = 3 + 2 * place
        spans.append(span(number, "execute_tool get_order", trace=trace, parent=below, attributes=ran))
    return spans


def _result(number: int) -> dict[str, Any]:
    return {"type": "tool_call_response", "id": f"c{number}", "response": f"shipped {number}"}


@pytest.fixture
def bound(project, owner, server) -> Any:
    """Return a function that binds a judge to spans of a kind."""

    def bind(kind: str, rubric: str = "task_completion", **limits: Any) -> TraceJudge:
        judge = judge_of(project, server, rubric, on=False, name=f"{rubric} of {kind}")
        return trace_judge_set(
            project=project, actor=owner, judge=judge, request=TraceJudgeRequest(share=1.0, span_kind=kind, **limits)
        )

    return bind


@pytest.fixture
def sends(client, token) -> Any:
    def some(*spans: Any) -> None:
        send(client, token, export(*spans))
        traces_settle()

    return some


def verdicts() -> list[tuple[int, str]]:
    """Return what judges said, each with the number of its span."""
    rows = SpanVerdict.objects.exclude(judge=None).order_by("span_id")
    return [(int(each.span_id, 16), each.status) for each in rows]


def question(spans: list[dict[str, Any]], rubric: str, number: int) -> Any:
    return TraceJudging(span_reading(_read(spans), f"{number:016x}"), SHIPPED[rubric]).request


def test_each_call_of_a_tool_is_a_question_and_its_verdict_is_on_that_span(bound, sends, server):
    server.behaviour = judging(lambda asked: {"score": 0 if asked["done"][-1]["content"] == "shipped 2" else 1})
    bound("tool")
    sends(*two_calls())
    assert traces_judge() == 2
    assert verdicts() == [(3, "passed"), (5, "failed")]
    first, second = (given(body) for body in server.requests)
    assert [message["role"] for message in first["conversation"]["messages"]] == ["user"]
    assert [[each["arguments"] for each in message.get("calls", ())] for message in first["done"]] == [
        [{"id": "1"}],
        [],
    ]
    # What came before the second call is what the agent was given then.
    assert [message["role"] for message in second["conversation"]["messages"]] == ["user", "assistant", "tool"]
    assert [message.get("content") for message in second["done"]] == ["Now the other.", "shipped 2"]


def test_one_judge_for_each_layer_is_bound_to_the_spans_that_show_it(bound, sends, server):
    server.behaviour = judging(lambda asked: {"claims": []} if "replies" in asked else {"score": 1})
    for kind, rubric in (("tool", "function_calling"), ("model", "result_groundedness"), ("agent", "task_completion")):
        bound(kind, rubric)
    sends(*conversation())
    traces_judge()
    rows = SpanVerdict.objects.exclude(judge=None).order_by("judge", "span_id")
    assert [(each.rule, int(each.span_id, 16), each.status) for each in rows] == [
        ("judge:function_calling", 3, "passed"),
        ("judge:result_groundedness", 2, "unscored"),
        ("judge:result_groundedness", 4, "unscored"),
        ("judge:task_completion", 1, "passed"),
    ]


def test_a_tool_that_no_conversation_tells_of_is_asked_about_with_what_its_span_says(bound, sends, server, settings):
    settings.TRACES_ROOTLESS_SECONDS = 0
    bound("tool")
    sends(two_calls()[-1])
    traces_judge()
    assert [number for number, _ in verdicts()] == [5]
    (asked,) = (given(body) for body in server.requests)
    assert asked["done"][0]["calls"][0]["arguments"] == {"id": "2"}
    assert asked["done"][1]["content"] == "shipped 2"


def test_each_call_of_a_model_is_asked_about_with_the_results_that_it_saw(bound, sends, server):
    server.behaviour = judging(lambda _: {"claims": [{"claim": "x", "supported": True}]})
    bound("model", "result_groundedness")
    sends(*two_calls())
    traces_judge()
    # The first saw no result: there is nothing to be grounded in.
    assert verdicts() == [(2, "unscored"), (4, "passed"), (6, "passed")]
    asked = [given(body) for body in server.requests]
    assert [each["replies"] for each in asked] == [["Now the other."], ["Both are shipped."]]
    assert [[result["content"] for result in each["results"]] for each in asked] == [
        ["shipped 1"],
        ["shipped 1", "shipped 2"],
    ]


def test_the_question_about_a_span_is_that_of_a_graded_case_which_ends_with_it():
    spans = conversation()
    reading = _read(spans)
    case = compile_case(Expectation("no_call"), tuple(reading.tools))
    plain = grade(case, reading.transcript)
    for rubric, number in (("result_groundedness", 4), ("result_groundedness", 1), ("task_completion", 1)):
        briefing = Briefing([SHIPPED[rubric]], transcript_in(reading.given["messages"]).messages, {})
        (asked,) = needed_judgements(case, reading.transcript, plain, Judgements.of(briefing, ()))
        assert question(spans, rubric, number).digest == asked.digest


def _read(spans: list[dict[str, Any]]) -> TraceReading:
    return trace_read([found for _, found in spans_in(export(*spans)) if not isinstance(found, InvalidDocument)])


def test_each_agent_is_asked_about_with_what_is_below_it(bound, sends, server):
    bound("agent")
    inner = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "orders"}
    sends(*two_calls(below=7), span(7, "invoke_agent orders", parent=1, ms=5000, attributes=inner))
    traces_judge()
    assert [number for number, _ in verdicts()] == [1, 7]
    # All that the first did was done by the second: the question is the same.
    first, second = (given(body) for body in server.requests)
    assert first == second


def test_a_trace_without_such_spans_raises_no_question(bound, sends, server):
    bound("tool")
    sends(*two_calls(tool_spans=0))
    assert traces_judge() == 0
    assert not TraceQuestion.objects.exists()


def many(count: int, first: int = 1) -> list[dict[str, Any]]:
    """Return spans of a tool alone."""
    ran = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order", "gen_ai.tool.call.arguments": {}}
    return [span(number, "execute_tool get_order", attributes=ran) for number in range(first, first + count)]


def test_the_first_spans_are_asked_about_and_no_more(bound, sends, client, viewer, server):
    bound("tool")
    sends(*many(MOST_SPANS + 3, first=5))
    traces_judge()
    assert [number for number, _ in verdicts()] == [*range(5, 5 + MOST_SPANS)]
    client.force_login(viewer)
    trace = Trace.objects.get()
    words = f"Asked about the first {MOST_SPANS} of the {MOST_SPANS + 3} spans of its kind alone."
    assert words in client.get(f"/p/shop/traces/{trace.pk}/").content.decode()
    (left,) = client.get(f"/api/v1/projects/shop/traces/{trace.pk}/").json()["not_judged"]
    assert (left["reason"], left["span_id"]) == (words, "")
    # One that came late and began before: the last one gives its place to it.
    sends(*many(1, first=4))
    traces_judge()
    assert [number for number, _ in verdicts()] == [*range(4, 4 + MOST_SPANS)]
    assert TraceQuestion.objects.count() == MOST_SPANS


def test_a_spent_budget_leaves_the_verdicts_of_other_spans(bound, sends):
    bound("tool", most_questions=1)
    sends(*two_calls())
    traces_judge()
    assert [number for number, _ in verdicts()] == [3]
    states = TraceQuestion.objects.order_by("span_id").values_list("state", flat=True)
    assert list(states) == [QuestionState.JUDGED, QuestionState.NOT_JUDGED]


def test_what_has_not_changed_is_not_asked_again_when_a_trace_grows(bound, sends, server):
    bound("model")
    spans = two_calls()
    sends(*spans[:3], spans[4])
    traces_judge()
    assert len(server.requests) == 2
    sends(*spans)
    traces_judge()
    assert len(server.requests) == 3
    assert [number for number, _ in verdicts()] == [2, 4, 6]


@pytest.mark.parametrize(
    ("kind", "rubric", "words"),
    [
        ("tool", "trajectory_recovery", "its rubric is tool_failed, and must be one of open_choice, task, reasoned"),
        ("model", "trajectory_recovery", "its rubric is tool_failed"),
        ("tool", "result_groundedness", "its rubric is result_used"),
        ("tool", "tool_choice", "traces have no gold"),
        ("chain", "task_completion", "must be one of tool, model, agent"),
    ],
)
def test_what_a_kind_of_span_cannot_be_asked_is_refused(bound, kind, rubric, words):
    with pytest.raises(InvalidDocument) as refused:
        bound(kind, rubric)
    assert words in " ".join(map(str, refused.value.problems))
    assert not TraceJudge.objects.exists()


def test_the_kind_never_changes(bound, project):
    judge = bound("tool")
    with pytest.raises(InvalidDocument, match="cannot change"):
        trace_judge_set(
            project=project, actor=None, judge=judge.judge, request=TraceJudgeRequest(share=1.0, span_kind="model")
        )
    trace_judge_set(project=project, actor=None, judge=judge.judge, request=TraceJudgeRequest(share=0.5))
    judge.refresh_from_db()
    assert (judge.span_kind, judge.share) == ("tool", 0.5)


def test_an_owner_binds_a_judge_to_a_kind_on_the_page_and_by_rest(client, project, owner, server):
    client.force_login(owner)
    judge = judge_of(project, server, "task_completion", on=False)
    form = {"judge": str(judge.pk), "span_kind": "tool", "share": "25", "most_questions": "2", "is_on": "on"}
    assert client.post("/p/shop/traces/judges/", form).status_code == 302
    assert TraceJudge.objects.get().span_kind == "tool"
    assert "Each call of a tool (TOOL)" in client.get("/p/shop/traces/judges/").content.decode()
    rest = "/api/v1/projects/shop/traces/judges/"
    other = judge_of(project, server, "result_groundedness", on=False)
    body = {"judge": str(other.pk), "share": 0.5, "span_kind": "model"}
    made = client.post(rest, body, content_type="application/json")
    assert (made.status_code, made.json()["span_kind"]) == (201, "model")
    refused = client.post(rest, body | {"span_kind": "agent"}, content_type="application/json")
    assert refused.status_code == 422
    assert "cannot change" in str(refused.json())
    changed = client.patch(f"{rest}{other.pk}/", {"share": 0.75}, content_type="application/json")
    assert (changed.json()["span_kind"], changed.json()["share"]) == ("model", 0.75)
    rows = csv.DictReader(io.StringIO(content(client, "/p/shop/traces/judges.csv")))
    assert {row["span_kind"] for row in rows} == {"tool", "model"}


def content(client: Any, address: str) -> str:
    return b"".join(client.get(address).streaming_content).decode()


def test_pages_counts_rest_and_files_name_the_span(bound, sends, server, client, viewer):
    server.behaviour = judging(lambda asked: {"score": 0 if asked["done"][-1]["content"] == "shipped 2" else 1})
    bound("tool")
    sends(*two_calls())
    traces_judge()
    client.force_login(viewer)
    trace = Trace.objects.get()
    page = " ".join(client.get(f"/p/shop/traces/{trace.pk}/").content.decode().split())
    title = "Task completion, each call of a tool (TOOL)"
    (row,) = [each for each in page.split("</tr>") if f"spans/{5:016x}/" in each and "role=" in each]
    assert f"{title} (judge): failed" in row
    assert f'<a href="/p/shop/traces/{trace.pk}/spans/{5:016x}/">get_order</a>' in page
    of_span = client.get(f"/p/shop/traces/{trace.pk}/spans/{5:016x}/").content.decode()
    assert title in of_span
    assert title not in client.get(f"/p/shop/traces/{trace.pk}/spans/{2:016x}/").content.decode()
    rest = client.get(f"/api/v1/projects/shop/traces/{trace.pk}/").json()["judged"]
    # Verdicts stand in the order in which the judge answered.
    assert sorted((each["span_kind"], each["span_id"], each["status"]) for each in rest) == [
        ("tool", f"{3:016x}", "passed"),
        ("tool", f"{5:016x}", "failed"),
    ]
    (day,) = [each for each in client.get("/api/v1/projects/shop/traces/rules/").json() if each["judge"]]
    assert [day[name] for name in ("span_kind", "passed", "failed", "traces", "rate")] == ["tool", 1, 1, 1, 0.5]
    assert title in client.get("/p/shop/traces/rules/").content.decode()
    (line,) = [
        each for each in csv.DictReader(io.StringIO(content(client, "/p/shop/traces/rules.csv"))) if each["judge"]
    ]
    assert (line["span_kind"], line["passed"], line["failed"]) == ("tool", "1", "1")
    rows = [row for row in csv.DictReader(io.StringIO(content(client, "/p/shop/traces/verdicts.csv"))) if row["judge"]]
    found = sorted((row["span_id"], row["judge_span_kind"]) for row in rows)
    assert found == [(f"{3:016x}", "tool"), (f"{5:016x}", "tool")]
    (events,) = map(json.loads, content(client, "/p/shop/traces/verdicts.jsonl").splitlines())
    records = events["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    told = {"key": "toolevals.judge.span_kind", "value": {"stringValue": "tool"}}
    assert sorted(each["spanId"] for each in records if told in each["attributes"]) == [f"{3:016x}", f"{5:016x}"]
    for said in ("passed", "failed"):
        assert (
            str(trace.pk) in client.get(f"/p/shop/traces/?rule=judge:task_completion&verdict={said}").content.decode()
        )
    assert spans_asked(trace_read(spans_of(trace)), "tool") == [f"{3:016x}", f"{5:016x}"]
