"""Session files of coding agents: the agent's calls are read, and no one else's words are taken for its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.values.problems import InvalidDocument

DATA = Path(__file__).parent / "data"
ASKED = {"role": "user", "content": "The price test fails. Why?"}
CALLS = {
    "claude_code": [["Read", "Bash"], ["Task"], ["Edit"]],
    "codex": [["exec_command", "shell"], ["apply_patch"]],
}
ERRORS = {"claude_code": ["toolu_02"], "codex": ["call_1"]}


def lines_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]


def entry_of(lines: list[dict[str, Any]]) -> Entry:
    ((_, found),) = evaluation_file("\n".join(map(json.dumps, lines)).encode()).entries()
    assert isinstance(found, Entry), found
    return found


@pytest.mark.parametrize("name", CALLS)
def test_a_session_is_found_and_read(name: str) -> None:
    file = evaluation_file((DATA / f"{name}.jsonl").read_bytes())
    assert file.detected.format.name == name
    found = entry_of(lines_of(name))
    assert found.example is not None
    assert found.trial is not None
    assert [each for each in found.example.input["messages"] if each["role"] == "user"] == [ASKED]
    messages = found.trial.transcript.messages
    assert [[call.name for call in each.calls] for each in messages if each.calls] == CALLS[name]
    assert [each.call_id for each in messages if each.is_error] == ERRORS[name]
    assert all(result.call is not None for result in found.trial.transcript.results)


def test_a_session_of_claude_code_leaves_out_by_name_what_is_no_ones_turn() -> None:
    found = entry_of(lines_of("claude_code"))
    assert [loss.message for loss in found.losses] == [
        "2 lines of subagents: what they did is not the agent's: left out",
        "2 lines that the user went back behind: left out",
        "1 line in which the program tells of an error of its provider: left out",
    ]
    assert found.trial is not None
    said = json.dumps([each.to_document() for each in found.trial.transcript.messages])
    assert not [words for words in ("Look at the test first", "Overloaded", "Grep", "local-command") if words in said]
    # An answer's tokens stand in each of its lines, and count once.
    assert found.trial.transcript.usage == {"input_tokens": 60, "output_tokens": 200}


def test_a_summary_is_not_what_the_user_said() -> None:
    lines = lines_of("claude_code")
    summary = next(each for each in lines if each.get("uuid") == "u1")
    summary = {**summary, "uuid": "u9", "parentUuid": None, "isCompactSummary": True}
    summary["message"] = {"role": "user", "content": "This session is continued. Summary: it was about a test."}
    found = entry_of([summary, *lines])
    assert found.example is not None
    assert found.example.input["messages"] == [ASKED]
    assert "1 line with a summary in place of earlier messages: left out" in [each.message for each in found.losses]


def test_a_line_that_comes_twice_counts_once() -> None:
    lines = lines_of("claude_code")
    assert entry_of([*lines, *lines]).trial == entry_of(lines).trial


def test_the_file_of_a_subagent_is_read_as_its_own() -> None:
    found = entry_of([each for each in lines_of("claude_code") if each.get("isSidechain")])
    assert found.trial is not None
    assert [call.name for call in found.trial.transcript.calls] == ["Grep"]


def test_what_codex_puts_before_the_users_words_is_not_the_users() -> None:
    found = entry_of(lines_of("codex"))
    assert found.example is not None
    roles = [each["role"] for each in found.example.input["messages"]]
    assert roles == ["developer", "developer", "developer", "developer", "user"]
    assert [each.message for each in found.losses] == [
        "entry 16:  1 × call of a tool that the provider runs (web_search): left out"
    ]


def test_turns_that_were_taken_back_are_left_out_by_name() -> None:
    lines = lines_of("codex")
    back = {
        "timestamp": "2026-03-02T10:01:00Z",
        "type": "event_msg",
        "payload": {"type": "thread_rolled_back", "num_turns": 1},
    }
    again = next(each for each in lines if json.dumps(ASKED["content"]) in json.dumps(each))
    found = entry_of([*lines, back, again])
    assert found.trial is None
    assert "1 turn that the user took back: left out" in [each.message for each in found.losses]


@pytest.mark.parametrize("name", CALLS)
def test_a_session_without_a_question_is_refused(name: str) -> None:
    kept = [each for each in lines_of(name) if "price test" not in json.dumps(each) and "tset" not in json.dumps(each)]
    kept = [each for each in kept if each.get("uuid") not in ("u5", "s1")]
    ((_, found), *_) = evaluation_file("\n".join(map(json.dumps, kept)).encode()).entries()
    assert isinstance(found, InvalidDocument)
    assert "asked before the agent's first turn" in str(found)


@pytest.mark.parametrize("wrong", [None, 7, "text", [7], {"role": "user"}, {"content": {"a": 1}}])
@pytest.mark.parametrize("name", CALLS)
def test_a_line_of_another_form_is_named_or_left_and_breaks_nothing(name: str, wrong: Any) -> None:
    lines = lines_of(name)
    key = "message" if name == "claude_code" else "payload"
    for at, line in enumerate(lines):
        if key in line:
            changed = [*lines[:at], {**line, key: wrong}, *lines[at + 1 :]]
            for _, found in evaluation_file("\n".join(map(json.dumps, changed)).encode()).entries():
                assert isinstance(found, Entry | InvalidDocument)
