"""JUnit XML and Markdown of a gate's result: well formed, complete, and safe whatever names hold."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.presentation.junit_structure import junit_faults
from toolevals.grading.gates.results import Check, CheckStatus, GateResult
from toolevals.grading.metrics.rates import wilson
from toolevals.presentation.gate_comment import gate_markdown
from toolevals.presentation.gate_reports import GateReport, junit_xml

STATUSES: list[CheckStatus] = ["passed", "failed", "warned", "unanswered", "skipped"]


def check(status: CheckStatus, name: str = "selection pass_rate", *, examples: tuple[str, ...] = ()) -> Check:
    reason = "" if status == "passed" else "See what changed."
    return Check(
        name,
        status,
        0.9,
        10,
        wilson(9, 10),
        ">= 0.95",
        reason,
        "selection",
        examples,
        len(examples),
        "Best baseline agent: 40.0%.",
    )


def report(*checks: Check, subject: str = "run 7") -> GateReport:
    return GateReport(
        GateResult(checks), subject, "run 6", {"confusion matrix": "https://evals.example.org/p/x/?a=1&b=2"}
    )


def test_junit_says_what_came_out():
    document = junit_xml(report(*map(check, STATUSES)))
    assert junit_faults(document) == []
    (suite,) = ElementTree.fromstring(document)
    assert suite.attrib == {
        "name": "run 7",
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "time": "0",
    }
    held = [[child.tag for child in case] for case in suite.iter("testcase")]
    assert held == [["system-out"], ["failure"], ["system-out"], ["error"], ["skipped"]]
    (strict,) = ElementTree.fromstring(junit_xml(report(*map(check, STATUSES)), strict=True))
    assert strict.get("failures") == "2"


def test_the_structure_is_checked_strictly():
    good = junit_xml(report(check("failed"))).decode()
    for wrong in (
        good.replace('tests="1"', 'tests="2"'),
        good.replace("<testcase ", '<testcase luck="1" '),
        good.replace("failure", "misfortune"),
        good.replace(' classname="toolevals.selection"', ""),
    ):
        assert junit_faults(wrong.encode()) != []


texts = st.text(max_size=40)


@given(st.lists(st.tuples(st.sampled_from(STATUSES), texts, texts), max_size=6), texts, st.booleans())
def test_junit_is_well_formed_whatever_names_hold(rows, subject, strict):
    checks = [check(status, name, examples=(example,)) for status, name, example in rows]
    document = junit_xml(report(*checks, subject=subject), strict=strict)
    assert junit_faults(document) == []
    assert len(list(ElementTree.fromstring(document).iter("testcase"))) == len(rows)


def test_markdown_shows_the_worst_first_and_links_into_the_matrix():
    text = gate_markdown(report(check("passed", "a"), check("failed", "b", examples=("ex-1", "ex-2"))))
    assert text.startswith("### ❌ Gate failed. 1 failed, 1 passed.\n")
    assert "[confusion matrix](https://evals.example.org/p/x/?a=1&b=2)" in text
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert [row.split(" | ")[1] for row in rows] == ["<code>b</code>", "<code>a</code>"]
    assert "Examples: <code>ex&#45;1, ex&#45;2</code>" in rows[0]


@given(texts.filter(bool), texts.filter(bool))
def test_a_name_adds_no_markup_to_markdown(name, example):
    text = gate_markdown(report(check("failed", name, examples=(example,)), subject=name))
    plain = gate_markdown(report(check("failed", "n", examples=("e",)), subject="n"))
    assert len(text.splitlines()) == len(plain.splitlines())
    assert text.count("|") == plain.count("|")
    for mark in "<>`*_[@!":
        assert text.count(mark) == plain.count(mark)


def test_an_address_cannot_leave_its_brackets():
    found = GateReport(GateResult((check("passed"),)), "run 7", "", {"matrix": "https://x.example/a)b<c> d"})
    (address,) = re.findall(r"\]\((.*)\)$", gate_markdown(found), re.MULTILINE)
    assert address == "https://x.example/a%29b%3Cc%3E%20d"


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_its_words(status):
    assert f"1 {status}" in report(check(status)).summary
