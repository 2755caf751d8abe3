"""Arguments of the addresses of labelling: each such that the person who asks would find something there."""

from __future__ import annotations

import io
from datetime import timedelta
from uuid import UUID

from labeling.adjudicate.services import adjudication_set_aside, dispute_open
from labeling.batches.services import Choice, batch_create
from labeling.calibration_rounds.services import calibration_open
from labeling.datasets.services import dataset_create
from labeling.examples.shown_strata import hidden_strata
from labeling.exports import Selection
from labeling.exports.services import export_start, export_write
from labeling.imports.services import examples_import, import_start
from labeling.label.claims import slot_claim, slot_skip
from labeling.label.services import label_submit
from labeling.lint.services import lint_start
from labeling.models import (
    CalibrationItem,
    CalibrationRound,
    Dataset,
    Dispute,
    Example,
    Gold,
    Label,
    LabelBatch,
    LabelSlot,
    LookPlan,
    LookProposal,
    ProposedExample,
    Revision,
    SecondLook,
)
from labeling.saved_views.services import view_save
from labeling.versions.services import version_freeze
from tests.access.registry_arguments import a_version
from tests.access.world import Argument, World
from tests.labeling.rows import NO_CALL, call, row
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.models import Role, User
from toolevals.workspace.uploads.services import upload_store

WITH_GOLD = "walk-gold"


def a_dataset_of(world: World) -> Dataset:
    """Return the project's dataset with one example to label and one with gold; the first call makes it."""
    dataset = Dataset.objects.filter(project=world.project, slug="walk").first()
    if dataset is None:
        dataset = dataset_create(
            project=world.project, actor=None, slug="walk", name="Walk", default_tools=a_version(world)
        )
        examples_import(dataset=dataset, actor=None, rows=[row("walk"), row(WITH_GOLD, expectation=NO_CALL)])
        lint_start(dataset=dataset, actor=None)
    return dataset


def a_slot_of(world: World, person: User) -> LabelSlot:
    """Return a slot that a person holds, also one who could not claim it: what they may is asked of its address."""
    held = LabelSlot.objects.filter(revision__example__dataset=a_dataset_of(world)).held_by(person).first()
    if held is not None:
        return held
    dataset = a_dataset_of(world)
    slot = slot_claim(dataset_or_project=dataset, actor=world.owner)
    if slot is None:
        # They have labelled the one example.
        examples_import(dataset=dataset, actor=None, rows=[row("walk-more")])
        slot = slot_claim(dataset_or_project=dataset, actor=world.owner)
    assert slot is not None
    LabelSlot.objects.filter(pk=slot.pk).update(reviewer=person)
    slot.refresh_from_db()
    return slot


def a_label_of(world: World, person: User) -> Label:
    known = Label.objects.filter(reviewer=person, revision__example__dataset=a_dataset_of(world)).first()
    if known is not None:
        return known
    slot = slot_claim(dataset_or_project=a_dataset_of(world), actor=world.owner)
    assert slot is not None
    label = label_submit(slot=slot, actor=world.owner, expectation=NO_CALL)
    LabelSlot.objects.filter(pk=slot.pk).update(reviewer=person)
    Label.objects.filter(pk=label.pk).update(reviewer=person)
    label.refresh_from_db()
    return label


def a_look(world: World, person: User) -> UUID:
    """Return a proposal that differs from a label of this person, which can no longer be changed; they have seen it."""
    label, dataset = a_label_of(world, person), a_dataset_of(world)
    Label.objects.filter(pk=label.pk).update(created_at=database_now() - timedelta(days=1))
    plan, _ = LookPlan.objects.get_or_create(dataset=dataset, ended_at=None, defaults={"run": 1, "agent": "Walker"})
    proposal, _ = LookProposal.objects.get_or_create(
        plan=plan, revision=label.revision, defaults={"expectation": call()}
    )
    SecondLook.objects.get_or_create(
        proposal=proposal, reviewer=person, defaults={"label": label, "revision": label.revision}
    )
    found: UUID = proposal.pk
    return found


def a_view(world: World, person: User) -> UUID:
    view: UUID = view_save(project=world.project, actor=person, name="Walk", query="status=open").pk
    return view


def a_dataset(world: World, person: User) -> str:
    return str(a_dataset_of(world).slug)


def a_number(world: World, person: User) -> int:
    return int(version_freeze(dataset=a_dataset_of(world), actor=None).number)


def a_version_name(world: World, person: User) -> str:
    return str(a_number(world, person))


def an_upload(world: World, person: User) -> UUID:
    file = io.BytesIO(b"id,user\n1,Hello\n")
    upload: UUID = upload_store(project=world.project, actor=None, file=file, name="rows.csv").pk
    return upload


def an_export(world: World, person: User) -> UUID:
    """Return an export whose file is written, without the strata that reviewers may not see."""
    dataset = a_dataset_of(world)
    selection = Selection(dataset, hidden=hidden_strata(dataset, Role.VIEWER))
    job = export_start(selection=selection, actor=None, format="jsonl")
    for batch in job.batches.all():
        batch_work(str(batch.pk), export_write)
    export: UUID = job.pk
    return export


def an_example(world: World, person: User) -> UUID:
    example: UUID = Example.objects.get(dataset=a_dataset_of(world), external_id=WITH_GOLD).pk
    return example


def a_dispute_in(world: World) -> Dispute:
    revision = Revision.objects.get(example__dataset=a_dataset_of(world), example__external_id=WITH_GOLD)
    return dispute_open(revision=revision, actor=None, reason="A doubt")


def a_dispute(world: World, person: User) -> UUID:
    dispute: UUID = a_dispute_in(world).pk
    return dispute


def a_gold(world: World, person: User) -> UUID:
    gold: UUID = Gold.objects.get(revision__example=an_example(world, person)).pk
    return gold


def an_adjudication(world: World, person: User) -> UUID:
    """Return a decision that this person has just made."""
    revision = a_dispute_in(world).revision
    made = adjudication_set_aside(revision=revision, actor=person, answer="ambiguous", rationale="Either.")
    adjudication: UUID = made.pk
    return adjudication


def a_slot(world: World, person: User) -> UUID:
    slot: UUID = a_slot_of(world, person).pk
    return slot


def a_label(world: World, person: User) -> UUID:
    label: UUID = a_label_of(world, person).pk
    return label


def a_skip(world: World, person: User) -> UUID:
    skip: UUID = slot_skip(slot=a_slot_of(world, person), actor=person).pk
    return skip


def a_revision(world: World, person: User) -> UUID:
    """Return a revision that waits for anybody's decision."""
    revision: UUID = a_dispute_in(world).revision_id
    return revision


def a_batch(world: World, person: User) -> UUID:
    """Return a batch of the example that is to be labelled."""
    batch = LabelBatch.objects.filter(dataset=a_dataset_of(world)).first()
    if batch is None:
        batch = batch_create(dataset=a_dataset_of(world), actor=None, name="Walk", choice=Choice())
    pk: UUID = batch.pk
    return pk


def an_import(world: World, person: User) -> UUID:
    """Return an import that has just begun."""
    upload = upload_store(project=world.project, actor=None, file=io.BytesIO(b"{}\n"), name="rows.jsonl")
    job: UUID = import_start(dataset=a_dataset_of(world), actor=None, upload=upload).pk
    return job


def a_finding(world: World, person: User) -> str:
    return "a-finding"


def a_proposal(world: World, person: User) -> UUID:
    """Return a draft that nobody has decided."""
    origin = Example.objects.get(pk=an_example(world, person)).current
    assert origin is not None
    made = ProposedExample.objects.create(
        dataset=a_dataset_of(world),
        origin=origin,
        tool="walk",
        parameter="/order_id",
        kind="currency",
        input=origin.input,
        tools_id=origin.tools_id,
    )
    pk: UUID = made.pk
    return pk


def a_round_of(world: World) -> CalibrationRound:
    """Return a round that nobody has answered."""
    return calibration_open(dataset=a_dataset_of(world), actor=None, name="Walk", names=[WITH_GOLD])


def a_calibration(world: World, person: User) -> UUID:
    found = CalibrationRound.objects.filter(dataset=a_dataset_of(world)).first() or a_round_of(world)
    pk: UUID = found.pk
    return pk


def an_item(world: World, person: User) -> UUID:
    pk: UUID = CalibrationItem.objects.get(round=a_calibration(world, person)).pk
    return pk


def a_past_act(world: World, person: User) -> UUID:
    """Return the id of an act that no session can undo any more."""
    return UUID(int=0)


ARGUMENTS: dict[str, Argument] = {
    "act": a_past_act,
    "dataset": a_dataset,
    "batch": a_batch,
    "version": a_version_name,
    "calibration": a_calibration,
    "item": an_item,
    "example": an_example,
    "export": an_export,
    "finding": a_finding,
    "proposal": a_proposal,
    "upload": an_upload,
    "job": an_import,
    "dispute": a_dispute,
    "gold": a_gold,
    "adjudication": an_adjudication,
    "slot": a_slot,
    "view": a_view,
    "look": a_look,
    "label": a_label,
    "skip": a_skip,
    "revision": a_revision,
}
