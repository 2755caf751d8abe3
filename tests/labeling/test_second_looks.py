"""Second looks: what an agent proposes is shown after the label stands, and changes nothing but a remark."""

from __future__ import annotations

import pytest
from django.test import Client

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import adjudication_decide, gold_restore, revision_reopen
from labeling.agreement.cases import DECIDED
from labeling.errors import InvalidAct
from labeling.examples.views import history_of
from labeling.label.services import label_submit
from labeling.models import GoldSource, Label, Resolution, Revision
from labeling.second_looks.bias import bias_lines, bias_of, second_look_remarks
from labeling.second_looks.pending_second_looks import accepts, calls_of, look_due, looks_due, proposal_document
from labeling.second_looks.services import second_look_answer, second_look_open, second_looks_begin, second_looks_end
from labeling.versions.services import version_freeze
from tests.labeling.rows import NO_CALL, call
from tests.labeling.second_looking import CANCEL, Passed, claimed, look_at, propose
from tests.labeling.windows import later
from toolevals.grading.values import ToolCall
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import AuditEntry, Role

__all__ = ["propose"]


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
    assert "After seeing an agent, 1 reviewer would change their label" in page
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
