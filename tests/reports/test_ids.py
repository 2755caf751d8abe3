"""Ids that the database writes are those that Python writes."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.reports.building import Builder, cases_of
from toolevals.runs.models import CaseGrade, CaseTag
from toolevals.workspace.expressions import TextOfId, ids_as_text


@pytest.mark.database
@pytest.mark.parametrize("number", [0, 1, 0xF00DF00D_0000_4000_8000_00000000000A, (1 << 128) - 1])
def test_the_text_of_an_id_is_that_of_python(build: Builder, number):
    transcript = build.grading(cases_of({("get_order", "refund"): 1})).cases.get().transcript
    CaseTag.objects.create(pk=UUID(int=number), transcript=transcript, tag="odd")
    assert list(CaseTag.objects.values_list(TextOfId("pk"), flat=True)) == [str(UUID(int=number))]


@pytest.mark.database
def test_ids_become_text_and_other_columns_stay(build: Builder):
    grading = build.grading(cases_of({("get_order", "refund"): 2}), trials=2)
    columns = ["pk", "transcript_id", "transcript__entry__revision_id", "transcript__trial", "outcome"]
    rows = CaseGrade.objects.filter(grading=grading).order_by("pk")
    plain = [tuple(str(cell) if isinstance(cell, UUID) else cell for cell in row) for row in rows.values_list(*columns)]
    assert list(rows.values_list(*ids_as_text(rows, columns))) == plain
    assert [type(cell) for cell in plain[0]] == [str, str, str, int, str]
