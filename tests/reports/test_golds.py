"""One run under every gold: its gradings side by side, and which verdicts changed, by which correction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.asserts import assertContains

from labeling.datasets.services import example_decide_by
from labeling.models import Gold, GoldSource, VersionEntry
from labeling.versions.services import version_freeze
from reports.golds.listing import gold_rows
from tests.reports.reading import csv_rows
from tests.runs.building import REFUND, STATUS, call, silence, uploaded_run, version_of
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import CaseGrade, PackedCases, Run
from toolevals.workspace.models import Project

pytestmark = pytest.mark.django_db


def corrected(entry: VersionEntry, expectation: dict[str, Any] | None) -> None:
    """Put other gold in force for an example, as an adjudicator does; or none, as whoever reopens it does."""
    revision, made = entry.revision, None
    if expectation is not None:
        made = Gold.objects.create(
            revision=revision, expectation=expectation, source=GoldSource.ADJUDICATED, rationale="<b>Ask</b> first."
        )
    revision.gold = made
    revision.save()


@pytest.fixture
def run(project: Project, run_jobs: Any) -> Run:
    """A run on v1, graded on v2 too, twice.

    In v2 two examples have other gold, one is not held, and something else decides the last.
    """
    version = version_of(project)
    says = [call("status", STATUS), call("refund", REFUND), call("history", REFUND), silence("hello")]
    made: Run = uploaded_run(project, version, says)
    run_jobs()
    held = {entry.revision.example.external_id: entry for entry in version.entries.with_everything()}
    corrected(held["status"], {"kind": "no_call", "why": "clarification"})
    corrected(held["history"], {"kind": "some_call"})
    corrected(held["refund"], None)
    example_decide_by(example=held["hello"].revision.example, actor=None, decided_by="answer")
    second = version_freeze(dataset=version.dataset, actor=None)
    for _ in range(2):
        grading_start(run=made, actor=None, dataset_version=second)
        run_jobs()
    made.refresh_from_db()
    return made


@pytest.fixture
def ask(browser_of: Client, run: Run) -> Callable[..., Any]:
    """Return a function that gets a page, file or answer of the run."""

    def fetch(name: str, *args: Any, **query: Any) -> Any:
        app = "reports-api" if name.startswith("api:") else "reports"
        return browser_of.get(reverse(f"{app}:{name.removeprefix('api:')}", args=["shop", run.number, *args]), query)

    return fetch


def test_gradings_stand_side_by_side_with_what_changed_between_them(ask: Any, run: Run, monkeypatch: Any) -> None:
    newest, second, first = csv_rows(ask("golds-csv"))
    assert [(row["version"], row["grading"], row["before"]) for row in (newest, second, first)] == [
        ("2", "3", "2"),
        ("2", "2", "1"),
        ("1", "1", ""),
    ]
    assert (first["passed"], first["scored"], second["passed"], second["scored"]) == ("3", "4", "1", "2")
    assert [second[name] for name in ("fixed", "broken", "other")] == ["1", "1", "2"]
    assert [second[f"by_{name}"] for name in ("gold", "decided_by", "held", "same")] == ["2", "1", "1", "0"]
    assert second["regolded"] == "2"
    assert {newest[name] for name in ("fixed", "broken", "other", "by_same", "regolded")} == {"0"}
    assert {first[name] for name in ("fixed", "by_gold", "regolded")} == {""}

    page = ask("golds")
    assertContains(page, f'href="{reverse("reports:gold-changed", args=["shop", run.number, 1, 2])}?how=fixed"')
    assertContains(page, f'href="{reverse("reports:run", args=["shop", run.number])}?grading=1"')
    assertContains(page, "the first")
    found = ask("api:golds").json()
    assert [row["rate"] for row in found["results"]] == [0.5, 0.5, 0.75]
    monkeypatch.setattr(gold_rows, "__defaults__", (0, 2))
    assertContains(ask("golds"), "?start=2")
    assert ask("api:golds", start=2).json()["results"] == found["results"][2:]
    assert len(csv_rows(ask("golds-csv"))) == 3


def test_each_changed_verdict_names_the_correction_that_changed_it(ask: Any, run: Run) -> None:
    rows = {row["external_id"]: row for row in csv_rows(ask("gold-changed-csv", 1, 2))}
    said = {name: (row["how"], row["cause"], row["outcome_before"], row["outcome_after"]) for name, row in rows.items()}
    assert said == {
        "status": ("broken", "gold", "passed", "failed"),
        "history": ("fixed", "gold", "failed", "passed"),
        "hello": ("other", "decided_by", "passed", "unscored"),
        "refund": ("other", "held", "passed", "unscored"),
    }
    assert (rows["status"]["gold_before"], rows["status"]["source_after"]) != ("", "imported")
    assert (rows["hello"]["decided_by_after"], rows["refund"]["gold_id_after"]) == ("answer", "")

    page = ask("gold-changed", 1, 2, cause="gold")
    assertContains(page, "&lt;b&gt;Ask&lt;/b&gt; first.")
    listed = csv_rows(ask("gold-changed-csv", 1, 2, cause="gold"))
    assert [row["external_id"] for row in listed] == ["status", "history"]
    entry = VersionEntry.objects.get(version=run.dataset_version, revision__example__external_id="status")
    assertContains(page, reverse("labeling:example", args=["shop", "core", entry.revision.example_id]))
    for side, outcome in (("before", "passed"), ("after", "failed")):
        case = listed[0][f"case_id_{side}"]
        assertContains(page, reverse("reports:case", args=["shop", run.number, case]))
        assert CaseGrade.objects.get(pk=case).outcome == outcome
    found = ask("api:gold-changed", 1, 2, limit=3).json()
    assert (found["count"], len(found["results"])) == (4, 3)
    assert found["results"][0] | {"trial": "0"} == {key: value or None for key, value in rows["status"].items()}
    assert found["next"].endswith("?start=3&limit=3")
    assertContains(ask("gold-changed", 2, 3), "No changed verdict matches.")
    assert {ask("gold-changed", 1, 9).status_code, ask("api:gold-changed", 7, 1).status_code} == {404}


def test_the_same_gold_graded_otherwise_is_told_apart(ask: Any, run: Run) -> None:
    third = run.gradings.get(number=3)
    PackedCases.objects.filter(grading=third).delete()
    case = CaseGrade.objects.get(grading=third, outcome="passed")
    CaseGrade.objects.filter(pk=case.pk).update(outcome="failed")
    newest = csv_rows(ask("golds-csv"))[0]
    assert (newest["broken"], newest["by_same"], newest["by_gold"]) == ("1", "1", "0")
    assertContains(ask("gold-changed", 2, 3), "the same gold: other graders or judges, or another trial")
