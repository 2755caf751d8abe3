"""The list of examples: columns, filters and sorts by what the reader is told, acts on a selection, saved views."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from http import HTTPStatus
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.batches.services import batch_close
from labeling.examples import listing
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import Adjudication, Dataset, Example, Gold, LabelBatch, LabelSlot, Revision, SavedView
from labeling.questions.services import comment_add
from tests.labeling.windows import differing_compared
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import returned, row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Role, User

pytestmark = pytest.mark.django_db
AsUser = Callable[[User], Client]
GOLD = {"expected_tool": "get_order", "expected_args": {"order_id": "A-1"}}


def url(name: str, *arguments: object) -> str:
    return reverse(f"labeling:{name}", args=["shop", *arguments])


def names(client: Client, query: str = "") -> list[str]:
    response: Any = client.get(url("dataset", "core") + query)
    return [each.example.external_id for each in response.context["rows"]]


def example(name: str) -> Example:
    return Example.objects.get(external_id=name)


def selected(*wanted: str) -> list[str]:
    return [str(example(name).pk) for name in wanted]


@pytest.fixture
def label(dataset: Dataset) -> Callable[..., Any]:
    """Return a function with which a person labels an example."""

    def do(name: str, user: User, expectation: Any = None, **more: Any) -> Any:
        revision = Revision.objects.get(example__external_id=name)
        slot = LabelSlot.objects.filter(revision=revision, state="open").order_by("number")[0]
        return label_submit(slot=slot, actor=user, expectation=expectation or returned(), **more)

    return do


@pytest.fixture
def begun(label: Callable[..., Any], dataset: Dataset, reviewer: User) -> None:
    """One example of four has a label, flagged, and a question; one has gold."""
    examples_import(dataset=dataset, actor=None, rows=[read_example(row(7, **GOLD))])
    made = label("ex-0", reviewer, flagged=True)
    comment_add(revision=made.revision, asker=reviewer, actor=reviewer, text="Which?")


@pytest.mark.usefixtures("begun")
def test_each_reader_is_told_their_own_part(
    reviewer: User, second_reviewer: User, adjudicator: User, owner: User, as_user: AsUser
):
    def told(user: User) -> tuple[Any, ...]:
        response: Any = as_user(user).get(url("dataset", "core"))
        one = next(each.told for each in response.context["rows"] if each.example.external_id == "ex-0")
        return one.labels, one.names, one.flags, one.comments

    assert told(adjudicator) == (1, (), 0, 1)
    assert told(reviewer) == (None, (reviewer.name,), 1, 1)
    assert told(second_reviewer) == (None, (), 0, 0)
    assert "1 of 2" in body(as_user(adjudicator).get(url("dataset", "core")))
    for user in (reviewer, second_reviewer):
        assert "1 of 2" not in body(as_user(user).get(url("dataset", "core")))


@pytest.mark.usefixtures("begun")
def test_filters_find_what_the_reader_is_told(
    reviewer: User, second_reviewer: User, adjudicator: User, as_user: AsUser
):
    found = {
        user.pk: [
            set(names(as_user(user), f"?{query}"))
            for query in ("labels=1", "flag=yes", "comments=yes", f"who={reviewer.pk}")
        ]
        for user in (reviewer, second_reviewer, adjudicator)
    }
    assert found[reviewer.pk] == [{"ex-0"}, {"ex-0"}, {"ex-0"}, {"ex-0"}]
    assert found[second_reviewer.pk] == [set(), set(), set(), set()]
    assert found[adjudicator.pk] == [{"ex-0"}, set(), {"ex-0"}, set()]
    assert names(as_user(adjudicator), "?labels=0") == ["ex-7", "ex-2", "ex-1"]
    for unknown in ("?who=nobody", "?labels=many"):
        assert names(as_user(adjudicator), unknown) == []


@pytest.mark.usefixtures("begun")
def test_columns_sort(adjudicator: User, as_user: AsUser, monkeypatch: pytest.MonkeyPatch):
    client = as_user(adjudicator)
    assert names(client, "?sort=id") == ["ex-0", "ex-1", "ex-2", "ex-7"]
    assert names(client, "?sort=-id") == names(client) == ["ex-7", "ex-2", "ex-1", "ex-0"]
    assert names(client, "?sort=-labels")[0] == "ex-0"
    assert names(client, "?sort=-comments")[0] == "ex-0"
    assert names(client, "?sort=gold")[0] == "ex-7"
    assert names(client, "?sort=status")[-1] == "ex-7"
    monkeypatch.setattr(listing, "LIST_SIZE", 3)
    first = client.get(url("dataset", "core") + "?sort=id")
    assert names(client, first.context["older_url"]) == ["ex-7"]
    monkeypatch.setattr(listing, "SORT_MOST", 2)
    assert names(client, "?sort=-labels") == ["ex-7", "ex-2", "ex-1"]
    assert "narrow the list" in body(client.get(url("dataset", "core") + "?sort=-labels"))
    assert names(client, "?sort=-labels&status=resolved") == ["ex-7"]


def test_pages_of_a_large_dataset_hold_the_same(
    dataset: Dataset, adjudicator: User, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
):
    client = as_user(adjudicator)
    monkeypatch.setattr("labeling.coverage.cache.COUNTED_AT_ONCE", 1)
    monkeypatch.setattr(listing, "LIST_SIZE", 2)
    for query in ("", "?q=ex", "?labels=0"):
        first = client.get(url("dataset", "core") + query)
        assert names(client, query) == ["ex-2", "ex-1"]
        assert names(client, first.context["older_url"]) == ["ex-0"]


def act(client: Client, do: str, wanted: Iterable[str], **said: str) -> str:
    """Do an act as the page's form does; return what is said then."""
    address = url("examples-act", "core")
    asked = {"act": do, "example": selected(*wanted), "query": "status=open"}
    shown = client.get(address, asked)
    assert f"{len(asked['example'])} example" in body(shown)
    response = client.post(address, {**asked, **said})
    assert response.status_code == HTTPStatus.FOUND, body(response)
    assert response["Location"] == url("dataset", "core") + "?status=open"
    return body(client.get(response["Location"]))


def test_examples_are_kept_for_a_person(dataset: Dataset, reviewer: User, adjudicator: User, as_user: AsUser):
    client = as_user(adjudicator)
    assert f"Kept for {reviewer.name}: 2 of 2." in act(client, "assign", ["ex-1", "ex-2"], person=str(reviewer.pk))
    assert LabelSlot.objects.filter(assignee=reviewer).count() == 2
    assert slot_claim(dataset_or_project=dataset, actor=reviewer).revision.example.external_id == "ex-1"  # type: ignore[union-attr]
    assert "kept for no one any more" in act(client, "assign", ["ex-1", "ex-2"], person="")
    assert list(AuditEntry.objects.filter(verb__startswith="slots_").values_list("verb", flat=True)) == [
        "slots_assign",
        "slots_unassign",
    ]


@pytest.mark.usefixtures("begun")
def test_examples_are_queued_again_and_the_others_are_named(adjudicator: User, as_user: AsUser):
    client = as_user(adjudicator)
    said = act(client, "reopen", ["ex-7", "ex-1"], reason="Look again")
    assert "1 of 2 examples is re-queued." in said
    assert "ex-1: This example is being labelled already." in said
    assert not Revision.objects.get(example__external_id="ex-7").gold_id
    assert Gold.objects.count() == 1
    assert AuditEntry.objects.filter(verb="revision_reopen", actor=adjudicator).count() == 1


def test_what_differs_is_set_aside(
    label: Callable[..., Any], reviewer: User, second_reviewer: User, adjudicator: User, as_user: AsUser
):
    label("ex-0", reviewer)
    differing_compared(label("ex-0", second_reviewer, returned("A-2")).revision)
    said = act(as_user(adjudicator), "set-aside", ["ex-0", "ex-1"], answer="ambiguous", rationale="Two readings.")
    assert "1 of 2 examples is set aside." in said
    assert "ex-1: Nothing to decide" in said
    assert Revision.objects.get(example__external_id="ex-0").resolution == "set_aside"


def test_a_stratum_is_set_and_removed(dataset: Dataset, adjudicator: User, as_user: AsUser):
    client = as_user(adjudicator)
    said = act(client, "tag", ["ex-0", "ex-1"], stratum="difficulty", value="hard")
    assert "2 of 2 examples changed: difficulty “hard”." in said
    assert "1 of 2 examples changed: difficulty “easy”. 1 had it already." in (
        act(client, "tag", ["ex-1"], stratum="difficulty", value="easy")
        and act(client, "tag", ["ex-0", "ex-1"], stratum="difficulty", value="easy")
    )
    act(client, "tag", ["ex-0"], stratum="difficulty", value="")
    assert dict(dataset.examples.values_list("external_id", "difficulty")) == {"ex-0": "", "ex-1": "easy", "ex-2": ""}
    details = AuditEntry.objects.filter(verb="example_tag", actor=adjudicator).order_by("pk").values_list("detail")
    assert [detail["before"] for (detail,) in details] == ["", "", "hard", "hard", "easy"]
    long = {"act": "tag", "example": selected("ex-0"), "stratum": "effect", "value": "much too long"}
    assert "At most 10 characters." in body(client.post(url("examples-act", "core"), long))


def test_a_batch_is_made_of_them(dataset: Dataset, adjudicator: User, as_user: AsUser):
    client = as_user(adjudicator)
    assert "“Spring” is made" in act(client, "batch", ["ex-0", "ex-2"], name="Spring")
    held = LabelBatch.objects.get(name="Spring").slots.values_list("revision__example__external_id", flat=True)
    assert set(held) == {"ex-0", "ex-2"}
    asked = {"act": "batch", "example": selected("ex-0"), "name": "Spring"}
    again = client.post(url("examples-act", "core"), asked)
    assert again.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert LabelBatch.objects.count() == 1


def undone(client: Client, page: str) -> str:
    """Press Undo on the page after an act; return what is said then."""
    found = re.search(r'action="([^"]+/examples/undo/[^"]+)"', page)
    assert found
    return body(client.post(found[1], follow=True))


def test_assigning_is_undone_where_nothing_has_changed_since(
    dataset: Dataset, reviewer: User, second_reviewer: User, adjudicator: User, as_user: AsUser
):
    client = as_user(adjudicator)

    def kept() -> list[tuple[Any, ...]]:
        rows = LabelSlot.objects.filter(assignee__isnull=False).order_by("revision__example__external_id")
        return list(rows.values_list("revision__example__external_id", "assignee", "due_on"))

    both, late = ["ex-0", "ex-1"], date(2027, 1, 31)
    act(client, "assign", ["ex-0"], person=str(reviewer.pk))
    page = act(client, "assign", both, person=str(reviewer.pk), due_on=str(late))
    assert kept() == [("ex-0", reviewer.pk, late), ("ex-1", reviewer.pk, late)]
    assert "2 of 2 places are as before." in undone(client, page)
    assert kept() == [("ex-0", reviewer.pk, None)]
    act(client, "assign", both, person=str(reviewer.pk), due_on=str(late))
    page = act(client, "assign", both, person="")
    # In another window: the undo of this one stays its own.
    act(as_user(adjudicator), "assign", ["ex-1"], person=str(second_reviewer.pk))
    said = undone(client, page)
    assert "1 of 2 places is as before. The others have changed since, and are left." in said
    assert kept() == [("ex-0", reviewer.pk, late), ("ex-1", second_reviewer.pk, None)]
    assert AuditEntry.objects.filter(verb="slots_restore", actor=adjudicator).count() == 2


def test_nobody_is_given_back_what_they_may_not_label_any_more(
    dataset: Dataset, reviewer: User, second_reviewer: User, adjudicator: User, as_user: AsUser
):
    client, wanted = as_user(adjudicator), ["ex-0", "ex-1", "ex-2"]
    for person, names_of in ((reviewer, wanted), (second_reviewer, wanted[:1])):
        act(client, "assign", names_of, person=str(person.pk))
    page = act(client, "assign", wanted, person="")
    reviewer.memberships.update(role=Role.VIEWER)
    assert "1 of 4 places is as before." in undone(client, page)
    assert list(LabelSlot.objects.values_list("assignee", flat=True).filter(assignee__isnull=False)) == [
        second_reviewer.pk
    ]


def test_setting_aside_is_undone_for_as_long_as_one_decision(
    label: Callable[..., Any],
    project: Any,
    reviewer: User,
    second_reviewer: User,
    adjudicator: User,
    as_user: AsUser,
):
    label("ex-0", reviewer)
    revision = label("ex-0", second_reviewer, returned("A-2")).revision
    differing_compared(revision)
    client, said = as_user(adjudicator), {"answer": "ambiguous", "rationale": "Two readings."}
    page = act(client, "set-aside", ["ex-0", "ex-1"], **said)
    assert "Undo works for 10 seconds." in page
    assert "1 of 1 example is as before." in undone(client, page)
    revision.refresh_from_db()
    assert revision.resolution == "disagreed"
    assert AuditEntry.objects.filter(verb="adjudication_withdraw", actor=adjudicator).count() == 1
    page = act(client, "set-aside", ["ex-0"], **said)
    Adjudication.objects.update(created_at=database_now() - timedelta(seconds=11))
    assert "ex-0: The time to take this decision back has passed." in undone(client, page)
    project.undo_seconds = 0
    project.save()
    assert "/examples/undo/" not in act(client, "reopen", ["ex-0"], reason="Again")


def test_a_stratum_is_taken_back_where_it_is_still_what_was_set(
    dataset: Dataset, reviewer: User, adjudicator: User, as_user: AsUser
):
    client, both = as_user(adjudicator), ["ex-0", "ex-1"]
    Example.objects.filter(external_id="ex-0").update(difficulty="easy")
    page = act(client, "tag", both, stratum="difficulty", value="hard")
    Example.objects.filter(external_id="ex-1").update(difficulty="odd")
    assert "1 of 2 examples is as before. The others have changed since" in undone(client, page)
    assert [example(name).difficulty for name in both] == ["easy", "odd"]
    details = AuditEntry.objects.filter(verb="example_tag", actor=adjudicator).order_by("pk").values_list("detail")
    assert details.last() == ({"stratum": "difficulty", "value": "easy", "before": "hard"},)
    # Once only, by who did it, and only the last act.
    assert "Nothing is undone" in undone(client, page)
    assert as_user(reviewer).post(re.findall(r'"([^"]+/examples/undo/[^"]+)"', page)[0]).status_code == 403
    first = act(client, "tag", both, stratum="difficulty", value="one")
    act(client, "tag", both, stratum="difficulty", value="two")
    assert "Nothing is undone" in undone(client, first)
    assert "/examples/undo/" not in act(client, "tag", both, stratum="difficulty", value="two")


def test_a_batch_is_taken_back_until_something_happens_in_it(
    label: Callable[..., Any], dataset: Dataset, reviewer: User, adjudicator: User, owner: User, as_user: AsUser
):
    client = as_user(adjudicator)
    page = act(client, "batch", ["ex-0", "ex-2"], name="Spring")
    assert "there is no batch “Spring” any more" in undone(client, page)
    assert not LabelBatch.objects.exists()
    assert LabelSlot.objects.filter(batch=None).count() == 6
    page = act(client, "batch", ["ex-0", "ex-2"], name="Spring")
    label("ex-0", reviewer)
    assert "The batch “Spring” stays" in undone(client, page)
    page = act(client, "batch", ["ex-1"], name="Summer")
    batch_close(batch=LabelBatch.objects.get(name="Summer"), actor=adjudicator)
    assert "The batch “Summer” stays" in undone(client, page)
    assert "discarded batch" in body(as_user(owner).get(reverse("workspace:audit", args=["shop"])))


def test_acts_are_for_adjudicators_and_need_a_selection(
    dataset: Dataset, reviewer: User, adjudicator: User, as_user: AsUser
):
    asked = {"act": "reopen", "example": selected("ex-0"), "reason": "So"}
    assert as_user(reviewer).post(url("examples-act", "core"), asked).status_code == HTTPStatus.FORBIDDEN
    assert "data-selection" not in body(as_user(reviewer).get(url("dataset", "core")))
    client = as_user(adjudicator)
    for wrong in ({"act": "reopen"}, {**asked, "act": "burn"}, {**asked, "example": ["none", str(dataset.pk)]}):
        assert client.post(url("examples-act", "core"), wrong)["Location"] == url("dataset", "core")
        assert "Select 1 to 100 examples" in body(client.get(url("dataset", "core")))


def test_views_are_a_persons_own(dataset: Dataset, reviewer: User, second_reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    entered = {"name": "To do", "query": "status=open&sort=id&next=//evil"}
    saved = client.post(url("saved-views", "core"), entered)
    assert saved["Location"] == url("dataset", "core") + "?status=open&sort=id"
    client.post(url("saved-views", "core"), {**entered, "query": "labels=0"})
    view = SavedView.objects.get()
    assert view.query == "labels=0"
    assert 'href="?labels=0">To do</a>' in body(client.get(url("dataset", "core")))
    other = as_user(second_reviewer)
    assert "To do" not in body(other.get(url("dataset", "core")))
    delete = url("saved-view-delete", "core", view.pk)
    assert other.post(delete).status_code == HTTPStatus.NOT_FOUND
    client.post(url("saved-views", "core"), {"name": "", "query": "labels=0"})
    client.post(url("saved-views", "core"), {"name": "All", "query": ""})
    assert "The view was not saved" in body(client.get(url("dataset", "core")))
    assert client.post(delete)["Location"] == url("dataset", "core")
    assert not SavedView.objects.exists()


def test_so_many_views_are_kept(dataset: Dataset, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    for number in range(21):
        client.post(url("saved-views", "core"), {"name": f"View {number}", "query": "labels=0"})
    assert SavedView.objects.count() == 20
    assert "Delete one first." in body(client.get(url("dataset", "core")))


def test_an_empty_list_says_what_to_do(dataset: Dataset, reviewer: User, adjudicator: User, as_user: AsUser):
    Example.objects.update(current=None)
    Example.objects.all().delete()
    assert url("import", "core") in body(as_user(adjudicator).get(url("dataset", "core")))
    assert "An adjudicator imports them." in body(as_user(reviewer).get(url("dataset", "core")))


def test_ones_own_labels(
    label: Callable[..., Any], project: Any, reviewer: User, second_reviewer: User, as_user: AsUser
):
    client = as_user(reviewer)
    assert "You have labelled nothing here yet." in body(client.get(url("my-labels")))
    first, second = label("ex-0", reviewer), label("ex-1", reviewer, flagged=True)
    label("ex-0", second_reviewer, returned("A-2"))

    def shown(query: str = "") -> list[Any]:
        response: Any = client.get(url("my-labels") + query)
        return [(row.label.pk, row.state, row.may_change) for row in response.context["rows"]]

    assert shown() == [(second.pk, "", True), (first.pk, "", True)]
    assert shown("?sort=example") == [(first.pk, "", True), (second.pk, "", True)]
    assert url("label-slot", first.slot_id) in body(client.get(url("my-labels")))
    differing_compared(first.revision)
    project.undo_seconds = 0
    project.save()
    # That the other differs is not told.
    assert shown() == [(second.pk, "", False), (first.pk, "", False)]


def test_many_own_labels_take_no_more_queries(
    label: Callable[..., Any], dataset: Dataset, reviewer: User, as_user: AsUser
):
    examples_import(dataset=dataset, actor=None, rows=[read_example(row(number)) for number in range(20, 40)])
    client = as_user(reviewer)

    def queries(wanted: Iterable[str]) -> int:
        for name in wanted:
            label(name, reviewer)
        client.get(url("my-labels"))
        with CaptureQueriesContext(connection) as caught:
            client.get(url("my-labels"))
        return len(caught)

    few = queries(["ex-20", "ex-21"])
    assert queries(f"ex-{number}" for number in range(22, 40)) <= few
