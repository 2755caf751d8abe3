"""`toolevals import recorded`: a benchmark's result file as a dataset's tasks and as a run, with its own rewards."""

from __future__ import annotations

import argparse
import gzip
import io
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from labeling.imports.formats.recorded_tasks import domain_of, tau2_rows, tau_rows
from labeling.imports.formats.settings import Settings
from toolevals.cli.client import ProjectClient
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.inputs import read_input
from toolevals.cli.output import say, say_progress
from toolevals.cli.publishing import ensure
from toolevals.grading.documents import load_json
from toolevals.grading.engine import CUT_OFF
from toolevals.grading.evaluation_files.reading import content_key
from toolevals.grading.examples import ExampleRow
from toolevals.grading.parsing.recorded import RecordedRun, is_tau2, tau2_runs, tau_runs
from toolevals.grading.problems import InvalidDocument

# Result files are large; nothing in them is nested deeper.
MOST_BYTES = 512_000_000
MAX_DEPTH = 100


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
    ensure(client, "datasets/", arguments.dataset, {"default_tools": arguments.tools} if arguments.tools else {})
    try:
        rows = task_rows(document, arguments.order or "unordered", offered=bool(arguments.tools))
        runs = list((tau2_runs if is_tau2(document) else tau_runs)(document))
    except InvalidDocument as error:
        raise CommandError(Exit.DATA, f"{arguments.file}: {error}") from error
    names = joined(rows, _known(client, arguments.dataset))
    new = [row for row in rows if not names[row.external_id].is_known]
    with tempfile.TemporaryDirectory() as folder:
        if new:
            tasks = _written(Path(folder) / "tasks.jsonl", (example_document(row, names) for row in new))
            job = client.upload(f"datasets/{arguments.dataset}/imports/", tasks, {"source": "jsonl"})
            client.wait(job, say=say_progress)
        say(f"tasks {len(rows)}: {len(new)} new, {len(rows) - len(new)} of the same content there already")
        note = arguments.freeze or f"Recorded runs of {arguments.name}"
        version = client.request("POST", f"datasets/{arguments.dataset}/versions/", json={"note": note})
        say(f"{arguments.dataset} version {version['number']}: {version['size']} examples")
        lines = _written(Path(folder) / "runs.jsonl", predictions(runs, names, domain_of(document)))
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


class Joined(NamedTuple):
    """The id of a task in the dataset; `is_known` where an example of the same content is there already."""

    id: str
    is_known: bool


def task_rows(document: Any, order: str, *, offered: bool) -> list[ExampleRow]:
    """Return the tasks of a result file as examples; without `offered` tools, with ones made of the calls.

    Raises InvalidDocument with the place of the first that is wrong.
    """
    read = tau2_rows if is_tau2(document) else tau_rows
    rows = []
    for _, row in read(document, Settings({"order": order}, {} if offered else None)):
        if isinstance(row, InvalidDocument):
            raise row
        rows.append(row)
    return rows


def joined(rows: Iterable[ExampleRow], known: Iterable[Mapping[str, Any]]) -> dict[str, Joined]:
    """Return each task's id in a dataset that holds the `known` examples (`id`, `input`).

    A task is an example that has the same content: what the user asks for, and what is known of the user. An id says
    nothing: where another example has it, a task gets one of its own.
    """
    ids: dict[str, list[str]] = {}
    taken = set()
    for example in known:
        taken.add(example["id"])
        ids.setdefault(content_key(example["input"]), []).append(example["id"])
    found: dict[str, Joined] = {}
    for row in rows:
        key = content_key(row.input)
        if same := ids.get(key):
            found[row.external_id] = Joined(row.external_id if row.external_id in same else same[0], is_known=True)
        else:
            free = row.external_id not in taken
            found[row.external_id] = Joined(row.external_id if free else f"{row.external_id}-{key[:8]}", is_known=False)
    return found


def example_document(row: ExampleRow, names: Mapping[str, Joined]) -> dict[str, Any]:
    """Return a task as a line of examples."""
    document: dict[str, Any] = {"id": names[row.external_id].id, "input": row.input}
    if isinstance(row.tools, list):
        document["tools"] = [tool.to_document() for tool in row.tools]
    if row.expectation is not None:
        document["expectation"] = row.expectation.to_document()
    beside = {"rationale": row.rationale, "decided_by": row.decided_by}
    return document | {name: value for name, value in beside.items() if value}


def predictions(runs: Sequence[RecordedRun], names: Mapping[str, Joined], domain: str) -> Iterator[dict[str, Any]]:
    """Yield a line for each recorded trial: the policy, what was said and done, and what the source recorded."""
    for run in runs:
        if (name := names.get(f"{domain}-{run.task_id}") or names.get(f"task-{run.task_id}")) is None:
            raise CommandError(Exit.DATA, f"task {run.task_id} has recorded runs, and the file does not hold it")
        policy = [{"role": "system", "content": run.policy}] if run.policy else []
        transcript = run.transcript.to_document()
        said: dict[str, Any] = {key: transcript[key] for key in ("answer", "ended", "recorded") if key in transcript}
        messages = [*policy, *transcript["messages"]]
        yield {"id": name.id, "trial": run.trial, "format": "native", "messages": messages, **said}


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
        content = read_input(file)
        if content[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(content)) as stream:
                content = stream.read(MOST_BYTES + 1)
        return load_json(content, max_bytes=MOST_BYTES, max_depth=MAX_DEPTH)
    except (OSError, EOFError) as error:
        raise CommandError(Exit.DATA, f"cannot read {file}: {error}") from error
    except InvalidDocument as error:
        raise CommandError(Exit.DATA, f"{file}: {error}") from error
