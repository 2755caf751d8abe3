"""The comment of a gate on a pull request: short, complete, and safe whatever names hold."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from toolevals.grading.gates.results import Check, GateResult
from toolevals.grading.metrics.comparison import Comparison, compare_runs
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.gate_comment import MOST_LINES, CellChange, LayerChange, RunChanges, gate_markdown
from toolevals.presentation.gate_reports import GateReport

# The mark, a line of the commit, and one between them and the rest.
AROUND = 3
# As a forge takes at most.
MOST_LETTERS = 65_536
HOSTILE = (
    "a | b\n\n# c <img src=x onerror=alert(1)> `d` @octocat #1 [e](javascript:f) ![g](h) <!-- --> </details>"
    "\r\n| - |\u202e\u2028 https://i.example www.j.example *k* _l_ ~m~ \\| k@l.example"
)


def compared(before: str, after: str) -> Comparison:
    """Return the comparison of examples that passed (1) or failed (0)."""
    return compare_runs(*({place: [float(each)] for place, each in enumerate(side)} for side in (before, after)))


def layer(name: str, before: str, after: str) -> LayerChange:
    found = compared(before, after)
    return LayerChange(name, found, Interval(0.5, 0.9), found.p_value, "https://evals.example.org/cases/?of=x")


def comment(changes: RunChanges | None, *names: str, status: str = "failed", subject: str = "run 7") -> str:
    checks = [
        Check(name, status, 0.9, 10, Interval(0.8, 0.95), ">= 0.95", "See.", "selection", (name,), 7, "Note.")  # type: ignore[arg-type]
        for name in names
    ]
    links = {"confusion matrix": "https://evals.example.org/p/x/"}
    return gate_markdown(GateReport(GateResult(tuple(checks)), subject, "run 6", links), changes)


def largest(name: str) -> RunChanges:
    """Return changes of everything that there can be, in which each name holds the same."""
    cells = [
        CellChange(f"{i}{name}", f"{j}{name}", i, j + 0.5, f"https://e.example/{name}")
        for i in range(9)
        for j in range(9)
    ]
    layers = [layer(verdict, "0" * 15 + "1" * 10, "1" * 25) for verdict in VERDICT_NAMES]
    return RunChanges(layers, cells, {name: (1, 2)})


@pytest.mark.parametrize("name", ["tool", HOSTILE, "\N{PILE OF POO}" * 5000, "x" * 5000])
def test_the_largest_comment_is_short_enough(name):
    said = comment(largest(name), *[name] * 40, subject=name)
    assert len(said.splitlines()) + AROUND == MOST_LINES
    assert len(said.encode()) < MOST_LETTERS


def test_names_of_strangers_are_text_and_call_no_one():
    hostile, plain = (comment(largest(name), name, subject=name) for name in (HOSTILE, "n"))
    assert len(hostile.splitlines()) == len(plain.splitlines())
    # An address holds no space and no bracket, and so ends where it should.
    hostile, plain = (re.sub(r"\]\([^\s()<>]+\)", "]()", said) for said in (hostile, plain))
    for one, other in zip(hostile.splitlines(), plain.splitlines(), strict=True):
        for mark in "|<>`*_[]@!\\~":
            assert one.count(mark) == other.count(mark), one
    # After the entities are read, no name and no number of an issue stands behind its mark.
    assert not re.search(r"[@#]\w", unescape(hostile).replace("###", ""))


def test_a_reader_of_markdown_finds_the_same_structure_whatever_names_hold():
    def structure(name: str) -> list[tuple[str, str]]:
        parsed = (
            MarkdownIt("commonmark", {"html": True}).enable("table").parse(comment(largest(name), name, subject=name))
        )
        inline = [part for token in parsed for part in token.children or ()]
        return [(token.type, token.content if "html" in token.type else "") for token in (*parsed, *inline)]

    # Texts are divided by their entities, and by nothing else.
    plain, hostile = ([each for each in structure(name) if "text" not in each[0]] for name in ("n", HOSTILE))
    assert plain == hostile
    assert {words for kind, words in plain if kind == "html_inline"} == {"<code>", "</code>"}


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_out_of_its_cell(name, other):
    changes = RunChanges(
        [layer("outcome", "01" * 15, "1" * 30)], [CellChange(f"a{name}", f"b{other}", 3, 1, "https://e.example/")]
    )
    said, plain = (
        comment(changes, name or "n"),
        comment(replace(changes, cells=[CellChange("a", "b", 3, 1, "https://e.example/")]), "n"),
    )
    assert [line.count("|") for line in said.splitlines()] == [line.count("|") for line in plain.splitlines()]
    assert [line.count("<") for line in said.splitlines()] == [line.count("<") for line in plain.splitlines()]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("0" * 10 + "1" * 20, "1" * 30, "Significantly better: outcome 100.0 %, was 66.7 %."),
        ("1" * 30, "0" * 10 + "1" * 20, "Significantly worse: outcome 66.7 %, was 100.0 %."),
        ("1" * 30, "0" + "1" * 29, "No significant change: outcome 96.7 %, was 100.0 %."),
        ("1" * 30, "1" * 30, "No change: outcome 100.0 %, and every example has the same result as before."),
        ("0" * 10, "1" * 10, "10 examples are too few to compare, at least 20 are needed: outcome 100.0 %."),
    ],
)
def test_the_sentence_says_no_more_than_the_examples(before, after, words):
    assert f"**{words}**" in unescape(comment(RunChanges([layer("outcome", before, after)]), "n"))


def test_what_the_size_cannot_show_is_said():
    many = unescape(comment(RunChanges([layer("outcome", "0" * 40 + "1" * 472, "1" * 512)]), "n"))
    assert "in 512 examples, a change of less than 1.2 points; one of less than 3.5 points is missed more often" in many
    few = comment(RunChanges([layer("outcome", "01", "11")]), "n")
    assert "**What this size cannot show:** anything, as 2 examples are too few." in few


def test_a_pair_that_grew_is_broken_and_one_that_shrank_is_fixed():
    cells = [CellChange("a", "b", 9, 2, "https://e.example/1"), CellChange("b", "a", 1, 3), CellChange("a", "a", 1, 8)]
    said = comment(RunChanges([layer("outcome", "01" * 15, "1" * 30)], cells), "n")
    assert "| ▲ | [9 → 2](https://e.example/1) | <code>a</code> as <code>b</code> |" in said
    assert "| ▼ | 1 → 3 | <code>b</code> as <code>a</code> |" in said
    assert "| <code>a</code> | **+7** | −7 |" in said
    assert "No pair of tools" in comment(RunChanges([layer("outcome", "1" * 30, "1" * 30)], cells[2:]), "n")


def test_what_an_example_took_is_said_or_that_no_one_knows():
    known = replace(largest("n"), taken={"money": (0.0184, 0.0179), "tokens": (3628, 3541)})
    assert "**An example took:** money 0&#46;0184 → 0.0179" not in comment(known, "n")
    assert "**An example took:** money 0.0184 → 0.0179, tokens 3628 → 3541." in comment(known, "n")
    assert "**An example took:** the runs do not both say what." in comment(replace(known, taken={}), "n")


def test_a_failed_check_says_why_in_a_sentence():
    check = Check(
        "n", "failed", 0.5, 9, None, ">= 0.9", "It is 0.5. Of 9 more words.", note="Read from a rule. Or not."
    )
    said = gate_markdown(GateReport(GateResult((check, replace(check, status="unanswered"))), "run 7"))
    assert "| It is 0&#46;5&#46; Read from a rule&#46; |" in said
    assert "| It is 0&#46;5&#46; Of 9 more words&#46; Read from a rule&#46; Or not&#46; |" in said


def test_a_passed_check_keeps_its_note_alone():
    said = comment(None, "n", status="passed")
    assert "Note" in said
    assert "See" not in said
    assert "No comparison: no baseline run was named." in said


@pytest.mark.thorough
def test_two_identical_agents_alarm_rarely():
    """Of pairs of the same agent at most one in twenty is called better or worse, and half of these worse."""
    dice, tries, size = Random(7), 2000, 150
    said = []
    for _ in range(tries):
        before, after = ("".join("1" if dice.random() < 0.8 else "0" for _ in range(size)) for _ in range(2))
        text = comment(RunChanges([layer("outcome", before, after)]), "n")
        said.append(next((way for way in ("better", "worse") if f"**Significantly {way}" in text), ""))
    assert 0 < said.count("worse") < 0.03 * tries
    assert said.count("better") + said.count("worse") < 0.05 * tries
