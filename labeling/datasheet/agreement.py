"""How far labels of one example choose the same tools: before anybody decided, of what is resolved alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import CharField
from django.db.models.functions import Cast, Right

from labeling.agreement.reading import tool_said
from labeling.datasheet.scope import Scope
from labeling.datasheet.values import ToolAgreement
from labeling.querysets.labels import LabelQuerySet
from toolevals.grading.metrics.agreement import percent_agreement
from toolevals.grading.metrics.krippendorff import krippendorff_alpha

# What is compared while a page waits; of more examples a random sample of about so many is.
SAMPLE = 2_500
# The last digits of a revision's id are random: a sample is those below a bound, the same each time.
_DIGITS = 3
_ALL = 16**_DIGITS


def tool_agreement(scope: Scope, *, units: int) -> ToolAgreement:
    """Compare the labels of each example's last round; `units`: how many examples have two labels or more."""
    labels = _sampled(scope.labels(), units) if units else scope.labels().none()
    rounds: dict[Any, tuple[int, list[str]]] = {}
    rows = labels.values_list("revision", "slot__round", "answer", "expectation").order_by("pk")
    for revision, number, answer, expectation in rows:
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


def _sampled(labels: LabelQuerySet, units: int) -> LabelQuerySet:
    if units <= 2 * SAMPLE:
        return labels
    bound = f"{_ALL * SAMPLE // units:0{_DIGITS}x}"
    sampled: LabelQuerySet = labels.annotate(tail=Right(Cast("revision", CharField()), _DIGITS)).filter(tail__lt=bound)
    return sampled
