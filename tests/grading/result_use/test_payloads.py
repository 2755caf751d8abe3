"""What is kept of a result's text serves every transcript, and none sees another's."""

import json

import pytest

from toolevals.grading.result_use import grade_result_use, payload_reading
from toolevals.grading.result_use.payload_reading import MAX_KEPT, read_payload
from toolevals.grading.values import Message, Transcript

_ROW = json.dumps({"id": "A-17", "price": 45.5, "placed": "2025-03-14T23:30:00-08:00"})


def test_a_text_is_read_once_for_each_place() -> None:
    assert read_payload(_ROW, 0) is read_payload(_ROW, 0)
    assert {value.result for value in read_payload(_ROW, 3).values} == {3}


def test_fewer_fields_than_are_kept_may_be_asked_for() -> None:
    whole, part = read_payload(_ROW, 0), read_payload(_ROW, 0, 2)
    assert [leaf.pointer for leaf in whole.leaves] == ["/id", "/price", "/placed"]
    assert not whole.truncated
    assert part.leaves == whole.leaves[:2]
    assert part.truncated


def test_what_is_too_large_is_not_kept() -> None:
    text = json.dumps(list(range(MAX_KEPT // 10)))
    assert read_payload(text, 0) is not read_payload(text, 0)


def test_the_oldest_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payload_reading, "MAX_KEPT", 1000)
    first = read_payload(_ROW, 0)
    for place in range(100):
        read_payload(json.dumps([f"{place}-{row}" for row in range(10)]), 0)
    again = read_payload(_ROW, 0)
    assert again is not first
    assert again.leaves == first.leaves


def test_one_text_twice_in_a_transcript_and_in_another() -> None:
    reply = Message("assistant", "A-17 costs $45.50 and was placed on March 14.")
    once = grade_result_use(Transcript((Message("tool", _ROW), reply)))
    twice = grade_result_use(Transcript((Message("tool", _ROW), Message("tool", _ROW), reply)))
    assert [attribution.message for attribution in once.attributions] == [0, 0, 0]
    assert [attribution.message for attribution in twice.attributions] == [1, 1, 1]
    assert once.to_document() == grade_result_use(Transcript((Message("tool", _ROW), reply))).to_document()
