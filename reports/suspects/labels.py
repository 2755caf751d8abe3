"""Find gold that several people labelled otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from labeling.expectations.meaning import meaning
from labeling.models import DatasetVersion, Label, VersionEntry
from reports.analyses.suspicion import WAVERED, Reason, overruled
from toolevals.grading.values.canonical import exact, parse

_AT_ONCE: Final = 500


def wavered_of(version: DatasetVersion) -> Iterator[tuple[UUID, Reason]]:
    """Yield revisions with the reason that people's labels say something else than the version's gold.

    Each person's newest label speaks, of whatever round. One person whom an adjudicator overruled is no evidence, and
    neither is gold that was corrected. Who may be told: `reports.suspects.listing`.
    """
    entries = VersionEntry.objects.filter(version=version).order_by("pk")
    rows = entries.values_list("pk", "revision_id", "gold__expectation", "revision__round")
    page = list(rows[:_AT_ONCE])
    while page:
        yield from _of_page(page)
        page = list(rows.filter(pk__gt=page[-1][0])[:_AT_ONCE])


def _of_page(page: list[Any]) -> Iterator[tuple[UUID, Reason]]:
    newest: dict[UUID, dict[UUID | None, str]] = defaultdict(dict)
    said = Label.objects.filter(revision__in=[revision for _, revision, *_ in page]).order_by("pk")
    for revision, person, answer, expectation in said.values_list(
        "revision_id", "reviewer_id", "answer", "expectation"
    ):
        newest[revision][person] = _meaning(answer, exact(expectation))
    for _, revision, expectation, rounds in page:
        gold = _meaning("expectation", exact(expectation))
        differing = sum(means != gold for means in newest[revision].values())
        if evidence := overruled(differing, len(newest[revision]) - differing):
            people = len(newest[revision])
            words = f"{differing} of {people} people say something else than the gold"
            words += f", in {rounds} rounds." if rounds > 1 else "."
            yield revision, Reason(WAVERED, words, evidence, differing, people - differing, people)


@lru_cache(maxsize=4096)
def _meaning(answer: str, expectation: str) -> str:
    return meaning(answer, parse(expectation))
