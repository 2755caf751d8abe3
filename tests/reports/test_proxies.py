"""Test what a cheaper check is worth: counted, linked to its cases, as a file and by REST."""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.cache import cache

from reports.run.queries import proxy_rows
from tests.reports.building import Case, count_anew
from tests.reports.reading import csv_rows, text
from toolevals.runs.models import CaseGrade, PackedCases, VerdictCount

pytestmark = pytest.mark.django_db
# (equal call, end state) of nine cases.
SAID = [
    *[("passed", "passed")] * 3,
    ("passed", "failed"),
    *[("failed", "passed")] * 2,
    ("failed", "failed"),
    ("unscored", "passed"),
    ("passed", "errored"),
]


@pytest.fixture
def grading(build):
    cache.clear()
    grading = build.grading([Case("a", "a")] * len(SAID))
    cases = CaseGrade.objects.filter(grading=grading).order_by("transcript__entry__position")
    for case, (equivalence, execution) in zip(cases, SAID, strict=True):
        CaseGrade.objects.filter(pk=case.pk).update(equivalence=equivalence, execution=execution)
    PackedCases.objects.filter(grading=grading).delete()
    count_anew(grading)
    VerdictCount.objects.filter(grading=grading, column="execution").delete()
    for status, count in Counter(execution for _, execution in SAID).items():
        VerdictCount.objects.create(grading=grading, column="execution", value=status, count=count)
    return grading


def test_page_file_and_interface_count_the_same(get, grading):
    page = text(get("dialects", grading))
    assert "Check accuracy (against the end state)" in page
    (row,) = (row for row in csv_rows(get("proxies-csv", grading)) if row["proxy"] == "equivalence")
    names = ("true_accepts", "false_accepts", "false_rejects", "true_rejects")
    assert [row[name] for name in names] == ["3", "1", "2", "1"]
    assert (float(row["precision"]), float(row["recall"])) == (0.75, 0.6)
    (said,) = (each for each in get("api:proxies", grading).json() if each["proxy"] == "equivalence")
    assert [str(said[name]) for name in names] == [row[name] for name in names]
    assert said["precision"]["passed"] == 3


@pytest.mark.parametrize("pair", sorted(set(SAID)))
def test_every_count_opens_its_cases(get, grading, pair):
    asked = {"column": "equivalence", "status": pair[0], "and_column": "execution", "and_status": pair[1]}
    page = get("cases", grading, **asked)
    assert page.context["count"] == SAID.count(pair)
    assert len(csv_rows(get("cases-csv", grading, **asked))) == SAID.count(pair)
    link = f"?column=equivalence&amp;status={pair[0]}&amp;and_column=execution&amp;and_status={pair[1]}"
    # What one of both could not score is in no cell.
    assert (link in get("dialects", grading).content.decode()) == (set(pair) <= {"passed", "failed"})


def test_a_second_verdict_that_is_none_counts_as_not_asked(get, grading):
    for asked in ({"and_column": "reward", "and_status": "passed"}, {"and_column": "execution", "and_status": "x"}):
        assert get("cases", grading, **asked).context["count"] == len(SAID)


def test_without_end_states_there_is_nothing_to_compare(get, build):
    grading = build.grading([Case("a", "a")])
    assert "Check accuracy (against the end state)" not in text(get("dialects", grading))
    assert csv_rows(get("proxies-csv", grading)) == []
    assert get("api:proxies", grading).json() == []


def test_checks_that_were_never_graded_beside_it_have_no_row():
    assert proxy_rows({"shape": {(("unscored", "passed"),): 4, (("passed", "errored"),): 1}}, several=False) == ()
