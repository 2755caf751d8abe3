"""`/metrics`: what it says of the database and of requests, to whom, and that hostile names leave it readable."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from reports.monitoring import views
from reports.monitoring.queries import MOST_PROJECTS, MOST_TOOLS, figures, shown_names
from toolevals.traces.models import TraceHour
from toolevals.traces.production.tool_counts import ToolCounts, documents_of
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import lease_claim
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Batch, Project, Queue
from toolevals.workspace.projects.services import project_create

pytestmark = pytest.mark.django_db
HERE = {"host": "localhost"}
MONITORING = Path(__file__).parents[2] / "docs" / "examples" / "monitoring"
HOSTILE = [
    'get"order', "get\\order\\n", "get\norder", "get\r\norder", "get\u2028order\x85", "\u202eredro_teg", "x" * 10_000,
    "x" * 10_001, "}\ntoolevals_ready 0\n", "# HELP x", "other", "", " ", "шукай", "\U0001f600", 'a",tool="b',
]  # fmt: skip

Found = dict[str, dict[tuple[str, ...], float]]


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each test read anew, and keep nothing."""
    monkeypatch.setattr(views, "KEPT_SECONDS", 0.0)
    monkeypatch.setattr(views, "_kept", views._Kept())


def scraped(client: Any) -> Found:
    """Return each series by the values of its labels, in the order of their names; no series comes twice."""
    answer = client.get("/metrics", headers=HERE)
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    found: Found = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        assert family.documentation
        for sample in family.samples:
            values = tuple(sample.labels[name] for name in sorted(sample.labels))
            assert values not in found.setdefault(sample.name, {})
            found[sample.name][values] = sample.value
    return found


def hour_of_calls(project: Project, calls: dict[str, int], **fields: Any) -> datetime:
    """Keep the counts of the newest hour that is told of."""
    hour = (database_now() - timedelta(minutes=70)).replace(minute=0, second=0, microsecond=0)
    counts = [ToolCounts(tool, "shop", "1", hour.date(), count, **fields) for tool, count in calls.items()]
    TraceHour.objects.create(project=project, hour=hour, calls=documents_of(counts), costs=[], verdicts=[])
    return hour


def test_hostile_names_of_tools_stay_one_label_each(client, project):
    hour_of_calls(project, dict.fromkeys(HOSTILE, 1))
    found = scraped(client)
    tools = [tool for _, tool in found["toolevals_tool_calls"]]
    assert len(tools) == len(HOSTILE)
    assert all(len(tool) <= 111 and tool.isprintable() for tool in tools)
    assert {'get"order', "get\\order\\n", "шукай", "\U0001f600", 'a",tool="b', "# HELP x"} < set(tools)
    assert found["toolevals_ready"].keys() >= {("database",)}


@given(st.lists(st.text(st.characters(codec=None)), unique=True))
def test_different_names_are_shown_differently_and_can_be_written(names):
    shown = shown_names(names)
    assert len(set(shown.values())) == len(names)
    for each in shown.values():
        assert each.encode().decode() == each
        assert "\n" not in each


def test_the_most_called_are_named_and_the_others_add_up(client, project):
    hour_of_calls(
        project, {f"tool-{each:02}": 100 - each for each in range(MOST_TOOLS + 3)}, errors={"timeout": 1, "empty": 1}
    )
    for number in range(MOST_PROJECTS + 1):
        more = project_create(actor=None, slug=f"more-{number:02}", name="More")
        hour_of_calls(more, {"search": 2 if number else 1})
    found = scraped(client)
    calls, slug = found["toolevals_tool_calls"], project.slug
    assert calls[(slug, "tool-00")] == 100
    assert calls[(slug, "other")] == 80 + 79 + 78
    assert found["toolevals_tool_errors"][(slug, "other")] == 3
    # Of 22 projects two are not named.
    assert calls[("other", "other")] == 3
    assert len({each for each, _ in calls}) == MOST_PROJECTS + 1


def test_latency_is_that_of_the_hour_and_a_tool_without_durations_has_none(client, project):
    hour = hour_of_calls(project, {"get_order": 4}, durations={0: 3, 300: 1})
    found = scraped(client)
    latency = found["toolevals_tool_latency_seconds"]
    assert latency[(project.slug, "0.5", "get_order")] == pytest.approx(0.00101, rel=0.01)
    assert latency[(project.slug, "0.95", "get_order")] == pytest.approx(0.001 * 1.02**300.5, rel=0.01)
    assert found["toolevals_tool_hour_timestamp_seconds"] == {(): hour.timestamp()}
    TraceHour.objects.all().delete()
    hour_of_calls(project, {"get_order": 4})
    assert "toolevals_tool_latency_seconds" not in scraped(client)


def test_work_that_waits_is_at_work_lost_and_ended(client, project):
    plans = [BatchPlan("tests.work", {}, queue=queue) for queue in (Queue.GRADE, Queue.GRADE, Queue.AGENT, Queue.IO)]
    later = [BatchPlan("tests.work", {}, queue=Queue.JUDGE, stage=1)]
    job_create(project=project, actor=None, kind="test", title="A test", batches=plans + later)
    first, _, third, fourth = Batch.objects.filter(stage=0).order_by("number")
    Batch.objects.filter(pk=first.pk).update(due_at=database_now() - timedelta(minutes=3))
    lease_claim(str(third.pk))
    Batch.objects.filter(pk=fourth.pk).update(state="failed", attempts=4)
    found = scraped(client)
    assert found["toolevals_queue_batches"] == {("io",): 0, ("grade",): 2, ("judge",): 0, ("agent",): 0}
    assert found["toolevals_queue_oldest_seconds"][("grade",)] == pytest.approx(180, abs=30)
    assert found["toolevals_queue_oldest_seconds"][("judge",)] == 0
    assert (found["toolevals_batches_at_work"], found["toolevals_leases_lost"]) == ({(): 1}, {(): 0})
    assert {key: value for key, value in found["toolevals_batches"].items() if value} == {("io", "failed"): 1}
    assert found["toolevals_batch_attempts_again"] == {("io",): 3, ("grade",): 0, ("judge",): 0, ("agent",): 0}
    assert (found["toolevals_jobs"], found["toolevals_jobs_failed_last_hour"]) == (
        {("test", "running"): 1},
        {("test",): 0},
    )
    Batch.objects.filter(pk=third.pk).update(due_at=database_now() - timedelta(minutes=3))
    assert scraped(client)["toolevals_leases_lost"] == {(): 1}


def test_requests_are_counted_by_the_name_of_their_address(client):
    before = scraped(client)["toolevals_requests_total"]
    for path in ("/sign-in/", '/nowhere/\n"}', "/p/secret-name/", "/static/none.css", "/"):
        client.get(path)
    after = scraped(client)
    more = {key: value - before.get(key, 0) for key, value in after["toolevals_requests_total"].items()}
    assert {key: value for key, value in more.items() if value} == {
        ("account_login", "2xx"): 1, ("none", "4xx"): 1, ("static", "4xx"): 1, ("monitoring:metrics", "2xx"): 1,
        ("workspace:project", "3xx"): 1, ("workspace:home", "3xx"): 1,
    }  # fmt: skip
    assert (
        after["toolevals_request_seconds_bucket"][("+Inf", "workspace:home")]
        == after["toolevals_request_seconds_count"][("workspace:home",)]
    )


def test_who_has_no_token_reads_only_on_this_machine_and_without_a_proxy(client, settings, project, owner):
    def status(**headers: str) -> int:
        return int(client.get("/metrics", headers={"host": "localhost", **headers}).status_code)

    assert (status(), status(host="[::1]"), status(host="testserver")) == (200, 200, 401)
    assert (status(x_forwarded_for="10.0.0.1"), status(x_forwarded_host="x")) == (401, 401)
    assert client.get("/metrics", headers=HERE, REMOTE_ADDR="10.0.0.1").status_code == 401
    client.force_login(owner)
    assert status(host="testserver") == 401
    said = {"BEHIND_PROXY": True, "PATH_PREFIX": "/evals", "CSRF_TRUSTED_ORIGINS": ["https://evals.example.org"]}
    for name, value in {**said, "PUBLIC_URL": "https://evals.example.org"}.items():
        setattr(settings, name, value)
        assert status() == 401
        setattr(settings, name, type(value)())
    assert status() == 200
    settings.METRICS_TOKEN, settings.BEHIND_PROXY = "of-the-operator", True
    assert status() == 401
    assert [status(authorization=f"{scheme} of-the-operator") for scheme in ("Bearer", "bearer", "Basic")] == [
        200,
        200,
        401,
    ]
    assert (status(authorization="Bearer of-the-operato"), status(authorization="Bearer ö")) == (401, 401)
    assert status(authorization="Bearer of-the-operator", host="testserver", x_forwarded_for="10.0.0.1") == 200


def test_the_database_is_asked_a_few_times_and_not_again_for_some_seconds(client, project, monkeypatch):
    with CaptureQueriesContext(connection) as asked:
        scraped(client)
    assert len(asked) <= 22
    monkeypatch.setattr(views, "KEPT_SECONDS", 60.0)
    monkeypatch.setattr(views, "_kept", views._Kept())
    scraped(client)
    with CaptureQueriesContext(connection) as asked:
        assert "toolevals_labels" in scraped(client)
    assert len(asked) == 0


def test_while_the_database_is_away_it_says_so_and_counts_requests(client, monkeypatch):
    def away(*_: object) -> None:
        raise OperationalError

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", away)
        found = scraped(client)
    assert found["toolevals_ready"][("database",)] == 0
    assert "toolevals_labels" not in found
    assert found["toolevals_requests_total"]


def known_labels(client: Any) -> dict[str, set[str]]:
    """Return the labels of each series by its name, of a scrape and of what has no row yet."""
    client.get("/sign-in/")
    found = {f"toolevals_{each.name}": set(each.labels) for each in figures()}
    text = client.get("/metrics", headers=HERE).content.decode()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert found.setdefault(sample.name, set(sample.labels)) == set(sample.labels)
    return found


def test_the_dashboard_and_the_alerts_ask_for_series_and_labels_that_are_there(client):
    known = known_labels(client)
    board = json.loads((MONITORING / "grafana-dashboard.json").read_text())
    alerts = yaml.safe_load((MONITORING / "alerts.yml").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
    scaling = yaml.safe_load((MONITORING.parent / "deployment" / "kubernetes.yaml").read_text())["items"]
    scaled = [item["spec"]["triggers"] for item in scaling if item["kind"] == "ScaledObject"]
    asked += [trigger["metadata"]["query"] for triggers in scaled for trigger in triggers]
    assert len(asked) > 25
    for expression in asked:
        names = set(re.findall(r"\btoolevals_[a-z_]+", expression))
        assert names <= known.keys(), expression
        labels = {"instance", "job"}.union(*(known[each] for each in names))
        grouped = {each.strip() for group in re.findall(r"\bby \(([^)]*)\)", expression) for each in group.split(",")}
        assert grouped | set(re.findall(r"(\w+)=~?\"", expression)) <= labels, expression
    query = board["templating"]["list"][1]["query"]["query"]
    assert query == "label_values(toolevals_tool_calls, project)"
    scraping = yaml.safe_load((MONITORING / "prometheus.yml").read_text())
    assert scraping["rule_files"] == ["alerts.yml"]
    assert scraping["scrape_configs"][0]["job_name"] == "toolevals"


def test_the_page_lists_each_metric_with_its_labels(client):
    page = (MONITORING.parents[1] / "monitoring.md").read_text()
    rows = re.findall(r"^\| `(toolevals_\w+)` \| (.*?) \|", page, re.MULTILINE)
    listed = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
    known = {
        name.removesuffix("_bucket"): labels - {"le"}
        for name, labels in known_labels(client).items()
        if not name.startswith("toolevals_request_seconds_") or name.endswith("_bucket")
    }
    assert listed == known
