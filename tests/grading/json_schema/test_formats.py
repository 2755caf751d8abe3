"""Formats of texts: annotations unless a tool asserts them; both validators check the same, but for a list."""

from __future__ import annotations

import time
from typing import Any

import jsonschema
import pytest

from tests.grading.json_schema.test_conformance_laws import DRAFTS
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.json_schema.conformance import (
    CHECKED,
    call_problems,
    draft_of,
    schema_gate,
    unchecked_formats,
    with_formats,
)
from toolevals.grading.json_schema.reasons import call_reason
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    Message,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.values.matchers import KeyOnly
from toolevals.grading.values.verdicts import CaseGrade

UUID = "123e4567-e89b-12d3-a456-426614174000"
# By format: texts that are in it, then texts that are not, as both validators have it.
TEXTS: dict[str, tuple[list[str], list[str]]] = {
    "date": (
        ["2026-01-31", "2024-02-29"],
        ["2026-02-30", "2026-1-3", "20260131", "31/01/2026", "2026-W01-1", "", "2026-01-31T00:00:00", "٢٠٢٦-01-31"],
    ),
    "date-time": (
        ["2026-01-31T10:00:00Z", "2026-01-31T10:00:00.123Z", "2026-01-31T10:00:00+02:00", "2026-01-31t10:00:00z"],
        ["2026-01-31 10:00:00Z", "2026-01-31T10:00:00", "2026-01-31", "2026-02-30T10:00:00Z", "2026-01-31T25:00:00Z"],
    ),
    "time": (["10:00:00Z", "10:00:00+02:00", "10:00:00.5Z"], ["10:00", "10:00:00", "24:00:00Z", "ten"]),
    "duration": (["P1D", "PT1H", "P1W", "P1Y2M"], ["P", "PT", "1D", "3 days", "P1D "]),
    "email": (["a@b.org", "a.b@c.d"], ["a", "", "a b"]),
    "idn-email": (["a@b.org", "é@c.org"], ["a"]),
    "hostname": (["a.org", "localhost", "xn--4ca.org"], ["-a", "a_b", "a..b", "a b", "é.org"]),
    "idn-hostname": (["a.org", "é.org"], ["-a", "a_b"]),
    "ipv4": (["1.2.3.4"], ["256.1.1.1", "1.2.3", "01.2.3.4", ""]),
    "ipv6": (["::1", "::ffff:1.2.3.4"], ["1::2::3", "fe80::1%eth0", "[::1]", ""]),
    "uri": (["http://a.org", "urn:x:y", "mailto:a@b"], ["a", "/a", "http://a.org/ b", "http://é.org", ""]),
    "uri-reference": (["/a", "a", "", "#x"], ["a b", "é", "%zz"]),
    "iri": (["http://é.org"], ["a", "http://a.org/ b"]),
    "iri-reference": (["é", ""], ["a b"]),
    "uuid": ([UUID, UUID.upper()], [UUID[:-1], UUID.replace("-", ""), f"urn:uuid:{UUID}", ""]),
    "json-pointer": (["", "/a", "/a~0"], ["a", "/a~", "#/a"]),
    "relative-json-pointer": (["0", "1/a", "0#"], ["01", "-1", "/a", ""]),
    "regex": (["a", "[a-z]+"], ["(", "*"]),
    "uri-template": (["/a/{b}", "{?x*}"], ["/a/{", "/a/}"]),
}
# By format: what only the validator that decides takes, and what only the reference takes.
DIFFERENCES: dict[str, tuple[list[str], list[str]]] = {
    # RFC 3339 has leap seconds and the year 0; Python's dates have not.
    "date": (["0000-01-01"], []),
    "date-time": (["2016-12-31T23:59:60Z"], []),
    "time": (["23:59:60Z"], []),
    # RFC 3339 has whole numbers, in a row; ISO 8601 has more.
    "duration": ([], ["P1.5D", "-P1D", "P1Y2D"]),
    # The reference looks for an @.
    "email": ([], ["@b", "a@", "a b@c.org", "a@b@c", "a..b@c.org", "é@c.org"]),
    "hostname": ([], ["a."]),
    # ECMA-262, and not Python's syntax.
    "regex": ([r"\p{L}"], ["(?P<x>a)", r"\Z"]),
    "uri-template": (["{!x}"], []),
}


def tool(schema: Any, *, asserts: bool = True, draft: str = "2020-12") -> ToolSpec:
    return ToolSpec("t", "", {"$schema": DRAFTS[draft], "properties": {"a": schema}}, assert_formats=asserts)


def takes(schema: Any, value: Any, draft: str = "2020-12") -> bool:
    return not call_problems(tool(schema, draft=draft), {"a": value})


@pytest.mark.parametrize("draft", DRAFTS)
def test_both_validators_check_the_same_formats_alike(draft):
    checked = CHECKED[draft_of({"$schema": DRAFTS[draft]})]
    assert checked <= TEXTS.keys()
    known = jsonschema.validators.validator_for({"$schema": DRAFTS[draft]}).FORMAT_CHECKER
    assert known.checkers.keys() <= checked
    for name in checked:
        for text in TEXTS[name][0]:
            assert takes({"format": name}, text, draft), (name, text)
        for text in TEXTS[name][1]:
            assert not takes({"format": name}, text, draft), (name, text)
        # What the reference does not know in the oldest drafts, it knows in the newest.
        for text in [*TEXTS[name][0], *TEXTS[name][1]] if name in known.checkers else []:
            assert known.conforms(text, name) is (text in TEXTS[name][0]), (name, text)
    for name in TEXTS.keys() - checked:
        assert takes({"format": name}, "?", draft)


def test_all_formats_are_known_in_the_newest_draft():
    assert CHECKED[draft_of({})] == TEXTS.keys()


@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_known_differences_are_these(name):
    reference = jsonschema.Draft202012Validator.FORMAT_CHECKER
    fast, slow = DIFFERENCES[name]
    for text in fast:
        assert takes({"format": name}, text), text
        assert not reference.conforms(text, name), text
    for text in slow:
        assert not takes({"format": name}, text), text
        assert reference.conforms(text, name), text


def test_a_format_says_nothing_of_what_is_no_text():
    assert takes({"format": "date"}, 20260131)


def test_a_tool_that_does_not_assert_formats_takes_any_text():
    assert call_problems(tool({"format": "date"}, asserts=False), {"a": "tomorrow"}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "date"},
        {"type": "array", "items": {"type": "string", "format": "date"}},
        {"$ref": "#/$defs/day"},
    ],
)
def test_the_gate_asserts_what_the_validator_does(schema):
    value = ["tomorrow"] if schema.get("type") == "array" else "tomorrow"
    for asserts in (True, False):
        spec = ToolSpec(
            "t",
            "",
            {"type": "object", "properties": {"a": schema}, "$defs": {"day": {"format": "date"}}},
            assert_formats=asserts,
        )
        gate = schema_gate(spec)
        assert gate.breaks({"a": value}) is asserts


def graded(spec: ToolSpec, value: str) -> CaseGrade:
    expected = CallExpectation("t", {"a": KeyOnly()})
    compiled = compile_case(Expectation("calls", alternatives=(Trajectory((expected,)),)), [spec])
    return grade(compiled, Transcript((Message("assistant", None, (ToolCall("t", {"a": value}),)),)))


def test_a_date_in_the_wrong_format_fails_where_formats_are_asserted():
    failed = graded(tool({"format": "date"}), "31/01/2026")
    assert failed.statuses["schema"] == failed.statuses["arguments"] == "failed"
    assert failed.verdicts["schema"].reason == 't/a: "31/01/2026" is not a "date".'
    assert graded(tool({"format": "date"}, asserts=False), "31/01/2026").statuses["arguments"] == "passed"


def test_the_reason_says_why_a_text_is_not_in_its_format():
    reason = call_reason(tool({"format": "date"}), {"a": "2026-13-01"})
    assert reason is not None
    assert reason.message == "'2026-13-01' is not a 'date': month must be in 1..12"
    assert call_reason(tool({"format": "date"}, asserts=False), {"a": "2026-13-01"}) is None


def test_a_format_that_nothing_checks_is_named_and_takes_any_text():
    spec = tool({"anyOf": [{"format": "phone"}, {"format": "date"}]})
    assert unchecked_formats(spec) == "Nothing checks the format phone of t."
    assert graded(spec, "x").verdicts["schema"].reason == "Valid against t. Nothing checks the format phone of t."
    assert unchecked_formats(tool({"format": "phone"}, asserts=False)) == ""
    assert unchecked_formats(tool({"format": "uuid"}, draft="7")) == "Nothing checks the format uuid of t."


def test_a_tool_that_states_no_format_is_the_same_tool():
    spec = tool({"type": "string"}, asserts=False)
    assert with_formats(spec, asserted=True) is spec
    dated = tool({"format": "date"}, asserts=False)
    assert with_formats(dated, asserted=True).digest != dated.digest
    assert ToolSpec.from_document(with_formats(dated, asserted=True).to_document()).assert_formats


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_text_is_checked_in_a_short_time(name):
    length = 100_000
    hostile = ("(" * length, "(a" * length + ")" * length, "a." * length, "é." * length, "1:" * length, "{a}" * length)
    begin = time.perf_counter()
    for text in hostile:
        takes({"format": name}, text)
        call_reason(tool({"format": name}), {"a": text})
    assert time.perf_counter() - begin < 20
