"""A label that comes when others have the example already is kept, and counts in nothing."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import adjudication_decide
from labeling.blindness import decides_own
from labeling.errors import InvalidAct, NoPlaceLeft
from labeling.examples.views import history_of
from labeling.exports import Selection, format_named
from labeling.exports.selection import Outcome
from labeling.label.claims import draft_save
from labeling.label.services import label_hand_in, label_keep, label_submit
from labeling.models import Dataset, Draft, Label, LabelSlot, Revision, SpareLabel
from tests.labeling.rows import NO_CALL, call
from tests.labeling.test_claims import lapse
from tests.labeling.windows import later
from toolevals.workspace.models import AuditEntry, Role, User


@pytest.fixture
def late(claim, examples, members) -> tuple[User, LabelSlot, list[User]]:
    """A person whose claim on the first example ran out, the slot, and the two who have labelled it since."""
    people = members(3)
    slot = claim(people[0])
    lapse(slot)
    for other in people[1:]:
        taken = claim(other)
        assert taken.revision == examples[0]
        label_submit(slot=taken, actor=other, expectation=NO_CALL)
    return people[0], slot, people[1:]


def test_it_is_kept_once_and_takes_no_place(late, examples: list[Revision]):
    author, slot, _ = late
    draft_save(revision=slot.revision, actor=author, document={"n": 1})
    with pytest.raises(NoPlaceLeft):
        label_submit(slot=slot, actor=author, expectation=call())
    said: dict[str, Any] = {"expectation": call(), "rationale": "Offline. ", "flagged": True, "seconds": 40}
    spare = label_hand_in(slot=slot, actor=author, **said)
    assert isinstance(spare, SpareLabel)
    assert (spare.revision, spare.round, spare.reviewer) == (examples[0], 1, author)
    assert (spare.expectation, spare.rationale, spare.flagged, spare.seconds) == (call(), "Offline.", True, 40)
    assert label_hand_in(slot=slot, actor=author, **said) == spare
    assert Label.objects.filter(revision=examples[0]).count() == 2
    assert not Draft.objects.filter(user=author).exists()
    assert AuditEntry.objects.filter(verb="label_keep").count() == 1
    other = label_hand_in(slot=slot, actor=author, expectation=NO_CALL)
    assert SpareLabel.objects.filter(reviewer=author).count() == 2
    assert other != spare


def test_a_free_place_takes_it_as_a_label(claim, examples, members):
    ann, ben = members(2)
    slot = claim(ann)
    lapse(slot)
    assert claim(ben) == slot
    label = label_hand_in(slot=slot, actor=ann, expectation=call())
    assert isinstance(label, Label)
    assert label.slot_id != slot.pk
    assert not SpareLabel.objects.exists()


def test_it_neither_resolves_nor_keeps_from_resolving(late, examples):
    author, slot, _ = late
    label_hand_in(slot=slot, actor=author, expectation=call())
    settle_due(later())
    examples[0].refresh_from_db()
    assert (examples[0].resolution, examples[0].gold.expectation) == ("resolved", NO_CALL)
    assert Label.objects.firsts().filter(revision=examples[0]).count() == 2


def test_who_was_never_handed_the_example_keeps_nothing(late, members):
    _, slot, _ = late
    stranger = members(1)[0]
    with pytest.raises(NoPlaceLeft):
        label_hand_in(slot=slot, actor=stranger, expectation=call())
    with pytest.raises(InvalidAct, match="not assigned to you"):
        label_keep(slot=slot, actor=stranger, expectation=call())
    assert not SpareLabel.objects.exists()


def test_others_see_it_once_the_example_is_resolved_and_again_not_after_it_was_reopened(
    late, examples, members, dataset: Dataset
):
    author, slot, (ann, _) = late
    spare = label_hand_in(slot=slot, actor=author, expectation=call(), rationale="Mine.")
    chief = members(1, Role.ADJUDICATOR)[0]

    def seen(user: User, role: Role) -> bool:
        revision = Revision.objects.get(pk=spare.revision_id)
        told = "Mine." in [event.why for event in history_of(revision, user, role)]
        assert told == SpareLabel.objects.visible_to(user, role).filter(pk=spare.pk).exists()
        return told

    assert seen(author, Role.REVIEWER)
    assert not seen(ann, Role.REVIEWER)
    assert not seen(chief, Role.ADJUDICATOR)
    settle_due(later())
    assert seen(ann, Role.REVIEWER)
    assert seen(chief, Role.ADJUDICATOR)
    Revision.objects.filter(pk=spare.revision_id).update(resolution="open")
    assert not seen(chief, Role.ADJUDICATOR)


def test_its_author_does_not_decide_the_example(claim, examples, members):
    chief = members(1, Role.ADJUDICATOR)[0]
    slot = claim(chief)
    lapse(slot)
    for other, expectation in zip(members(2), (NO_CALL, call()), strict=True):
        label_submit(slot=claim(other), actor=other, expectation=expectation)
    label_hand_in(slot=slot, actor=chief, expectation=call(order="A-2"))
    settle_due(later())
    revision = Revision.objects.get(pk=examples[0].pk)
    assert revision.resolution == "disagreed"
    assert decides_own(revision, chief)
    assert revision not in Revision.objects.to_adjudicate(revision.example.dataset.project, chief)
    with pytest.raises(InvalidAct, match="someone else must decide"):
        adjudication_decide(revision=revision, actor=chief, expectation=call(), rationale="Mine.")


def test_it_leaves_in_the_csv_of_labels_in_a_row_that_says_so(late, dataset: Dataset):
    author, slot, _ = late

    def kinds() -> list[tuple[str, str]]:
        table = b"".join(format_named("labels_csv").write(Selection(dataset), Outcome())).decode()
        return [(row["reviewer"], row["kind"]) for row in csv.DictReader(io.StringIO(table))]

    label_hand_in(slot=slot, actor=author, expectation=call())
    assert kinds() == []
    settle_due(later())
    assert sorted(kind for _, kind in kinds()) == ["label", "label", "spare"]
    assert (author.name, "spare") in kinds()


def test_the_page_says_that_it_is_kept_and_goes_on(client, late, project):
    author, slot, _ = late
    client.force_login(author)
    sent = {"tool": "none", "why": "greeting", "rationale": "Late."}
    url = f"/p/{project.slug}/label/{slot.pk}"
    told = client.post(f"{url}/draft/", sent)
    assert told.status_code == 409
    assert "saved as a spare label" in told.json()["message"]
    answer = client.post(f"{url}/submit/", sent, headers={"HX-Request": "true", "X-Submission": "b" * 32})
    assert answer["X-Accepted"] == "b" * 32
    assert "Saved as a spare label: ex-0 was already labelled by others." in answer.content.decode()
    assert SpareLabel.objects.get().rationale == "Late."
    LabelSlot.objects.exclude(state="submitted").update(state="closed", priority=None)
    again = client.post(f"{url}/submit/", sent, headers={"HX-Request": "true"}).content.decode()
    assert SpareLabel.objects.count() == 1
    assert "Nothing to label" in again


def test_by_rest_it_is_answered_apart_and_listed(client, late, project):
    author, slot, (ann, _) = late
    client.force_login(author)
    base = f"/api/v1/projects/{project.slug}"
    kept = client.post(f"{base}/claims/{slot.pk}/label/", {"expectation": NO_CALL}, content_type="application/json")
    assert (kept.status_code, kept.json()["round"]) == (202, 1)
    assert [each["id"] for each in client.get(f"{base}/spare-labels/").json()["results"]] == [kept.json()["id"]]
    client.force_login(ann)
    assert client.get(f"{base}/spare-labels/").json()["results"] == []
