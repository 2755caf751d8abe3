"""Freeze a dataset, so that runs can be made of it, and describe a frozen version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from uuid_utils.compat import uuid7

from labeling.adjudicate.resolution import settle_due
from labeling.datasets.staging_datasets import AT_ONCE, freezing_dataset
from labeling.errors import InvalidAct
from labeling.expectations.offered_tools import Offers
from labeling.lint.gold import gold_misfits, problems_sentence
from labeling.models import Dataset, DatasetVersion, Gold, Revision, VersionEntry
from labeling.versions.models import tags_require
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import others_write_first, rows_insert, tables_analyze
from toolevals.workspace.models import User

# So many labels are read at once, and so many misfits are named.
_READ_AT_ONCE = 500
_NAMED = 5
_NOTE_LENGTH = 300


class Misfits(InvalidAct):
    """Labels that break the schemas of their tools would be frozen, and no reason was given."""


def version_freeze(
    *,
    dataset: Dataset,
    actor: User | None,
    note: str = "",
    without_second_looks: bool = False,
    misfits_reason: str = "",
) -> DatasetVersion:
    """Return a version of every current revision that has gold, with the gold in force and what decides the case.

    `without_second_looks` leaves out gold that rests on what an agent had proposed.

    `misfits_reason` says why labels that break the schemas of the offered tools are frozen all the same; the version's
    note and the audit log keep it.

    If nothing has changed since the newest version, that one is returned. Raises InvalidAct where nothing has gold,
    and Misfits, which names them, where there are such labels and no reason.
    A large version is written in short transactions where no one sees it, and shown in one.
    """
    settle_due(project=dataset.project)
    version = None
    while version is None:
        version = _freeze(
            dataset, actor, note.strip(), misfits_reason.strip(), without_second_looks=without_second_looks
        )
    tables_analyze(VersionEntry)
    return version


def _freeze(
    dataset: Dataset, actor: User | None, note: str, reason: str, *, without_second_looks: bool
) -> DatasetVersion | None:
    """Return a version as `version_freeze` does; None where someone else has made one meanwhile."""
    current = Revision.objects.current().filter(example__dataset=dataset, gold__isnull=False)
    if without_second_looks:
        current = current.filter(gold__after_agents="")
    default = Dataset.objects.values_list("decided_by", flat=True).get(pk=dataset.pk)
    entries = list(current.order_by("example_id").values_list("pk", "gold_id", "example__decided_by", "gold__source"))
    frozen = [(revision, gold, own or default) for revision, gold, own, _ in entries]
    if not frozen:
        raise InvalidAct("No example of this dataset has gold yet: there is nothing to freeze.")
    newest = dataset.versions.first()
    if newest is not None and list(newest.entries.values_list("revision_id", "gold_id", "decided_by")) == frozen:
        return newest
    if misfits := list(_misfits([gold for _, gold, _ in frozen])):
        note = _note_require(note, misfits, reason)
    sources = dict(Counter(source for *_, source in entries))
    made = DatasetVersion(number=1, note=note, size=len(frozen), gold_sources=sources, actor=actor)
    if made.size <= AT_ONCE:
        with transaction.atomic():
            return _show(made, dataset, newest, len(misfits), reason) and _entries_insert(made, 0, frozen)
    with freezing_dataset(dataset) as waiting:
        made.dataset = waiting
        made.save()
        for start in range(0, made.size, AT_ONCE):
            _entries_insert(made, start, frozen[start : start + AT_ONCE])
            others_write_first()
        return _show(made, dataset, newest, len(misfits), reason)


def _misfits(golds: Sequence[UUID]) -> Iterator[str]:
    """Yield a sentence of each gold that breaks the schema of an offered tool, whichever of its values is taken."""
    offers = Offers()
    told = ("revision__example__external_id", "revision__tools_id", "expectation")
    for start in range(0, len(golds), _READ_AT_ONCE):
        some = Gold.objects.filter(pk__in=golds[start : start + _READ_AT_ONCE])
        page = list(some.order_by("revision__example_id").values_list(*told))
        lists = offers.of(tools for _, tools, _ in page)
        for name, tools, document in page:
            if whole := gold_misfits(document, list(lists[tools].values())):
                yield problems_sentence(name, whole)


def _note_require(note: str, misfits: Sequence[str], reason: str) -> str:
    """Return the note of a version that holds misfits. Raises Misfits where no reason is given, or a too long one."""
    one = len(misfits) == 1
    head = "1 label breaks its tools' schemas" if one else f"{len(misfits):,} labels break their tools' schemas"
    if not reason:
        named = [f"{misfit}." for misfit in misfits[:_NAMED]]
        if len(misfits) > _NAMED:
            named.append(f"And {len(misfits) - _NAMED:,} more, which the lint lists.")
        todo = f"Correct {'it' if one else 'them'}, or give a reason to freeze {'it' if one else 'them'} anyway."
        raise Misfits("\n".join([f"{head}:", *named, todo]))
    whole = f"{note} ({head}: {reason})".strip()
    if len(whole) > _NOTE_LENGTH:
        most = _NOTE_LENGTH - (len(whole) - len(note) - len(reason))
        raise Misfits(f"The note and the reason are longer than {most} characters together. Shorten one of them.")
    return whole


@transaction.atomic
def _entries_insert(version: DatasetVersion, start: int, some: Sequence[tuple[Any, Any, str]]) -> DatasetVersion:
    rows_insert(
        VersionEntry,
        ("id", "version_id", "position", "revision_id", "gold_id", "decided_by"),
        ((uuid7(), version.pk, place, *entry) for place, entry in enumerate(some, start)),
    )
    return version


@transaction.atomic
def _show(
    version: DatasetVersion, dataset: Dataset, newest: DatasetVersion | None, misfits: int, reason: str
) -> DatasetVersion | None:
    """Make a version the dataset's next; return None where `newest` is not the newest any more."""
    # One at a time: the numbers have no gap and no double.
    Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    if dataset.versions.first() != newest:
        return None
    version.dataset, version.number = dataset, (newest.number if newest else 0) + 1
    version.save()
    audit_record(
        project=dataset.project,
        actor=version.actor,
        verb="version_freeze",
        target=version,
        detail={"dataset": dataset.slug, "number": version.number, "size": version.size}
        | ({"misfits": misfits, "misfits_reason": reason} if misfits else {}),
    )
    return version


@transaction.atomic
def version_describe(
    *,
    version: DatasetVersion,
    actor: User | None,
    note: str | None = None,
    tags: Sequence[str] | None = None,
    move: bool = False,
) -> DatasetVersion:
    """Change what is said about a frozen version, and return it; what is None stays. What it holds never changes.

    A tag names one version of a dataset. Raises InvalidAct where another has it, unless `move` takes it from there,
    and InvalidDocument for what cannot be a tag.
    """
    wanted = tags_require(tags) if tags is not None else None
    dataset = Dataset.objects.select_for_update(of=("self",)).select_related("project").get(pk=version.dataset_id)
    version = dataset.versions.get(pk=version.pk)
    before = (version.note, version.tags)
    moved = _tags_take(version, wanted, move=move) if wanted is not None else {}
    version.note = version.note if note is None else note.strip()
    version.tags = version.tags if wanted is None else wanted
    if (version.note, version.tags) == before:
        return version
    version.save(update_fields=["note", "tags"])
    audit_record(
        project=dataset.project,
        actor=actor,
        verb="version_describe",
        target=version,
        detail={
            "dataset": dataset.slug,
            "number": version.number,
            "note": version.note,
            "tags": version.tags,
            "moved_from": moved,
        },
    )
    return version


def _tags_take(version: DatasetVersion, wanted: Sequence[str], *, move: bool) -> dict[str, int]:
    """Take tags from the versions that have them; return the numbers of those, by tag."""
    others = version.dataset.versions.exclude(pk=version.pk)
    holders = {tag: other for tag in wanted if (other := others.called(tag)) is not None}
    if holders and not move:
        where = ", ".join(f"{tag} (version {other.number})" for tag, other in holders.items())
        raise InvalidAct(f"Another version has this tag: {where}. Choose “move the tag”, or use a different tag.")
    for other in {other.pk: other for other in holders.values()}.values():
        other.tags = [tag for tag in other.tags if tag not in wanted]
        other.save(update_fields=["tags"])
    return {tag: other.number for tag, other in holders.items()}
