"""Gold about which people wavered: labels that say something else, taken back or changed, and earlier gold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from labeling.meaning import meaning
from labeling.models import DatasetVersion, Gold, Label, VersionEntry
from reports.analyses.suspicion import WAVERED, Reason
from toolevals.grading.canonical import exact, parse

_AT_ONCE: Final = 500


def wavered_of(version: DatasetVersion) -> Iterator[tuple[UUID, Reason]]:
    """Yield revisions with the reason that labels, or earlier gold, say something else than the version's gold.

    Every label of every round speaks, those that their authors took back or changed included, and so does every
    earlier gold of the revision. Who may be told: `reports.suspects.listing`.
    """
    entries = VersionEntry.objects.filter(version=version).order_by("pk")
    rows = entries.values_list("pk", "revision_id", "gold_id", "gold__expectation", "revision__round")
    page = list(rows[:_AT_ONCE])
    while page:
        yield from _of_page(page)
        page = list(rows.filter(pk__gt=page[-1][0])[:_AT_ONCE])


def _of_page(page: list[Any]) -> Iterator[tuple[UUID, Reason]]:
    revisions = [revision for _, revision, *_ in page]
    labels: dict[UUID, list[tuple[str, bool]]] = defaultdict(list)
    said = Label.objects.filter(revision__in=revisions).order_by("pk")
    for revision, answer, expectation, withdrawn in said.values_list(
        "revision_id", "answer", "expectation", "withdrawn_at"
    ):
        labels[revision].append((_meaning(answer, exact(expectation)), withdrawn is not None))
    golds: dict[UUID, list[tuple[UUID, str]]] = defaultdict(list)
    before = Gold.objects.filter(revision__in=list(revisions)).order_by("pk")
    for revision, gold, expectation in before.values_list("revision_id", "pk", "expectation"):
        golds[revision].append((gold, _meaning("expectation", exact(expectation))))
    for _, revision, gold, expectation, rounds in page:
        means = _meaning("expectation", exact(expectation))
        earlier = [other for pk, other in golds[revision] if pk < gold]
        if reason := _reason(means, labels[revision], earlier, rounds):
            yield revision, reason


def _reason(gold: str, labels: list[tuple[str, bool]], earlier: list[str], rounds: int) -> Reason | None:
    differing = sum(said != gold for said, _ in labels)
    replaced = sum(said != gold for said in earlier)
    voices = len(labels) + len(earlier)
    if not differing + replaced:
        return None
    parts = []
    if differing:
        parts.append(f"{differing} of {len(labels)} labels say something else than the gold")
    if back := sum(withdrawn for _, withdrawn in labels):
        parts.append(f"{back} taken back")
    if replaced:
        parts.append(f"{replaced} earlier gold said something else")
    if rounds > 1:
        parts.append(f"labelled in {rounds} rounds")
    # What says the same speaks, and weighs the strength down, but doubt is not outvoted.
    return Reason(WAVERED, "; ".join(parts).capitalize() + ".", differing + replaced, 0, voices)


@lru_cache(maxsize=4096)
def _meaning(answer: str, expectation: str) -> str:
    return meaning(answer, parse(expectation))
