"""Tell which tool examples are about that nobody has scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from labeling.models import VersionEntry
from toolevals.grading.engine.expected_first_tool import first_expected_class
from toolevals.runs.models import Grading
from toolevals.runs.services.case_grading import Compiler

_AT_ONCE: Final = 500


def due_classes(grading: Grading, entries: Sequence[UUID]) -> dict[UUID, str]:
    """Return the class that is due in each of these entries of the run's version, by the gold that is graded against.

    See `toolevals.grading.engine.expected_first_tool`. An entry without gold is left out.
    """
    if not entries:
        return {}
    compiler = Compiler(grading.run.agent)
    classes: dict[UUID, str] = {}
    for start in range(0, len(entries), _AT_ONCE):
        shown = VersionEntry.objects.filter(pk__in=entries[start : start + _AT_ONCE]).select_related("revision__tools")
        revisions = {entry.pk: entry.revision for entry in shown.defer("revision__input")}
        same = VersionEntry.objects.filter(
            version=grading.dataset_version_id, revision__in=[each.pk for each in revisions.values()]
        )
        golds = {entry.revision_id: entry.gold for entry in same.select_related("gold")}
        for entry, revision in revisions.items():
            if gold := golds.get(revision.pk):
                classes[entry] = first_expected_class(compiler.case(revision.tools, gold.expectation))
    return classes
