"""Choose the part of a dataset version that a preset takes."""

from __future__ import annotations

from labeling.models import DatasetVersion, VersionEntry
from toolevals.runs.models import CaseGrade, Run
from toolevals.runs.scope.presets import HARD, Candidate, Preset, chosen_positions


def preset_positions(version: DatasetVersion, preset: Preset) -> list[int]:
    """Return the positions of the examples that a preset takes.

    The last run is the newest graded one that people made over all of the version; without one nothing has failed.
    """
    runs = Run.objects.of_people().filter(dataset_version=version, grading__isnull=False, only__isnull=True)
    last = runs.order_by("-number").values_list("grading", flat=True).first()
    cases = CaseGrade.objects.filter(grading=last, outcome="failed") if last else CaseGrade.objects.none()
    failed = set(cases.values_list("transcript__entry", flat=True))
    rows = VersionEntry.objects.filter(version=version).order_by("position")
    examples = rows.values_list("position", "pk", "revision__example__external_id", "revision__example__difficulty")
    candidates = (
        Candidate(position, external_id, difficulty.casefold() == HARD, entry in failed)
        for position, entry, external_id, difficulty in examples.iterator(chunk_size=2000)
    )
    return chosen_positions(candidates, preset.examples)
