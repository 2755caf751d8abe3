"""Proposals that are wrong on purpose: how they are drawn and made, and that they mark no gold."""

from __future__ import annotations

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import adjudication_decide
from labeling.label.services import label_submit
from labeling.models import GoldSource, LookProposal, Revision
from labeling.second_looks.bias import bias_of, second_look_remarks
from labeling.second_looks.pending_second_looks import calls_of, proposal_document
from labeling.second_looks.services import is_drawn, planted, values_given
from tests.labeling.rows import NO_CALL, call
from tests.labeling.second_looking import CANCEL, Passed, claimed, look_at, propose
from toolevals.grading.values import ToolCall
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import Role

__all__ = ["propose"]


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
