"""Comparing a part of two runs' examples, stratum by stratum, and what judges say: page, files and lists agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from labeling.models import Example
from tests.reports.building import Builder, Case
from tests.reports.reading import csv_rows, table, text
from toolevals.runs.judging.services import rubric_use
from toolevals.runs.models import (
    CalibratedCase,
    CaseTag,
    Grading,
    Judge,
    JudgeCalibration,
    JudgeCount,
    JudgedCase,
    Transcript,
)

pytestmark = pytest.mark.django_db
# Ten easy ones that are fixed, six hard ones of which one breaks.
BEFORE = [Case("a", "b", "selection", "easy")] * 10 + [Case("b", "b", "selection", "hard")] * 6
AFTER = [Case("a", "a", "selection", "easy")] * 10 + [Case("b", "a", "selection", "hard")] + BEFORE[11:]


@pytest.fixture
def pair(build: Builder) -> tuple[Grading, Grading]:
    before = build.grading(BEFORE)
    after = build.again(before, [[case] for case in AFTER])
    for place, entry in enumerate(before.dataset_version.entries.order_by("position")):
        Example.objects.filter(revisions=entry.revision_id).update(
            bucket="selection", difficulty="easy" if place < 10 else "hard"
        )
    return before, after


@pytest.fixture
def ask(browser_of: Any) -> Callable[..., Any]:
    """Return a function that gets a page of two gradings' runs."""

    def fetch(name: str, before: Grading, after: Grading, **query: Any) -> Any:
        app = "reports-api" if name.startswith("api:") else "reports"
        address = reverse(
            f"{app}:{name.removeprefix('api:')}",
            args=[before.run.project.slug, before.run.number, after.run.number],
        )
        return browser_of.get(address, query)

    return fetch


def test_each_value_of_a_stratum_has_its_row(ask, pair):
    page = ask("compare", *pair, by="difficulty")
    rows = table(page, "compare-strata")
    assert [(row[0], row[1], row[2], row[3], row[6], row[7], row[9]) for row in rows[1:]] == [
        ("easy stands", "10", "0.0", "100.0", "10", "", "0.0039"),
        ("hard", "6", "100.0", "83.3", "", "1", "1"),
    ]
    lines = csv_rows(ask("compare-strata-csv", *pair, by="difficulty", layer="outcome"))
    assert [(line["stratum"], line["value"], line["fixed"], line["broken"]) for line in lines] == [
        ("difficulty", "easy", "10", "0"),
        ("difficulty", "hard", "0", "1"),
    ]
    # 2·2^-10, twice.
    assert float(lines[0]["p_holm"]) == 4 / 1024


@pytest.mark.parametrize(("part", "examples", "fixed", "broken"), [("easy", 10, 10, 0), ("hard", 6, 0, 1)])
def test_a_part_is_compared_alike_everywhere(ask, pair, part, examples, fixed, broken):
    page = ask("compare", *pair, difficulty=part)
    found = page.context["found"]
    assert (found.examples, found.matrix.examples) == (examples, examples)
    assert f'<b class="num">{examples}</b> of 16 examples are compared: those that the filters keep.' in text(page)
    layer = ask("api:compare", *pair, difficulty=part).json()["layers"][0]
    assert (layer["examples"], layer["fixed"], layer["broken"]) == (examples, fixed, broken)
    line = csv_rows(ask("compare-layers-csv", *pair, difficulty=part))[0]
    assert (line["examples"], line["fixed"], line["broken"]) == (str(examples), str(fixed), str(broken))
    moved = ask("compare-cases", *pair, difficulty=part)
    assert moved.context["page"].count == fixed + broken
    assert f"difficulty={part}" in text(moved)
    lines = csv_rows(ask("compare-cases-csv", *pair, difficulty=part))
    assert len({line["revision_id"] for line in lines}) == fixed + broken
    assert ask("compare-cases", *pair).context["page"].count == 11


def test_every_link_of_a_part_keeps_it(ask, pair):
    page = text(ask("compare", *pair, difficulty="easy"))
    links = [each.partition('"')[0] for each in page.split('href="')[1:]]
    inside = [each for each in links if "/cases/?" in each or each.startswith("?layer") or "cases/" in each]
    kept = [each for each in inside if "difficulty=easy" not in each]
    # What takes the condition off is the chip.
    assert [each for each in kept if "layer=" not in each and each.rstrip("/").rpartition("/")[2] != "cases"] == []


def test_a_tag_on_either_run_picks_its_example(ask, pair):
    for grading, place in zip(pair, (0, 10), strict=True):
        transcript = Transcript.objects.filter(run=grading.run).order_by("entry__position")[place]
        CaseTag.objects.create(transcript=transcript, tag="odd")
    assert ask("compare", *pair, tagged="odd").context["found"].examples == 2
    assert ask("compare-cases", *pair, tagged="odd").context["page"].count == 2


def test_a_part_without_examples_says_so(ask, pair):
    page = ask("compare", *pair, difficulty="none of them")
    assert page.context["found"].examples == 0
    assert "Nothing was scored in both runs." in text(page)


def test_many_examples_are_not_read_for_strata_unless_asked(ask, pair, monkeypatch):
    monkeypatch.setattr("reports.compare.page.MOST_AT_ONCE", 15)
    page = ask("compare", *pair)
    assert "By stratum, and filters" in text(page)
    assert "stratum_rows" not in page.context
    assert len(ask("compare", *pair, by="bucket").context["stratum_rows"]) == 1


@pytest.fixture
def judge(project: Any) -> Judge:
    rubric = rubric_use(project=project, actor=None, name="argument_semantics")
    return Judge.objects.create(
        project=project, name="Tone", rubric=rubric, model="judge-2", is_pinned=True, options={}
    )


@pytest.fixture
def judged(pair: tuple[Grading, Grading], judge: Judge) -> tuple[Grading, Grading]:
    """Judged by the same rubric: three that failed pass now, one the other way, one is not scored now."""
    marks = ["fffp" + "p" * 12, "pppf" + "u" + "p" * 11]
    for grading, said, model in zip(pair, marks, ("judge-1", "judge-2"), strict=True):
        seat = {
            "rubric": "argument_semantics", "version": 1, "title": "Tone", "layer": "", "name": "Tone", "model": model,
            "judge": str(judge.pk), "pinned": True, "share": 1.0, "budget": None,
        }  # fmt: skip
        Grading.objects.filter(pk=grading.pk).update(judges=[seat])
        words = {"p": ("passed", 1.0), "f": ("failed", 0.0), "u": ("unscored", None)}
        for case, each in zip(grading.cases.order_by("transcript__entry__position"), said, strict=True):
            status, value = words[each]
            JudgedCase.objects.create(
                case=case, grading=grading, rubric="argument_semantics", status=status, value=value, questions=1
            )
        JudgeCount.objects.create(
            grading=grading, judge=judge, rubric="argument_semantics", passed=said.count("p"), failed=said.count("f"),
            unscored=said.count("u"), errored=0, mean=0.5, asked=16, cost=None, settled=0,
        )  # fmt: skip
    return pair


def test_judges_are_compared_in_pairs_with_who_they_were(ask, judged):
    page = ask("compare", *judged)
    (row,) = page.context["judges"]
    found = row.compared
    assert (found.examples, found.improved, found.worsened, found.left_out) == (15, 3, 1, 1)
    assert (found.before, found.after) == (12 / 15, 14 / 15)
    assert (row.values.before, row.values.after) == (12 / 15, 14 / 15)
    # 2·(C(4,0) + C(4,1))/2^4.
    assert (found.p_value, row.p_holm) == (0.625, 0.625)
    said = text(page)
    assert "never compared with people" in said
    assert "judge-1 by v1 of the rubric, now judge-2 with v1: the judge changed, not necessarily the agent" in said
    (line,) = csv_rows(ask("compare-judges-csv", *judged))
    assert (line["before_model"], line["after_model"], line["fixed"], line["left_out"]) == (
        "judge-1",
        "judge-2",
        "3",
        "1",
    )
    for how, count in (("fixed", 3), ("broken", 1), ("left_out", 1), ("", 4)):
        assert ask("compare-cases", *judged, of="judged:argument_semantics", how=how).context["page"].count == count
    assert ask("compare", *judged, difficulty="hard").context["judges"][0].compared.examples == 6


def test_what_people_rate_now_is_left_out_of_the_counts_and_the_list(ask, judged, judge):
    before, after = judged
    drawn = after.cases.order_by("transcript__entry__position")[0]
    made = JudgeCalibration.objects.create(judge=judge, grading=after, raters=1, seed="s", drawn_from={})
    CalibratedCase.objects.create(calibration=made, position=0, case=drawn, is_held_out=True, passed=True)
    (row,) = ask("compare", before, after).context["judges"]
    assert (row.hidden, row.compared.examples, row.compared.improved) == (1, 14, 2)
    page = ask("compare-cases", before, after, of="judged:argument_semantics", how="fixed").context["page"]
    assert page.count == 2
    assert drawn.transcript.entry.revision_id not in {each.revision for each in page.rows}
