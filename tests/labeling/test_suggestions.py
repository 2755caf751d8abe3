"""Suggestions of models: stored whole or not at all, the newest counts."""

from __future__ import annotations

import pytest

from labeling.label.services import SuggestionRow, suggestions_store
from labeling.models import Dataset, Revision, Suggestion
from tests.labeling.rows import NO_CALL, call
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import AuditEntry

pytestmark = pytest.mark.django_db


def test_suggestions_are_kept_in_their_normal_form(dataset: Dataset, examples: list[Revision]):
    rows = [SuggestionRow("ex-0", call(), "model-a"), SuggestionRow("ex-1", NO_CALL, "model-a")]
    assert suggestions_store(dataset=dataset, actor=None, rows=rows) == 2
    kept = Suggestion.objects.get(revision=examples[0])
    assert kept.source == "model-a"
    assert kept.expectation["alternatives"][0]["ordered"][0]["tool"] == "get_order"
    assert AuditEntry.objects.get(verb="suggestions_store").detail == {"count": 2}


def test_a_later_suggestion_takes_the_place_of_an_earlier(dataset: Dataset, examples: list[Revision]):
    for source in ("model-a", "model-b"):
        suggestions_store(dataset=dataset, actor=None, rows=[SuggestionRow("ex-0", NO_CALL, source)])
    assert Suggestion.objects.get().source == "model-b"


def test_one_fault_and_nothing_is_kept(dataset: Dataset, examples: list[Revision]):
    rows = [
        SuggestionRow("ex-0", NO_CALL, "m"),
        SuggestionRow("ex-0", NO_CALL, "m"),
        SuggestionRow("nowhere", NO_CALL, "m"),
        SuggestionRow("ex-1", call("no_tool"), "m"),
    ]
    with pytest.raises(InvalidDocument) as found:
        suggestions_store(dataset=dataset, actor=None, rows=rows)
    pointers = [problem.pointer for problem in found.value.problems]
    assert pointers[:2] == ["/1/id", "/2/id"]
    assert pointers[2].startswith("/3/expectation/alternatives/0")
    assert not Suggestion.objects.exists()
