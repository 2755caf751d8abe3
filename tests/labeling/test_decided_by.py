"""Test what decides an example: in files, on its page, by REST, with a dataset's default, and frozen in versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from labeling.datasets.services import dataset_create, dataset_update, example_decide_by
from labeling.exports.formats import dataset_lines, version_lines
from labeling.imports.services import examples_import
from labeling.models import Dataset, DatasetVersion, Example, VersionEntry
from labeling.versions.services import version_freeze
from tests.labeling.importing import load, problems
from tests.labeling.rows import NO_CALL, document, row
from tests.labeling.test_api import Program
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import AuditEntry, JobState

__all__ = ["load"]
GOLD = {"expectation": NO_CALL}


def said() -> dict[str, str]:
    return dict(Example.objects.order_by("external_id").values_list("external_id", "decided_by"))


def frozen(version: DatasetVersion) -> dict[str, str]:
    rows = VersionEntry.objects.filter(version=version).order_by("position")
    return dict(rows.values_list("revision__example__external_id", "decided_by"))


def default_set(dataset: Dataset, decided_by: str) -> Dataset:
    words: dict[str, Any] = {
        name: getattr(dataset, name) for name in ("name", "description", "guideline", "default_tools")
    }
    return dataset_update(dataset=dataset, actor=None, decided_by=decided_by, **words)


def test_a_row_says_what_decides_it_and_one_that_does_not_leaves_what_people_chose(dataset, load):
    job = load([document("a", **GOLD), document("b", decided_by="answer+end_state", **GOLD)], "jsonl")
    assert (job.state, said()) == (JobState.SUCCEEDED, {"a": "", "b": "end_state+answer"})
    job = load([document("a", decided_by="calls", **GOLD), document("b", **GOLD)], "jsonl")
    assert (job.report["decided_by_changed"], job.report["unchanged"]) == (1, 1)
    assert said() == {"a": "calls", "b": "end_state+answer"}
    assert load([document("a", decided_by="calls", **GOLD)], "jsonl").report["unchanged"] == 1


def test_a_table_says_it_in_a_column(dataset, load):
    columns = {
        "columns": {name: "tool" if name == "expected_tool" else name for name in ("id", "user", "expected_tool")}
    }
    columns["columns"]["decided by"] = "decided_by"
    content = b"id,user,expected_tool,decided by\na,Hello,(none),answer\nb,Hello you,(none),\n"
    assert load(content, "csv", columns).state == JobState.SUCCEEDED
    assert said() == {"a": "answer", "b": ""}
    job = load(b"id,user,expected_tool,decided by\nc,Hello,,reward\n", "csv", columns)
    assert (job.state, problems(job)) == (JobState.FAILED, [(2, "/decided by")])


def test_what_decides_nothing_refuses_the_file_by_name(dataset, load):
    job = load([document("a", **GOLD), document("b", decided_by="reward", **GOLD)], "jsonl")
    assert job.state == JobState.FAILED
    (error,) = job.report["errors"]
    assert (error["line"], error["pointer"]) == (2, "/decided_by")
    assert "'reward' decides nothing: take expected, or some of calls" in error["message"]


def test_a_version_holds_what_decided_when_it_was_frozen(dataset):
    rows = [row("a", **GOLD), row("b", decided_by="answer", **GOLD), row("c", decided_by="expected", **GOLD)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    first = version_freeze(dataset=dataset, actor=None)
    assert frozen(first) == {"a": "expected", "b": "answer", "c": "expected"}
    default_set(dataset, "end_state")
    second = version_freeze(dataset=dataset, actor=None)
    assert (second.number, frozen(second)) == (2, {"a": "end_state", "b": "answer", "c": "expected"})
    assert version_freeze(dataset=dataset, actor=None) == second
    example_decide_by(example=Example.objects.get(external_id="a"), actor=None, decided_by="calls")
    assert frozen(version_freeze(dataset=dataset, actor=None))["a"] == "calls"
    assert (frozen(first)["a"], frozen(second)["a"]) == ("expected", "end_state")


def test_what_leaves_comes_back(dataset, project):
    rows = [row("a", **GOLD), row("b", decided_by="answer", **GOLD), row("c", decided_by="expected", **GOLD)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    default_set(dataset, "end_state")
    lines = [json.loads(line) for line in dataset_lines(dataset)]
    assert [line.get("decided_by") for line in lines] == [None, "answer", "expected"]
    lines = [json.loads(line) for line in version_lines(version_freeze(dataset=dataset, actor=None))]
    assert [line.get("decided_by") for line in lines] == ["end_state", "answer", None]


def test_programs_set_it(dataset, adjudicator, reviewer):
    examples_import(dataset=dataset, actor=None, rows=[row("a", **GOLD), row("open")])
    chief, other = Program(adjudicator), Program(reviewer)
    shown = chief.get("datasets/support/")
    assert shown["decided_by"] == "expected"
    change = {"name": "Support", "default_tools": shown["default_tools"], "decided_by": "answer+end_state"}
    assert chief.send("PUT", "datasets/support/", change)["decided_by"] == "end_state+answer"
    del change["decided_by"]
    assert chief.send("PUT", "datasets/support/", change)["decided_by"] == "end_state+answer"
    problem = chief.send("PUT", "datasets/support/", change | {"decided_by": "reward"}, status=422)
    assert "'reward' decides nothing" in json.dumps(problem)
    made = chief.send("POST", "datasets/", {"slug": "more", "name": "More", "decided_by": "end_state"}, status=201)
    assert made["decided_by"] == "end_state"

    one, waiting = (f"examples/{Example.objects.get(external_id=name).pk}/" for name in ("a", "open"))
    assert chief.send("PUT", one, {"decided_by": "answer"})["decided_by"] == "answer"
    chief.send("PUT", waiting, {"decided_by": "answer"})
    assert (chief.get(waiting)["decided_by"], other.get(waiting)["decided_by"]) == ("answer", "")
    assert other.get(one)["decided_by"] == "answer"
    chief.send("PUT", one, {"decided_by": "calls+expected"}, status=422)
    other.send("PUT", one, {"decided_by": ""}, status=403)
    assert chief.send("PUT", one, {"decided_by": ""})["decided_by"] == ""
    told = AuditEntry.objects.filter(verb="example_decide_by").order_by("id").last()
    assert told is not None
    assert told.detail == {"decided_by": "", "before": "answer"}


def test_people_set_it(dataset, adjudicator, client):
    examples_import(dataset=dataset, actor=None, rows=[row("a", **GOLD)])
    client.force_login(adjudicator)
    base = "/p/shop/datasets/support/"
    words = {"name": "Support", "default_tools": dataset.default_tools_id}
    assert client.post(f"{base}settings/", words | {"decided_by": ["answer", "end_state"]}).status_code == 302
    assert Dataset.objects.get(slug="support").decided_by == "end_state+answer"
    assert client.get(f"{base}settings/").content.decode().count("checked") == 2
    assert client.post(f"{base}settings/", words).status_code == 302
    assert Dataset.objects.get(slug="support").decided_by == "expected"

    page = f"{base}examples/{Example.objects.get().pk}/"
    assert "Decided by what the gold expects." in client.get(page).content.decode()
    assert client.post(f"{page}decided-by/", {"decided_by": ["calls"]}).status_code == 302
    assert "Decided by calls." in client.get(page).content.decode()
    refused = client.post(f"{page}decided-by/", {"decided_by": ["expected", "calls"]})
    assert (refused.status_code, said()) == (422, {"a": "calls"})
    assert "expected cannot be combined" in refused.content.decode()


def test_nothing_else_is_taken(project):
    with pytest.raises(InvalidDocument):
        dataset_create(project=project, actor=None, slug="x", name="X", decided_by="reward")
