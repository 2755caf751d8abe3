"""Runs `toolevals import`: takes tools, examples and the public benchmark from files to a project on a server.

`toolevals import mcp` publishes what an MCP server lists, asked from here, as a registry version.
"""

from __future__ import annotations

import argparse
import os
import shlex
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from labeling.imports.readers.recorded_tasks import domain_of
from toolevals.agents.options import McpOptions
from toolevals.cli.inputs import input_file, read_input, say_readings, say_what_was_read
from toolevals.cli.output import CommandError, Exit, say
from toolevals.cli.publishing import add_choice_options, choice_of, ensure_dataset, list_tools, publish, tools_document
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.client import Project
from toolevals.grading.engine.grading import CUT_OFF
from toolevals.grading.files.evaluation_files.conversations import DECISIONS
from toolevals.grading.files.evaluation_files.formats import FORMATS as FILE_FORMATS
from toolevals.grading.reading.bfcl import CATEGORIES
from toolevals.grading.reading.specs import FORMATS
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject
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
    parser.add_argument(
        "--cut-off", choices=CUT_OFF, default="failed", help="how to grade conversations that stopped early"
    )
    parser.set_defaults(run=import_recorded)
    return parser


def import_recorded(arguments: argparse.Namespace) -> int:
    """Import the tasks that the dataset does not hold yet, freeze a version, upload the runs, and say who agrees."""
    document = _read(arguments.file)
    client = project_of(arguments)
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
            client.wait(job)
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
        client.wait(started["job"])
    number = started["run"]["number"]
    found = client.request("GET", f"runs/{number}/recorded/")
    say(f"run {number}: {found['agreed']} of {found['scored']} scored cases agree with the recorded reward")
    say(f"  {client.page(f'runs/{number}/recorded/')}")
    return Exit.OK


def _known(client: Project, dataset: str) -> Iterator[JsonObject]:
    """Yield the examples that the dataset holds."""
    rest = b""
    for part in client.download(f"datasets/{dataset}/export/"):
        *lines, rest = (rest + part).split(b"\n")
        yield from (orjson.loads(line) for line in lines if line.strip())
    if rest.strip():
        yield orjson.loads(rest)


def _written(file: Path, documents: Iterable[JsonMapping]) -> Path:
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


# Files of examples, by the name of their format on the command line.
FILES = {
    "auto": "a file in any of these formats (detected automatically)",
    "jsonl": "examples in the native format",
    "csv": "a CSV file; map its columns with --map",
    "openai-chat": "OpenAI chat messages, JSON Lines",
    "openai-evals": "OpenAI Evals, JSON Lines",
    "langsmith": "a LangSmith dataset, JSON Lines",
    "langsmith-csv": "a LangSmith dataset, CSV",
    "tau": "recorded runs of tau-bench",
    "tau2": "recorded runs, or tasks, of tau2-bench",
    **{each.name.replace("_", "-"): each.title for each in FILE_FORMATS.values() if "examples" in each.gives},
}
_CONVERSATIONS = {each.name.replace("_", "-") for each in FILE_FORMATS.values() if each.decides}
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}


def add_mcp_parser(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the kind."""
    parser = kinds.add_parser("mcp", help="publish what an MCP server lists as a registry version")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url", default="", metavar="URL", help="of streamable HTTP; TOOLEVALS_MCP_TOKEN lets it in")
    where.add_argument("--command", default="", metavar="LINE", help="starts the server here and connects by pipes")
    parser.add_argument("--registry", required=True, metavar="SLUG", help="created if it does not exist")
    parser.add_argument("--note", default="")
    add_server_options(parser)
    parser.set_defaults(run=import_mcp)


def import_mcp(arguments: argparse.Namespace) -> int:
    """Ask the server for its tools and publish them."""
    said: JsonObject = {"url": arguments.url} if arguments.url else {"command": shlex.split(arguments.command)}
    try:
        options = McpOptions.from_document(said)
    except InvalidDocument as error:
        raise CommandError(Exit.CONFIGURATION, str(error)) from error
    return publish(arguments, _tools(options), "mcp")


def _tools(options: McpOptions) -> JsonObject:
    try:
        from toolevals.agents.mcp_client import McpSession, McpUnreachableError
        from toolevals.agents.network import AddressPolicy
    except ModuleNotFoundError as error:
        raise CommandError(Exit.CONFIGURATION, "MCP servers need more packages: install toolevals[server]") from error
    key = os.environ.get("TOOLEVALS_MCP_TOKEN", "")
    try:
        # The person who types the command may call what their machine reaches.
        with McpSession(options, key=key, policy=AddressPolicy.of(["*"])) as session:
            return session.tools()
    except McpUnreachableError as error:
        raise CommandError(Exit.UNREACHABLE, str(error)) from error


def add_parser(verbs: Verbs) -> None:
    """Add the verb and what can be imported."""
    parser = verbs.add_parser("import")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")

    tools = kinds.add_parser("tools", help="publish tools as a new registry version")
    tools.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="JSON or YAML: tools in any of the formats, or an OpenAPI document; a zip or folder of them or of skills;"
        " - is standard input",
    )
    tools.add_argument("--registry", default="", metavar="SLUG", help="created if it does not exist")
    tools.add_argument("--format", default="auto", choices=("auto", *FORMATS))
    tools.add_argument("--note", default="")
    tools.add_argument(
        "--assert-formats",
        action=argparse.BooleanOptionalAction,
        help="whether a text that is not in its format breaks the schema; by default as in the newest version",
    )
    add_choice_options(tools)
    tools.set_defaults(run=import_tools)

    add_mcp_parser(kinds)
    files = [_add_file_parser(kinds, name, words) for name, words in FILES.items()]
    files.append(add_recorded_parser(kinds))
    bfcl = kinds.add_parser("bfcl", help="the Berkeley Function-Calling Leaderboard")
    bfcl.add_argument("folder", type=Path, metavar="DIR", help="holds BFCL_v4_*.json and possible_answer/")
    bfcl.add_argument("--categories", required=True, metavar="A,B", help=f"of {', '.join(CATEGORIES)}")
    bfcl.set_defaults(run=import_bfcl)

    for kind in (*files, bfcl):
        kind.add_argument("--dataset", required=True, metavar="SLUG", help="created if it does not exist")
        kind.add_argument(
            "--tools", metavar="REGISTRY", help="default tools for examples without their own; add @3 for version 3"
        )
        kind.add_argument("--freeze", metavar="NOTE", help="freeze a version afterwards")
        kind.add_argument(
            "--misfits-reason", metavar="TEXT", help="why --freeze takes labels that break their tools' schemas as well"
        )
    for kind in (tools, *files, bfcl):
        add_server_options(kind)


def import_tools(arguments: argparse.Namespace) -> int:
    """Publish a file's tools, or list them."""
    document, choice = tools_document(arguments.file), choice_of(arguments)
    if arguments.list:
        return list_tools(document, arguments.format, choice)
    if not arguments.registry:
        raise CommandError(Exit.CONFIGURATION, "no registry: give --registry SLUG, or --list to publish nothing")
    return publish(arguments, document, arguments.format, choice)


def import_file(arguments: argparse.Namespace) -> int:
    """Import a file of examples in the format that the command line names."""
    options = {name: value for name in ("examples", "order", "decision") if (value := getattr(arguments, name, None))}
    if arguments.kind == "csv":
        options = {"columns": _columns(arguments.map)}
        if arguments.delimiter:
            options["delimiter"] = DELIMITERS[arguments.delimiter]
    with input_file(arguments.file) as file:
        return _import(arguments, file, arguments.kind.replace("-", "_"), options)


def import_bfcl(arguments: argparse.Namespace) -> int:
    """Import the benchmark's categories: each question next to its answer, all of them or none."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bfcl.jsonl"
        with file.open("wb") as stream:
            for category in arguments.categories.split(","):
                _write_category(stream, arguments.folder, category.strip())
        return _import(arguments, file, "bfcl")


def _add_file_parser(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser], name: str, words: str
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(name, help=words)
    parser.add_argument("file", type=Path, metavar="FILE", help="may be packed with gzip; - is standard input")
    if name == "csv":
        parser.add_argument(
            "--map",
            action="append",
            required=True,
            metavar="COLUMN=HOLDS",
            help="map a column, for example 'Question=user' or 'Order=argument:order_id'; repeat for each column",
        )
        parser.add_argument("--delimiter", choices=tuple(DELIMITERS), help="by default found by the head")
    if name in ("tau", "tau2"):
        parser.add_argument(
            "--examples", choices=("tasks", "decisions"), help="what becomes an example: by default tasks"
        )
        parser.add_argument(
            "--order", choices=("unordered", "ordered"), help="of expected actions: by default unordered"
        )
    if name in ("auto", "openai-chat", *_CONVERSATIONS):
        parser.add_argument(
            "--decision",
            choices=tuple(DECISIONS),
            help="which turn of the assistant becomes an example: by default last of openai-chat, else first",
        )
    parser.set_defaults(run=import_file)
    return parser


def _columns(mappings: list[str]) -> dict[str, str]:
    columns = {}
    for mapping in mappings:
        column, separator, holds = mapping.rpartition("=")
        if not separator or not column:
            raise CommandError(Exit.CONFIGURATION, f"--map {mapping}: is not COLUMN=HOLDS")
        columns[column] = holds
    return columns


def _import(arguments: argparse.Namespace, file: Path, source: str, options: JsonObject | None = None) -> int:
    client = project_of(arguments)
    ensure_dataset(client, arguments.dataset, arguments.tools)
    fields = {"source": source} | ({"options": orjson.dumps(options).decode()} if options else {})
    job = client.upload(f"datasets/{arguments.dataset}/imports/", file, fields)
    done = client.wait(job)
    counts = {name: value for name, value in done["report"].items() if isinstance(value, int)}
    say_what_was_read(done["report"])
    say(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in counts.items()))
    if arguments.freeze is not None:
        body = {"note": arguments.freeze, "misfits_reason": arguments.misfits_reason or ""}
        version = client.request("POST", f"datasets/{arguments.dataset}/versions/", json=body)
        say(f"{arguments.dataset} version {version['number']}: {version['size']} examples")
    return Exit.OK


def _write_category(stream: BinaryIO, folder: Path, category: str) -> None:
    if category not in CATEGORIES:
        raise CommandError(Exit.CONFIGURATION, f"{category!r} is not a category: use some of {', '.join(CATEGORIES)}")
    name = f"BFCL_v4_{category}.json"
    answers_file = folder / "possible_answer" / name
    answers = {row["id"]: row for row in _rows(answers_file)} if answers_file.exists() else {}
    for question in _rows(folder / name):
        row = {"question_row": question, "answer_row": answers.get(question["id"]), "category": category}
        stream.write(orjson.dumps(row) + b"\n")


def _rows(file: Path) -> Iterator[JsonObject]:
    """Yield the objects of a file of JSON Lines; each has an id. Raises CommandError that says where it has not."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise CommandError(Exit.DATA, f"cannot read {file}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = load_json(line)
        except InvalidDocument as error:
            raise CommandError(Exit.DATA, f"{file}, line {number}: {error}") from error
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise CommandError(Exit.DATA, f"{file}, line {number}: is not an object with an id")
        yield row
