"""Calibration rounds: what they hold, who answers, and that nothing is told before somebody has answered it all."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.adjudicate.services import revision_reopen
from labeling.calibration_rounds.results import Results, progress_in, results_of
from labeling.calibration_rounds.services import calibration_answer, calibration_close, calibration_open, proposed_names
from labeling.errors import CalibrationFirst, InvalidAct
from labeling.guidelines.solved_examples import solved_examples
from labeling.imports.services import examples_import
from labeling.label.claims import draft_save, slot_claim
from labeling.label.open_tasks import to_calibrate
from labeling.models import (
    CalibrationAnswer,
    CalibrationItem,
    CalibrationRound,
    Dataset,
    Draft,
    Example,
    Gold,
    Label,
    LabelSlot,
    Revision,
)
from tests.labeling.rows import NO_CALL, call, row
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import AuditEntry, Role, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def solved(dataset: Dataset) -> Dataset:
    """Return the dataset with four solved examples, two tools and no call among them, and one to label."""
    golds = {"a": call(), "b": call("cancel_order"), "c": NO_CALL, "d": call(order="A-4")}
    examples_import(dataset=dataset, actor=None, rows=[row(name, expectation=gold) for name, gold in golds.items()])
    examples_import(dataset=dataset, actor=None, rows=[row("open")])
    return dataset


@pytest.fixture
def three(solved: Dataset) -> CalibrationRound:
    """Return a round of three examples."""
    return calibration_open(dataset=solved, actor=None, name="First week", names=["c", "a", "b"])


def items(calibration: CalibrationRound) -> list[CalibrationItem]:
    return list(calibration.items.with_content())


def answer(calibration: CalibrationRound, person: User, *said: Any) -> None:
    """Let a person answer the first examples of a round."""
    for item, expectation in zip(items(calibration), said, strict=False):
        calibration_answer(item=item, actor=person, expectation=expectation, seconds=10)


def test_a_round_holds_what_is_named_in_this_order(three: CalibrationRound) -> None:
    assert [item.revision.example.external_id for item in items(three)] == ["c", "a", "b"]
    entry = AuditEntry.objects.get(verb="calibration_open")
    assert entry.detail == {"name": "First week", "examples": 3, "comes_first": False}


@pytest.mark.parametrize("name", ["open", "nothing"])
def test_only_solved_examples_are_taken(solved: Dataset, name: str) -> None:
    with pytest.raises(InvalidAct, match=f"No solved example here is called {name}"):
        calibration_open(dataset=solved, actor=None, name="Round", names=["a", name])
    assert not CalibrationRound.objects.exists()


def test_a_round_has_a_name_and_a_size(solved: Dataset) -> None:
    with pytest.raises(InvalidDocument):
        calibration_open(dataset=solved, actor=None, name="  ")
    with pytest.raises(InvalidDocument):
        calibration_open(dataset=solved, actor=None, name="None", size=0)


def test_a_dataset_without_gold_has_no_round(dataset: Dataset) -> None:
    with pytest.raises(InvalidAct, match="no solved example"):
        calibration_open(dataset=dataset, actor=None, name="Round")


def test_a_proposal_is_spread_over_the_tools_and_takes_what_was_not_asked(solved: Dataset) -> None:
    chosen = proposed_names(solved, 3, seed="s")
    assert {"b", "c"} < set(chosen)
    assert proposed_names(solved, 3, seed="s") == chosen
    assert sorted(proposed_names(solved, 9, seed="s")) == ["a", "b", "c", "d"]
    calibration_open(dataset=solved, actor=None, name="Round", names=chosen)
    assert proposed_names(solved, 1, seed="s") == list({"a", "b", "c", "d"} - set(chosen))


def test_a_proposal_is_spread_over_the_strata(dataset: Dataset) -> None:
    rows = [row(f"e{n}", expectation=NO_CALL, strata={"difficulty": "easy"}) for n in range(8)]
    rows += [row("hard", expectation=NO_CALL, strata={"difficulty": "hard"})]
    examples_import(dataset=dataset, actor=None, rows=rows)
    assert "hard" in proposed_names(dataset, 2, seed="any")


def test_an_answer_is_no_label_no_gold_and_takes_no_place(three: CalibrationRound, ann: User) -> None:
    before = (Label.objects.count(), Gold.objects.count(), sorted(LabelSlot.objects.values_list("pk", "state")))
    draft_save(revision=items(three)[0].revision, actor=ann, document={"fields": []})
    answer(three, ann, NO_CALL)
    after = (Label.objects.count(), Gold.objects.count(), sorted(LabelSlot.objects.values_list("pk", "state")))
    assert before == after
    assert not Draft.objects.exists()
    assert AuditEntry.objects.get(verb="calibration_answer").detail["round"] == str(three.pk)


def test_each_example_is_answered_once(three: CalibrationRound, ann: User) -> None:
    first = items(three)[0]
    given = calibration_answer(item=first, actor=ann, expectation=NO_CALL, rationale=" Hello. ")
    assert calibration_answer(item=first, actor=ann, expectation=NO_CALL, rationale="Hello.") == given
    with pytest.raises(InvalidAct, match="the first answer counts"):
        calibration_answer(item=first, actor=ann, expectation=call())
    assert CalibrationAnswer.objects.get().rationale == "Hello."


def test_answers_are_checked_as_labels_are(three: CalibrationRound, ann: User) -> None:
    first = items(three)[0]
    with pytest.raises(InvalidDocument):
        calibration_answer(item=first, actor=ann, expectation=call("no_such_tool"))
    with pytest.raises(InvalidDocument):
        calibration_answer(item=first, actor=ann, answer="ambiguous", expectation=NO_CALL)
    assert calibration_answer(item=first, actor=ann, answer="ambiguous").expectation is None


def test_a_closed_round_takes_no_answer(three: CalibrationRound, ann: User) -> None:
    calibration_close(calibration=three, actor=None)
    calibration_close(calibration=three, actor=None)
    assert AuditEntry.objects.filter(verb="calibration_close").count() == 1
    with pytest.raises(InvalidAct, match="closed"):
        answer(three, ann, NO_CALL)


def test_nothing_is_told_before_one_has_answered_it_all(three: CalibrationRound, ann: User, owner: User) -> None:
    answer(three, ann, NO_CALL, call(), call())
    answer(three, owner, NO_CALL, call())
    for person, role in ((owner, Role.OWNER), (owner, Role.REVIEWER)):
        assert {one.reviewer for one in CalibrationAnswer.objects.comparable_by(person)} == {owner}
        with pytest.raises(InvalidAct, match="First answer all"):
            results_of(three, person, role)
    answer(three, owner, NO_CALL, call(), NO_CALL)
    assert CalibrationAnswer.objects.comparable_by(owner).count() == 6


def test_once_it_is_closed_everybody_may_look(three: CalibrationRound, ann: User, ben: User) -> None:
    answer(three, ann, NO_CALL)
    calibration_close(calibration=three, actor=None)
    results = results_of(three, ben, Role.REVIEWER)
    assert (results.raters, results.people) == (1, ())


def test_an_example_that_is_reopened_rests(
    three: CalibrationRound, ann: User, ben: User, adjudicator: User, owner: User
) -> None:
    answer(three, ann, NO_CALL, call(), call())
    revision_reopen(revision=items(three)[1].revision, actor=adjudicator, reason="A doubt")
    with pytest.raises(InvalidAct, match="reopened"):
        calibration_answer(item=items(three)[1], actor=ben, expectation=call())
    assert [one.position for one in CalibrationItem.objects.left_for(ben)] == [1, 3]
    calibration_close(calibration=three, actor=None)
    assert [one.item.position for one in results_of(three, owner, Role.OWNER).items] == [1, 3]
    assert not CalibrationAnswer.objects.comparable_by(ben).filter(item__position=2).exists()


@pytest.fixture
def results(three: CalibrationRound, ann: User, ben: User, owner: User) -> dict[Role, Results]:
    """Return the results, as an owner and as Ann see them, of three people.

    All say no call to the first; to the second Ann says another order; of the third Ben says no call, the owner, whom
    the round's end overtakes, nothing.
    """
    answer(three, ann, NO_CALL, call(order="B-2"), call("cancel_order"))
    answer(three, ben, NO_CALL, call(), NO_CALL)
    answer(three, owner, NO_CALL, call())
    calibration_close(calibration=three, actor=None)
    return {Role.OWNER: results_of(three, owner, Role.OWNER), Role.REVIEWER: results_of(three, ann, Role.REVIEWER)}


def test_agreement_by_hand(results: dict[Role, Results]) -> None:
    whole, tool = results[Role.OWNER].agreements
    assert [(one.alike, one.counted) for one in (whole, tool)] == [(1, 3), (2, 3)]
    # Tools: (none) thrice, get_order thrice, cancel_order and (none): o_nn = 3, o_gg = 3, o_cn = o_nc = 1;
    # n_n = 4, n_g = 3, n_c = 1, n = 8. D_o = 2/8; D_e = (64 - 16 - 9 - 1)/(8·7) = 38/56.
    assert tool.alpha.value == pytest.approx(1 - (2 / 8) / (38 / 56))
    # Whole answers: the second splits into two and one, pairs that count 1/2 each: o = 2 of 8 beside the third's 2.
    # n_n = 4, A-1 twice, B-2 and cancel once each. D_o = 4/8; D_e = (64 - 16 - 4 - 1 - 1)/(8·7) = 42/56.
    assert whole.alpha.value == pytest.approx(1 - (4 / 8) / (42 / 56))
    assert whole.alpha.interval is not None


def test_how_answers_split_and_who_is_right(results: dict[Role, Results], ann: User, ben: User, owner: User) -> None:
    shown = results[Role.OWNER]
    assert [[(split.count, split.is_gold) for split in one.splits] for one in shown.items] == [
        [(3, True)],
        [(2, True), (1, False)],
        [(1, True), (1, False)],
    ]
    assert {one.name: (one.right, one.answered) for one in shown.people} == {
        ann.name: (2, 3),
        ben.name: (2, 3),
        owner.name: (2, 2),
    }
    assert shown.items[1].splits[1].names == (ann.name,)


def test_reviewers_see_no_names_and_only_their_own_figure(results: dict[Role, Results], ann: User) -> None:
    shown = results[Role.REVIEWER]
    assert [one.name for one in shown.people] == [ann.name]
    assert {split.names for one in shown.items for split in one.splits} == {()}
    assert [one.own is not None and one.own.is_gold for one in shown.items] == [True, False, True]


def test_owners_see_how_far_everybody_is_and_others_themselves(three: CalibrationRound, ann: User, owner: User) -> None:
    answer(three, ann, NO_CALL)
    shown = {one.name: (one.done, one.total) for one in progress_in(three, owner, Role.OWNER)}
    assert shown == {ann.name: (1, 3), owner.name: (0, 3)}
    assert [one.name for one in progress_in(three, ann, Role.ADJUDICATOR)] == [ann.name]


def test_a_round_that_comes_first_is_answered_before_anything_is_handed_out(solved: Dataset, ann: User) -> None:
    first = calibration_open(dataset=solved, actor=None, name="Newcomers", names=["a"], comes_first=True)
    for place in (solved, solved.project):
        with pytest.raises(CalibrationFirst, match="Newcomers"):
            slot_claim(dataset_or_project=place, actor=ann)
    answer(first, ann, call())
    assert slot_claim(dataset_or_project=solved, actor=ann) is not None


def test_what_one_holds_is_still_handed_out_when_a_round_comes_first(solved: Dataset, ann: User) -> None:
    held = slot_claim(dataset_or_project=solved, actor=ann)
    calibration_open(dataset=solved, actor=None, name="Newcomers", names=["a"], comes_first=True)
    assert slot_claim(dataset_or_project=solved, actor=ann) == held


def test_a_closed_round_and_one_of_reopened_examples_keep_nobody(solved: Dataset, ann: User, adjudicator: User) -> None:
    closed = calibration_open(dataset=solved, actor=None, name="Old", names=["a"], comes_first=True)
    calibration_close(calibration=closed, actor=None)
    calibration_open(dataset=solved, actor=None, name="Resting", names=["b"], comes_first=True)
    reopened = Revision.objects.get(example__external_id="b")
    revision_reopen(revision=reopened, actor=adjudicator, reason="A doubt")
    assert slot_claim(dataset_or_project=solved, actor=ann) is not None


def test_what_waits_is_told_with_its_size(three: CalibrationRound, ann: User, outsider: User) -> None:
    answer(three, ann, NO_CALL)
    waiting = to_calibrate(three.dataset.project, ann)
    assert waiting is not None
    assert (vars(waiting)["own"], vars(waiting)["size"]) == (1, 3)
    calibration_close(calibration=three, actor=None)
    assert to_calibrate(three.dataset.project, ann) is None


def test_the_guide_shows_no_solved_example_that_a_round_asks_for(three: CalibrationRound) -> None:
    Gold.objects.update(rationale="Because.")
    to_label = Example.objects.get(external_id="open").current
    assert to_label is not None
    tools = frozenset({"get_order", "cancel_order"})
    assert {one.revision.example.external_id for one in solved_examples(to_label, tools)} == {"d"}
    calibration_close(calibration=three, actor=None)
    assert {one.revision.example.external_id for one in solved_examples(to_label, tools)} > {"b", "c"}
