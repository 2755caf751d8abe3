"""Agents that propose, and people who look a second time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labeling.label.claims import slot_claim
from labeling.models import Dataset, LabelSlot, LookPlan, Revision, SecondLook
from labeling.second_looks.pending_second_looks import looks_due, proposal_document
from labeling.second_looks.services import second_look_answer, second_look_open, second_looks_begin
from toolevals.grading.values import ToolCall
from toolevals.workspace.models import Project, User

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
