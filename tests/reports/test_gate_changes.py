"""A comment on a pull request says of two runs what their comparison says, and each of its links opens the examples."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.client.answering import answer
from tests.reports.building import Builder, Case
from tests.reports.test_compare_pages import AFTER, BEFORE
from toolevals.cli.gate_changes import changes_of_runs
from toolevals.client import Project
from toolevals.client.http import Request, Response
from toolevals.grading.gates.results import Check, GateResult
from toolevals.presentation.gate_comment import gate_markdown
from toolevals.presentation.gate_reports import GateReport
from toolevals.runs.models import Grading

pytestmark = pytest.mark.django_db
CHECK = Check("selection pass_rate", "passed", 0.95, 20, None, ">= 0.9")


def client_of(browser: Any, before: Grading) -> Project:
    """Return a client that asks the application through a browser."""

    def send(request: Request) -> Response:
        asked = urlsplit(request.url)
        found = browser.get(f"{asked.path}?{asked.query}")
        return answer(found.status_code, text=found.content.decode())(request)

    project = before.run.project.slug
    return Project(server="http://testserver", project=project, token="t", transport=send)


def comment(browser: Any, before: Grading, after: Grading) -> str:
    changes = changes_of_runs(client_of(browser, before), before.run.number, after.run.number)
    return unescape(gate_markdown(GateReport(GateResult((CHECK,)), "run 2", "run 1"), changes))


def test_the_comment_says_what_the_comparison_says(build: Builder, browser_of):
    before = build.grading(BEFORE)
    said = comment(browser_of, before, build.again(before, [[case] for case in AFTER]))
    assert "**Significantly better: outcome 95.0 %, was 55.0 %.**" in said
    (outcome,) = [line for line in said.splitlines() if line.startswith("| outcome |")]
    assert re.sub(r"\]\(.*?\)", "]", outcome) == (
        "| outcome | **95.0** (72.6 to 100.0) | +40.0 | [9 / 1] | 0.021 | 55.0 |"
    )
    assert "<code>a</code> as <code>b</code> |" in said
    assert "| <code>a</code> | **+8** | −8 |" in said
    assert "in 20 examples, a change of less than 30.0 points" in said


def test_each_link_opens_the_examples_it_counts(build: Builder, browser_of):
    before = build.grading(BEFORE)
    said = comment(browser_of, before, build.again(before, [[case] for case in AFTER]))
    links = re.findall(r"\[([^\]]+)\]\(http://testserver([^)]+)\)", said)
    assert (links[0][0], links[-1][0]) == ("9 / 1", "9 → 1")
    for words, address in links:
        page = browser_of.get(address)
        assert page.status_code == 200
        if words in ("9 / 1", "9 → 1"):
            assert page.context["page"].count == 10


def test_a_pair_of_runs_without_a_comparison_says_why(build: Builder, browser_of):
    one, other = build.grading([Case("a", "a")]), build.grading([Case("a", "a")])
    said = comment(browser_of, one, other)
    assert "No comparison: the server answered 409" in said
