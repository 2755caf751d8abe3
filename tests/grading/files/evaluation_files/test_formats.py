# mypy: disable-error-code="union-attr,index"
"""Files of other tools, most of them made by the tools themselves: found by what they hold, read, graded, refused."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.grading.files.evaluation_files import test_datasets, test_sessions
from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.formats import FORMATS
from toolevals.grading.files.evaluation_files.reading import EvaluationFile, evaluation_file, graded_rows
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import ToolCall
from toolevals.grading.values.problems import InvalidDocument

DATA = Path(__file__).parent / "data"
QUESTION = {"messages": [{"role": "user", "content": "Where is ORD-9182?"}]}
CALL = ToolCall("get_order_status", {"order_id": "ORD-9182"})
ASKED = [{"role": "user", "content": "Where is ORD-9182?"}]
CALLED = {
    "role": "assistant",
    "tool_calls": [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "get_order_status", "arguments": '{"order_id": "ORD-9182"}'},
        }
    ],
}
TOOL = {"type": "function", "function": {"name": "get_order_status", "parameters": {"type": "object"}}}
MESSAGES: list[dict[str, Any]] = [*ASKED, CALLED]
CHAT = b'User: Where is ORD-9182?\nTool get_order_status(order_id="ORD-9182") -> shipped\nAssistant: It has shipped.\n'
HAS_ZSTANDARD = sys.version_info >= (3, 14) or importlib.util.find_spec("zstandard") is not None


def span(**known: Any) -> dict[str, Any]:
    context = {"trace_id": "t1", "span_id": known.pop("id")}
    return {"name": "call", "context": context, "status_code": "OK", **known}


LANGFUSE_TRACE = {
    "trace": {"id": "t1", "name": "agent", "metadata": json.dumps({"dataset_item_id": "order"})},
    "observations": [
        {"id": "o2", "traceId": "t1", "type": "GENERATION", "startTime": "2", "input": [*ASKED, CALLED,
            {"role": "tool", "tool_call_id": "c1", "content": "shipped"}], "output": "It has shipped."},
        {"id": "o1", "traceId": "t1", "type": "GENERATION", "startTime": "1",
         "input": {"messages": ASKED, "tools": [TOOL]}, "output": CALLED, "usageDetails": {"input": 9, "output": 3}},
    ],
}  # fmt: skip
PHOENIX_SPANS = {
    "data": [
        span(id="s1", span_kind="LLM", parent_id=None, start_time="1", attributes={
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Where is ORD-9182?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_order_status",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"order_id": "ORD-9182"}',
            "llm.tools.0.tool.json_schema": json.dumps(TOOL),
        }),
    ],
    "next_cursor": None,
}  # fmt: skip
WEAVE_CALL = {
    "id": "w1", "op_name": "weave:///ada/shop/op/openai.chat.completions.create:9f", "trace_id": "t1",
    "parent_id": None, "started_at": "1", "inputs": {"model": "m", "messages": ASKED, "tools": [TOOL]},
    "output": {"choices": [{"index": 0, "message": CALLED, "finish_reason": "tool_calls"}]},
    "summary": {"usage": {"m": {"prompt_tokens": 9, "completion_tokens": 3}}}, "attributes": {}, "exception": None,
}  # fmt: skip
OTLP_SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "chat",
    "attributes": [
        {"key": name, "value": {"stringValue": value}}
        for name, value in {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(ASKED),
            "gen_ai.output.messages": json.dumps([CALLED]),
            "gen_ai.tool.definitions": json.dumps([TOOL]),
        }.items()
    ],
}  # fmt: skip
OTLP = {"resourceSpans": [{"scopeSpans": [{"spans": [OTLP_SPAN]}]}]}
EVALS_EVENTS = [
    {"spec": {"completion_fns": ["gpt"], "eval_name": "orders.test.v0", "run_id": "r"}},
    {"run_id": "r", "event_id": 0, "sample_id": "orders.test.0", "type": "sampling",
     "data": {"prompt": ASKED, "sampled": ['get_order_status(order_id="ORD-9182")']}},
    {"run_id": "r", "event_id": 1, "sample_id": "orders.test.0", "type": "match",
     "data": {"correct": True, "expected": 'get_order_status(order_id="ORD-9182")', "picked": "x"}},
    {"final_report": {"accuracy": 1.0}},
]  # fmt: skip
EVALS_ITEM = {
    "object": "eval.run.output_item", "id": "i1", "datasource_item_id": 4, "results": [],
    "datasource_item": {"item": {"ideal": '{"name": "get_order_status", "arguments": {"order_id": "ORD-9182"}}'}},
    "sample": {"input": ASKED, "output": [CALLED], "usage": {"prompt_tokens": 9, "completion_tokens": 3}},
}  # fmt: skip
LANGFUSE_ITEM = {"id": "order", "datasetId": "d", "input": QUESTION, "expectedOutput": CALLED, "status": "ACTIVE"}
PHOENIX_EXAMPLE = {"id": "order", "input": {"question": "Where is ORD-9182?"}, "output": CALLED, "metadata": {}}
PHOENIX_EXAMPLES = {"data": {"dataset_id": "d", "version_id": "v", "examples": [PHOENIX_EXAMPLE]}}


def written(document: Any, *, lines: bool = False) -> bytes:
    if lines:
        return b"".join(json.dumps(each).encode() + b"\n" for each in document)
    return json.dumps(document).encode()


# File, its format, whether it expects the call, whether it holds a prediction that makes it, whether tools are offered.
FILES: list[tuple[str | bytes, str, bool, bool, bool]] = [
    ("langsmith_runs.jsonl", "langsmith_runs", False, True, True),
    ("nestful.jsonl", "nestful", True, False, True),
    ("langsmith_examples.json", "langsmith_examples", True, False, True),
    (written(LANGFUSE_TRACE), "langfuse_traces", False, True, True),
    (written([LANGFUSE_ITEM]), "langfuse_items", True, False, False),
    ("promptfoo_results.json", "promptfoo", True, True, True),
    ("inspect.json", "inspect", False, True, True),
    ("deepeval_test_run.json", "deepeval", True, True, False),
    ("deepeval_goldens.json", "deepeval", True, False, False),
    ("ragas_multi_turn.jsonl", "ragas", True, True, False),
    ("pydantic_evals_report.json", "pydantic_evals_report", True, False, False),
    ("pydantic_evals.json", "pydantic_evals", True, False, False),
    ("pydantic_evals.yaml", "pydantic_evals", True, False, False),
    ("adk.evalset_result.json", "adk_result", True, False, False),
    ("adk.evalset.json", "adk", True, False, False),
    ("atif.json", "atif", False, True, True),
    (written(PHOENIX_SPANS), "phoenix_spans", False, True, True),
    (written([WEAVE_CALL], lines=True), "weave_calls", False, True, True),
    (written(PHOENIX_EXAMPLES), "phoenix_examples", True, False, False),
    (written(OTLP), "otlp", False, True, True),
    (written([OTLP, OTLP], lines=True), "otlp", False, True, True),
    (CHAT, "chatlog", False, True, False),
    (written([{"chat_id": 7} | each for each in MESSAGES], lines=True), "chatlog", False, True, False),
    (written(EVALS_EVENTS, lines=True), "openai_evals_run", True, True, False),
    (written([EVALS_ITEM]), "openai_evals_run", True, True, False),
    ("label_studio.json", "label_studio", False, False, False),
    ("label_studio_min.json", "label_studio_min", False, False, False),
    ("argilla.json", "argilla", False, False, False),
]


def opened(file: str | bytes) -> EvaluationFile:
    return evaluation_file((DATA / file).read_bytes() if isinstance(file, str) else file)


def examples_of(file: EvaluationFile) -> list[ExampleRow]:
    rows = [row for _, row in file.examples()]
    assert all(isinstance(row, ExampleRow) for row in rows), rows
    return [row for row in rows if isinstance(row, ExampleRow)]


@pytest.mark.parametrize(("name", "found", "expects", "calls", "offers"), FILES)
def test_a_file_is_found_by_its_content_and_read(name, found, expects, calls, offers):
    file = opened(name)
    assert file.detected.format.name == found
    assert file.detected.evidence
    row = next(row for row in examples_of(file) if row.input["messages"] == ASKED)
    wanted = [call for each in row.expectation.alternatives for call in each.calls] if row.expectation else []
    assert [call.tool for call in wanted] == (["get_order_status"] if expects else [])
    assert [tool.name for tool in row.tools or ()] == (["get_order_status"] if offers else [])
    made = [trial for _, trial, _ in file.trials("") if trial.external_id == row.external_id]
    assert [(call.name, call.arguments) for trial in made for call in trial.transcript.calls] == (
        [(CALL.name, CALL.arguments)] if calls else [("get_order_status", {"order_id": "ORD-1"})] if made else []
    )
    for trial in made:
        # Every result is put to the call that it answers.
        assert all(result.call is not None for result in trial.transcript.results)


def test_every_format_has_a_file_here():
    others = {found for _, found, *_ in (*test_datasets.FILES, *test_datasets.BATCHES)} | {*test_sessions.CALLS}
    assert {found for _, found, *_ in FILES} | others == set(FORMATS)


@pytest.mark.skipif(not HAS_ZSTANDARD, reason="the package zstandard is not installed")
def test_the_zip_of_an_inspect_log_holds_what_its_json_holds():
    zipped, plain = opened("inspect.eval"), opened("inspect.json")
    assert [row.input for row in examples_of(zipped)] == [row.input for row in examples_of(plain)]
    (answers, others) = ([trial.transcript.answer for _, trial, _ in file.trials("")] for file in (zipped, plain))
    assert answers == others == ["Good morning!", "It has shipped."]


def test_a_packed_file_is_the_same_file():
    content = (DATA / "atif.json").read_bytes()
    assert [row.input for row in examples_of(evaluation_file(gzip.compress(content)))] == [QUESTION]


def test_what_can_be_graded_becomes_rows_of_our_own_form():
    rows = {row["id"]: row for _, row in graded_rows(opened("adk.evalset_result.json"))}
    assert rows["order-1"]["messages"][0]["calls"][0]["arguments"] == {"order_id": "ORD-1"}
    assert rows["order-2"]["expectation"] == {"kind": "no_call"}


def test_an_unknown_file_is_refused_with_the_nearest_format():
    with pytest.raises(
        InvalidDocument, match=r"it has user_inpt, response, reference\. The nearest format is Ragas samples"
    ):
        evaluation_file(b'{"user_inpt": "x", "response": "y", "reference": "z"}')
    with pytest.raises(InvalidDocument, match="line 2: not JSON at line 1, column 16"):
        evaluation_file(b'{"user_input": "x"}\n{"user_input": x}\n')


def test_what_is_wrong_names_line_and_pointer():
    file = evaluation_file(b'{"user_input": "x", "response": "y"}\n\n{"user_input": [{"type": "robot"}]}\n')
    found = [(place.line, problem.pointer) for place, each in file.entries() if isinstance(each, InvalidDocument)
             for problem in each.problems]  # fmt: skip
    assert found == [(3, "/user_input/0/type")]


def test_unknown_keys_are_losses_with_their_place():
    file = evaluation_file(b'[{"user_input": "x", "response": "y", "mood": "good"}]')
    ((_, entry),) = file.entries()
    assert isinstance(entry, Entry)
    assert [str(loss) for loss in entry.losses] == ["/mood: is not known in this format: left out"]


def test_of_several_agents_the_one_that_is_named_counts():
    document = json.loads((DATA / "promptfoo_results.json").read_bytes())
    results = document["results"]["results"]
    document["results"]["results"] += [result | {"provider": {"id": "other", "label": ""}} for result in results]
    file = evaluation_file(written(document))
    with pytest.raises(InvalidDocument, match="name the run's agent as one of orders, other"):
        list(file.trials("mine"))
    assert len(list(file.trials("other"))) == 2
    assert len(list(file.trials("orders"))) == 2


def test_traces_without_one_conversation_say_so():
    trace = json.loads(json.dumps(LANGFUSE_TRACE))
    trace["observations"][0]["input"] = [{"role": "system", "content": "Another agent."}]
    ((_, trial, losses),) = evaluation_file(written(trace)).trials("")
    assert [call.name for call in trial.transcript.calls] == ["get_order_status"]
    assert trial.transcript.answer == "It has shipped."
    assert any("do not share one conversation" in loss.message for loss in losses)
