"""Nobody sees another's work before an example is resolved; `test_blindness_walk` walks every address for it.

Ann's label holds secret words. It stands alone on one example, differs from Ben's on a second and agrees with his on a
third. Ben owns the project, which unlocks nothing. Nora may adjudicate and has labelled nothing.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.adjudicate.services import adjudication_decide
from labeling.blindness import Side, may_see_resolution, sides_of
from labeling.imports.services import examples_import
from labeling.label.claims import draft_save, slot_claim, slot_skip
from labeling.models import Dispute, Example, Label, Resolution, Revision, Skip
from labeling.versions.services import version_freeze
from tests.access.addresses import addresses
from tests.fixtures.people import person
from tests.labeling.rows import NO_CALL, call, row
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set

SECRETS = ("ann-secret-order", "ann-secret-why", "ann-secret-draft", "ann-secret-skip")
ALONE, DIFFER, AGREE, SKIPPED = "alone", "differ", "agree", "skipped"


@pytest.fixture
def scene(project, dataset, submit, viewer) -> dict[str, Any]:
    """The people and what they have done."""
    roles = {"ann": Role.REVIEWER, "ben": Role.OWNER, "carl": Role.REVIEWER, "nora": Role.ADJUDICATOR}
    people = {name: person(f"{name.title()}-of-the-shop") for name in roles}
    for name, role in roles.items():
        member_set(project=project, actor=None, user=people[name], role=role)
    ann, ben = people["ann"], people["ben"]
    project.undo_seconds = 3600
    project.save()
    examples_import(dataset=dataset, actor=None, rows=[row(DIFFER), row(AGREE), row(ALONE), row(SKIPPED)])
    examples_import(dataset=dataset, actor=None, rows=[row("gold", expectation=NO_CALL)])
    secret = call(order=SECRETS[0])
    submit(ann, secret, rationale=SECRETS[1])
    submit(ben, NO_CALL)
    label = submit(ann, secret, rationale=SECRETS[1])
    submit(ben, secret)
    submit(ann, secret, rationale=SECRETS[1])
    slot = slot_claim(dataset_or_project=dataset, actor=ann)
    assert slot is not None
    draft_save(revision=slot.revision, actor=ann, document={"words": SECRETS[2]})
    skip = slot_skip(slot=slot, actor=ann, reason=SECRETS[3])
    version_freeze(dataset=dataset, actor=None)
    return {**people, "viewer": viewer, "label": label, "skip": skip, "slot": label.slot}


def revision(name: str) -> Revision:
    return Revision.objects.get(example__external_id=name)


def pages(scene: dict[str, Any], reader: str, within: str = "") -> dict[str, str]:
    """Return what a reader is answered by every address that this scene has arguments for, and that holds a word."""
    client = Client(raise_request_exception=False)
    client.force_login(scene[reader])
    found: dict[str, str] = {}
    for name in (DIFFER, AGREE, ALONE, SKIPPED):
        shown = revision(name)
        values = {
            "project": "shop",
            "dataset": "support",
            "number": 1,
            "example": shown.example_id,
            "revision": shown.pk,
            "slot": shown.slots.filter(reviewer=scene["ann"]).values_list("pk", flat=True).first() or scene["slot"].pk,
            "label": scene["label"].pk,
            "skip": scene["skip"].pk,
        }
        for address in addresses():
            if "project" in address.arguments and set(address.arguments) <= set(values):
                path = reverse(address.name, kwargs={key: values[key] for key in address.arguments})
                if path in found or within not in path:
                    continue
                response = client.get(path)
                assert response.status_code < 500, path
                found[path] = b"".join(response).decode() if response.streaming else response.content.decode()
    return found


def test_an_adjudicator_sees_differing_labels_unnamed_and_nothing_else(scene):
    answers = pages(scene, "nora")
    assert len(answers) > 40
    leaks = {path for path, text in answers.items() if any(secret in text for secret in SECRETS)}
    assert leaks
    assert [path for path in leaks if "adjudicat" not in path or str(revision(DIFFER).pk) not in path] == []
    assert [path for path in leaks if "Ann-of-the-shop" in answers[path]] == []


def test_the_author_sees_their_own_label(scene):
    assert any(SECRETS[1] in text for text in pages(scene, "ann", within="/labels/").values())


@pytest.mark.parametrize(
    ("reader", "role", "told"),
    [
        ("nora", Role.ADJUDICATOR, {DIFFER: "disagreed", AGREE: "open", ALONE: "open"}),
        ("ben", Role.OWNER, {DIFFER: "open", AGREE: "open", ALONE: "open"}),
        ("carl", Role.REVIEWER, {DIFFER: "open", AGREE: "open", ALONE: "open"}),
        ("viewer", Role.VIEWER, {DIFFER: "open", AGREE: "open", ALONE: "open"}),
    ],
)
def test_whether_labels_agree_is_the_adjudicators_alone(scene, dataset, reader, role, told):
    user = scene[reader]
    seen = Example.objects.of_dataset(dataset).seen_by(user, role)
    statuses = {each.external_id: vars(each)["status"] for each in seen}
    assert {name: statuses[name] for name in told} == told
    assert {name: may_see_resolution(revision(name), user, role) for name in told} == told
    assert {each.external_id for each in seen.in_status("disagreed", role)} == {
        name for name, status in told.items() if status == "disagreed"
    }


def test_reads_of_labels_skips_and_sides_follow_the_rule(scene):
    ann, ben, nora = scene["ann"], scene["ben"], scene["nora"]
    assert not Label.objects.visible_to(scene["carl"], Role.REVIEWER).exists()
    assert not Label.objects.visible_to(nora, Role.ADJUDICATOR).exists()
    assert {label.reviewer for label in Label.objects.visible_to(ben, Role.OWNER)} == {ben}
    assert not Skip.objects.visible_to(ben, Role.OWNER).exists()
    assert Skip.objects.visible_to(ann, Role.REVIEWER).count() == 1
    assert len(sides_of(revision(DIFFER), nora, Role.ADJUDICATOR)) == 2
    for name, reader, role in [
        (DIFFER, "ben", Role.OWNER),
        (DIFFER, "carl", Role.REVIEWER),
        (AGREE, "nora", Role.ADJUDICATOR),
        (ALONE, "nora", Role.ADJUDICATOR),
    ]:
        assert sides_of(revision(name), scene[reader], role) == []


def test_once_resolved_everybody_sees_who_said_what(scene):
    adjudication_decide(revision=revision(DIFFER), actor=scene["nora"], expectation=NO_CALL, rationale="Read again")
    shown = Label.objects.filter(revision=revision(DIFFER)).visible_to(scene["viewer"], Role.VIEWER)
    assert {label.reviewer for label in shown} == {scene["ann"], scene["ben"]}
    assert revision(DIFFER).resolution == Resolution.RESOLVED


def test_a_dispute_of_an_import_waits_until_people_have_labelled(scene, dataset):
    examples_import(dataset=dataset, actor=scene["nora"], rows=[row(ALONE, expectation=call(order="hint"))])
    assert Dispute.objects.count() == 1
    assert not Dispute.objects.visible_to(scene["carl"], Role.REVIEWER).exists()
    assert all("hint" not in text for text in pages(scene, "carl").values())


def kind_of(side: Side) -> str:
    assert side.expectation is not None
    return str(side.expectation["kind"])


def test_sides_come_in_an_order_that_does_not_tell_whose_they_are(project, dataset, members, submit):
    first, second = members(2)
    examples_import(dataset=dataset, actor=None, rows=[row(f"many-{n}") for n in range(30)])
    for _ in range(30):
        submit(first, NO_CALL)
        submit(second, call())
    (nora,) = members(1, Role.ADJUDICATOR)
    waiting = list(Revision.objects.to_adjudicate(project, nora))
    orders = [[kind_of(side) for side in sides_of(each, nora, Role.ADJUDICATOR)] for each in waiting]
    assert {tuple(order) for order in orders} == {("no_call", "calls"), ("calls", "no_call")}
    assert orders == [[kind_of(side) for side in sides_of(each, nora, Role.ADJUDICATOR)] for each in waiting]
