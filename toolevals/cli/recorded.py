"""Runs `toolevals import recorded`: makes a dataset and a run, with its own rewards, of a benchmark's result file."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from labeling.imports.readers.recorded_tasks import domain_of
from toolevals.cli.client import ProjectClient
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.inputs import read_input
from toolevals.cli.output import say, say_progress
from toolevals.cli.publishing import ensure_dataset
from toolevals.cli.what_was_read import say_readings
from toolevals.grading.engine.grading import CUT_OFF
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.files.recorded_files import (
    AS_PUBLISHED,
    example_document,
    joined,
    predictions,
    readings_of,
    recorded_runs,
    result_document,
    task_rows,
)


def add_recorded_parser(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add the kind; the options of a dataset come with the other kinds'."""
    parser = kinds.add_parser("recorded", help="tasks and runs of a result file of tau-bench or tau2-bench")
    words = "may be packed with gzip; - is standard input; or the folder of a tau2-bench run"
    parser.add_argument("file", type=Path, metavar="FILE", help=words)
    parser.add_argument("--experiment", required=True, metavar="NAME", help="a new one is made")
    parser.add_argument("--name", required=True, metavar="NAME", help="the agent that was recorded")
    parser.add_argument("--model", default="", help="its model")
    parser.add_argument("--order", choices=("unordered", "ordered"), help="of expected actions: by default unordered")
    parser.add_argument("--cut-off", choices=CUT_OFF, default="failed", help="conversations that were cut")
    parser.set_defaults(run=import_recorded)
    return parser


def import_recorded(arguments: argparse.Namespace) -> int:
    """Import the tasks that the dataset does not hold yet, freeze a version, upload the runs, and say who agrees."""
    document = _read(arguments.file)
    client = ProjectClient.from_arguments(arguments)
    ensure_dataset(client, arguments.dataset, arguments.tools)
    try:
        rows = task_rows(document, arguments.order or "unordered", offered=bool(arguments.tools))
        runs = recorded_runs(document)
    except InvalidDocument as error:
        raise CommandError(Exit.DATA, f"{arguments.file}: {error}") from error
    say_readings(readings_of(runs))
    names = joined(rows, _known(client, arguments.dataset))
    new = [row for row in rows if not names[row.external_id].is_known]
    with tempfile.TemporaryDirectory() as folder:
        if new:
            tasks = _written(Path(folder) / "tasks.jsonl", (example_document(row, names) for row in new))
            job = client.upload(f"datasets/{arguments.dataset}/imports/", tasks, {"source": "jsonl"})
            client.wait(job, say=say_progress)
        say(f"tasks {len(rows)}: {len(new)} new, {len(rows) - len(new)} of the same content there already")
        note = arguments.freeze or f"Recorded runs of {arguments.name}"
        body = {"note": note, "misfits_reason": arguments.misfits_reason or AS_PUBLISHED}
        version = client.request("POST", f"datasets/{arguments.dataset}/versions/", json=body)
        say(f"{arguments.dataset} version {version['number']}: {version['size']} examples")
        try:
            lines = _written(Path(folder) / "runs.jsonl", predictions(runs, names, domain_of(document)))
        except InvalidDocument as error:
            raise CommandError(Exit.DATA, f"{arguments.file}: {error}") from error
        fields = {
            "experiment": arguments.experiment,
            "dataset": f"{arguments.dataset}@{version['number']}",
            "name": arguments.name,
            "model": arguments.model,
            "trials": str(max((run.trial for run in runs), default=0) + 1),
            "cut_off": arguments.cut_off,
        }
        started = client.upload("runs/predictions/", lines, fields)
        client.wait(started["job"], say=say_progress)
    number = started["run"]["number"]
    found = client.request("GET", f"runs/{number}/recorded/")
    say(f"run {number}: {found['agreed']} of {found['scored']} scored cases agree with the recorded reward")
    say(f"  {client.page(f'runs/{number}/recorded/')}")
    return Exit.OK


def _known(client: ProjectClient, dataset: str) -> Iterator[dict[str, Any]]:
    """Yield the examples that the dataset holds."""
    rest = b""
    for part in client.download(f"datasets/{dataset}/export/"):
        *lines, rest = (rest + part).split(b"\n")
        yield from (orjson.loads(line) for line in lines if line.strip())
    if rest.strip():
        yield orjson.loads(rest)


def _written(file: Path, documents: Iterable[Mapping[str, Any]]) -> Path:
    with file.open("wb") as stream:
        for document in documents:
            stream.write(orjson.dumps(document) + b"\n")
    return file


def _read(file: Path) -> Any:
    """Return a result file's document; of a folder, `results.json` with the files of its folder `simulations`."""
    if file.is_dir():
        document = _read(file / "results.json")
        runs = [_read(each) for each in sorted((file / "simulations").glob("*.json"))]
        return document | {"simulations": runs} if isinstance(document, dict) else document
    try:
        return result_document(read_input(file))
    except OSError as error:
        raise CommandError(Exit.DATA, f"cannot read {file}: {error}") from error
    except InvalidDocument as error:
        raise CommandError(Exit.DATA, f"{file}: {error}") from error
