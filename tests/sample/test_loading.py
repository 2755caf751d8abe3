"""Loading the sample: once, whole, through the services, with runs that the workers do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import Sum

from labeling.models import Gold, Label, Revision, Skip
from labeling.progress import progress_of
from toolevals.runs.models import MatrixCount, Run
from toolevals.sample import services
from toolevals.sample.accounts import ACCOUNTS, PASSWORD
from toolevals.workspace.models import AuditEntry, Job, JobState, Project, Role, User

pytestmark = pytest.mark.django_db

RunJobs = Callable[[], object]


def matrix(run: Run) -> Counter[tuple[str, str]]:
    counts = MatrixCount.objects.filter(grading=run.grading, view="first")
    return Counter({(cell.expected, cell.actual): cell.count for cell in counts})


def test_what_a_newcomer_finds() -> None:
    assert services.sample_load()
    project = Project.objects.get(slug="shop-support")
    people = {one.email.partition("@")[0]: one for one in User.objects.filter(is_sample=True)}
    assert all(person.check_password(PASSWORD) for person in people.values())
    assert Counter(project.memberships.values_list("role", flat=True)) == {
        Role.REVIEWER: 2,
        Role.ADJUDICATOR: 1,
        Role.OWNER: 1,
        Role.VIEWER: 1,
    }
    assert Counter(Revision.objects.values_list("resolution", flat=True)) == {
        "resolved": 145,
        "disagreed": 8,
        "open": 26,
    }
    assert Counter(Gold.objects.values_list("source", flat=True)) == {"agreed": 132, "adjudicated": 13}
    assert Revision.objects.to_adjudicate(project, people["ada"]).count() == 8
    assert progress_of(dataset_or_project=project, user=people["lena"]).remaining == 14
    assert progress_of(dataset_or_project=project, user=people["omar"]).remaining == 26
    assert Label.objects.count() == 318
    assert not Skip.objects.exists()


def test_a_second_call_changes_nothing_and_says_so() -> None:
    first, second = StringIO(), StringIO()
    call_command("load_sample", stdout=first)
    rows = AuditEntry.objects.count()
    call_command("load_sample", stdout=second)
    assert "Loaded" in first.getvalue()
    assert "loaded before" in second.getvalue()
    assert (AuditEntry.objects.count(), Project.objects.count()) == (rows, 1)


def test_it_does_not_come_back_once_deleted() -> None:
    services.sample_load()
    Run.objects.all().delete()
    Project.objects.get(slug="shop-support").memberships.all().delete()
    assert not services.sample_load()


def test_a_crash_half_way_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(services, "version_freeze", fail)
        with pytest.raises(RuntimeError, match="killed"):
            services.sample_load()
    assert not User.objects.exists()
    assert not Project.objects.exists()
    assert services.sample_load()


def test_the_logins_are_json_and_nothing_else() -> None:
    out, told = StringIO(), StringIO()
    call_command("load_sample", print_logins=True, stdout=out, stderr=told)
    printed = json.loads(out.getvalue())
    assert [one["email"] for one in printed] == [account.email for account in ACCOUNTS]
    assert {one["role"] for one in printed} == {"reviewer", "adjudicator", "owner", "viewer"}
    assert "Loaded" in told.getvalue()


def test_every_act_has_its_person() -> None:
    services.sample_load()
    project = Project.objects.get(slug="shop-support")
    acts = Counter(project.audit.filter(actor__isnull=False).values_list("verb", flat=True))
    assert acts["label_submit"] == 318
    assert acts["adjudication_decide"] == 13
    assert acts["run_start"] == 2


@pytest.fixture
def runs(run_jobs: RunJobs) -> list[Run]:
    services.sample_load()
    run_jobs()
    return list(Run.objects.order_by("number").select_related("grading", "subject__tools"))


def test_both_runs_finish_by_the_ordinary_queue(runs: list[Run]) -> None:
    assert {job.state for job in Job.objects.filter(kind="run")} == {JobState.SUCCEEDED}
    assert [run.subject.tools.number for run in runs if run.subject.tools] == [1, 2]
    assert [run.transcripts.count() for run in runs] == [145, 145]


def test_both_matrices_are_worth_opening_and_the_rewrite_helps(runs: list[Run]) -> None:
    before, after = (matrix(run) for run in runs)
    for cells in (before, after):
        wrong = {cell: count for cell, count in cells.items() if cell[0] != cell[1]}
        assert cells.total() >= 140
        assert sum(wrong.values()) >= 20
        assert any("order" in expected and "order" in actual for expected, actual in wrong)
    asked = {"get_order_status", "get_order_history", "get_shipping_eta"}
    paid = {"issue_refund", "create_return"}
    for pair in (asked, paid):
        assert mistaken(before, pair) > mistaken(after, pair)
    assert mistaken(before, asked) >= 8
    assert mistaken(before, paid) >= 4
    assert right(after) > right(before) + 20


def mistaken(cells: Counter[tuple[str, str]], tools: set[str]) -> int:
    return sum(
        count
        for (expected, actual), count in cells.items()
        if expected != actual and expected in tools and actual in tools
    )


def right(cells: Counter[tuple[str, str]]) -> int:
    return sum(count for (expected, actual), count in cells.items() if expected == actual)


def test_the_counts_are_those_of_the_cases(runs: list[Run]) -> None:
    for run in runs:
        assert run.grading is not None
        total = MatrixCount.objects.filter(grading=run.grading, view="first").aggregate(n=Sum("count"))["n"]
        assert total == run.grading.cases.exclude(expected="").count()
