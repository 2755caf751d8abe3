"""Test which agents solve which examples: cells that open their cases, orders, pages, and runs that are left out."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from reports.solved import queries
from reports.solved.analysis import Show
from reports.solved.table import EXAMPLES_A_PAGE
from tests.reports.building import Case
from tests.reports.reading import csv_rows, text
from toolevals.runs.models import Agent, CaseGrade, Run

RIGHT, WRONG = Case("a", "a"), Case("a", "b")
LOST = Case("a", "a", status="errored")


@pytest.fixture
def solved(browser_of, project) -> Any:
    def fetch(name: str = "solved", **query: Any) -> Any:
        return browser_of.get(reverse(f"reports:{name}", args=[project.slug]), query)

    return fetch


@pytest.fixture
def runs(build) -> list[Run]:
    """Three agents on four examples with two trials; the first solves most, nobody the second."""
    first = build.tried([[RIGHT, RIGHT], [WRONG, WRONG], [RIGHT, WRONG], [LOST, LOST]])
    others = [
        [[RIGHT, RIGHT], [WRONG, RIGHT], [WRONG, WRONG], [LOST, LOST]],
        [[RIGHT, RIGHT], [WRONG, WRONG], [RIGHT, RIGHT], [LOST, LOST]],
    ]
    made = [first, *(build.again(first, each, agent=f"agent {place}") for place, each in enumerate(others))]
    return [grading.run for grading in made]


def matrix(response: Any) -> dict[str, list[str]]:
    """Return the statuses by the example's name."""
    return {example[1]: [cell.status for cell in line.cells] for example, _, line in response.context["rows"]}


def test_cells_are_agents_on_examples_and_an_example_is_solved_by_most_trials(runs, solved):
    page = solved()
    names = [agent.name for _, agent, _ in page.context["columns"]]
    assert names == [runs[2].agent.name, runs[1].agent.name, runs[0].agent.name]
    found = matrix(page)
    assert sorted(found.values()) == sorted(
        [
            ["solved", "solved", "solved"],
            ["unsolved", "unsolved", "unsolved"],
            ["solved", "unsolved", "unsolved"],
            ["unscored", "unscored", "unscored"],
        ]
    )
    counts = {show: count for show, count, _ in page.context["shows"]}
    assert counts == {Show.ALL: 4, Show.NOBODY: 1, Show.SOME: 1, Show.EVERYBODY: 1}
    (_, agent, _) = page.context["columns"][0]
    assert (agent.rate.passed, agent.rate.total) == (2, 3)


@pytest.mark.parametrize(("sort", "first"), [("hardest", "unsolved"), ("easiest", "solved"), ("split", "solved")])
def test_orders(runs, solved, sort, first):
    rows = list(matrix(solved(sort=sort)).values())
    assert rows[0][0] == first
    assert rows[-1] == ["unscored"] * 3
    assert (rows[0][0] != rows[0][1]) == (sort == "split")


def test_the_order_by_an_agent_begins_with_what_it_fails(runs, solved):
    key = f"agent-{runs[1].agent_id}"
    rows = list(matrix(solved(sort=key)).values())
    assert [row[1] for row in rows] == ["unsolved", "unsolved", "solved", "unscored"]
    assert solved(show="some").context["rows"][0][2].solved == 1


def test_every_cell_opens_the_case_that_failed_else_the_first(runs, solved, browser_of, project):
    for example, _, line in solved().context["rows"]:
        for cell in line.cells:
            address = reverse("reports:example-case", args=[project.slug, cell.run, example[0]])
            opened = browser_of.get(address)
            case = CaseGrade.objects.get(pk=opened.url.rstrip("/").rpartition("/")[2])
            assert case.transcript.entry.revision.example_id == example[0]
            assert case.grading.run.number == cell.run
            assert (case.outcome == "failed") == (cell.failed > 0)
    missing = reverse("reports:example-case", args=[project.slug, 1, "00000000-0000-0000-0000-000000000000"])
    assert browser_of.get(missing).status_code == 404


def test_runs_of_one_agent_are_one_column_or_one_each(runs, solved):
    Run.objects.filter(pk=runs[2].pk).update(agent=runs[0].agent_id)
    together = solved()
    assert [agent.numbers for _, agent, _ in together.context["columns"]] == [
        (runs[2].number, runs[0].number),
        (runs[1].number,),
    ]
    assert {cell.scored for _, _, line in together.context["rows"] for cell in line.cells} == {0, 2, 4}
    assert len(solved(by="run").context["columns"]) == 3


def test_runs_are_chosen_and_those_without_a_column_are_named(runs, solved, build, monkeypatch):
    other = build.grading([RIGHT]).run
    page = solved(runs=f"{runs[0].number},{runs[1].number},999")
    assert [run.number for run in page.context["runs"].runs] == [runs[1].number, runs[0].number]
    assert page.context["runs"].left_out == (999,)
    assert "Not shown: run 999" in text(page)
    assert [run.number for run in solved().context["runs"].runs] == [other.number]
    monkeypatch.setattr(queries, "MOST_TRIALS", 16)
    slug = runs[0].dataset_version.dataset.slug
    found = solved(dataset=slug).context["runs"]
    assert ([run.number for run in found.runs], found.left_out) == ([runs[2].number, runs[1].number], (runs[0].number,))


def test_examples_come_in_pages(build, solved):
    build.grading([RIGHT] * (EXAMPLES_A_PAGE + 1))
    assert len(solved().context["rows"]) == EXAMPLES_A_PAGE
    page = solved(page="2")
    assert (len(page.context["rows"]), page.context["query_after"], page.context["pages"]) == (1, "", 2)
    assert len(csv_rows(solved("solved-csv"))) == EXAMPLES_A_PAGE + 1


def test_a_page_costs_the_same_for_any_number_of_runs(runs, solved, django_assert_max_num_queries):
    solved()
    with django_assert_max_num_queries(13):
        solved(by="run")


def test_nothing_graded_says_so_and_another_verdict_can_say_solved(solved, build):
    assert "No graded run" in text(solved())
    build.grading([Case("a", "a", wrong_value=True)])
    assert list(matrix(solved()).values()) == [["unsolved"]]
    assert list(matrix(solved(layer="selection")).values()) == [["solved"]]
    assert Agent.objects.count() == 1
