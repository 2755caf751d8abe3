"""Work out how far first labels of one example agree about tools, in resolved examples only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db.models import CharField
from django.db.models.functions import Cast, Right

from labeling.agreement.reading import tool_said
from labeling.datasheet.scope import Scope
from labeling.datasheet.values import ToolAgreement
from labeling.models import Label
from labeling.querysets.labels import LabelQuerySet
from toolevals.grading.metrics.agreement import krippendorff_alpha, percent_agreement

# What is compared while a page waits; of more examples a random sample of about so many is.
SAMPLE = 2_500
# The last digits of a revision's id are random: a sample is those below a bound, the same each time.
_DIGITS = 3
_ALL = 16**_DIGITS
_OF_ONE = ("revision", "slot__round", "reviewer")


def tool_agreement(scope: Scope, *, units: int) -> ToolAgreement:
    """Compare the labels of each example's last round; `units`: how many examples have two labels or more."""
    labels = _sampled(scope.labels(), units) if units else scope.labels().none()
    rounds: dict[Any, tuple[int, list[str]]] = {}
    for revision, number, answer, expectation in _said_first(labels):
        known, choices = rounds.get(revision, (0, []))
        if number > known:
            known, choices = number, []
            rounds[revision] = (known, choices)
        if number == known:
            choices.append(tool_said(answer, expectation))
    ratings = Counter(tuple(sorted(choices)) for _, choices in rounds.values() if len(choices) > 1)
    return ToolAgreement(
        units=units, sampled=ratings.total(), percent=percent_agreement(ratings), alpha=krippendorff_alpha(ratings)
    )


def _said_first(labels: LabelQuerySet) -> Iterator[tuple[Any, int, str, Any]]:
    """Yield round and answer of labels by revision; where one was changed, what its author handed in first."""
    changed = labels.filter(is_first=False).values("revision")
    rows = Label.objects.filter(revision__in=changed, is_first=True)
    firsts = {tuple(key): (answer, said) for *key, answer, said in rows.values_list(*_OF_ONE, "answer", "expectation")}
    every = labels.values_list(*_OF_ONE, "answer", "expectation", "is_first").order_by("pk")
    for revision, number, reviewer, answer, expectation, is_first in every:
        said = (answer, expectation)
        yield revision, number, *(said if is_first else firsts.get((revision, number, reviewer), said))


def _sampled(labels: LabelQuerySet, units: int) -> LabelQuerySet:
    if units <= 2 * SAMPLE:
        return labels
    bound = f"{_ALL * SAMPLE // units:0{_DIGITS}x}"
    sampled: LabelQuerySet = labels.annotate(tail=Right(Cast("revision", CharField()), _DIGITS)).filter(tail__lt=bound)
    return sampled
