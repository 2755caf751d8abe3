"""Test what each tool's calls took: from predictions through grading to page, file and interface, which all agree."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from tests.reports.reading import csv_rows, table, text
from tests.runs.building import HISTORY, STATUS, example, uploaded_run, version_of
from toolevals.runs.models import CaseGrade, Grading, MeasuredCalls, Run, ToolSpending

pytestmark = pytest.mark.django_db
ORDER = {"order_id": "ORD-1"}


def step(*calls: tuple[str, str], **took: Any) -> dict[str, Any]:
    made = [{"name": tool, "arguments": ORDER, "id": name} for name, tool in calls]
    return {"role": "assistant", "calls": made, **took}


def answered(name: str, **took: Any) -> dict[str, Any]:
    return {"role": "tool", "call_id": name, "content": "{}", **took}


def talk(name: str, *messages: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "format": "native", "messages": [*messages, {"role": "assistant", "content": "Done."}]}


PREDICTIONS = [
    talk(
        "one",
        step(("c1", STATUS), latency_ms=1000, usage={"input_tokens": 100, "output_tokens": 10}, cost=0.5),
        answered("c1", latency_ms=40),
    ),
    talk(
        "two",
        step(
            ("c1", STATUS), ("c2", HISTORY), latency_ms=3000, usage={"input_tokens": 300, "output_tokens": 30}, cost=1.5
        ),
        answered("c1", latency_ms=20),
        answered("c2"),
    ),
    talk("three", step(("c1", STATUS)), answered("c1", latency_ms=60)),
    # A single step: it took what the whole took.
    {
        "id": "four",
        "tool_calls": [{"name": "gimme", "arguments": {}}],
        "latency_ms": 7,
        "usage": {"input_tokens": 8, "output_tokens": 4},
    },
]


@pytest.fixture
def grading(project, run_jobs) -> Grading:
    names = [row["id"] for row in PREDICTIONS]
    version = version_of(project, [example(name, f"Where is it, {name}?", STATUS) for name in names])
    run = uploaded_run(project, version, PREDICTIONS)
    run_jobs()
    return Grading.objects.select_related("run__project").get(pk=Run.objects.get(pk=run.pk).grading_id)


def case_of(grading: Grading, name: str) -> str:
    return str(CaseGrade.objects.get(grading=grading, transcript__entry__revision__example__external_id=name).pk)


@pytest.mark.database
def test_the_file_holds_the_numbers_worked_by_hand(get, grading):
    rows = {row["tool"]: row for row in csv_rows(get("spending-csv", grading))}
    assert list(rows) == [STATUS, HISTORY, "(unknown tool)"]
    status = rows[STATUS]
    assert {
        name: status[name] for name in ("calls", "steps", "execution_recorded", "step_recorded", "cost_recorded")
    } == {
        "calls": "3",
        "steps": "3",
        "execution_recorded": "3",
        "step_recorded": "2",
        "cost_recorded": "2",
    }
    # Of 20, 40, 60: place 2 * .95 = 1.9, so 40 + .9 * 20.
    assert [float(status[f"execution_{stat}_ms"]) for stat in ("p50", "p95", "most")] == [40, pytest.approx(58), 60]
    assert [status[f"execution_{stat}_case"] for stat in ("p50", "p95")] == [
        case_of(grading, name) for name in ("one", "three")
    ]
    # Of 1000 and 3000.
    assert [float(status[f"step_{stat}_ms"]) for stat in ("p50", "p99")] == [2000, pytest.approx(2980)]
    assert status["step_p50_case"] == case_of(grading, "two")
    # Its own step, and half of the step that it shares.
    assert [float(status[name]) for name in ("tokens_in", "tokens_out", "cost")] == [250, 25, 1.25]
    assert float(status["cost_most"]) == 0.75
    assert status["cost_most_case"] == case_of(grading, "two")
    history = rows[HISTORY]
    assert (history["execution_recorded"], history["execution_p50_ms"], history["execution_p50_case"]) == ("0", "", "")
    assert [float(history[name]) for name in ("step_p50_ms", "tokens_in", "cost")] == [3000, 150, 0.75]
    unknown = rows["(unknown tool)"]
    assert [unknown[name] for name in ("calls", "step_p50_ms", "tokens_in", "cost")] == ["1", "7.0", "8.0", ""]


def test_page_file_and_interface_say_the_same(get, grading):
    page = table(get("spending", grading), "spent")[2:]
    file = csv_rows(get("spending-csv", grading))
    found = get("api:spending", grading).json()
    assert [row[0] for row in page] == [row["tool"] for row in file] == [row["tool"] for row in found["tools"]]
    assert page[0][1:] == [
        "3",
        "40",
        "58",
        "60",
        "2,000 of 2",
        "2,900 of 2",
        "2,980 of 2",
        "250 of 2",
        "25 of 2",
        "1.25 of 2",
        "0.625",
    ]
    assert found["cost"] == sum(float(row["cost"] or 0) for row in file) == 2
    assert found["tokens_in"] == sum(float(row["tokens_in"]) for row in file) == 408
    for row, each in zip(file, found["tools"], strict=True):
        for part in ("execution", "step"):
            timing = each[f"{part}_ms"]
            assert timing["known"] == int(row[f"{part}_recorded"])
            for stat in ("p50", "p95", "p99", "most"):
                said = timing[stat] or {"value": "", "case": ""}
                assert [str(said["value"]), said["case"]] == [row[f"{part}_{stat}_ms"], row[f"{part}_{stat}_case"]]


def test_every_number_opens_its_case(get, grading):
    html = text(get("spending", grading))
    for name in ("one", "two", "three", "four"):
        address = reverse("reports:case", args=[grading.run.project.slug, grading.run.number, case_of(grading, name)])
        assert f'href="{address}"' in html


@pytest.mark.parametrize(
    ("order", "first"), [("tool", "(unknown tool)"), ("step_p50", HISTORY), ("calls", STATUS), ("nonsense", STATUS)]
)
def test_it_is_ordered_as_the_address_says(get, grading, order, first):
    assert table(get("spending", grading, order=order), "spent")[2][0] == first
    assert csv_rows(get("spending-csv", grading, order=order))[0]["tool"] == first
    assert get("api:spending", grading, order=order).json()["tools"][0]["tool"] == first


def test_the_page_shows_those_that_took_most_first(get, grading):
    page = get("spending", grading)
    assert [row[0] for row in table(page, "spent")[2:]] == [STATUS, HISTORY, "(unknown tool)"]


def test_what_was_packed_is_dropped_and_graded_again_it_says_the_same(get, grading, run_jobs):
    from toolevals.runs.grading.services import grading_start

    assert not MeasuredCalls.objects.exists()
    before = csv_rows(get("spending-csv", grading))
    grading_start(run=grading.run, actor=None)
    run_jobs()
    after = csv_rows(get("spending-csv", grading))
    assert ToolSpending.objects.filter(grading__run=grading.run).count() == 6
    figures = [name for name in before[0] if not name.endswith("_case")]
    assert [[row[name] for name in figures] for row in after] == [[row[name] for name in figures] for row in before]


def test_a_run_that_recorded_nothing_counts_its_calls_and_says_so(project, get, run_jobs):
    version = version_of(project, [example("one", "Where is it?", STATUS)])
    run = uploaded_run(project, version, [{"id": "one", "tool_calls": [{"name": STATUS, "arguments": ORDER}]}])
    run_jobs()
    grading = Grading.objects.select_related("run__project").get(run=run)
    page = get("spending", grading)
    assert table(page, "spent")[2] == [STATUS, "1", *["–"] * 10]
    assert "No call times or costs are recorded" in text(page)
    assert "spent" not in get("run", grading).content.decode().split("<main")[1]


def test_an_earlier_grading_says_that_it_did_not_measure(get, grading):
    ToolSpending.objects.all().delete()
    assert "made before calls were measured" in text(get("spending", grading))


def test_its_cost_does_not_grow_with_the_tools(get, grading, django_assert_max_num_queries):
    get("spending", grading)
    with django_assert_max_num_queries(9):
        get("spending", grading)
