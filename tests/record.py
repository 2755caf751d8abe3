"""Record what the application shows, so that two commits can be compared: `RECORD=FOLDER pytest tests/record.py`.

Pages, CSV files and REST answers of the sample and of a recorded run with trials, the OpenAPI document, the help of
each verb, and what `toolevals grade` says of the public benchmarks. Times, tokens and unique ids are replaced by their
kind. Compare with `diff -r`.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
from collections import Counter, deque
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import Resolver404, resolve

from tests.fixtures.people import member
from tests.grading.benchmark import benchmark_rows, needs_benchmark
from tests.runs.test_recorded_runs import graded  # noqa: F401 - a fixture
from toolevals.cli.main import main as command
from toolevals.cli.main import parser as command_parser
from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.workspace.api.document import document
from toolevals.workspace.models import Project, Role

pytestmark = [needs_benchmark, pytest.mark.django_db]
OF_A_KIND = 2
LEADING = re.compile(r'\s(?:href|hx-get|data-(?:[\w-]+-)?url)="([^"]*)"')
REPLACED = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r'(csrfmiddlewaretoken" value=|nonce=|"X-CSRFToken": ?|data-state=)"[^"]*"'), r'\1"TOKEN"'),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d| UTC)?"), "TIME"),
    (re.compile(r"\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*( \d{4})?(, \d\d:\d\d)?"), "DAY"),
    (re.compile(r"\b\d\d:\d\d\b"), "CLOCK"),
    (re.compile(r"shown=[0-9a-f]{16}"), "shown=HASH"),
    (re.compile(r"cursor=[\w%.=-]+"), "cursor=PLACE"),
    (re.compile(r"/?tmp/(?:[\w.-]+/)*[\w.-]+|toolevals-\s+tests-\w+"), "TEMPORARY"),
    (re.compile(r"\d+(\.\d+)?[  ](ms|milliseconds?|seconds?|s|minutes?|hours?)\b( ago)?"), "DURATION"),
)


def plain(text: str) -> str:
    for pattern, kind in REPLACED:
        text = pattern.sub(kind, text)
    return text


def into(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w.=&,-]+", "_", plain(name)).strip("_")[:200]
    same = (folder / (stem if place == 0 else f"{stem} {place}") for place in count())
    next(path for path in same if not path.exists()).write_text(plain(text))


def route_of(address: str) -> tuple[str, ...] | None:
    parts = urlsplit(address)
    try:
        found = resolve(parts.path)
    except Resolver404:
        return None
    return (found.view_name, *sorted({key for key, _ in parse_qsl(parts.query)}))


def walk(client: Client, folder: Path, starts: list[str]) -> int:
    """Follow the links from the start pages, a few addresses of each route and set of parameters."""
    waiting, seen, of_route = deque(starts), set(starts), Counter[tuple[str, ...]]()
    while waiting:
        address = waiting.popleft()
        route = route_of(address)
        if route is None or of_route[route] >= OF_A_KIND:
            continue
        of_route[route] += 1
        response = client.get(address)
        body = response.getvalue()
        kind = response.headers.get("Content-Type", "")
        text = body.decode("utf-8", "replace")
        into(folder, f"{response.status_code} {address}", f"{kind}\n{response.headers.get('Location', '')}\n{text}")
        if "text/html" in kind:
            for link in LEADING.findall(text):
                whole = urldefrag(urljoin(address, link.replace("&amp;", "&"))).url
                if whole.startswith("/") and not whole.startswith("/static/") and whole not in seen:
                    seen.add(whole)
                    waiting.append(whole)
    return sum(of_route.values())


@pytest.fixture
def folder() -> Path:
    return Path(os.environ["RECORD"])


def test_sample(folder, client, run_jobs):
    call_command("load_sample", stdout=io.StringIO())
    run_jobs()
    Project.objects.update(undo_seconds=0)
    client.force_login(member(Project.objects.get(slug="shop-support"), Role.OWNER))
    # What is counted in the background is there the second time.
    walk(client, folder / "before", ["/p/shop-support/"])
    run_jobs()
    cache.clear()
    assert walk(client, folder / "sample", ["/p/shop-support/", "/"]) > 300
    into(folder, "openapi", json.dumps(document(), indent=1, sort_keys=True))
    root, rest = "/api/v1/projects/shop-support", folder / "rest"
    tails = [path.partition("/projects/{project}/")[2] for path in document()["paths"]]
    asked = [f"{root}/{tail}" for tail in tails if tail and "{" not in tail]
    for number in (1, 2):
        run = [
            tail.replace("runs/{number}/", f"runs/{number}/", 1) for tail in tails if tail.startswith("runs/{number}/")
        ]
        asked += [f"{root}/{tail}" for tail in run if "{" not in tail]
    for address in asked:
        walk(client, rest, [address])
    assert len(list(rest.iterdir())) > 60


def test_recorded_run(folder, graded, client, run_jobs):  # noqa: F811
    with contextlib.suppress(AssertionError):
        graded("tau_gpt-4o_airline.slim.json.gz", 4)
    walk(client, folder / "before-recorded", ["/p/shop/runs/1/"])
    run_jobs()
    cache.clear()
    assert walk(client, folder / "recorded", ["/p/shop/runs/1/"]) > 50


def said(*arguments: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.suppress(SystemExit):
        command(list(arguments))
    return out.getvalue() + err.getvalue()


def test_command_line(folder, tmp_path):
    verbs = next(one for one in command_parser()._actions if getattr(one, "choices", None) and one.dest == "verb")
    for verb in ("", *(verbs.choices or ())):
        into(folder / "help", verb or "toolevals", said(*([verb] if verb else []), "--help"))
    data = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"])
    for path in sorted((data / "judged").glob("*.jsonl")):
        judged = [conversation(row["id"], row["messages"]) for row in map(json.loads, path.read_text().splitlines())]
        into(folder / "grade", path.stem, said("grade", file_of(tmp_path, judged), "-j", "1"))
    for path in sorted((data / "tau").glob("tau_*.json.gz")):
        records = json.loads(gzip.decompress(path.read_bytes()))["records"]
        recorded = [conversation(f"{one['task_id']}-{one['trial']}", one["traj"]) for one in records]
        into(folder / "grade", path.stem, said("grade", file_of(tmp_path, recorded), "-j", "1"))
    rows = file_of(tmp_path, leaderboard_rows())
    into(folder / "grade", "leaderboard", said("grade", rows, "-j", "1"))
    into(folder / "grade", "table", said("grade", rows, "--format", "table"))
    rule = ("--threshold", "outcome=0.5")
    into(folder / "gate", "leaderboard", said("gate", rows, *rule, "--json"))


def conversation(name: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": name, "input": {"messages": messages[:2]}, "expected_tool": None, "messages": messages}


def file_of(folder: Path, rows: list[dict[str, Any]]) -> str:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def leaderboard_rows() -> list[dict[str, Any]]:
    made = []
    for row in benchmark_rows("oracle.jsonl.gz"):
        question = {"id": row["id"], "question": [], "function": row["functions"]}
        example = bfcl_example(question, {"ground_truth": row["possible_answer"]}, row["category"])
        if (
            example.expectation is None
            or not isinstance(example.tools, list)
            or not isinstance(row["prediction"], list)
        ):
            continue
        calls = [{"name": name, "arguments": given} for call in row["prediction"] for name, given in call.items()]
        tools = [
            {"name": one.name, "description": one.description, "input_schema": one.input_schema}
            for one in example.tools
        ]
        expected = example.expectation.to_document()
        asked = {"messages": [{"role": "user", "content": "?"}]}
        made.append({"id": row["id"], "input": asked, "tools": tools, "expectation": expected, "tool_calls": calls})
    return made
