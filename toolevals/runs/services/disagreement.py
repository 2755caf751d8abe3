"""Tell how far agents differ about examples, written into the queue.

What they disagree about is worth a person's time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from django.db.models import Count

from labeling.models import Dataset
from labeling.services import disagreement_set
from toolevals.runs.models import CaseGrade, Grading, Run

# So many of a dataset's newest graded runs are compared.
RUNS = 20


def disagreement_write(dataset: Dataset, grading: Grading) -> int:
    """Write how far agents differ about the revisions that a grading holds; return how many values changed.

    Compared are the first calls of all trials in the shown gradings of the dataset's newest runs.
    """
    shown = Run.objects.of_people().filter(dataset_version__dataset=dataset, grading__isnull=False).order_by("-number")
    gradings = [*shown.values_list("grading", flat=True)[:RUNS]]
    revisions = CaseGrade.objects.filter(grading=grading).values("transcript__entry__revision")
    said: dict[Any, Counter[str]] = defaultdict(Counter)
    cases = CaseGrade.objects.filter(grading__in=gradings, transcript__entry__revision__in=revisions).exclude(actual="")
    answers = cases.order_by().values_list("transcript__entry__revision", "actual").annotate(count=Count("pk"))
    for revision, actual, count in answers.iterator():
        said[revision][actual] = count
    return disagreement_set(dataset=dataset, values=differing(said))


def differing(said: Mapping[Any, Counter[str]]) -> dict[Any, float]:
    """Return for each key the share of answers that are not the commonest one: 0 where all are the same."""
    return {key: 1 - max(answers.values()) / answers.total() for key, answers in said.items()}
