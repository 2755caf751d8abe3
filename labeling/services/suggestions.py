"""Tell what models suggest as labels: kept next to the examples, shown only where a project wants that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from labeling.models import Dataset, Example, Revision, Suggestion
from labeling.services.expectations import expectation_read
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User

MAX_SUGGESTIONS = 1000


@dataclass(frozen=True, slots=True)
class SuggestionRow:
    """The expectation that a model suggests for one example, known by its external id; `source` names the model."""

    external_id: str
    expectation: Any
    source: str


def suggestions_store(*, dataset: Dataset, actor: User | None, rows: Sequence[SuggestionRow]) -> int:
    """Keep suggestions for the examples' current revisions, each in the place of an earlier one; return how many.

    All or nothing. Raises InvalidDocument, with a pointer `/<row>/...` for each fault: an example that is not there or
    is named twice, an expectation that is none or does not fit the offered tools, more than MAX_SUGGESTIONS rows.
    """
    if len(rows) > MAX_SUGGESTIONS:
        raise InvalidDocument([Problem("", f"at most {MAX_SUGGESTIONS} suggestions at once")])
    revisions = _revisions(dataset, {row.external_id for row in rows})
    problems: list[Problem] = []
    read: dict[Any, Suggestion] = {}
    for number, row in enumerate(rows):
        revision = revisions.get(row.external_id)
        if revision is None or revision.pk in read:
            words = "is no example of this dataset" if revision is None else "is named twice"
            problems.append(Problem(f"/{number}/id", f"{row.external_id!r} {words}"))
            continue
        try:
            document = expectation_read(revision, row.expectation)
        except InvalidDocument as error:
            problems += [Problem(f"/{number}/expectation{one.pointer}", one.message) for one in error.problems]
            continue
        read[revision.pk] = Suggestion(revision=revision, source=row.source.strip()[:200], expectation=document)
    if problems:
        raise InvalidDocument(problems)
    _store(dataset, actor, read.values())
    return len(read)


@transaction.atomic
def _store(dataset: Dataset, actor: User | None, suggestions: Iterable[Suggestion]) -> None:
    kept = list(suggestions)
    Suggestion.objects.filter(revision__in=[one.revision_id for one in kept]).delete()
    Suggestion.objects.bulk_create(kept)
    audit_record(
        project=dataset.project, actor=actor, verb="suggestions_store", target=dataset, detail={"count": len(kept)}
    )


def _revisions(dataset: Dataset, names: set[str]) -> dict[str, Revision]:
    """Return the current revisions of the examples so named, by external id."""
    examples = Example.objects.of_dataset(dataset).with_content().filter(external_id__in=names)
    return {example.external_id: example.current for example in examples if example.current is not None}
