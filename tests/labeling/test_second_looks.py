"""Second looks: what an agent proposes is shown after the label stands, and changes nothing but a remark."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from labeling.agreement.comparing import DECIDED
from labeling.errors import InvalidAct
from labeling.models import (
    Dataset,
    GoldSource,
    Label,
    LabelSlot,
    LookPlan,
    LookProposal,
    Resolution,
    Revision,
    SecondLook,
)
from labeling.second_looks.bias import bias_lines, bias_of
from labeling.second_looks.due import look_due, looks_due
from labeling.second_looks.planting import is_drawn, planted, values_given
from labeling.second_looks.proposed import accepts, calls_of, proposal_document
from labeling.second_looks.remarks import second_look_remarks
from labeling.services import (
    adjudication_decide,
    gold_restore,
    label_submit,
    revision_reopen,
    second_look_answer,
    second_look_open,
    second_looks_begin,
    second_looks_end,
    settle_due,
    slot_claim,
    version_freeze,
)
from labeling.views.history import history_of
from tests.labeling.rows import NO_CALL, call
from tests.labeling.windows import later
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import ToolCall
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import AuditEntry, Project, Role, User

CANCEL = ToolCall("cancel_order", {"order_id": "A-1"})
Propose = Callable[..., LookPlan]
Passed = Callable[[float], None]


def claimed(project: Project, actor: User) -> LabelSlot:
    """Return the next example that a person is handed."""
    slot = slot_claim(dataset_or_project=project, actor=actor)
    assert slot is not None
    return slot


@pytest.fixture
def propose(dataset: Dataset, examples: list[Revision]) -> Propose:
    """Return a function that lets an agent propose the same calls for every example."""

    def begin(*calls: ToolCall, **more: Any) -> LookPlan:
        document = proposal_document(calls or [CANCEL])
        proposals = {revision.pk: document for revision in examples}
        return second_looks_begin(dataset=dataset, actor=None, run=7, agent="Rival", proposals=proposals, **more)

    return begin


def look_at(project: Project, user: User, answer: str, remark: str = "") -> SecondLook:
    """Let a person answer the first second look that waits for them."""
    look = second_look_open(due=looks_due(project, user)[0], actor=user)
    return second_look_answer(look=look, actor=user, answer=answer, remark=remark)


def test_it_waits_only_once_the_label_stands_and_only_where_the_agent_did_otherwise(
    project, propose, submit, ann, pass_time: Passed
):
    propose()
    submit(ann, NO_CALL)
    submit(ann, call("cancel_order"))
    assert looks_due(project, ann) == []
    pass_time(project.undo_seconds + 1)
    due = looks_due(project, ann)
    assert [each.label.expectation for each in due] == [NO_CALL]


def test_a_label_taken_back_or_changed_lately_has_none(project, propose, claim, ann, pass_time: Passed):
    propose()
    slot = claim(ann)
    label_submit(slot=slot, actor=ann, expectation=NO_CALL)
    pass_time(project.undo_seconds - 1)
    label_submit(slot=slot, actor=ann, expectation=call())
    pass_time(2)
    assert looks_due(project, ann) == []
    pass_time(project.undo_seconds)
    assert [each.label.expectation for each in looks_due(project, ann)] == [call()]


def test_what_others_have_said_changes_nothing_until_it_is_decided(
    project, propose, submit, ann, ben, pass_time: Passed
):
    propose()
    first = submit(ann, NO_CALL)
    pass_time(project.undo_seconds + 1)
    before = looks_due(project, ann)
    slot = claimed(project, ben)
    label_submit(slot=slot, actor=ben, expectation=call())
    assert looks_due(project, ann) == before
    settle_due(later())
    assert Revision.objects.get(pk=first.revision_id).resolution == Resolution.DISAGREED
    assert looks_due(project, ann) == before


def test_what_is_decided_has_none(project, propose, submit, ann, ben, pass_time: Passed):
    propose()
    submit(ann, NO_CALL)
    submit(ben, NO_CALL)
    pass_time(project.undo_seconds + 1)
    settle_due(later())
    assert looks_due(project, ann) == looks_due(project, ben) == []


def test_the_first_label_alone_counts_and_one_looks_once(project, propose, submit, ann, pass_time: Passed):
    propose()
    label = submit(ann, NO_CALL)
    pass_time(project.undo_seconds + 1)
    look = look_at(project, ann, "went_over", " It asks to cancel. ")
    assert (look.answer, look.remark, look.label) == ("went_over", "It asks to cancel.", label)
    assert second_look_answer(look=look, actor=ann, answer="kept").answer == "went_over"
    assert looks_due(project, ann) == []
    assert list(Label.objects.filter(revision=label.revision)) == [label]
    assert label.expectation == NO_CALL
    assert AuditEntry.objects.filter(verb="second_look_answer").count() == 1


def test_nobody_answers_for_another(project, propose, submit, ann, ben, pass_time: Passed):
    propose()
    submit(ann, NO_CALL)
    pass_time(project.undo_seconds + 1)
    look = second_look_open(due=looks_due(project, ann)[0], actor=ann)
    with pytest.raises(InvalidAct):
        second_look_answer(look=look, actor=ben, answer="kept")


def test_who_has_seen_a_proposal_is_not_given_the_example_in_another_round(
    project, dataset, propose, submit, claim, examples, members, pass_time: Passed
):
    ann, ben = members(2)
    chief = members(1, Role.ADJUDICATOR)[0]
    propose()
    submit(ann, NO_CALL)
    pass_time(project.undo_seconds + 1)
    second_look_open(due=looks_due(project, ann)[0], actor=ann)
    label_submit(slot=claim(ben), actor=ben, expectation=NO_CALL)
    settle_due(later())
    revision_reopen(revision=Revision.objects.get(pk=examples[0].pk), actor=chief, reason="Again.")
    assert claim(ben).revision == examples[0]
    assert claim(ann).revision == examples[1]


def test_the_adjudicator_reads_it_as_a_remark_and_the_gold_says_so(
    project, propose, submit, examples, members, pass_time: Passed
):
    ann, ben = members(2)
    chief = members(1, Role.ADJUDICATOR)[0]
    propose()
    submit(ann, NO_CALL)
    label_submit(slot=claimed(project, ben), actor=ben, expectation=call())
    pass_time(project.undo_seconds + 1)
    settle_due()
    look_at(project, ann, "went_over", "It asks to cancel.")
    look_at(project, ben, "kept")
    revision = Revision.objects.get(pk=examples[0].pk)
    assert revision.resolution == Resolution.DISAGREED
    remarks = second_look_remarks(revision, chief, Role.ADJUDICATOR)
    assert [(each.remark, calls_of(each.expectation)) for each in remarks] == [("It asks to cancel.", (CANCEL,))]
    assert second_look_remarks(revision, ann, Role.REVIEWER) == []
    client = Client()
    client.force_login(chief)
    page = client.get(f"/p/{project.slug}/adjudicate/{revision.pk}/").content.decode()
    assert "After seeing an agent, 1 reviewer would say otherwise" in page
    assert "It asks to cancel." in page
    assert "Rival" not in page
    assert ann.name not in page.split('<main id="main"')[1]
    gold = adjudication_decide(revision=revision, actor=chief, expectation=call(), rationale="It asks.")
    assert (gold.source, gold.agents_seen) == (GoldSource.SECOND_LOOK, ["Rival"])
    assert gold.source in DECIDED
    told = [event.what for event in history_of(Revision.objects.get(pk=revision.pk), chief, Role.ADJUDICATOR)]
    assert "went over to the proposal, after seeing an agent" in told
    assert "decided, after a reviewer had seen an agent's proposal" in told


def test_gold_on_which_nobody_went_over_is_as_ever_and_restored_gold_keeps_its_mark(
    project, propose, submit, examples, members, pass_time: Passed
):
    ann, ben = members(2)
    chief = members(1, Role.ADJUDICATOR)[0]
    propose()
    for expectation, person in ((NO_CALL, ann), (call(), ben)):
        for _ in range(2):
            slot = claimed(project, person)
            label_submit(slot=slot, actor=person, expectation=expectation)
    pass_time(project.undo_seconds + 1)
    settle_due()
    look_at(project, ann, "kept")
    look_at(project, ann, "went_over")
    first, second = (Revision.objects.get(pk=examples[place].pk) for place in (0, 1))
    kept = adjudication_decide(revision=first, actor=chief, expectation=call(), rationale="So.")
    over = adjudication_decide(revision=second, actor=chief, expectation=call(), rationale="So.")
    assert (kept.source, kept.after_agents) == (GoldSource.ADJUDICATED, "")
    assert over.source == GoldSource.SECOND_LOOK
    revision_reopen(revision=Revision.objects.get(pk=second.pk), actor=chief, reason="Again.")
    restored = gold_restore(gold=over, actor=chief, reason="It was right.")
    assert (restored.source, restored.agents_seen) == (GoldSource.SECOND_LOOK, ["Rival"])
    whole = version_freeze(dataset=first.example.dataset, actor=None)
    without = version_freeze(dataset=first.example.dataset, actor=None, without_second_looks=True)
    assert (whole.size, without.size) == (2, 1)
    assert without.entries.get().gold == kept


def test_a_proposal_that_was_wrong_on_purpose_is_no_remark_and_marks_no_gold(
    project, propose, submit, examples, members, pass_time: Passed
):
    ann, ben = members(2)
    chief = members(1, Role.ADJUDICATOR)[0]
    propose(planted_share=0.5)
    LookProposal.objects.update(is_planted=True)
    submit(ann, NO_CALL)
    label_submit(slot=claimed(project, ben), actor=ben, expectation=call())
    pass_time(project.undo_seconds + 1)
    settle_due()
    look_at(project, ann, "went_over")
    revision = Revision.objects.get(pk=examples[0].pk)
    assert second_look_remarks(revision, chief, Role.ADJUDICATOR) == []
    gold = adjudication_decide(revision=revision, actor=chief, expectation=call(), rationale="So.")
    assert (gold.source, gold.after_agents) == (GoldSource.ADJUDICATED, "")
    rows = bias_of(revision.example.dataset)
    assert [(each.kind, each.shown, each.went_over) for each in rows[0].kinds] == [
        ("right", 0, 0),
        ("wrong", 0, 0),
        ("planted", 1, 1),
    ]


def test_bias_counts_decided_examples_alone_with_intervals(
    project, dataset, propose, submit, examples, members, pass_time: Passed
):
    ann, ben = members(2)
    chief = members(1, Role.ADJUDICATOR)[0]
    propose()
    for expectation, person in ((NO_CALL, ann), (call(), ben)):
        for _ in range(3):
            slot = claimed(project, person)
            label_submit(slot=slot, actor=person, expectation=expectation)
    pass_time(project.undo_seconds + 1)
    settle_due()
    for answer in ("went_over", "kept", "went_over"):
        look_at(project, ann, answer)
    assert bias_of(dataset) == []
    for place, right in enumerate((call("cancel_order"), call())):
        revision = Revision.objects.get(pk=examples[place].pk)
        adjudication_decide(revision=revision, actor=chief, expectation=right, rationale="So.")
    (row,) = bias_of(dataset)
    assert [(each.kind, each.shown, each.went_over) for each in row.kinds] == [
        ("right", 1, 1),
        ("wrong", 1, 0),
        ("planted", 0, 0),
    ]
    lines = list(bias_lines([row]))
    assert lines[0][:6] == (str(ann.pk), ann.name, "right", 1, 1, 1.0)
    assert lines[2][5:] == (None, None, None)


def test_wrong_ones_are_drawn_by_the_seed_and_are_other_than_the_agents(propose, examples):
    plan = propose(planted_share=0.5, seed=3)
    drawn = {row.revision.example.external_id for row in plan.proposals.filter(is_planted=True)}
    assert drawn == {name for name in ("ex-0", "ex-1", "ex-2") if is_drawn(3, name, 0.5)}
    again = propose(planted_share=0.5, seed=3)
    assert [row.expectation for row in plan.proposals.order_by("revision")] == [
        row.expectation for row in again.proposals.order_by("revision")
    ]
    plan.refresh_from_db()
    assert plan.ended_at is not None
    tools = tools_in(examples[0].tools)
    wrong = planted(proposal_document([CANCEL]), tools, {}, seed=0, external_id="x")
    assert calls_of(wrong or {}) == (ToolCall("get_order", {"order_id": "A-1"}),)


def test_a_wrong_one_takes_another_value_or_no_call_where_no_other_tool_fits(examples):
    tools = [tool for tool in tools_in(examples[0].tools) if tool.name == "cancel_order"]
    own = proposal_document([CANCEL])
    values = values_given([own, proposal_document([ToolCall("cancel_order", {"order_id": "B-2"})])])
    changed = planted(own, tools, values, seed=0, external_id="x")
    assert calls_of(changed or {}) == (ToolCall("cancel_order", {"order_id": "B-2"}),)
    assert planted(own, tools, {}, seed=0, external_id="x") == {"kind": "no_call"}
    assert planted(proposal_document([]), tools, values, seed=0, external_id="x") is None


@pytest.mark.parametrize(
    ("expectation", "calls", "is_accepted"),
    [
        (NO_CALL, [], True),
        (NO_CALL, [CANCEL], False),
        (call("cancel_order"), [CANCEL], True),
        (call("cancel_order", "A-2"), [CANCEL], False),
        # Further calls are allowed unless the label says otherwise.
        (call("cancel_order"), [CANCEL, ToolCall("cancel_order", {"order_id": "A-9"})], True),
        (proposal_document([CANCEL]), [CANCEL, ToolCall("cancel_order", {"order_id": "A-9"})], False),
        (None, [], False),
    ],
)
def test_a_label_accepts_a_proposal_as_the_grader_does(examples, expectation, calls, is_accepted):
    assert accepts(expectation, proposal_document(calls), tools_in(examples[0].tools)) is is_accepted


def test_a_plan_needs_examples_that_are_open_and_ends(dataset, propose, project, submit, ann, pass_time: Passed):
    with pytest.raises(InvalidDocument, match="still to label"):
        second_looks_begin(dataset=dataset, actor=None, run=1, agent="Rival", proposals={})
    with pytest.raises(InvalidDocument, match=r"0\.5"):
        propose(planted_share=0.6)
    propose()
    submit(ann, NO_CALL)
    pass_time(project.undo_seconds + 1)
    due = looks_due(project, ann)[0]
    look = second_look_open(due=due, actor=ann)
    second_looks_end(dataset=dataset, actor=None)
    assert looks_due(project, ann) == []
    assert look_due(project, ann, due.proposal) is None
    with pytest.raises(InvalidAct, match="were ended"):
        second_look_answer(look=look, actor=ann, answer="kept")


def test_the_pages_ask_and_list_and_tell_what_was_wrong_on_purpose_afterwards(
    project, dataset, propose, submit, ann, ben, pass_time: Passed
):
    propose(planted_share=0.5)
    LookProposal.objects.update(is_planted=True)
    submit(ann, NO_CALL)
    pass_time(project.undo_seconds + 1)
    client = Client()
    client.force_login(ann)
    base = f"/p/{project.slug}"
    url = client.get(f"{base}/second-looks/")["Location"]
    page = client.get(url).content.decode()
    assert "An agent did otherwise: keep yours?" in page
    assert "cancel_order" in page
    assert "Rival" not in page
    assert "Some proposals are wrong on purpose." in page
    assert "1 second look" in client.get(f"{base}/label/", follow=True).content.decode()
    assert client.post(f"{url}answer/", {"answer": "maybe"}).status_code == 422
    assert client.post(f"{url}answer/", {"answer": "went_over"}).status_code == 302
    listed = client.get(f"{base}/second-looks/").content.decode()
    assert "went over to the proposal" in listed
    assert "wrong on purpose" not in listed
    second_looks_end(dataset=dataset, actor=None)
    assert "wrong on purpose" in client.get(f"{base}/second-looks/").content.decode()
    other = Client()
    other.force_login(ben)
    assert other.get(url).status_code == 404
    assert other.post(f"{url}answer/", {"answer": "kept"}).status_code == 404


def test_owners_alone_read_the_figures(project, dataset, propose, ann, members):
    owner = members(1, Role.OWNER)[0]
    client = Client()
    client.force_login(owner)
    url = f"/p/{project.slug}/datasets/{dataset.slug}/second-looks"
    propose()
    assert "Run 7 (Rival) proposes for 3 examples" in client.get(f"{url}/").content.decode()
    table = b"".join(client.get(f"{url}.csv").streaming_content).decode()  # type: ignore[attr-defined]
    assert next(csv.reader(io.StringIO(table)))[:2] == ["reviewer_id", "reviewer"]
    assert client.post(f"{url}/", {"run": "99", "planted_percent": "10", "seed": "0"}).status_code == 422
    assert client.post(f"{url}/", {"end": "1"}).status_code == 302
    assert not LookPlan.objects.filter(ended_at=None).exists()
    client.force_login(ann)
    assert client.get(f"{url}/").status_code == 403
    assert client.get(f"{url}.csv").status_code == 403
