"""A live run whose endpoint answers each case oddly: that case is errored with its words, and the others are graded."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.chat_server import Trouble, chat_server, says
from tests.runs.building import STATUS, cases_of, example, version_of
from tests.runs.live import last, live_run
from toolevals.agents import openai_chat
from toolevals.agents.openai_messages import message_in
from toolevals.runs.models import Transcript
from toolevals.workspace.models import JobState

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]


def chunks(*deltas: Any, finish: str | None = "stop") -> str:
    lines: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    lines.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"


def events(text: str) -> Trouble:
    return Trouble(200, text, Content_Type="text/event-stream")


def call(**piece: Any) -> dict[str, Any]:
    return {"tool_calls": [piece]}


# What is sent, and the words of the reason; None where the case is graded.
ODD = {
    "object": (
        events(chunks(call(index=0, id="c", function={"name": STATUS, "arguments": {"order_id": "ORD-1"}}))),
        None,
    ),
    "null choices": (events('data: {"choices": null, "error": null}\n\n'), "without a message"),
    "delta text": (events(chunks("hello")), "a delta is not an object"),
    "content list": (events(chunks({"content": [{"type": "text", "text": "Hello"}]})), None),
    "content number": (events(chunks({"content": 5})), "the content of a delta is not text"),
    "calls dict": (events(chunks({"tool_calls": {"name": STATUS}})), "are an object, not a list"),
    "call number": (events(chunks({"tool_calls": [7]})), "a number, not an object"),
    "error body": (events('{"error": {"message": "out of GPUs"}}'), "without a message|out of GPUs"),
    "error event": (events('data: {"error": {"message": "out of GPUs", "code": 400}}\n\n'), "200: out of GPUs"),
    "error text": (events('data: {"error": "no such model"}\n\n'), "200: no such model"),
    "html": (Trouble(200, "<html>maintenance</html>", Content_Type="text/html"), "without a message"),
    "not json": (events("data: {oops\n\n"), "could not be read: not JSON"),
    "deep": (events("data: " + "[" * 100_000 + "\n\n"), "could not be read"),
    "twice": (events('data: {"choices": [], "choices": []}\n\n'), "appears twice"),
    "usage": (events(chunks({"content": "Hello"}).replace('"stop"}', '"stop"}], "usage": ["much"], "x": [0')), None),
    "packed": (Trouble(200, "x", Content_Encoding="br"), "packed as 'br'"),
    "status": (
        Trouble(418, '{"error": {"message": "a teapot", "code": ["t"]}}', Retry_After="soon, please"),
        "418: a teapot",
    ),
}


def test_seventeen_odd_answers_are_seventeen_transcripts(project, run_jobs):
    version = version_of(project, [example(name, name, STATUS) for name in ODD])
    with chat_server(lambda body: ODD[last(body)["content"]][0]) as server:
        run = live_run(project, version, server, options={"stream": True}, settings={"tries": 1})
        run_jobs()
    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    made = {row.entry.revision.example.external_id: row for row in Transcript.objects.of_run(run)}
    assert made.keys() == ODD.keys()
    for name, (_, words) in ODD.items():
        error = made[name].document.get("error")
        assert (error is None) == (words is None), (name, error)
        assert words is None or any(each in error for each in words.split("|")), (name, error)
    outcomes = {name: case.outcome for (name, _), case in cases_of(run.grading).items()}
    assert {name for name, outcome in outcomes.items() if outcome == "errored"} == {n for n, (_, w) in ODD.items() if w}


def test_what_no_one_foresaw_errs_one_case(project, run_jobs, monkeypatch):
    monkeypatch.setattr(openai_chat, "message_in", broken_at("b", message_in))
    version = version_of(project, [example(name, name, STATUS) for name in "abc"])
    with chat_server(lambda body: says(last(body)["content"])) as server:
        run = live_run(project, version, server)
        run_jobs()
    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    errors = [row.document.get("error") for row in Transcript.objects.of_run(run)]
    assert [error for error in errors if error] == ["The conversation stopped (TypeError): a fault of ours"]
    assert len(errors) == 3


def broken_at(word: str, read: Callable[..., Any]) -> Callable[..., Any]:
    def broken(document: dict[str, Any], *, place: int) -> Any:
        if document["content"] == word:
            raise TypeError("a fault of ours")
        return read(document, place=place)

    return broken
