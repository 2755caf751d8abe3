"""The client against the running application, from an empty project to a gate, and the notebook of the docs."""

from __future__ import annotations

import json

import pandas
import pytest

from scripts.dev.environment import ROOT
from tests.cli.served import EXAMPLES, PREDICTIONS, TOOLS, lines, server
from tests.client.notebook import run_notebook
from toolevals.cli import main as command
from toolevals.cli.output import Exit
from toolevals.client import Dataset, Project, Run, ServerError, ServerSettingsError

__all__ = ["server"]

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def project(server) -> Project:
    return Project.from_environment(timeout=120)


@pytest.fixture(scope="module")
def dataset(project: Project, tmp_path_factory) -> Dataset:
    dataset = project.make_dataset("client", "From the client")
    examples = [row | {"tools": TOOLS} for row in EXAMPLES]
    report = dataset.import_file(lines(tmp_path_factory.mktemp("client") / "examples.jsonl", examples))
    assert report["added"] == 2, report
    return dataset


@pytest.fixture(scope="module")
def run(dataset: Dataset, tmp_path_factory) -> Run:
    version = dataset.freeze("first")
    assert (version.number, version.size) == (1, 2)
    file = lines(tmp_path_factory.mktemp("client") / "predictions.jsonl", PREDICTIONS)
    return dataset.run_predictions(file, name="an-agent", version="1")


def test_a_run_tells_its_rates(project, run):
    selection = run.rates["selection"]
    assert (selection.passed, selection.total, selection.value) == (1, 2, 0.5)
    assert selection.low < 0.5 < selection.high
    assert (run.agent, run.dataset, run.version) == ("an-agent", "client", 1)
    (listed,) = project.runs()
    assert listed.rates["outcome"] == run.rates["outcome"]
    assert project.run(run.number) == run


def test_cases_are_read_one_by_one_and_filtered(run):
    cases = {case.external_id: case for case in run.cases()}
    assert {name: case.verdicts["selection"] for name, case in cases.items()} == {"ex-1": "passed", "ex-2": "failed"}
    (wrong,) = run.cases(actual="cancel_order")
    assert wrong == cases["ex-2"]
    assert run.case(wrong.id)["detail"]["verdicts"]["selection"]["status"] == "failed"
    with pytest.raises(ServerError, match="'actuall' is not known here"):
        list(run.cases(actuall="cancel_order"))


def test_a_data_frame_has_the_columns_of_the_file(run):
    frame = run.cases().to_pandas()
    assert list(frame["external_id"]) == ["ex-1", "ex-2"]
    assert set(frame["actual"]) == {"get_order_status", "cancel_order"}
    assert not [name for name in frame.columns if name.startswith("metrics")]
    assert {"case_id", "outcome", "message", "tokens_in", *next(iter(run.cases())).metrics} <= set(frame.columns)


def test_a_gate_is_asked_and_told(project, run):
    gate = run.gate({"bounds": [{"metric": "selection", "min": 0.9}]})
    assert gate.status == "failed"
    assert [check.observed for check in gate.result.checks] == [0.5]
    assert gate.page.startswith(f"{project.server}/p/from-cli/gates/")


def test_tables_come_as_parquet_by_the_client_and_the_command(run, tmp_path):
    file = tmp_path / "cases.parquet"
    file.write_bytes(b"".join(run.table("cases", "parquet")))
    assert pandas.read_parquet(file, use_threads=False)["actual"].tolist() == ["get_order_status", "cancel_order"]
    asked = ["export", "--run", str(run.number), "-o"]
    assert command.main([*asked, str(tmp_path / "again.parquet"), "--format", "parquet"]) == Exit.OK
    assert (tmp_path / "again.parquet").read_bytes() == file.read_bytes()
    assert command.main([*asked, str(tmp_path / "cases.csv")]) == Exit.OK
    assert (tmp_path / "cases.csv").read_text().startswith("case_id,")
    assert command.main(["export", "client", "--format", "parquet", "-o", str(file)]) == Exit.OK
    assert pandas.read_parquet(file, use_threads=False)["id"].tolist() == ["ex-1", "ex-2"]
    for wrong in (["--format", "bfcl"], ["--table", "compare-cases"], ["--candidate", "1"], ["--version", "1"]):
        assert command.main(["export", "--run", str(run.number), *wrong]) == Exit.CONFIGURATION
    assert command.main(["export"]) == Exit.CONFIGURATION


def test_examples_come_back(dataset, tmp_path):
    assert [row["id"] for row in dataset.examples()] == ["ex-1", "ex-2"]
    file = dataset.export(tmp_path / "examples.csv", "csv", version="1")
    assert file.read_text().splitlines()[0].startswith("id,")
    assert [version.note for version in dataset.versions()] == ["first"]


def test_what_is_wrong_is_said(project, dataset, tmp_path):
    with pytest.raises(ServerSettingsError, match="404"):
        project.dataset("none")
    file = tmp_path / "wrong.jsonl"
    file.write_text(json.dumps({"id": "ex-3"}) + "\n")
    with pytest.raises(ServerError, match="1, "):
        dataset.import_file(file)
    assert len(list(dataset.examples())) == 2


def test_the_notebook_runs(run, capsys):
    named = run_notebook(ROOT / "docs" / "examples" / "notebook" / "worst-confusion.ipynb")
    assert (named["expected"], named["actual"]) == ("(none)", "cancel_order")
    assert named["matrix"].to_numpy().sum() == 2
    assert named["gate"].status == "failed"
    assert "selection" in capsys.readouterr().out
