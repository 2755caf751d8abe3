"""Shows on the command line which tools a file or folder holds, and publishes some of them or all."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from toolevals.cli.output import CommandError, Exit, note, say
from toolevals.cli.server_options import project_of
from toolevals.client import Project
from toolevals.grading.reading.specs import MANY_TOOLS, Choice, Survey, SurveyedTool, counted, document_in, document_of
from toolevals.grading.reading.specs import survey_tools as read_survey
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

_LARGEST = 64_000_000
_MOST_FILES = 2_000
_CHOICES = {"tools": "tool", "tags": "tag", "paths": "path"}


def add_choice_options(parser: argparse.ArgumentParser) -> None:
    """Add what says which of a document's tools are meant."""
    group = parser.add_argument_group("choice", "Select tools; options may be repeated.")
    group.add_argument("--tool", action="append", default=[], metavar="NAME", help="the tool of this name")
    group.add_argument("--tag", action="append", default=[], metavar="TAG", help="operations of an OpenAPI document")
    group.add_argument("--path", action="append", default=[], metavar="PATH", help="operations at or below a path")
    group.add_argument("--search", default="", metavar="WORDS", help="all words are in name, path, tags or description")
    group.add_argument("--list", action="store_true", help="dry run: list the tools and what would be lost")


def choice_of(arguments: argparse.Namespace) -> JsonObject:
    """Return the choice as JSON."""
    said = {name: getattr(arguments, option) for name, option in _CHOICES.items() if getattr(arguments, option)}
    return said | ({"search": arguments.search} if arguments.search else {})


def tools_document(source: Path) -> Any:
    """Return the document of a file, a folder, or standard input (`-`). Raises CommandError."""
    try:
        if str(source) == "-":
            return document_in(sys.stdin.buffer.read())
        return document_of(_files(source)) if source.is_dir() else document_in(source.read_bytes())
    except OSError as error:
        raise CommandError(Exit.DATA, f"cannot read {source}: {error.strerror}") from error
    except InvalidDocument as error:
        raise CommandError(Exit.DATA, f"{source}: {error}") from error


def list_tools(document: object, document_format: str, choice: JsonMapping) -> int:
    """Print the tools that a document holds, then what would be lost."""
    survey = _survey(document, document_format, choice)
    for each in survey.tools:
        say(_line(each))
    _say_of(survey)
    return Exit.DATA if any(each.problems for each in survey.tools) else Exit.OK


def publish(
    arguments: argparse.Namespace, document: object, document_format: str, choice: JsonMapping | None = None
) -> int:
    """Publish tools as the next version of the registry that the command line names, after saying what is lost."""
    survey = _survey(document, document_format, choice or {})
    if problems := [str(problem) for each in survey.tools for problem in each.problems]:
        raise CommandError(Exit.DATA, "\n".join(["these tools cannot be read:", *problems[:50]]))
    _say_of(survey)
    client = project_of(arguments)
    ensure(client, "registries/", arguments.registry, {})
    body = {"document": document, "format": document_format, "note": arguments.note}
    if choice:
        body["choice"] = choice
    if (asserted := getattr(arguments, "assert_formats", None)) is not None:
        body["assert_formats"] = asserted
    version = client.post_once(f"registries/{arguments.registry}/versions/", json=body)
    if "state" in version:
        # A large document is published by a job.
        report = client.wait(version)["report"]
        version = {"name": report["name"], "size": report["tools"]}
    say(f"{version['name']}: {version['size']} tools")
    return Exit.OK


def ensure(client: Project, path: str, slug: str, fields: JsonObject) -> None:
    """Make what is named where there is none of that name."""
    if not any(known["slug"] == slug for known in client.pages(path)):
        client.request("POST", path, json={"slug": slug, "name": slug, **fields})


def ensure_dataset(client: Project, slug: str, tools: str | None) -> None:
    """Make a dataset where there is none of that name, and have it offer these tools, if any are named."""
    ensure(client, "datasets/", slug, {"default_tools": tools} if tools else {})
    if tools:
        _offer(client, slug, tools)


def _offer(client: Project, slug: str, tools: str) -> None:
    """Have a dataset that was there before offer these tools from now on, and say so."""
    path = f"datasets/{slug}/"
    dataset = client.request("GET", path)
    if "@" not in tools:
        newest = {each["slug"]: each["newest_number"] for each in client.pages("registries/")}
        tools = f"{tools}@{newest.get(tools)}"
    if dataset["default_tools"] != tools:
        kept = {name: dataset[name] for name in ("name", "description", "guideline")}
        changed = client.request("PUT", path, json=kept | {"default_tools": tools})
        say(f"{slug} offers {changed['default_tools']} as default tools from now on")


def _files(folder: Path) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    size = 0
    for file in sorted(folder.rglob("*")):
        # A link could lead out of the folder.
        if file.is_symlink() or not file.is_file():
            continue
        size += file.stat().st_size
        if len(contents) >= _MOST_FILES or size > _LARGEST:
            words = f"{folder}: holds more than {_MOST_FILES:,} files or {_LARGEST:,} bytes: name a folder within"
            raise CommandError(Exit.DATA, words)
        contents[file.relative_to(folder).as_posix()] = file.read_bytes()
    return contents


def _survey(document: object, document_format: str, choice: JsonMapping) -> Survey:
    try:
        survey = read_survey(document, format=document_format, choice=Choice.from_document(choice))
    except InvalidDocument as error:
        raise CommandError(Exit.DATA, str(error)) from error
    if not survey.tools:
        raise CommandError(Exit.DATA, "contains none of the selected tools" if choice else "holds no tool")
    return survey


def _line(each: SurveyedTool) -> str:
    at = each.operation
    parts = [
        each.name or each.where,
        f"{at.method.upper()} {at.path}" if at else "",
        ", ".join(at.tags) if at else "",
        f"{len(each.losses)} not carried over" if each.losses else "",
        *(f"cannot be read: {problem}" for problem in each.problems),
    ]
    return "  ".join(filter(None, parts))


def _say_of(survey: Survey) -> None:
    """Say on standard error how the document was read, what is lost, and what is worth a thought."""
    because = f": {survey.because}" if survey.because else ""
    note(f"read as {survey.format}{because}; {len(survey.tools)} tools")
    for each in counted(dict.fromkeys([*survey.losses, *(loss for tool in survey.tools for loss in tool.losses)])):
        note(f"  not carried over, {each.count} x {each.key}: {each.message} (first at {each.first})")
    if len(survey.tools) > MANY_TOOLS:
        note(f"  more than {MANY_TOOLS} tools: choose those that your agent has by --tag, --path, --search or --tool")
