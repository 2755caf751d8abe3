"""Agreement through the REST interface: the figures of the page, the cases behind them, and who is told about whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import adjudication_decide
from labeling.agreement import cases
from labeling.models import Dataset, Label, Revision
from tests.labeling.rows import NO_CALL, call
from tests.labeling.test_api import Program
from tests.labeling.windows import later
from toolevals.workspace.models import Project, User

pytestmark = pytest.mark.django_db
PATH = "datasets/support/agreement/"


@pytest.fixture
def labelled(
    dataset: Dataset, project: Project, examples: list[Revision], ann: User, ben: User, adjudicator: User,
    submit: Callable[..., Label],
) -> list[Revision]:  # fmt: skip
    """Agreed; differing in the argument; differing in the tool; what differs is decided as Ann said."""
    for other in (call(), call(order="A-2"), NO_CALL):
        submit(ann, call())
        submit(ben, other)
    settle_due(later())
    for revision in examples[1:3]:
        adjudication_decide(revision=revision, actor=adjudicator, expectation=call(), rationale="So.")
    return examples


def names(answer: Any) -> list[str]:
    return [each["external_id"] for each in answer["results"]]


def test_figures_and_the_cases_behind_them(labelled: list[Revision], viewer: User) -> None:
    program = Program(viewer)
    answer = program.get(PATH)
    assert (answer["counted_at"], answer["job"]) == (None, None)
    figures = answer["figures"]
    assert (figures["labels"], figures["units"], figures["alone"], figures["reviewers"]) == (6, 3, 0, [])
    assert figures["tool"]["percent"]["value"] == pytest.approx(2 / 3)
    assert figures["whole_label"]["percent"]["value"] == pytest.approx(1 / 3)
    assert figures["arguments"]["kappa"] is None
    (argument,) = figures["each_argument"]
    assert (argument["tool"], argument["argument"], argument["differ"]) == ("get_order", "order_id", 1)
    for cell in figures["matrix"]:
        assert len(names(program.get(f"{PATH}cases/?one={cell['one']}&two={cell['other']}"))) == cell["units"]
    (case,) = program.get(f"{PATH}cases/?show=tool_differs")["results"]
    assert (case["external_id"], case["round"]) == (labelled[2].example.external_id, 1)
    assert (case["same_tool"], case["same_label"]) == (False, False)
    assert {label["tool"] for label in case["labels"]} == {"get_order", "(none)"}
    named = "show=argument_differs&tool=get_order&argument=order_id"
    assert names(program.get(f"{PATH}cases/?{named}")) == [labelled[1].example.external_id]


def test_others_are_the_owners_to_ask_about(labelled: list[Revision], owner: User, ann: User, ben: User) -> None:
    chief = Program(owner)
    rows = {row["reviewer"]: row for row in chief.get(PATH)["figures"]["reviewers"]}
    assert rows[str(ann.pk)]["right_label"]["value"] == 1
    assert rows[str(ben.pk)]["right_tool"]["value"] == 0.5
    (own,) = Program(ann).get(PATH)["figures"]["reviewers"]
    assert own["reviewer"] == str(ann.pk)
    wrong = f"{PATH}cases/?gold=label_wrong&of={ben.pk}"
    assert len(names(chief.get(wrong))) == len(names(Program(ben).get(wrong))) == 2
    # Not Ann's to ask: as if it were not said.
    assert len(names(Program(ann).get(wrong))) == 3
    pair = f"reviewer={ben.pk}&other={ann.pk}"
    matrix = chief.get(f"{PATH}?{pair}")["figures"]["matrix"]
    assert {"one": "(none)", "other": "get_order", "units": 1} in matrix
    assert {"one": "get_order", "other": "(none)", "units": 1} not in matrix


def test_cases_come_in_pages(labelled: list[Revision], viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "PAGE_SIZE", 2)
    program = Program(viewer)
    first = program.get(f"{PATH}cases/")
    assert len(names(first)) == 2
    assert "/agreement/cases/?before=" in first["next"]
    second = program.get(f"{PATH}cases/?{first['next'].partition('?')[2]}")
    assert (len(names(second)), second["next"]) == (1, None)
    assert not set(names(first)) & set(names(second))
