"""Judgements by people elsewhere: a correction, a chosen tool or a pass of the recorded call is a label, else a note.

The shapes are those of the tools' own documents and sources:

- Label Studio's guide, "Label Studio JSON format of annotated tasks" (`data/label_studio.json`),
  and `convert_to_json_min` of its converter (`data/label_studio_min.json`, the same tasks).
- `Record.to_dict` and `GenericIO` of the package argilla 2, and `FeedbackRecord` of version 1 (`data/argilla.json`).
- Langfuse's `fern/apis/server/definition/commons.yml` (`BaseScore` and those that extend it; `ScoreSource`).
- `langsmith.schemas.Feedback` and `FeedbackSourceBase` of LangSmith's SDK.
- Phoenix's `SpanAnnotation` and `AnnotationResult` of its REST interface.
- Weave's feedback types (`wandb.annotation.NAME`, `wandb.note.1`, `wandb.reaction.1`), and the assertion `human` of
  promptfoo's page.
- OpenAI's `eval.run.output_item`, and the guide of its datasets (a Good/Bad rating, `output_feedback`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.files.file_preview import FileLook, look_at
from toolevals.grading.reading.examples import ExampleRow, Judgement

DATA = Path(__file__).parent / "data"
ASKED = [{"role": "user", "content": "Where is ORD-9182?"}]
FUNCTION = {"name": "get_order", "arguments": '{"id": "7"}'}
CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "shipped"}
OTHER = {"name": "cancel_order", "arguments": {"id": "7"}}
WHOLE = {"name": "get_order", "arguments": {"id": {"exact": "7"}}}
CORRECTED = ("cancel_order", {"id": {"exact": "7"}})
PASSED = ("get_order", {"id": {"exact": "7"}})


def rows_of(document: Any, *, lines: bool = False) -> list[ExampleRow]:
    text = "\n".join(map(json.dumps, document)) if lines else json.dumps(document)
    rows = [row for _, row in evaluation_file(text.encode()).examples()]
    assert all(isinstance(row, ExampleRow) for row in rows), rows
    return [row for row in rows if isinstance(row, ExampleRow)]


def label(judgement: Judgement) -> Any:
    """Return the tool and the arguments of a label; None of a note."""
    if judgement.expectation is None:
        return None
    calls = judgement.expectation.to_document().get("alternatives")
    if calls is None:
        return judgement.expectation.kind
    (trajectory,) = calls
    (call,) = trajectory.get("ordered") or trajectory["unordered"]
    return call["tool"], call.get("arguments")


def said(row: ExampleRow) -> list[tuple[str, Any, str]]:
    return [(each.author, label(each), each.text) for each in row.judgements]


def look(content: bytes) -> FileLook:
    return look_at(content, examples=lambda *_: ())


def test_label_studio_gives_each_annotator_a_label_and_names_what_is_none():
    content = (DATA / "label_studio.json").read_bytes()
    order, hello, passed = rows_of(json.loads(content))
    ada = "ada@annotators.example"
    exact = {"order_id": {"exact": "ORD-9182"}}
    assert said(order) == [
        (ada, ("get_order_status", exact), "It asks for the state."),
        # A chosen tool without arguments says nothing of them.
        ("user 11", ("cancel_order", None), ""),
    ]
    assert said(hello) == [(ada, "no_call", ""), ("user 11", "no_call", "")]
    assert said(passed) == [
        (ada, ("get_order_status", exact), ""),
        (ada, None, "helpfulness: 4"),
        ("user 11", None, "tool_call_correct: Incorrect"),
        ("user 11", None, "comment: Should ask first."),
    ]
    assert [(loss.pointer, loss.message) for loss in passed.losses] == [
        ("/annotations/2", "was skipped by user 12: no label"),
        ("/annotations/0/result/1", "helpfulness is not a decision on the call: kept as a note"),
        ("/annotations/1/result/0", "tool_call_correct fails the recorded call without a correction: kept as a note"),
        ("/annotations/1/result/1", "comment is not a decision on the call: kept as a note"),
    ]
    # What models suggested is no label.
    assert "cancel_order" not in {label(each)[0] for each in order.judgements[:1]}
    found = look(content)
    counts = {"examples": 3, "predictions": 1, "labels given elsewhere": 5, "people who gave them": 2, "notes": 3}
    assert found.counts == counts
    assert "2 people who gave them" in found.summary
    assert {each.message for each in found.losses} >= {"helpfulness is not a decision on the call: kept as a note"}


def test_json_min_of_label_studio_says_the_same_as_its_json():
    tasks = json.loads((DATA / "label_studio.json").read_text())
    rows = json.loads((DATA / "label_studio_min.json").read_text())
    file = evaluation_file(json.dumps(rows).encode())
    assert file.detected.format.name == "label_studio_min"
    whole = [
        [(by.replace("ada@annotators.example", "user 10"), *rest) for by, *rest in said(row)] for row in rows_of(tasks)
    ]
    assert [said(row) for row in rows_of(rows)] == whole
    # Each call that was recorded is one prediction, though each annotator's row repeats it.
    assert look(json.dumps(rows).encode()).counts == look(json.dumps(tasks).encode()).counts
    pointers = {loss.pointer for row in rows_of(rows) for loss in row.losses}
    assert pointers == {"/helpfulness", "/tool_call_correct", "/comment"}
    # Where the data has an id of its own, nothing tells its fields from the answers.
    own = [{"id": rows[0]["id"], **{key: value for key, value in rows[0].items() if key != "id"}}]
    ((_, refused),) = evaluation_file(json.dumps(own).encode()).examples()
    assert "Export as JSON instead of JSON-MIN" in str(refused)


def test_tables_of_label_studio_are_labels_of_people_or_refused_and_never_gold():
    beside = "annotation_id,created_at,updated_at,lead_time"
    table = f"""question,id,tool,annotator,{beside}
Where is ORD-9182?,4,get_order,ada@shop.example,9,,,10.7
Where is ORD-9182?,4,cancel_order,12,10,,,9
"""
    for content in (table, table.replace(",", "\t")):
        file = evaluation_file(content.encode())
        rows = [row for _, row in file.examples()]
        assert file.detected.format.name == "label_studio_min"
        assert [said(row) for row in rows if isinstance(row, ExampleRow)] == [
            [("ada@shop.example", ("get_order", None), ""), ("user 12", ("cancel_order", None), "")]
        ]
    columns = "annotation_id,annotator,created_at,id,lead_time,question,tool,updated_at"
    ordered = f"{columns}\n9,ada@shop.example,,4,10.7,Where?,get_order,\n"
    ((_, refused),) = evaluation_file(ordered.encode()).examples()
    assert "Export as JSON instead of CSV" in str(refused)


def test_a_list_of_people_with_roles_is_no_chat():
    writers = [{"role": "AUTHOR", "ipi": None}]
    (row,) = rows_of([{"id": 1, "data": {"text": "Hi", "writers": writers}, "annotations": []}])
    assert row.input == {"messages": [{"role": "user", "content": "Hi"}], "context": {"writers": writers}}
    chat = {"id": 1, "data": {"talk": [{"role": "user", "content": "Hi", "mood": "calm"}]}, "annotations": []}
    assert [loss.pointer for loss in rows_of([chat])[0].losses] == ["/data/talk/0/mood"]


def test_records_of_version_1_of_argilla_are_read_as_rows_and_as_columns():
    beside = {"tool-suggestion": "cancel_order", "tool-suggestion-metadata": {"agent": "m"}, "metadata": "{}"}
    by_rows = [
        {"user_id": "1", "value": "get_order", "status": "submitted"},
        {"user_id": "2", "value": "cancel_order", "status": "discarded"},
    ]
    by_columns = {key: [each[key] for each in by_rows] for key in by_rows[0]}
    for responses in (by_rows, by_columns):
        (row,) = rows_of([{"question": "Where is ORD-9182?", "tool": responses, "external_id": "a", **beside}])
        assert row.input == {"messages": ASKED}
        assert said(row) == [("user 1", ("get_order", None), "")]
        assert [str(loss) for loss in row.losses] == ["/tool/1: tool is discarded, not submitted: no label"]


def test_argilla_is_read_nested_flat_and_as_its_server_answers():
    nested = json.loads((DATA / "argilla.json").read_text())
    one, two = (f"user {each['user_id']}" for each in nested[0]["responses"]["tool"])
    order, hello = rows_of(nested)
    expected = [
        (one, ("get_order_status", {"order_id": {"exact": "ORD-9182"}}), ""),
        (two, ("cancel_order", None), ""),
        (two, None, "quality: 4"),
    ]
    assert said(order) == expected
    assert (order.strata, said(hello)) == ({"difficulty": "easy"}, [(one, "no_call", "")])
    users = [one.removeprefix("user "), two.removeprefix("user ")]
    flat = {
        "id": "order", "chat": ASKED, "tool.responses": ["get_order_status", "cancel_order"],
        "tool.responses.users": users, "tool.responses.status": ["submitted", "draft"],
        "tool.suggestion": "cancel_order", "tool.suggestion.score": 0.4, "tool.suggestion.agent": "m1",
    }  # fmt: skip
    (row,) = rows_of([flat])
    assert said(row) == [(one, ("get_order_status", None), "")]
    assert [loss.message for loss in row.losses] == ["tool is draft, not submitted: no label"]
    answers = [
        {"user_id": user, "status": "submitted", "values": {"tool": {"value": tool}}}
        for user, tool in zip(users, ("get_order_status", "cancel_order"), strict=True)
    ]
    (row,) = rows_of([{"fields": {"question": "Where?"}, "responses": answers, "external_id": "order"}])
    assert [each[1] for each in said(row)] == [("get_order_status", None), ("cancel_order", None)]


def score(name: str, value: Any, kind: str = "NUMERIC", **more: Any) -> dict[str, Any]:
    known = {"id": f"s-{name}", "traceId": "t1", "observationId": None, "source": "ANNOTATION", "authorUserId": "u1"}
    return {**known, "name": name, "value": value, "dataType": kind, "configId": None, "queueId": "q1", **more}


def langfuse(*scores: dict[str, Any]) -> dict[str, Any]:
    generation = {"traceId": "t1", "type": "GENERATION"}
    return {
        "id": "t1",
        "name": "agent",
        "scores": list(scores),
        "observations": [
            {**generation, "id": "o1", "startTime": "1", "input": ASKED, "output": CALLED},
            {
                **generation,
                "id": "o2",
                "startTime": "2",
                "input": [*ASKED, CALLED, RESULT],
                "output": "It has shipped.",
            },
        ],
    }


def test_langfuse_scores_of_annotation_are_labels_and_a_correction_is_the_label():
    (row,) = rows_of(
        langfuse(
            score("tool_call_correct", 1, "BOOLEAN", stringValue="True", comment="As asked."),
            score("output", 0, "CORRECTION", stringValue=json.dumps(OTHER), authorUserId="u2"),
            score("helpfulness", 0.7, authorUserId="u2"),
            score("toxicity", 0, source="EVAL", authorUserId=None),
            # The name is general, and the trace ends with words: which of the two was judged is not said.
            score("correctness", 1, authorUserId="u3"),
            # The generation did nothing but call.
            score("correctness", 1, authorUserId="u4", observationId="o1"),
            score("tool_call_correct", 1, authorUserId="u5", observationId="o2"),
        )
    )
    assert said(row) == [
        ("user u1", PASSED, "As asked."),
        ("user u2", CORRECTED, ""),
        ("user u2", None, "helpfulness: 0.7"),
        ("user u3", None, "correctness: 1"),
        ("user u4", PASSED, ""),
        ("user u5", None, "tool_call_correct: 1"),
    ]
    messages = [loss.message for loss in row.losses]
    assert "toxicity is by a program (EVAL), not a person: left out" in messages
    assert "tool_call_correct is about one step of several: kept as a note" in messages


def test_langfuse_scores_may_be_rows_of_the_same_file():
    trace = langfuse()
    rows = [*trace["observations"], score("tool_choice", 1), score("tool_choice", 1, traceId="gone")]
    (row,) = rows_of(rows)
    # The choice of the tool passes: that says nothing of the arguments.
    assert said(row) == [("user u1", ("get_order", None), "")]
    assert "tool_choice is about gone, which is not here: left out" in [loss.message for loss in row.losses]


def test_langfuse_scores_of_each_version_of_its_api_find_what_they_are_about():
    newer = {"id": "s3", "name": "tool_call", "value": True, "dataType": "BOOLEAN", "source": "ANNOTATION",
             "authorUserId": "u3", "subject": {"kind": "observation", "id": "o2", "traceId": "t1"}}  # fmt: skip
    words = {"id": "s2", "traceId": "t1", "name": "comment", "stringValue": "Right.", "dataType": "TEXT",
             "source": "ANNOTATION", "authorUserId": "u2"}  # fmt: skip
    session = score("tool_call", 1, traceId=None, sessionId="s9")
    (row,) = rows_of([langfuse(score("tool_call", 1)), newer, words, session])
    assert said(row) == [
        ("user u1", PASSED, ""),
        ("user u2", None, "comment: Right."),
        ("user u3", None, "tool_call: true"),
    ]
    assert "tool_call is about the session s9, which is not here: left out" in [loss.message for loss in row.losses]


def feedback(key: str, value: Any, **more: Any) -> dict[str, Any]:
    source = {"type": "app", "metadata": {}, "user_id": "9f", "user_name": "Ada"}
    known = {"id": f"f-{key}", "run_id": "r1", "trace_id": "r1", "feedback_source": source, "comment": None}
    return {**known, "key": key, "score": value, "value": None, "correction": None, **more}


def test_langsmith_feedback_of_the_page_is_a_label_and_its_correction_comes_first():
    run = {
        "id": "r1", "trace_id": "r1", "run_type": "llm", "name": "agent", "inputs": {"messages": ASKED},
        "outputs": {"messages": [CALLED]}, "feedback_stats": {"correctness": {"n": 2, "avg": 0.5}},
    }  # fmt: skip
    by_program = {"type": "api", "metadata": {}}
    corrected = feedback("correctness", 0, correction={"tool_calls": [OTHER]}, comment="Cancel it.")
    (row,) = rows_of(
        [
            run,
            feedback("correctness", 1),
            corrected | {"feedback_source": {"type": "app", "user_name": "Ben"}},
            feedback("thumbs", 0) | {"feedback_source": {"type": "app", "user_name": "Cy"}},
            feedback("user_score", 1, feedback_source=by_program),
        ],
        lines=True,
    )
    assert said(row) == [("Ada", PASSED, ""), ("Ben", CORRECTED, "Cancel it."), ("Cy", None, "thumbs: 0")]
    messages = [loss.message for loss in row.losses]
    assert "user_score is by a program (api), not a person: left out" in messages
    assert "correctness is a sum without who said it: put the rows of feedback into the file" in messages
    assert [loss.pointer for loss in row.losses if "thumbs" in loss.message] == ["/3"]


def test_phoenix_annotations_of_people_are_labels():
    span = {
        "name": "m", "span_kind": "LLM", "context": {"trace_id": "t1", "span_id": "s1"}, "parent_id": None,
        "attributes": {"input.value": json.dumps(ASKED), "output.value": json.dumps(CALLED)},
    }  # fmt: skip

    def annotation(name: str, result: Any, **more: Any) -> dict[str, Any]:
        known: dict[str, Any] = {
            "id": "U1",
            "source": "APP",
            "user_id": None,
            "identifier": "",
            "metadata": {},
            "span_id": "s1",
        }
        return {**known, "name": name, "annotator_kind": "HUMAN", "result": result, **more}

    (row,) = rows_of(
        [
            span,
            annotation(
                "correctness", {"label": "correct", "score": 0.85, "explanation": "As asked."}, user_id="VXNlcg"
            ),
            annotation("correctness", {"label": "incorrect", "score": 0, "explanation": None}, identifier="ben"),
            annotation(
                "note", {"label": None, "score": None, "explanation": "Look again."}, identifier="px-span-note:1"
            ),
            annotation("correctness", {"label": "correct", "score": 1}, annotator_kind="LLM"),
        ]
    )
    assert said(row) == [
        ("VXNlcg", PASSED, "As asked."),
        ("ben", None, "correctness: incorrect"),
        ("unnamed", None, "note. Look again."),
    ]
    assert "correctness is by a program (LLM), not a person: left out" in [loss.message for loss in row.losses]


def test_openai_evals_ratings_of_datasets_are_labels_and_data_files_are_examples():
    item = {"question": "Where is ORD-9182?", "ground_truth": json.dumps(OTHER), "topic": "orders"}
    rated = {
        **item,
        "rating": "Good",
        "output_feedback": "As asked.",
        "annotator": "ada",
        "annotation.tool": "cancel_order",
    }
    known = {"object": "eval.run.output_item", "id": "outputitem_1", "eval_id": "eval_1", "run_id": "evalrun_1"}
    output = {"output": [CALLED], "input": ASKED}
    made = {**known, "datasource_item_id": 5, "datasource_item": rated, "results": [], "sample": output}
    (row,) = rows_of({"object": "list", "data": [made], "first_id": "a", "last_id": "b", "has_more": False})
    assert row.external_id == "item-5"
    # What the data says is gold; the person has another label.
    assert label(Judgement("", row.expectation)) == CORRECTED
    assert said(row) == [("ada", ("cancel_order", None), "")]
    del rated["annotation.tool"]
    (row,) = rows_of([made])
    assert said(row) == [("ada", PASSED, "As asked.")]
    # A data file has no output yet.
    (row,) = rows_of([{"item": item}], lines=True)
    assert (label(Judgement("", row.expectation)), row.input["context"]) == (CORRECTED, {"topic": "orders"})
    output_cell = json.dumps({"name": "get_order", "arguments": {"id": "7"}}).replace('"', '""')
    table = f'input,output,rating,output_feedback\n"Where?","{output_cell}",Bad,Ask first.\n'
    ((_, read),) = evaluation_file(table.encode()).examples()
    assert isinstance(read, ExampleRow)
    assert said(read) == [("unnamed", None, "rating: Bad. Ask first.")]
    message = "rating fails the recorded call without a correction: kept as a note"
    assert message in [loss.message for loss in read.losses]


def test_what_is_said_of_several_trials_of_one_example_comes_together():
    def trace(number: int, function: dict[str, str], *scores: dict[str, Any]) -> dict[str, Any]:
        made = {**CALLED, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
        generation = {"traceId": f"t{number}", "type": "GENERATION", "id": f"o{number}", "startTime": "1"}
        observations = [{**generation, "input": ASKED, "output": made}]
        metadata = {"dataset_item_id": "order"}
        return {"id": f"t{number}", "metadata": metadata, "observations": observations, "scores": list(scores)}

    other = {"name": "cancel_order", "arguments": '{"id": "7"}'}
    again = [score("tool_call", 1, traceId="t2"), score("tool_call", 1, traceId="t2", authorUserId="u2")]
    late = score("helpfulness", 3, traceId="t2")
    (row,) = rows_of([trace(1, FUNCTION, score("tool_call", 1)), trace(2, other, *again, late)])
    assert said(row) == [
        ("user u1", PASSED, ""),
        ("user u1", None, "Another call of a further trial passes, too."),
        ("user u1", None, "helpfulness: 3"),
        ("user u2", CORRECTED, ""),
    ]
    messages = [loss.message for loss in row.losses]
    assert "helpfulness is not a decision on the call: kept as a note" in messages
    assert "user u1 passes different calls of this example: the first is the label" in messages


def test_weave_feedback_and_ratings_of_promptfoo_are_read_too():
    def given(kind: str, **payload: Any) -> dict[str, Any]:
        return {"id": "f", "feedback_type": f"wandb.{kind}", "creator": "ada", "payload": payload}

    feedback = [
        given("annotation.tool_call", value="correct"),
        given("note.1", note="Look again."),
        given("reaction.1", emoji="👍🏽", detoned="👍", alias=":thumbs_up:") | {"creator": "ben"},
        given("runnable.scorer", output=1),
    ]
    call = {
        "id": "w1", "op_name": "weave:///team/shop/op/openai.chat.completions.create:9f", "trace_id": "t1",
        "parent_id": None, "started_at": "1", "inputs": {"messages": ASKED},
        "output": {"choices": [{"message": CALLED}]}, "summary": {"weave": {"feedback": feedback}},
    }  # fmt: skip
    (row,) = rows_of([call])
    assert said(row) == [("ada", PASSED, ""), ("ada", None, "note: Look again."), ("ben", PASSED, "")]
    assert "wandb.runnable.scorer is by a program, not a person: left out" in [loss.message for loss in row.losses]
    document = json.loads((DATA / "promptfoo_results.json").read_text())
    for each in document["results"]["results"]:
        human = {"pass": True, "score": 1, "reason": "Manual result", "assertion": {"type": "human"}}
        each["gradingResult"] = {"pass": True, "score": 1, "componentResults": [human], "comment": "As asked."}
    # The file does not say who rated.
    assert ("unnamed", None, "rating: true. As asked.") in [each for row in rows_of(document) for each in said(row)]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("expected_call", "cancel_order(id='7')", CORRECTED),
        ("anything", json.dumps(OTHER), CORRECTED),
        ("comment", "call cancel_order(id='7') instead", None),
        ("tool", "cancel_order", ("cancel_order", None)),
        ("tool", "cancel the order", None),
        ("tool_call", "good", PASSED),
        ("tool_call", 0.5, None),
        ("rating", "Good", PASSED),
        ("rating", "Bad", None),
        ("quality", "Good", None),
        ("is_tool_call_correct", "yes", PASSED),
        ("tool_needed", "yes", None),
        ("tool_arguments_correct", "yes", None),
        ("call_outcome", "resolved", None),
        ("tool_issues", "none", None),
        ("user_feedback", 1, None),
        ("工具", "none", None),
        ("?", "none", None),
        ("expectedCall", "none", "no_call"),
    ],
)
def test_what_is_a_decision_on_the_call(name: str, value: Any, expected: Any):
    result = {"type": "textarea", "from_name": name, "to_name": "d", "value": {"text": [value]}}
    task = {
        "id": 1,
        "data": {"question": "Where?", "output": CALLED},
        "annotations": [{"completed_by": 1, "result": [result]}],
    }
    (row,) = rows_of([task])
    ((_, found, text),) = said(row)
    assert found == expected
    # What is no label is kept in words, and named.
    assert (f"{name}: {value}" == text) == (expected is None)
    assert any(loss.message.startswith(f"{name} ") for loss in row.losses) == (expected is None)
