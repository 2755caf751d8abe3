"""Loading the sample: once, whole, through the services, with runs that the workers do."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from labeling.label.open_tasks import counted, to_label
from labeling.models import Gold, Label, LabelSlot, Revision, Skip
from reports.models import HeldGate
from toolevals.runs.models import Grading, MatrixCount, Transcript
from toolevals.sample import content
from toolevals.sample.accounts import ACCOUNTS, password_still_used
from toolevals.sample.rest import rest_start, still_made
from toolevals.sample.services import is_loaded, sample_load
from toolevals.traces.intake.models import came_at
from toolevals.traces.intake.services import spans_store
from toolevals.traces.models import Trace
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.models import AuditEntry, Job, JobState, Project, Role, User
from toolevals.workspace.projects.services import project_create

pytestmark = pytest.mark.django_db

ASK = {"get_order_status", "get_order_history", "get_shipping_eta"}
PAY = {"issue_refund", "create_return"}
Matrix = Counter[tuple[str, str]]
# Ids of traces say when they came to the millisecond.
MS = timedelta(milliseconds=1)


def printed(**options: object) -> tuple[str, str]:
    """Return what the command writes to stdout and to stderr."""
    out, err = StringIO(), StringIO()
    call_command("load_sample", stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def matrix(grading: Grading) -> Matrix:
    cells = MatrixCount.objects.filter(grading=grading, view="first")
    return Counter({(cell.expected, cell.actual): cell.count for cell in cells})


def right(cells: Matrix) -> int:
    return sum(count for (expected, actual), count in cells.items() if expected == actual)


def mistaken(cells: Matrix, tools: set[str]) -> int:
    """Return how many cases mistake one of `tools` for another of them."""
    return sum(count for cell, count in cells.items() if cell[0] != cell[1] and set(cell) <= tools)


def test_the_sample_from_the_first_call_to_the_finished_runs(run_jobs: Callable[[], int]) -> None:
    # One test for one load, which takes some seconds.
    said = printed()[0]
    assert "Loaded" in said
    check_the_password_is_drawn_and_printed_once(said)
    project = Project.objects.get(slug="shop-support")
    check_work_for_every_role(project)
    check_every_act_has_its_person(project)
    check_a_second_call_changes_nothing()
    assert not MatrixCount.objects.exists()
    run_jobs()
    check_the_rewrite_helps(project)
    check_the_rest(project)


def check_the_password_is_drawn_and_printed_once(said: str) -> None:
    (password,) = re.findall(r"with the password ([a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4})$", said, re.MULTILINE)
    assert all(user.check_password(password) for user in User.objects.filter(is_sample=True))
    assert password not in printed()[0]
    assert password not in str([entry.detail for entry in AuditEntry.objects.all()])


def check_work_for_every_role(project: Project) -> None:
    people = {one.email.partition("@")[0]: one for one in User.objects.filter(is_sample=True)}
    assert [key for key, person in people.items() if person.is_installation_owner] == ["otto"]
    roles = Counter(project.memberships.values_list("role", flat=True))
    assert roles == {Role.REVIEWER: 2, Role.ADJUDICATOR: 1, Role.OWNER: 1, Role.VIEWER: 1}
    resolutions = Counter(Revision.objects.values_list("resolution", flat=True))
    assert resolutions == {"resolved": 145, "disagreed": 8, "open": 26}
    assert Counter(Gold.objects.values_list("source", flat=True)) == {"agreed": 132, "adjudicated": 13}
    assert counted(project, people["ada"], Role.ADJUDICATOR)["to_adjudicate"] == 8
    assert [to_label(project, people[key]) for key in ("lena", "omar")] == [14, 26]
    assert not LabelSlot.objects.filter(state="claimed").exists()
    assert not Skip.objects.exists()


def check_every_act_has_its_person(project: Project) -> None:
    acts = Counter(project.audit.exclude(actor=None).values_list("verb", flat=True))
    assert acts["label_submit"] == acts["slot_claim"] == Label.objects.count() == 318
    assert (acts["adjudication_decide"], acts["run_start"]) == (13, 2)


def check_a_second_call_changes_nothing() -> None:
    rows = AuditEntry.objects.count()
    assert "loaded before" in printed()[0]
    assert (AuditEntry.objects.count(), Project.objects.count()) == (rows, 1)


def check_the_rewrite_helps(project: Project) -> None:
    assert {job.state for job in Job.objects.filter(kind="run")} == {JobState.SUCCEEDED}
    runs = list(project.runs.order_by("number").select_related("agent__tools", "grading")[:2])
    assert [run.agent.tools.number for run in runs if run.agent.tools] == [1, 2]
    assert [run.transcripts.count() for run in runs] == [145, 145]
    gradings = [run.grading for run in runs if run.grading is not None]
    before, after = map(matrix, gradings)
    assert [before.total(), after.total()] == [grading.cases.exclude(expected="").count() for grading in gradings]
    for cells in (before, after):
        assert cells.total() >= 140
        assert 20 <= right(cells) <= cells.total() - 20
        assert mistaken(cells, ASK)
        assert mistaken(cells, PAY)
    assert mistaken(before, ASK) >= mistaken(after, ASK) + 3
    assert mistaken(before, PAY) >= mistaken(after, PAY) + 3
    assert right(after) >= right(before) + 20


def check_the_rest(project: Project) -> None:
    """Look at what was made in the background: once each, dated back, and found out by the gate."""
    job = Job.objects.get(kind="sample")
    assert (job.state, job.report) == (JobState.SUCCEEDED, {})
    shop = list(project.runs.filter(experiment__slug="descriptions").order_by("number"))
    dates = [run.created_at for run in shop]
    assert (len(shop), dates) == (6, sorted(dates))
    assert all(run.created_at < project.created_at for run in project.runs.all())
    held = HeldGate.objects.filter(project=project).order_by("created_at")
    assert [gate.run_id for gate in held] == [run.pk for run in shop]
    assert [gate.status for gate in held] == ["passed", "passed", "passed", "failed", "passed", "passed"]
    check_recorded_runs_have_their_costs_and_trials(project)
    check_a_week_of_traces(project)


def check_recorded_runs_have_their_costs_and_trials(project: Project) -> None:
    runs = project.runs.exclude(experiment__slug="descriptions").order_by("number")
    told = {run.agent.model: set(run.transcripts.values_list("trial", "cost", "tokens_in")) for run in runs}
    assert {model: len({trial for trial, *_ in each}) for model, each in told.items()} == {
        "gpt-4.1": 1,
        "gpt-4.1, fine-tuned": 1,
        "gpt-4o": 4,
    }
    assert all(cost and tokens for _, cost, tokens in told["gpt-4.1"])
    # No price was recorded of this model, and neither tokens nor costs of that: nothing is made up.
    assert {cost for _, cost, _ in told["gpt-4.1, fine-tuned"] | told["gpt-4o"]} == {None}
    assert {tokens for *_, tokens in told["gpt-4o"]} == {None}
    assert set(Transcript.objects.filter(run__in=runs).values_list("reward", flat=True)) == {0.0, 1.0}


def check_a_week_of_traces(project: Project) -> None:
    traces = Trace.objects.filter(project=project).order_by("pk")
    assert len(traces) == 179 + 20
    assert [came_at(trace.pk) for trace in traces] == pytest.approx([trace.created_at for trace in traces], abs=MS)
    assert len({trace.created_at.date() for trace in traces}) >= 7
    assert all(trace.created_at < project.created_at for trace in traces)


def test_a_part_that_was_cut_short_is_made_again_and_once(
    run_jobs: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(**stored: Any) -> None:
        spans_store(**stored)
        raise RuntimeError("killed")

    project = project_create(actor=account(), slug="shop-support", name="Shop support")
    rest_start(project, User.objects.get(), ["traces"])
    monkeypatch.setattr("toolevals.sample.rest.spans_store", killed)
    run_jobs()
    assert not Trace.objects.exists()
    assert still_made(project).at_work
    monkeypatch.undo()
    run_jobs(impatient=True)
    assert Trace.objects.count() == 199
    assert not still_made(project).at_work


def test_it_does_not_come_back_once_its_project_is_gone() -> None:
    User.objects.create_user(email="lena@shop.example", name="Lena Labelwell", is_sample=True)
    assert not sample_load()
    assert not Project.objects.exists()


def test_a_crash_half_way_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(content, "labels", fail)
    with pytest.raises(RuntimeError, match="killed"):
        sample_load()
    assert not is_loaded()
    assert not Project.objects.exists()


def account() -> User:
    return user_create(actor=None, email="lena@shop.example", name="Lena Labelwell", is_sample=True)


def test_the_logins_are_json_and_nothing_else_and_stay_while_they_hold() -> None:
    account()
    out, err = printed(print_logins=True)
    logins = json.loads(out)
    assert [one["email"] for one in logins] == [account.email for account in ACCOUNTS]
    assert {one["role"] for one in logins} == {"reviewer", "adjudicator", "owner", "viewer"}
    assert "loaded before" in err
    assert printed(print_logins=True, known_logins=out)[0] == out
    assert User.objects.get().check_password(logins[0]["password"])


@pytest.mark.parametrize("known", ["", "[]", "{", "[1]", '[{"email": "lena@shop.example", "password": "sample-shop"}]'])
def test_what_holds_no_more_is_drawn_anew(known: str) -> None:
    account()
    first = json.loads(printed(print_logins=True)[0])[0]["password"]
    assert password_still_used(known) == ""
    second = json.loads(printed(print_logins=True, known_logins=known)[0])[0]["password"]
    assert first != second
    assert User.objects.get().check_password(second)


def test_the_operator_draws_a_new_password() -> None:
    account()
    said = printed(new_password=True)[0]
    assert User.objects.get().check_password(re.findall(r"password (\S+)$", said, re.MULTILINE)[0])
