"""Comparing two runs: page, files and interface say the same, every number opens, what cannot be compared says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from labeling.models import Dataset, DatasetVersion, Gold, VersionEntry
from tests.reports.building import Builder, Case
from tests.reports.reading import csv_rows, table, text
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.verdicts import NONE
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.tool_lists import tool_list_of
from toolevals.runs.models import Agent, Grading, Run

pytestmark = pytest.mark.django_db
BEFORE = [Case("a", "b")] * 9 + [Case("a", "a")] * 6 + [Case("b", "b")] * 5
AFTER = [Case("a", "a")] * 9 + [Case("a", "b")] + [Case("a", "a")] * 5 + [Case("b", "b")] * 5


@pytest.fixture
def pair(build: Builder) -> tuple[Grading, Grading]:
    """Nine fixed, one broken of twenty."""
    before = build.grading(BEFORE)
    return before, build.again(before, [[case] for case in AFTER])


@pytest.fixture
def ask(browser_of: Any) -> Callable[..., Any]:
    """Return a function that gets a page of two gradings' runs: `ask("compare", before, after, layer="selection")`."""

    def fetch(name: str, before: Grading, after: Grading, /, *args: Any, **query: Any) -> Any:
        app = "reports-api" if name.startswith("api:") else "reports"
        numbers = before.run.number, after.run.number
        address = reverse(f"{app}:{name.removeprefix('api:')}", args=[before.run.project.slug, *numbers, *args])
        return browser_of.get(address, query)

    return fetch


def test_the_page_says_whether_the_change_is_real(ask, pair):
    page = ask("compare", *pair)
    assert "Significantly better: 95.0 % of examples are right in their outcome, up from 55.0." in text(page)
    rows = table(page, "compare-layers")
    assert rows[1][:8] == ["Outcome", "20", "55.0", "33.0 to 75.2", "95.0", "72.6 to 100.0", "▲ +40.0", rows[1][7]]
    assert rows[1][8:12] == ["9", "1", "0.021", rows[1][11]]
    heat = table(page, "heat-sm")
    assert heat[1][1:] == [
        "+8 expected a, called a: 9 entered, 1 left",
        "−8 expected a, called b: 1 entered, 9 left",
    ]


def test_page_file_and_interface_agree_to_the_last_digit(ask, pair):
    found = ask("compare", *pair).context["found"]
    api = ask("api:compare", *pair).json()
    for row, said, line in zip(found.layers, api["layers"], csv_rows(ask("compare-layers-csv", *pair)), strict=True):
        assert said["difference"] == float(line["difference"]) == row.compared.difference
        assert said["interval"]["low"] == float(line["difference_low"]) == row.compared.interval.low
        assert said["p_value"] == float(line["p_value"]) == row.compared.p_value
        assert said["p_holm"] == float(line["p_holm"]) == row.p_holm
        assert (said["fixed"], said["broken"]) == (int(line["fixed"]), int(line["broken"]))
    tools = ask("api:compare-tools", *pair).json()["tools"]
    for row, said, line in zip(found.tools, tools, csv_rows(ask("compare-tools-csv", *pair)), strict=True):
        assert said["tool"] == line["tool"] == row.name
        assert said["f1"]["difference"] == float(line["f1_difference"]) == row.figures.f1.difference
        assert said["f1"]["interval"]["high"] == float(line["f1_difference_high"]) == row.figures.f1.interval.high
        assert said["missed"]["p_holm"] == float(line["missed_p_holm"]) == row.missed.p_holm
    cells = ask("api:compare-matrix", *pair).json()["cells"]
    for cell, line in zip(cells, csv_rows(ask("compare-matrix-csv", *pair)), strict=True):
        assert [cell["expected"], cell["actual"]] == [line["expected"], line["actual"]]
        assert cell["difference"] == float(line["difference"])


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"of": "selection", "how": "fixed"}, 9),
        ({"of": "outcome", "how": "broken"}, 1),
        ({"of": "outcome"}, 10),
        ({"of": "missed", "tool": "a", "how": "fixed"}, 9),
        ({"of": "wrong", "tool": "b"}, 10),
        ({"expected": "a", "actual": "b", "how": "left"}, 9),
        ({"expected": "a", "actual": "b"}, 10),
        ({"of": "arguments", "how": "left_out"}, 10),
        ({"of": "no such layer", "how": "no such way"}, 10),
    ],
)
def test_every_count_opens_its_examples(ask, pair, query, count):
    page = ask("compare-cases", *pair, **query)
    assert page.context["page"].count == len(page.context["page"].rows) == count
    api = ask("api:compare-cases", *pair, **query).json()
    assert (api["count"], len(api["results"])) == (count, count)
    lines = csv_rows(ask("compare-cases-csv", *pair, **query))
    assert len(lines) == 2 * count
    assert {line["revision_id"] for line in lines} == {row["revision_id"] for row in api["results"]}


def test_a_list_comes_in_pages(ask, build):
    before = build.grading([Case("a", "b")] * 60)
    after = build.again(before, [[Case("a", "a")]] * 60)
    first = ask("compare-cases", before, after)
    assert len(first.context["page"].rows) == 50
    assert 'href="?of=outcome&amp;start=50"' in text(first)
    assert len(ask("compare-cases", before, after, start=50).context["page"].rows) == 10
    api = ask("api:compare-cases", before, after, limit=40).json()
    assert len(api["results"]) == 40
    assert "start=40" in api["next"]


def test_an_example_stands_with_both_runs_side_by_side(ask, pair):
    row = ask("compare-cases", *pair, how="broken").context["page"].rows[0]
    page = ask("compare-case", *pair, row.revision, how="broken")
    assert "Baseline: " in text(page)
    assert page.context["found"].place == 1
    before, after = page.context["found"].before, page.context["found"].after
    assert (before.case.pk, after.case.pk) == (row.before[0].id, row.after[0].id)
    assert (before.case.actual, after.case.actual) == ("a", "b")
    for each in (before, after):
        assert f"/cases/{each.case.pk}/" in text(page)


def test_neighbours_are_those_of_the_list(ask, pair):
    rows = ask("compare-cases", *pair, how="fixed").context["page"].rows
    found = ask("compare-case", *pair, rows[4].revision, how="fixed").context["found"]
    assert (found.previous, found.next, found.place, found.count) == (rows[3].revision, rows[5].revision, 5, 9)


def test_unscored_and_errored_examples_stand_apart(ask, build):
    before = build.grading([Case("a", "a"), Case("a", "a", status="errored"), Case("a", "b"), Case("a", "b")])
    cases = [Case("a", "a", status="unscored"), Case("a", "a"), Case("a", "a"), Case("a", "b")]
    after = build.again(before, [[case] for case in cases])
    row = ask("compare", before, after).context["found"].layer("outcome")
    assert (row.compared.examples, row.compared.left_out, row.errored_before, row.errored_after) == (2, 2, 1, 0)
    assert (row.compared.improved, row.compared.worsened) == (1, 0)
    assert ask("compare-cases", before, after, how="left_out").context["page"].count == 2
    assert ask("compare-cases", before, after, how="errored").context["page"].count == 1


def test_several_trials_are_paired_by_example(ask, build):
    before = build.tried([[Case("a", "a"), Case("a", "b")], [Case("b", "b"), Case("b", "b")]])
    after = build.again(before, [[Case("a", "a"), Case("a", "a")], [Case("b", "b"), Case("b", NONE)]])
    page = ask("compare", before, after)
    row = page.context["found"].layer("selection")
    assert (row.compared.before, row.compared.after, row.compared.test) == (0.75, 0.75, "sign_flip")
    assert "counting each example by its share of passing trials" in text(page)
    moved = ask("compare-cases", before, after, of="selection").context["page"]
    assert [(len(each.before), len(each.after)) for each in moved.rows] == [(2, 2), (2, 2)]
    case = ask("compare-case", before, after, moved.rows[0].revision, before=2)
    assert [side.trial for _, side in case.context["found"].sides] == [2, 1]


def test_two_datasets_are_refused_in_a_sentence(ask, build):
    one, other = build.grading([Case("a", "a")]), build.grading([Case("a", "a")])
    page = ask("compare", one, other)
    sentence = "These runs use different datasets and cannot be compared: run 1 is on Set 1, run 2 on Set 2."
    assert sentence in text(page)
    api = ask("api:compare", one, other)
    assert (api.status_code, api.json()["detail"]) == (409, sentence)
    assert ask("compare-layers-csv", one, other).status_code == 404
    assert "is not compared with itself" in text(ask("compare", one, one))


def test_a_run_that_is_not_graded_yet_says_so(ask, build, browser_of):
    graded = build.grading([Case("a", "a")])
    run = build.run(graded.dataset_version)
    waiting = Grading(run=run)
    assert f"Run {run.number} is not graded yet." in text(ask("compare", graded, waiting))
    assert ask("api:compare", graded, waiting).status_code == 409
    waiting.run.number = 99
    assert ask("compare", graded, waiting).status_code == 404


def newer_version(grading: Grading, leave_out: int, regold: int) -> DatasetVersion:
    """Return a further version of the dataset without one example, and with other gold for another."""
    dataset = Dataset.objects.get(pk=grading.dataset_version.dataset_id)
    entries = list(grading.dataset_version.entries.order_by("position"))
    version = DatasetVersion.objects.create(dataset=dataset, number=2, size=len(entries) - 1)
    kept = [entry for place, entry in enumerate(entries) if place != leave_out]
    for place, entry in enumerate(kept):
        # Gold of another id that means the same is the same gold.
        meaning = (
            Expectation.single("b", {"id": 1}).to_document() if entry == entries[regold] else entry.gold.expectation
        )
        gold = Gold.objects.create(revision=entry.revision, expectation=meaning, source="imported")
        VersionEntry.objects.create(version=version, position=place, revision=entry.revision, gold=gold)
    return version


def test_only_examples_with_the_same_gold_are_compared_and_the_others_are_counted(ask, build):
    before = build.grading([Case("a", "a"), Case("a", "b"), Case("a", "b"), Case("b", "b")])
    version = newer_version(before, leave_out=0, regold=1)
    other = Grading(dataset_version=version)
    after = build.again(other, [[Case("b", "b")], [Case("a", "a")], [Case("b", "a")]])
    page = ask("compare", before, after)
    assert page.context["found"].examples == 2
    assert [(name, count) for name, _, count in page.context["outside"]] == [("only_before", 1), ("other_gold", 1)]
    assert "is graded on v1 of the dataset, run 2 on v2" in text(page)
    row = page.context["found"].layer("outcome")
    assert (row.compared.improved, row.compared.worsened) == (1, 1)
    gone = ask("compare-cases", before, after, of="only_before").context["page"]
    assert [(each.external_id, len(each.before), len(each.after)) for each in gone.rows] == [("ex-0", 1, 0)]
    regolded = ask("compare-cases", before, after, of="other_gold").context["page"]
    assert [(each.external_id, len(each.before), len(each.after)) for each in regolded.rows] == [("ex-1", 1, 1)]
    fixed = ask("compare-cases", before, after, how="fixed").context["page"]
    assert [each.external_id for each in fixed.rows] == ["ex-2"]
    case = ask("compare-case", before, after, gone.rows[0].revision, of="only_before")
    assert "This example is not part of the run." in text(case)


def test_other_graders_are_named(ask, pair):
    before, after = pair
    Grading.objects.filter(pk=before.pk).update(graders=[{"name": "schema", "version": 1}])
    Grading.objects.filter(pk=after.pk).update(graders=[{"name": "schema", "version": 2}])
    assert "The runs were graded with different grader versions (schema 1 and 2)" in text(ask("compare", *pair))


def worded(project: Any, number: int, **words: str) -> RegistryVersion:
    registry, _ = Registry.objects.get_or_create(project=project, slug="tools", defaults={"name": "Tools"})
    specs = [ToolSpec(name=name, description=said, input_schema={"type": "object"}) for name, said in words.items()]
    return RegistryVersion.objects.create(
        registry=registry, number=number, tools=tool_list_of(project=project, specs=specs)
    )


def test_the_registry_stands_beside_with_what_moved(ask, pair, project):
    _, after = pair
    new = worded(project, 1, a="Does a, and never b.", b="Does b.", unused="Nothing.")
    agent = Agent.objects.create(project=project, name="agent", connector="upload", digest="new", tools=new)
    Run.objects.filter(pk=after.run_id).update(agent=agent)
    page = ask("compare", *pair)
    # The dataset's own words stand for the agent without any; what it does not offer is nobody's change.
    changes = page.context["registry"]
    assert [each.change.name for each in changes] == ["a"]
    assert "Does a<ins>, and never b</ins>." in page.content.decode()
    assert (changes[0].moved.missed.before, changes[0].moved.missed.after) == (9, 1)
    lines = csv_rows(ask("compare-registry-csv", *pair))
    assert lines == [
        {"tool": "a", "kind": "changed", "part": "description", "before": "Does a.", "after": "Does a, and never b."}
    ]
    assert ask("api:compare", *pair).json()["registry"] == [{"tool": "a", "kind": "changed"}]


def test_the_default_baseline_is_the_previous_comparable_run(get, build):
    first = build.grading([Case("a", "a")])
    build.again(first, [[Case("a", "b")]], experiment="other")
    elsewhere = build.grading([Case("a", "a")])
    last = build.again(first, [[Case("a", "a")]])
    assert get("compare-with", last).url == f"/p/{last.run.project.slug}/runs/1/compare/{last.run.number}/"
    asked = get("compare-with", last, baseline=2)
    assert asked.url.endswith(f"/runs/2/compare/{last.run.number}/")
    assert "there is nothing to compare run" in text(get("compare-with", elsewhere))
    assert get("compare-with", last, baseline=99).status_code == 302


def test_hostile_names_are_text(ask, build):
    name = '<script>alert("x")</script>'
    before = build.grading([Case(name, "=cmd()")] * 8)
    after = build.again(before, [[Case(name, name)]] * 8)
    page = ask("compare", before, after)
    assert "<script>alert" not in page.content.decode()
    lines = csv_rows(ask("compare-matrix-csv", before, after))
    assert {line["actual"] for line in lines} == {name, "'=cmd()"}
    assert ask("compare-cases", before, after, of="wrong", tool="=cmd()").context["page"].count == 8


def test_a_comparison_costs_the_same_however_many_examples(ask, pair, django_assert_max_num_queries):
    ask("compare", *pair)
    with django_assert_max_num_queries(30):
        ask("compare", *pair)
