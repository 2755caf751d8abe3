"""The pages, files and REST answers of issues: what they show, what people may do, and what is refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid5

import pytest
from django.urls import reverse

from reports.issues.gathering import issues_due
from reports.issues.queries import IssueFilter, issue_page
from reports.models import Issue, IssueCase, IssueState
from tests.reports.reading import csv_rows
from tests.runs.building import HISTORY, REFUND, STATUS, call, silence, uploaded_run, version_of
from toolevals.runs.models import CaseGrade
from toolevals.workspace.clock import database_now

pytestmark = pytest.mark.django_db
BAD = [call("status", HISTORY), call("history", HISTORY), call("refund", REFUND, order_id="ORD-2"), silence("hello")]
GOOD = [call("status", STATUS), call("history", HISTORY), call("refund", REFUND), silence("hello")]


@pytest.fixture
def issue(project: Any, run_jobs: Any) -> Issue:
    version = version_of(project)
    for rows, model in ((BAD, "one"), (GOOD, "two")):
        uploaded_run(project, version, rows, model=model)
        run_jobs()
    issues_due(database_now())
    return Issue.objects.get(mode="wrong_tool")


@pytest.fixture
def at(project: Any) -> Any:
    return lambda name, *args: reverse(
        f"{'reports-api' if name.startswith('api:') else 'reports'}:{name.removeprefix('api:')}",
        args=[project.slug, *args],
    )


def test_the_list_shows_each_issue_with_its_counts(issue, browser_of, at, django_assert_max_num_queries):
    with django_assert_max_num_queries(30):
        page = browser_of.get(at("issues"))
    text = page.content.decode()
    assert "2 issues, those that came back first." in text
    assert f"<code>{HISTORY}</code> called in place of <code>{STATUS}</code>" in text
    assert "cases by agent, oldest first: 1, 0" in text
    assert "Take it" not in text


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"layer": "selection"}, ["selection"]),
        ({"tool": REFUND}, ["arguments"]),
        ({"state": "fixed"}, []),
        ({"q": "in place of"}, ["selection"]),
        ({"agent": "nobody"}, []),
        ({"agent": "agent"}, ["arguments", "selection"]),
        ({"sort": "name", "layer": "nonsense", "page": "99"}, ["arguments", "selection"]),
    ],
)
def test_the_list_is_narrowed_alike_on_page_file_and_by_rest(issue, browser_of, at, query, names):
    page = browser_of.get(at("issues"), query).context["page"]
    assert sorted(row.issue.layer for row in page.rows) == names
    assert sorted(row["layer"] for row in csv_rows(browser_of.get(at("issues-csv"), query))) == names
    assert sorted(row["layer"] for row in browser_of.get(at("api:issues"), query).json()["results"]) == names


def test_an_issue_shows_its_cases_fixes_and_history(issue, browser_of, at):
    page = browser_of.get(at("issue", issue.pk))
    text = page.content.decode()
    assert "In 1 of 8 graded cases of the datasets where it was seen, 12.5 %." in text
    [row] = page.context["cases"]
    assert at("case", 1, row.case) in text
    assert f"Say in the prompt when <code>{STATUS}</code> is due" in text
    assert "opened" in text
    assert "Merge the two" not in text
    [file] = csv_rows(browser_of.get(at("issue-cases-csv", issue.pk)))
    assert (file["run"], file["external_id"]) == ("1", "status")
    answer = browser_of.get(at("api:issue", issue.pk)).json()
    assert (answer["name"], answer["cases"], answer["history"][0]["verb"]) == (issue.name, 1, "opened")
    assert [(each["seen"], each["graded"]) for each in answer["by_agent"]] == [(1, 4), (0, 4)]


def test_an_issue_goes_from_open_to_fixed_to_open(issue, client, reviewer, at):
    client.force_login(reviewer)
    first, second = (
        each.pk for each in sorted(client.get(at("issue", issue.pk)).context["agents"], key=lambda a: a.pk)
    )

    def act(name: str, /, **values: Any) -> str:
        page = client.post(at("issue-act", issue.pk, name), values, follow=True)
        assert page.status_code == 200
        issue.refresh_from_db()
        return " ".join(page.content.decode().split())

    assert "Not saved: the agent has not fixed it: 1 of 8 cases since run 1 fail so." in act("fix", agent=first)
    assert issue.state == "open"
    assert "Fixed in agent: none in 4 graded cases since, after 1 of 4 before." in act("fix", agent=second)
    assert issue.state == "fixed"
    act("reopen")
    assert "Accepted: in 1 of 8" in act("accept", reason="It is cheap.")
    assert "the reason is empty" in act("accept", reason="")
    assert "owner is" in act("own", owner=reviewer.pk)
    assert "is not a member" in act("own", owner="00000000-0000-0000-0000-000000000000")
    assert "named it Status &lt;b&gt;" in act("name", name="Status <b>", kind="Goal Deviation")
    assert "&lt;script&gt;" in act("note", text="<script>")
    other = Issue.objects.get(layer="arguments")
    assert "merged <a" in act("merge", issue=other.pk)
    assert "is not in this project" in act("merge", issue="x")
    child = Issue.objects.exclude(merged_into=None).get()
    page = client.get(at("issue", child.pk)).content.decode()
    assert "its cases count there" in page
    client.post(at("issue-act", child.pk, "split"))
    assert not Issue.objects.exclude(merged_into=None).exists()
    assert client.post(at("issue-act", issue.pk, "nothing")).status_code == 404


def test_a_viewer_changes_nothing(issue, browser_of, at):
    assert browser_of.post(at("issue-act", issue.pk, "reopen")).status_code == 403
    assert "Add the note" not in browser_of.get(at("issue", issue.pk)).content.decode()


def test_an_empty_project_says_what_will_come(project, browser_of, at):
    assert "No failure is gathered yet." in browser_of.get(at("issues")).content.decode()


def test_a_run_tells_what_is_new_back_and_gone(issue, project, run_jobs, browser_of, at):
    version = issue.cases.get().grading.dataset_version
    for rows, model in ((BAD[:2] + GOOD[2:], "three"), ([*GOOD[:2], silence("refund"), GOOD[3]], "four")):
        uploaded_run(project, version, rows, model=model)
        run_jobs()
    issues_due(database_now())

    def modes(run: int, change: str) -> list[str]:
        rows = browser_of.get(at("issues"), {"run": str(run), "change": change}).context["page"].rows
        return sorted(row.issue.mode for row in rows)

    changes = ("new", "back", "gone", "seen")
    assert {change: modes(1, change) for change in changes} == {
        "new": ["wrong_tool", "wrong_value"], "back": [], "gone": [], "seen": ["wrong_tool", "wrong_value"],
    }  # fmt: skip
    assert {change: modes(2, change) for change in changes} == {
        "new": [], "back": [], "gone": ["wrong_tool", "wrong_value"], "seen": [],
    }  # fmt: skip
    assert {change: modes(3, change) for change in changes} == {
        "new": [], "back": ["wrong_tool"], "gone": [], "seen": ["wrong_tool"],
    }  # fmt: skip
    assert (modes(4, "new"), modes(4, "gone")) == (["missed_call"], ["wrong_tool"])
    assert modes(99, "seen") == []
    page = browser_of.get(reverse("reports:run", args=[project.slug, 3])).content.decode()
    assert f"{at('issues')}?run=3" in page


@pytest.mark.parametrize("sort", ["state", "cases", "traces", "last"])
def test_five_thousand_issues_are_sorted_and_counted_exactly(issue, project, sort):
    """Each has some of the run's cases; every tenth is merged into the next, with cases in common."""
    cases = list(CaseGrade.objects.filter(grading__run__project=project).order_by("pk"))
    now, count = database_now(), 5_000
    first = issue.first_seen
    made = [
        Issue(
            id=uuid5(project.pk, str(at)), project=project, key=str(at), name=f"i{at}", kind=issue.kind,
            layer="selection", mode="wrong_tool", tool=f"tool{at}", first_seen=first,
            last_seen=now - timedelta(seconds=at * 7919 % count), state=IssueState.values[at % 3],
            merged_into_id=uuid5(project.pk, str(at + 1)) if at % 10 == 0 else None,
        )
        for at in range(count)
    ]  # fmt: skip
    Issue.objects.all().delete()
    Issue.objects.bulk_create(reversed(made))
    of = {
        each.pk: {case.pk for bit, case in enumerate(cases) if at * 31 % 251 >> bit & 1} for at, each in enumerate(made)
    }
    grading = {case.pk: case.grading_id for case in cases}
    IssueCase.objects.bulk_create(
        IssueCase(issue_id=pk, case_id=case, grading_id=grading[case], at=now)
        for pk, some in of.items()
        for case in some
    )
    for each in made:
        if each.merged_into_id:
            of[each.merged_into_id] = of[each.merged_into_id] | of[each.pk]
    newest = max(case.grading.run.number for case in cases)
    of_newest = {case.pk for case in cases if case.grading.run.number == newest}
    keys: dict[str, Any] = {
        "state": lambda row: (
            IssueState.values.index(row.state), -len(of[row.pk] & of_newest), -len(of[row.pk]),
            -row.last_seen.timestamp(),
        ),
        "cases": lambda row: (-len(of[row.pk]), -row.last_seen.timestamp()),
        "traces": lambda row: (-len(of[row.pk]), -row.last_seen.timestamp()),
        "last": lambda row: -row.last_seen.timestamp(),
    }  # fmt: skip
    wanted = sorted((each for each in made if not each.merged_into_id), key=keys[sort])
    for number in (1, 90, 180):
        page = issue_page(project, IssueFilter(sort=sort, page=number))
        assert (page.count, page.pages, sum(page.states.values())) == (4_500, 180, 4_500)
        expected = wanted[25 * (number - 1) : 25 * number]
        assert [(row.issue.name, row.cases) for row in page.rows] == [
            (each.name, len(of[each.pk])) for each in expected
        ]
