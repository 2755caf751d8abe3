"""Every table of reports has a file and an answer in the REST interface, and both say the same to the last digit."""

from __future__ import annotations

import re
from datetime import datetime
from html import unescape
from typing import Any

import pytest
from django.db.models import F
from django.urls import reverse

from reports.gates.services import gate_preview_start
from reports.issues.gathering import issues_due
from reports.models import Issue
from reports.public_scores.services import public_score_record
from reports.urls import urlpatterns
from tests.access.addresses import addresses
from tests.access.registry_arguments import a_version as a_registry_version
from tests.access.reports_arguments import a_gate, a_measured_policy, a_measurement, a_source
from tests.access.traces_arguments import a_trace
from tests.access.workspace_arguments import a_webhook
from tests.access.world import World
from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.reports.every_table import EVERY, Table
from tests.reports.reading import csv_rows
from tests.reports.test_public_scores import SCORE
from tests.reports.test_recovery import CONVERSATIONS, OK, did
from tests.reports.test_state import EXECUTION
from tests.runs.building import EXAMPLES, HISTORY, REFUND, STATUS, call, example, uploaded_run, version_of
from tests.runs.judged import PREDICTIONS, ROWS, judge_of
from toolevals.presentation.csv import FORMULA_STARTS
from toolevals.presentation.numbers import percent
from toolevals.runs.models import CaseGrade, Grading, PackedCases, Run, VerdictCount
from toolevals.runs.remarks.services import note_add, tag_add
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Role
from toolevals.workspace.tokens.services import token_create

pytestmark = pytest.mark.django_db

# Nothing of this kind is in what was made: the tables are compared all the same.
MAY_BE_EMPTY = {
    "tool-source-gold-csv",
    "suspects-csv",
    "baseline-agents-csv",
    "compare-registry-csv",
    "gold-changed-csv",
    "policy-preconditions-csv",
    "policy-precondition-csv",
}
HOSTILE = "=cmd()|'/c calc'!A1"


@pytest.fixture
def made(project: Any, run_jobs: Any, settings: Any, owner: Any) -> Grading:
    """Two runs of several trials, judged, with failing tools, states, tags, notes and a gate."""
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    conversations = {**CONVERSATIONS, "twice": did(("status", "A-1", OK), ("status", "A-2", OK))}
    rows = [*ROWS, *EXAMPLES, *(example(name, f"Do {name}", None) for name in conversations)]
    version = version_of(project, {row["id"]: row for row in rows}.values())
    usage = {"input_tokens": 900, "output_tokens": 30}
    talks = [{"id": name, "messages": messages, "usage": usage} for name, messages in conversations.items()]
    first = [*PREDICTIONS, call("status", HISTORY), call("history", HISTORY), *talks]
    second = [*PREDICTIONS, call("status", STATUS), call("history", REFUND), *talks]
    with chat_server(judging(lambda inputs: {"score": 1 if "criteria" in inputs else 0.5})) as server:
        judge_of(project, server)
        for said in (first, second):
            again = [
                call("hello", REFUND, 1),
                call("status", STATUS, 1),
                call("history", HISTORY, 1),
                call("equal", STATUS, 1),
            ]
            uploaded_run(project, version, [*said, *again], trials=2, commit=str(len(said) + (said is second)))
            run_jobs()
    run = Run.objects.get(project=project, number=1)
    case = CaseGrade.objects.filter(grading=run.grading_id).order_by("pk")[0]
    case.execution = "failed"
    case.detail["details"] = {"execution": EXECUTION}
    case.save()
    counts = VerdictCount.objects.filter(grading=case.grading_id, column="execution")
    counts.filter(value="unscored").update(count=F("count") - 1)
    VerdictCount.objects.create(grading_id=case.grading_id, column="execution", value="failed", count=1)
    PackedCases.objects.filter(grading=case.grading_id).delete()
    tag_add(transcript=case.transcript, actor=owner, tag=HOSTILE)
    note_add(transcript=case.transcript, actor=owner, text=HOSTILE)
    a_registry_version(World(project, {Role.OWNER: owner}, owner))
    token_create(project=project, actor=owner, user=owner, name=HOSTILE, role=Role.VIEWER)
    a_webhook(World(project, {Role.OWNER: owner}, owner), owner)
    for value, published in ((0.7, {}), (0.8, {}), (0.25, {"metric": "live", "count": None, "agent": HOSTILE})):
        public_score_record(project=project, actor=owner, score=SCORE | {"value": value, **published})
    return Grading.objects.select_related("run__project", "run__experiment", "dataset_version__dataset").get(run=run)


@pytest.fixture
def arguments(made: Grading, owner: Any, run_jobs: Any) -> dict[str, Any]:
    """What the addresses of the tables are made of, by name."""
    world = World(made.run.project, {Role.OWNER: owner}, owner)
    gate = a_gate(world, owner)
    preview = gate_preview_start(
        project=made.run.project, actor=owner, gate={"bounds": [{"metric": "outcome", "min": 0}]}
    )
    run_jobs()
    issues_due(database_now())
    issue = Issue.objects.filter(layer="selection").earliest("pk")
    issue.traces.create(trace_id=a_trace(world, owner))
    return {
        "issue": issue.pk,
        "gate": gate,
        "policy": a_measured_policy(world, owner),
        "rates": a_measurement(world, owner),
        "rule": "blocked",
        "registry": a_source(world, owner),
        "preview": preview.pk,
        "case_id": made.cases.order_by("pk")[0].pk,
        "project": made.run.project.slug,
        "number": 1,
        "candidate": 2,
        "before": 1,
        "after": 1,
        "experiment": made.run.experiment.slug,
        "dataset": made.dataset_version.dataset.slug,
        "version": made.dataset_version.number,
    }


@pytest.fixture
def answers(client: Any, owner: Any, made: Grading, arguments: dict[str, Any]) -> Any:
    """Return a function that gets a table's file or answer, or a page."""
    client.force_login(owner)
    known = {address.name: address.arguments for address in addresses()}

    def get(name: str, **query: str) -> Any:
        return client.get(reverse(name, kwargs={each: arguments[each] for each in known[name]}), query)

    return get


def at(row: Any, path: str) -> Any:
    """Return what lies at a path, None where it ends early."""
    for name in path.split("."):
        if row is None:
            return None
        row = row[int(name)] if isinstance(row, list) else row[name]
    return row


def written(value: Any) -> str:
    """Return a value of an answer as a file has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return (" " if all(" " not in each for each in value) else ", ").join(value)
    return f"'{value}" if isinstance(value, str) and value[:1] in FORMULA_STARTS else str(value)


def same(text: str, value: Any) -> bool:
    """Tell whether a file and an answer say the same; numbers to the last digit, times to the last fraction."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return bool(text) and float(text) == value
    if text == written(value):
        return True
    try:
        return datetime.fromisoformat(text) == datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False


_FORMS_OF_FILES = {("form", "wide"), ("of", "agents")}


def whole_answer(answers: Any, table: Table) -> Any:
    """Return a table's answer with the results of every page."""
    address = f"{table.app}-api:{table.api}"
    # An answer has all forms of a file at once.
    query = {name: value for name, value in table.query.items() if (name, value) not in _FORMS_OF_FILES}
    answer = answers(address, **query)
    assert answer.status_code == 200, table
    found = answer.json()
    if (larger := answers(address, **query, limit="1000")).status_code == 200:
        found = larger.json()
    more = found.get("next") if isinstance(found, dict) else None
    while more:
        page = answer.client.get(more).json()
        found["results"] += page["results"]
        more = page["next"]
    return found


def test_every_file_is_walked():
    files = {name for each in urlpatterns if (name := str(each.name)).endswith("-csv")}
    assert {table.file for table in EVERY if table.app == "reports"} == files


def test_files_and_answers_agree_to_the_last_digit(answers):
    empty, wrong = [], []
    for table in EVERY:
        file = csv_rows(answers(f"{table.app}:{table.file}", **table.query))
        rows = list(table.rows(whole_answer(answers, table)))
        if len(rows) != len(file):
            wrong.append(f"{table}: {len(file)} rows in the file, {len(rows)} in the answer")
        if not file:
            empty.append(table.file)
        for number, (line, row) in enumerate(zip(file, rows, strict=False)):
            for column, text in line.items():
                try:
                    value = at(row, table.at.get(column, column))
                except (KeyError, IndexError):
                    wrong.append(f"{table}: the answer has no {column}")
                    continue
                if not same(text, value):
                    wrong.append(f"{table} {number}: {column} is {text!r} in the file, {value!r} in the answer")
    assert wrong[:20] == []
    assert set(empty) <= MAY_BE_EMPTY


# The pages on which tables stand, with what they are asked where a table needs it.
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("run", {}),
    ("matrix", {}),
    ("tool-source", {}),
    ("arguments", {}),
    ("recovery", {}),
    ("reliability", {}),
    ("spending", {}),
    ("dialects", {}),
    ("cases", {}),
    ("case", {}),
    ("run-gates", {}),
    ("golds", {}),
    ("gold-changed", {}),
    ("compare", {}),
    ("compare-cases", {"of": "outcome"}),
    ("trends", {}),
    ("agent-trends", {"agent": "agent"}),
    ("gates", {}),
    ("gate", {}),
    ("gate-preview", {}),
    ("baseline-agents", {}),
    ("suspects", {}),
    ("issues", {}),
    ("issue", {}),
    ("benchmarks", {}),
    ("solved", {}),
    ("recorded", {}),
    ("policies", {}),
    ("policy", {}),
    ("policy-refusals", {}),
    ("digest", {}),
    ("policy-preconditions", {}),
)
LISTS = (
    "runs:runs",
    "runs:experiments",
    "runs:agents",
    "workspace:audit",
    "workspace:jobs",
    "workspace:members",
    "workspace:tokens",
    "workspace:notifications",
    "workspace:deliveries",
    "labeling:datasets",
    "registry:registries",
)
# Tables that the pages have not where there is nothing to show.
NEED_ROWS = {
    "tool-source-gold-csv",
    "compare-registry-csv",
    "baseline-agents-csv",
    "readings-csv",
    "suspects-csv",
    "policy-preconditions-csv",
    "policy-precondition-csv",
}
# File -> the page and the columns of shares that it shows of every row.
SHOWN = {
    "layers-csv": ("run", ("rate", "rate_low", "rate_high")),
    "tools-csv": ("run", ("precision", "recall", "f1")),
    "arguments-csv": ("arguments", ("wrong_share", "wrong_share_low", "wrong_share_high")),
    "trends-csv": ("trends", ("rate", "rate_low", "rate_high")),
    "agent-trends-csv": ("agent-trends", ("rate", "rate_low", "rate_high")),
}


def test_every_table_has_its_file_beside_it_and_shows_the_same(answers, arguments):
    asked = [(f"reports:{name}", query) for name, query in PAGES] + [(name, {}) for name in LISTS]
    pages = {name: unescape(answers(name, **query).content.decode()) for name, query in asked}
    linked = {href.partition("?")[0] for html in pages.values() for href in re.findall(r'href="([^"]+)"', html)}
    addresses = {table.file: answers(f"{table.app}:{table.file}").request["PATH_INFO"] for table in EVERY}
    assert {name for name, address in addresses.items() if address not in linked} <= NEED_ROWS
    for file, (page, columns) in SHOWN.items():
        rows = csv_rows(answers(f"reports:{file}"))
        shares = [float(row[column]) for row in rows for column in columns if row[column]]
        assert shares
        assert [share for share in shares if percent(share) not in pages[f"reports:{page}"]] == []


def test_no_file_holds_a_formula(answers):
    for table in EVERY:
        for row in csv_rows(answers(f"{table.app}:{table.file}", **table.query)):
            texts = [text for text in row.values() if not _is_number(text)]
            assert [text for text in texts if text[:1] in FORMULA_STARTS] == [], table


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
