"""The reason why a value breaks a schema agrees with what decides, costs little, and is looked up nowhere else."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings

from tests.grading.json_schema.test_conformance_laws import ARGUMENTS, DRAFTS, schemas
from tests.grading.reference import reference_problems
from toolevals.grading.json_schema.conformance import call_problems, expectation_problems, validator_of
from toolevals.grading.json_schema.reasons import call_reason, reasoned_words
from toolevals.grading.values import Expectation, ToolSpec

DAY = {"type": "object", "properties": {"day": {"pattern": "^[0-9]+$"}}, "required": ["day"]}
WHEN = ToolSpec("book", "", {"properties": {"when": {"anyOf": [{"type": "integer"}, DAY]}}})


def test_the_nearest_rule_is_named_with_what_each_alternative_refuses():
    reason = call_reason(WHEN, {"when": {"day": "x"}})
    assert reason is not None
    assert (reason.pointer, reason.rule) == ("/when/day", "/properties/when/anyOf/1/properties/day/pattern")
    assert reason.message == "'x' does not match '^[0-9]+$'"
    assert reason.alternatives == ("{'day': 'x'} is not of type 'integer'", "/day: 'x' does not match '^[0-9]+$'")


def test_a_label_that_fits_no_alternative_says_what_each_lacks():
    expectation = Expectation.from_document(
        {
            "kind": "calls",
            "alternatives": [{"ordered": [{"tool": "book", "arguments": {"when": {"exact": {"day": "x"}}}}]}],
        }
    )
    plain = expectation_problems(expectation, [WHEN])
    told = expectation_problems(expectation, [WHEN], reasoned_words)
    assert [problem.pointer for problem in told] == [problem.pointer for problem in plain]
    assert "not valid under any" in plain[0].message
    assert told[0].message == (
        "fits none of 2 alternatives: {'day': 'x'} is not of type 'integer'; /day: 'x' does not match '^[0-9]+$'"
    )


def test_what_fits_has_no_reason():
    assert call_reason(WHEN, {"when": 1}) is None


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_reason_is_a_fault_that_the_reference_finds(draft):
    @settings(max_examples=60)
    @given(schemas(draft), ARGUMENTS)
    def agree(schema, arguments):
        tool = ToolSpec("t", "", schema)
        reason = call_reason(tool, arguments)
        if reason is None:
            # None is found, or patterns of names keep the reference away.
            assert not call_problems(tool, arguments) or "patternProperties" in str(schema)
            return
        assert call_problems(tool, arguments)
        # It stands at a fault, or within what a fault's alternatives refuse.
        assert any(reason.pointer.startswith(fault.pointer) for fault in reference_problems(tool, arguments))

    agree()


def test_a_hostile_pattern_is_matched_in_linear_time():
    tool = ToolSpec("t", "", {"properties": {"a": {"pattern": "^(a+)+$"}}})
    reason = call_reason(tool, {"a": "a" * 40 + "!"})
    assert reason is not None
    assert reason.rule == "/properties/a/pattern"


def test_patterns_of_names_are_left_to_the_validator_that_decides():
    tool = ToolSpec("t", "", {"patternProperties": {"^(a+)+$": {"type": "integer"}}, "additionalProperties": False})
    arguments = {"a" * 40 + "!": "x"}
    assert call_problems(tool, arguments)
    assert call_reason(tool, arguments) is None


def test_a_schema_that_leads_elsewhere_is_refused_and_nothing_is_fetched():
    assert call_reason(ToolSpec("t", "", {"$ref": "https://example.com/schema.json"}), {"a": 1}) is None


def test_a_large_value_is_not_explained():
    tool = ToolSpec("t", "", {"properties": {"a": {"uniqueItems": True}}})
    assert call_problems(tool, {"a": [{"b": 1}] * 50_000})
    assert call_reason(tool, {"a": [{"b": 1}] * 50_000}) is None


def test_the_validator_of_a_part_explains_by_that_part():
    part = validator_of(WHEN).at(("properties", "when"))
    assert reasoned_words(part, "x")[0].message == (
        "fits none of 2 alternatives: 'x' is not of type 'integer'; 'x' is not of type 'object'"
    )


def test_the_core_is_loaded_without_the_reference_validator():
    code = (
        "import sys; import toolevals.grading.json_schema.reasons, toolevals.cli.grade; "
        "sys.exit(any(name.partition('.')[0] == 'jsonschema' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
