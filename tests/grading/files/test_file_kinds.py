"""Test what a file is, told among everything that is read here; and what it holds."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from labeling.imports.reading import file_looked_at
from toolevals.grading.files.evaluation_files.decoding import decoded
from toolevals.grading.files.evaluation_files.formats import detected
from toolevals.grading.files.file_kinds import what_is
from toolevals.grading.files.file_preview import FileLook
from toolevals.grading.reading.parsing import read_transcript
from toolevals.grading.values.problems import InvalidDocument

HERE = Path(__file__).parent
EVALUATION = sorted((HERE / "evaluation_files" / "data").iterdir())
MADE = sorted((HERE.parent / "reading" / "parsing" / "made").glob("*.json"))
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
ASKED = [{"role": "user", "content": "Where is it?"}]
USER = {"role": "user", "content": "Where is A-1?"}
EXAMPLE = {"id": "a", "input": {"messages": [USER]}, "expected_tool": None}
PREDICTION = {"id": "a", "tool_calls": [{"name": "search", "arguments": {"q": "x"}}]}


def written(value: Any) -> bytes:
    return json.dumps(value).encode()


def lines(*rows: Any) -> bytes:
    return b"".join(written(row) + b"\n" for row in rows)


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize("path", EVALUATION, ids=lambda path: path.name)
def test_each_evaluation_file_is_known_as_what_its_own_reader_says(path):
    found = what_is(path.read_bytes())
    assert (found.kind, found.format) == ("evaluation", detected(decoded(path.read_bytes()).value).format.name)
    look = file_looked_at(path.read_bytes())
    assert look.error_count == 0
    said = {"labels given elsewhere", "people who gave them", "notes"}
    assert set(look.counts) <= {"examples", "predictions"} | said
    assert look.rows


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_the_messages_of_each_library_are_known_as_its_reader_says(path):
    document = json.loads(path.read_text())["document"]
    look = file_looked_at(written(document))
    if look.kind.kind == "examples":
        # One object with messages is a line of OpenAI chat to the import of examples, as it always was.
        assert "messages" in document
        return
    assert (look.kind.kind, look.kind.format) == ("messages", read_transcript(document).format)
    assert look.counts["messages"]


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ([{"type": "function", "function": {"name": "search", "parameters": SCHEMA}}], "openai"),
        ([{"type": "function", "name": "search", "parameters": SCHEMA}], "openai"),
        ({"tools": [{"name": "search", "description": "", "inputSchema": SCHEMA}]}, "mcp"),
        ({"jsonrpc": "2.0", "result": {"tools": [{"name": "search", "inputSchema": SCHEMA}]}}, "mcp"),
        ([{"name": "search", "input_schema": SCHEMA, "cache_control": None}], "anthropic"),
        ([{"name": "search", "description": "", "input_schema": SCHEMA}], "native"),
        ({"functionDeclarations": [{"name": "search", "parameters": {"type": "OBJECT"}}]}, "gemini"),
        ([{"name": "search", "parameters": {"type": "dict", "properties": {}}}], "bfcl"),
        ({"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "search"}}}}, "openapi"),
        ({"swagger": "2.0", "paths": {"/a": {"get": {"operationId": "search"}}}}, "openapi"),
    ],
)
def test_tools_are_known_in_every_format(document, name):
    found = what_is(written(document))
    assert (found.kind, found.format, found.gives) == ("tools", name, ("tools",))
    assert found.because


def test_tools_are_known_in_yaml_and_in_a_zip_of_skills():
    assert what_is(b"openapi: 3.1.0\npaths:\n  /a:\n    get: {operationId: search}\n").format == "openapi"
    skill = b"---\nname: refunds\ndescription: Gives money back.\n---\nBody.\n"
    look = file_looked_at(zipped(**{"refunds/SKILL.md": skill}))
    assert (look.kind.format, look.counts, look.rows[0].name) == ("skills", {"tools": 1}, "refunds")


@pytest.mark.parametrize(
    ("content", "kind", "name"),
    [
        (lines(EXAMPLE), "examples", "jsonl"),
        (gzip.compress(lines(EXAMPLE)), "examples", "jsonl"),
        (b"\xef\xbb\xbf" + lines(EXAMPLE), "examples", "jsonl"),
        (lines({"messages": [USER]}, {"messages": [USER]}), "examples", "openai_chat"),
        (lines({"input": [USER], "ideal": "x"}), "examples", "openai_evals"),
        (lines({"inputs": {"question": "x"}, "outputs": {}}), "examples", "langsmith"),
        (b"says,tool\nWhere?,search\n", "examples", "csv"),
        (b"id,question,tool,words\nq-1,Where?,search,shoes\n", "examples", "csv"),
        (b"id,question,tool\nq-1,Where?,search,too,many\n", "examples", "csv"),
        (b"name;description;parameters\nsearch;finds;{}\n", "examples", "csv"),
        (b"name,description,parameters\nsearch,finds,{}\n", "examples", "csv"),
        (b"inputs.question;outputs.answer\nWhere?;there\n", "examples", "langsmith_csv"),
        (zipped(**{"BFCL_v4_simple.json": b"{}"}), "examples", "bfcl"),
        (written({"tasks": [], "simulations": []}), "examples", "tau2"),
        (written([{"task_id": 1, "traj": []}]), "examples", "tau"),
        (lines(PREDICTION), "predictions", "jsonl"),
        (lines({"id": "a", "text": "none"}), "predictions", "jsonl"),
        (lines({"id": "a", "messages": [USER]}), "predictions", "jsonl"),
        (written({"bounds": [{"metric": "outcome", "min": 0.9}]}), "gate", "gate"),
        (b"bounds:\n  - {metric: outcome, min: 0.9}\n", "gate", "gate"),
        (written([USER, {"role": "assistant", "content": "There."}]), "messages", "openai_chat"),
    ],
)
def test_everything_else_is_told_apart(content, kind, name):
    found = what_is(content)
    assert (found.kind, found.format) == (kind, name)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"Only some words.", "neither JSON nor YAML nor a table"),
        (b"[1, 2]", "it holds no objects"),
        (written({"colour": "red", "size": 3}), "it has colour, size"),
        (
            written([{"eval_set_id": "x", "conversation": []}]),
            "The nearest format is ADK evaluation set, for which it lacks eval_cases",
        ),
        (
            written({"name": "search", "description": "", "schema": SCHEMA}),
            "The nearest format is OpenAI tools, for which it lacks parameters",
        ),
        (b'{"a": 1', "not JSON"),
        (b"a: [1\n", "not YAML"),
        (b"\x1f\x8bnothing", "an incomplete gzip"),
        (b"Case,Question,Question\nc1,A?,B?\n", "the head names Question twice"),
        ("Case,Question\n".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04nothing", "cannot be read as a zip"),
        (zipped(**{"notes.txt": b"x"}), "holds neither SKILL.md"),
    ],
)
def test_what_is_unknown_is_refused_with_what_it_has(content, words):
    with pytest.raises(InvalidDocument, match=words):
        what_is(content)


def test_a_look_counts_and_names_what_is_wrong_by_line():
    look = file_looked_at(lines(EXAMPLE, {"id": "", "input": {}}, {**EXAMPLE, "id": "b"}))
    assert look.counts == {"examples": 2}
    assert [row.name for row in look.rows] == ["a", "b"]
    assert look.rows[0].says == "Where is A-1?"
    assert {error.line for error in look.errors} == {2}
    assert look.error_count == len(look.errors)
    look = file_looked_at(lines(PREDICTION, {"id": "b", "tool_calls": 7}))
    assert (look.counts, look.rows[0].says) == ({"predictions": 1}, "calls search")
    assert look.errors[0].line == 2
    assert file_looked_at(written({"bounds": [{"metric": "outcome"}]})).errors[0].pointer == "/bounds/0"


def test_what_is_not_carried_over_is_counted():
    hook = {"post": {"operationId": "told"}}
    document = {"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "a", "callbacks": {"told": {}}}}}}
    look = file_looked_at(written(document | {"webhooks": {"told": hook}}))
    assert look.counts == {"tools": 1}
    assert look.lost == 2


def test_a_look_reads_back_as_it_was():
    for path in EVALUATION:
        look = file_looked_at(path.read_bytes())
        assert FileLook.from_document(json.loads(json.dumps(look.to_document()))) == look


@pytest.mark.parametrize(
    "row",
    [
        {"id": "c", "op_name": "chat", "trace_id": "t", "inputs": {"messages": ASKED}, "outputs": {"x": 1}},
        {"turns": [{"speaker": "a", "words": "x"}], "city": "Oslo"},
        {"user_input": "x", "city": "Oslo"},
        {"dialogue": ["x"], "tools": [{"name": "seek", "parameters": SCHEMA}]},
        {"question": "x", "functions": [{"name": "seek", "parameters": SCHEMA}]},
        {"id": "a", "input": {"messages": ASKED}, "colour": "red"},
        {"messages": ["x"], "tools": []},
        {"question_row": {}},
        {"custom_id": "a", "city": "Oslo"},
        {"conversations": ["x"]},
        {"query": "x", "tools": "[]"},
    ],
)
def test_one_key_makes_no_format(row):
    for content in (written(row), written([row, row])):
        with pytest.raises(InvalidDocument, match="has an unknown format: it has "):
            what_is(content)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"cells": [], "nbformat": 4, "metadata": {}}, "it is a notebook"),
        ({"log": {"version": "1.2", "entries": []}}, "it is a HAR recording"),
        ({"description": "t", "providers": ["x"], "prompts": ["{{q}}"], "tests": []}, "promptfoo eval --output"),
        ({"mcpServers": {"fs": {"command": "x"}}}, "toolevals import mcp"),
        ({"info": {"name": "x"}, "item": []}, "export it as OpenAPI"),
        ({"sessionId": "s", "uuid": "1", "message": {}}, "Claude Code session"),
        ({"input": "2+2", "target": "4"}, "a dataset of Inspect"),
    ],
)
def test_a_file_that_people_often_bring_is_told_what_to_bring_instead(document, words):
    with pytest.raises(InvalidDocument) as caught:
        what_is(written(document))
    assert words in str(caught.value)
    assert "The plain form" in str(caught.value)


def test_a_workbook_and_another_encoding_are_named():
    with pytest.raises(InvalidDocument, match="is a workbook of Excel: save the sheet as CSV"):
        what_is(zipped(**{"xl/workbook.xml": b"<x/>"}))
    with pytest.raises(InvalidDocument, match="line 2 is not UTF-8"):
        file_looked_at("id,question\n1,Caf\xe9\n".encode("latin-1"))


def test_conversations_of_several_turns_are_read_from_a_zip_too():
    question = {"id": "multi_turn_base_0", "question": [[{"role": "user", "content": "Move it"}]]}
    question |= {"involved_classes": ["Files"]}
    answer = {"id": "multi_turn_base_0", "ground_truth": [["mv(source='a')"]]}
    name = "BFCL_v4_multi_turn_base.json"
    look = file_looked_at(zipped(**{name: written(question), f"possible_answer/{name}": written(answer)}))
    assert (look.counts, look.errors) == ({"examples": 1}, [])


@pytest.mark.parametrize(
    "response",
    [
        {"generation_id": "g", "text": "", "tool_calls": [{"name": "f", "parameters": {"a": 1}}], "chat_history": []},
        {"id": "c", "finish_reason": "TOOL_CALL", "message": {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]}},
        {"model": "m", "done": True, "message": {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "f", "arguments": {"a": 1}}}]}},
    ],
)  # fmt: skip
def test_whole_responses_of_cohere_and_ollama_are_messages(response):
    assert what_is(written(response)).kind == "messages"
    (call,) = read_transcript(response).transcript.calls
    assert (call.name, getattr(call, "arguments", None)) == ("f", {"a": 1})


@pytest.mark.parametrize(
    ("document", "names"),
    [
        (
            [{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}, {"name": "f", "input_schema": {}}],
            "f",
        ),
        ([{"type": "bash_20250124", "name": "bash"}], "bash"),
        ([{"googleSearch": {}}, {"functionDeclarations": [{"name": "f"}]}], "f"),
        ({"tools": [{"type": "web_search_preview"}, {"name": "f", "parameters": {}}]}, "f"),
        ([{"type": "code_interpreter"}], ""),
    ],
)
def test_a_list_that_begins_with_a_tool_of_the_provider_is_a_list_of_tools(document, names):
    look = file_looked_at(written(document))
    assert (look.kind.kind, [row.name for row in look.rows]) == ("tools", [names] if names else [])
