"""A conversation as people read it, whatever was sent as one."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from labeling.conversation import CallBlock, DataBlock, TextBlock, read_conversation
from labeling.conversation.lines import lines
from labeling.conversation.picks import Picks, segments
from labeling.conversation.turns import LONG_DATA, folded, gist, rest_of
from tests.fixtures.effort import best_seconds
from tests.labeling_pages.long_conversation import long_input
from tests.labeling_pages.shop import messages


def picked(text: str) -> list[str]:
    return [part.text for part in segments(text, Picks()) if part.picks]


def shown(value: Any) -> list[str]:
    return [line.key + "".join(part.text for part in line.parts) for line in lines(value, Picks())]


def test_turns_calls_and_results():
    turns = read_conversation({"messages": messages()}).turns
    assert [turn.words for turn in turns] == ["System", "User", "Agent", "User"]
    assert [turn.is_now for turn in turns] == [False, False, False, True]
    system, agent = turns[0].blocks[0], turns[2].blocks[0]
    assert isinstance(system, DataBlock)
    assert (system.is_open, system.fold) == (True, "system")
    assert isinstance(agent, CallBlock)
    assert (agent.name, agent.first) == ("get_order", ("order_id", '"A-20418"'))
    assert agent.result is not None
    assert [line.key.strip() for line in agent.result.lines] == ["state", "total"]
    assert agent.result.lines[1].parts[0].text == "98.00"


def test_results_find_their_calls_by_id():
    calls: list[dict[str, Any]] = [{"id": name, "name": name, "arguments": {}} for name in ("a", "b")]
    results = [{"role": "tool", "tool_call_id": name, "content": f"of {name}"} for name in ("b", "a", "z")]
    turns = read_conversation({"messages": [{"role": "assistant", "tool_calls": calls}, *results]}).turns
    told = {block.name: block.result for block in turns[0].blocks if isinstance(block, CallBlock)}
    assert "".join(part.text for part in told["a"].lines[0].parts) == "of a"  # type: ignore[union-attr]
    assert turns[1].words == "Tool"


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"messages": "none"},
        {"messages": [None, 3, {}, {"role": "user"}, {"role": "user", "content": {"a": 1}}]},
        {"messages": [{"role": "assistant", "tool_calls": [None, {"function": {"arguments": "{"}}]}]},
        {"messages": [{"role": "tool", "content": None}]},
        {
            "messages": [{"role": "user", "content": [{"type": "image", "url": "x"}, "plain", {"text": 4}]}],
            "context": 7,
        },
    ],
)
def test_any_shape_is_read(document: Any):
    read_conversation(document)


def test_other_formats_are_read():
    parts = [{"type": "text", "text": "Looking."}, {"type": "tool_use", "id": "t", "name": "find", "input": {"q": 1}}]
    result = [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "found"}]}]
    turns = read_conversation(
        {"messages": [{"role": "assistant", "content": parts}, {"role": "user", "content": result}]}
    )
    said, call = turns.turns[0].blocks
    assert isinstance(said, TextBlock)
    assert isinstance(call, CallBlock)
    assert call.result is not None


def test_long_texts_are_folded():
    turns = read_conversation({"messages": [{"role": "user", "content": "word " * 1000}]}).turns
    block = turns[0].blocks[0]
    assert isinstance(block, TextBlock)
    assert sum(len(part.text) for part in (*block.parts, *block.rest)) == 5000
    assert sum(len(part.text) for part in block.parts) < 1700


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Order A-20418, by Thursday.", ["A-20418", "Thursday"]),
        (
            "Fly from Berlin to San Francisco on 2026-03-12 at 14:30!",
            ["Berlin", "San Francisco", "2026-03-12", "14:30"],
        ),
        ("Mail mara@example.org (not me).", ["mara@example.org"]),
        ("Hello there. Where is it?", []),
        ("It’s €98.00", ["€98.00"]),
        ("The LIN-SH-M-WHT one, for gift_wrap.", ["LIN-SH-M-WHT", "gift_wrap"]),
        ("Come on Thursday 12 March 2026, or March 3rd at 3 pm.", ["Thursday 12 March 2026", "March 3rd", "3 pm"]),
        ("Am 12. März, bitte. Das ist für den 3. Mai 2026.", ["12. März", "3. Mai 2026"]),
        ("Hi\nPlease send it.\n1. Thanks, Mara\n- Then Berlin", ["Mara", "Berlin"]),
        ("Ich habe die Bestellung A-1 und eine Frage", ["A-1"]),
        ("SEND IT BACK NOW PLEASE", []),
        ("明日東京から大阪まで、3月12日にLIN-SHをください。A-7です", ["3月12日", "LIN-SH", "A-7"]),
    ],
)
def test_values_worth_picking(text: str, values: list[str]):
    assert picked(text) == values


def test_a_text_is_cut_without_loss():
    text = "  Order A-1\n\tand “B-2”; that’s 3. "
    assert "".join(part.text for part in segments(text, Picks())) == text


def test_equal_values_share_a_code_and_no_code_begins_another():
    picks = Picks()
    for number in range(40):
        picks.add(f"v{number}")
        picks.add("v0")
    codes = [picks.code(f"v{number}") for number in range(40)]
    assert len(set(codes)) == 40
    assert {len(code) for code in codes} == {2}


def test_cutting_hostile_text_takes_linear_time():
    for text in (
        "a-" * 100_000,
        "1" * 200_000,
        "A " * 100_000,
        "1 " * 100_000,
        "may " * 60_000,
        "\n1. A" * 60_000,
        '"' * 200_000,
    ):
        assert best_seconds(partial(segments, text, Picks()), enough=2) < 2


def test_values_are_lines_without_braces():
    assert shown({"state": "new", "items": [{"sku": "a", "n": 1}], "tags": ["x", "y"], "none": None, "deep": {}}) == [
        "state  new",
        "items",
        "  1  sku  a",
        "     n    1",
        "tags",
        "  x, y",
        "none   null",
        "deep   {}",
    ]


def test_a_sentence_in_data_is_no_value():
    found = lines(
        {"a": "carrier did not answer in time", "b": "Linen shirt, white", "c": "12 Main Street, 1010 Vienna"}, Picks()
    )
    assert [
        any(part.picks and part.text == whole for part in line.parts)
        for line, whole in zip(
            found, ("carrier did not answer in time", "Linen shirt, white", "12 Main Street, 1010 Vienna"), strict=True
        )
    ] == [False, True, True]


def test_turns_are_numbered_without_what_stands_before_them():
    turns = read_conversation({"context": {"day": 1}, "messages": messages()}).turns
    assert [turn.place for turn in turns] == ["the context", "the system’s words", "turn 1", "turn 2", "turn 3"]


def test_depth_has_an_end():
    value: Any = "x"
    for _ in range(500):
        value = {"a": value}
    assert len(shown(value)) < 20


def test_a_short_conversation_is_drawn_whole():
    turns = folded(read_conversation({"messages": messages()})).turns
    assert not any(turn.is_folded for turn in turns)


def test_earlier_turns_of_a_long_one_are_left_out_and_the_last_are_not():
    turns = folded(read_conversation(long_input(40))).turns
    is_folded = [turn.is_folded for turn in turns]
    # The system's words, then what is left out, then what is drawn.
    start, end = is_folded.index(True), len(turns) - is_folded[::-1].index(True)
    assert start == 1
    assert all(is_folded[start:end])
    assert 4 < len(turns) - end < 40
    assert turns[-1].is_now
    assert gist(turns[1]).startswith("Request 0. Order A-00000")
    assert gist(turns[2]) == 'get_order order_id "A-00000"'


def test_many_steps_after_one_request_are_left_out_too_and_the_request_is_not():
    long = long_input(40)["messages"]
    steps = [message for message in long if message["role"] in ("assistant", "tool")]
    turns = folded(read_conversation({"messages": [{"role": "user", "content": "Do it."}, *steps]})).turns
    assert not turns[0].is_folded
    assert turns[1].is_folded
    assert [turn.is_folded for turn in turns[-2:]] == [False, False]


def test_the_rest_of_a_large_result_is_left_out():
    result = json.dumps([{"id": f"R-{number}"} for number in range(2_000)])
    call = {"id": "c", "name": "list_all", "arguments": {}}
    said = [
        {"role": "assistant", "calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
        {"role": "user", "content": "word R-1 " * 2_000},
    ]
    agent, user = folded(read_conversation({"messages": said})).turns
    assert isinstance(agent.blocks[0], CallBlock)
    assert agent.blocks[0].result is not None
    assert agent.blocks[0].result.is_cut
    assert isinstance(user.blocks[0], TextBlock)
    assert user.blocks[0].is_cut
    lines_left, text_left = rest_of(agent, 0), rest_of(user, 0)
    assert lines_left is not None
    assert text_left is not None
    assert (len(lines_left[1]), len(text_left[1])) == (2_000 - LONG_DATA, 0)
    assert rest_of(user, 1) is None
