"""Tell where an import and what people did meet: the rare rows that are handled one by one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any
from uuid import UUID

from labeling.models import Dispute, Gold, GoldSource, Revision, StagedExample
from labeling.services.resolution import revision_evaluate, revision_locked
from toolevals.grading.matching.equivalence import equivalent
from toolevals.grading.values import Expectation
from toolevals.grading.values.canonical import canonical

AT_ONCE = 500
REASON = "An import brought another expectation."


def revisions_evaluate(revisions: Iterable[Any]) -> None:
    """Find again how far revisions are that people have worked on and that are shown again."""
    for pk in revisions:
        revision_evaluate(revision_locked(pk))


def staged_with_other_gold(pairs: Iterable[tuple[Any, Any]]) -> set[UUID]:
    """Return which staged rows, each paired with its revision, say something other than the gold in force.

    The order of keys says nothing. Why an expectation is right is compared with imported gold only: people's own
    reasons stay theirs.
    """
    different: set[UUID] = set()
    rest = iter(pairs)
    while some := {UUID(str(staged)): UUID(str(revision)) for staged, revision in islice(rest, AT_ONCE)}:
        golds = {gold.revision_id: gold for gold in Gold.objects.in_force().filter(revision__in=some.values())}
        rows = StagedExample.objects.filter(pk__in=some).only("expectation", "rationale")
        different.update(row.pk for row in rows if _is_other(row, golds.get(some[row.pk])))
    return different


def _is_other(row: StagedExample, gold: Gold | None) -> bool:
    if gold is None or canonical(gold.expectation) != canonical(row.expectation):
        return True
    return gold.source == GoldSource.IMPORTED and gold.rationale != row.rationale


def is_new_dispute(staged_id: Any, revision_id: Any) -> bool:
    """Tell whether an import disputes people's gold, or their labelling under way, with what it says.

    What means the same is no dispute, and what was asked before is not asked again, whatever was decided.
    """
    expectation = StagedExample.objects.values_list("expectation", flat=True).get(pk=staged_id)
    revision = Revision.objects.select_related("gold").get(pk=revision_id)
    said = Expectation.from_document(expectation)
    if revision.gold is not None and equivalent(said, Expectation.from_document(revision.gold.expectation)):
        return False
    asked = Dispute.objects.filter(revision=revision, reason=REASON).values_list("expectation", flat=True)
    return all(canonical(each) != canonical(expectation) for each in asked)
