"""The history of gates: pages, files, interface and badge."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from reports.gates.services import badge_drop, badge_make
from reports.models import GateBadge, HeldGate
from tests.reports.building import Case, cases_of
from tests.reports.gate_building import checks, hold, rate
from tests.reports.reading import csv_rows, text
from tests.runs.building import STATUS, call, silence, uploaded_run, version_of
from toolevals.presentation.gate_reports import COLOURS, badge_svg
from toolevals.runs.models import Experiment, Grading, JudgedCase
from toolevals.workspace.models import AuditEntry

pytestmark = pytest.mark.django_db
CELLS = {("a", "a"): 19, ("a", "b"): 1}


@pytest.fixture
def held(build):
    return hold(build.grading(cases_of(CELLS)).run, rate("selection", 0.96), branch="main<b>", commit="3f9c2ab")


@pytest.fixture
def address(project):
    def of(name: str, *args: object) -> str:
        return reverse(f"reports:{name}", args=[project.slug, *args])

    return of


def test_the_list_opens_each_gate_and_is_filtered(browser_of, build, held, address):
    other = hold(build.grading(cases_of(CELLS), experiment="weekly").run, rate("selection", 0.9))
    html = text(browser_of.get(address("gates")))
    assert address("gate", held.pk) in html
    assert address("gate", other.pk) in html
    assert "main&lt;b&gt;" in html
    assert "main<b>" not in html
    for query, shown in (
        ({"experiment": "weekly"}, other),
        ({"status": "failed"}, held),
        ({"branch": "main<b>"}, held),
    ):
        html = text(browser_of.get(address("gates"), query))
        assert [address("gate", each.pk) in html for each in (held, other)] == [shown == held, shown == other]
        rows = csv_rows(browser_of.get(address("gates-csv"), query))
        assert [row["gate_id"] for row in rows] == [str(shown.pk)]


def test_the_list_comes_in_pages_that_cost_the_same(browser_of, held, address):
    browser_of.get(address("gates"))
    with CaptureQueriesContext(connection) as one:
        browser_of.get(address("gates"))
    HeldGate.objects.bulk_create(
        HeldGate(project=held.project, run=held.run, grading=held.grading, gate={}, status="passed", result=held.result)
        for _ in range(60)
    )
    with CaptureQueriesContext(connection) as many:
        first = browser_of.get(address("gates"))
    assert len(many) == len(one)
    assert len(first.context["rows"]) == 50
    assert len(browser_of.get(address("gates"), {"before": first.context["older"]}).context["rows"]) == 11


def test_a_gate_opens_down_to_the_case(browser_of, held, address):
    html = text(browser_of.get(address("gate", held.pk)))
    assert "Gate failed." in html
    assert "It is 0.95 over 20 cases, not &gt;= 0.96." in html
    check = address("gate-check", held.pk, 1)
    assert check in html
    (row,) = browser_of.get(check).context["examples"]
    ((case, outcome),) = row.now
    assert outcome == "failed"
    link = address("case", held.run.number, case)
    assert link in text(browser_of.get(check))
    assert browser_of.get(link).status_code == 200
    assert browser_of.get(address("gate-check", held.pk, 2)).status_code == 404


def test_a_check_shows_its_own_verdict_in_both_runs(browser_of, project, run_jobs, address):
    version = version_of(project)
    wrong_value = call("status", STATUS, order_id="ORD-2")
    rest = [call("history", "get_order_history"), call("refund", "issue_refund"), silence("hello")]
    before = uploaded_run(project, version, [wrong_value, *rest], commit="1")
    after = uploaded_run(project, version, [call("status", "issue_refund"), *rest], commit="2")
    run_jobs()
    document = {"regressions": [{"rule": "cases", "metrics": ["tool_name_match", "outcome"]}]}
    held = hold(after, document, baseline=str(before.number))
    (row,) = browser_of.get(address("gate-check", held.pk, 1)).context["examples"]
    # The whole case failed before too, for its argument; the tool was right then.
    assert ([status for _, status in row.now], [status for _, status in row.before]) == (["failed"], ["passed"])
    assert [check.status for check in checks(held)] == ["failed", "passed"]


def test_a_check_of_a_judge_shows_what_the_judge_said(browser_of, build, address):
    grading = build.grading(cases_of({("a", "a"): 2, ("a", "b"): 1}))
    seat = {"rubric": "tone", "version": 1, "name": "Tone", "model": "judge-1", "pinned": True}
    Grading.objects.filter(pk=grading.pk).update(judges=[seat])
    JudgedCase.objects.bulk_create(
        JudgedCase(case=case, grading=grading, rubric="tone", status=status, questions=1)
        for case, status in zip(grading.cases.order_by("pk"), ["failed", "failed", "passed"], strict=True)
    )
    held = hold(grading.run, rate("judged:tone", 0.9))
    shown = browser_of.get(address("gate-check", held.pk, 1))
    # By the rules the first two are right in every layer.
    assert [status for row in shown.context["examples"] for _, status in row.now] == ["failed", "failed"]
    assert "each with its verdict on judged:tone" in text(shown)


def test_a_check_with_many_examples_is_listed_in_pages(browser_of, build, address):
    held = hold(build.grading(cases_of({("a", "b"): 120})).run, rate("selection", 0.5))
    seen = []
    for page in (1, 2, 3):
        context = browser_of.get(address("gate-check", held.pk, 1), {"page": page}).context
        seen += [row.external_id for row in context["examples"]]
        assert context["more"] == (page < 3)
    assert len(set(seen)) == 120
    assert browser_of.get(address("gate-check", held.pk, 1), {"page": "9" * 9}).status_code == 200


def test_the_file_of_a_gate_has_every_check(browser_of, held, address):
    (row,) = csv_rows(browser_of.get(address("gate-csv", held.pk)))
    assert (row["check"], row["name"], row["status"], row["observed"]) == ("1", "selection pass_rate", "failed", "0.95")
    assert row["gate_id"] == str(held.pk)


def test_one_that_is_at_work_says_so(browser_of, held, address):
    HeldGate.objects.filter(pk=held.pk).update(status="", result=None)
    assert "It is being decided." in text(browser_of.get(address("gate", held.pk)))
    assert "at work" in text(browser_of.get(address("gates")))
    assert browser_of.get(address("gate-csv", held.pk)).status_code == 404


def test_the_interface_holds_lists_and_shows(client, adjudicator, project, build, run_jobs):
    client.force_login(adjudicator)
    run = build.grading([*cases_of(CELLS), Case("a", "a", status="errored")]).run
    base = f"/api/v1/projects/{project.slug}"
    asked = {"gate": rate("selection", 0.95), "branch": "main", "commit": "3f9c2ab"}
    address = f"{base}/runs/{run.number}/gates/"
    made = client.post(address, asked, content_type="application/json")
    assert made.status_code == 202
    assert (made.json()["gate"]["status"], made.json()["job"]["state"]) == ("", "running")
    run_jobs()
    shown = client.get(f"{base}/gates/{made.json()['gate']['id']}/").json()
    assert (shown["status"], shown["run"], shown["branch"], shown["gate"]) == (
        "unanswered",
        run.number,
        "main",
        asked["gate"],
    )
    assert shown["result"]["checks"][0]["name"] == "selection pass_rate"
    for listed in (f"{base}/gates/?branch=main", address):
        assert [each["id"] for each in client.get(listed).json()["results"]] == [shown["id"]]
    assert client.get(f"{base}/gates/?status=passed").json()["results"] == []
    for wrong, pointer in (
        ({"gate": {"bounds": [{"metric": "x"}]}}, "/gate/bounds/0"),
        ({"gate": rate("x", 0), "baseline": "999"}, "/baseline"),
    ):
        refused = client.post(address, wrong, content_type="application/json")
        assert refused.status_code in (400, 422)
        assert [each["pointer"] for each in refused.json()["problems"]] == [pointer]


def test_a_badge_shows_its_experiment_s_newest_gate_to_whoever_has_the_address(client, held):
    experiment = held.run.experiment
    badge = badge_make(experiment=experiment, actor=None)
    url = reverse("badges:badge", args=[badge.key])
    shown = client.get(url)
    assert (shown.status_code, shown["Content-Type"]) == (200, "image/svg+xml; charset=utf-8")
    assert b"gate: failed" in shown.content
    assert held.project.slug.encode() not in shown.content + url.encode()
    hold(held.run, rate("selection", 0.5))
    assert b"gate: passed" in client.get(url).content
    newer = badge_make(experiment=experiment, actor=None)
    assert client.get(url).status_code == 404
    badge_drop(experiment=experiment, actor=None)
    assert client.get(reverse("badges:badge", args=[newer.key])).status_code == 404
    assert [entry.verb for entry in AuditEntry.objects.filter(target_id=experiment.pk)][::-1].count("badge_make") == 2


def test_the_page_that_shows_a_badge_s_address_is_not_compressed(client, viewer, held, address):
    client.force_login(viewer)
    asked = {"data": {"experiment": held.run.experiment.slug}, "headers": {"Accept-Encoding": "gzip"}}
    assert client.get(address("gates"), **asked)["Content-Encoding"] == "gzip"
    badge = badge_make(experiment=held.run.experiment, actor=None)
    answer = client.get(address("gates"), **asked)
    assert badge.key.encode() in answer.content
    assert "Content-Encoding" not in answer


def test_an_address_is_made_and_taken_back_on_the_page(client, adjudicator, held, address):
    client.force_login(adjudicator)
    page = f"{address('gates')}?experiment=nightly"
    assert "No badge URL yet." in text(client.get(page))
    change = address("badge-change", "nightly")
    assert client.post(change)["Location"] == page
    key = GateBadge.objects.get().key
    assert f"/badges/{key}.svg" in text(client.get(page))
    client.post(change, {"drop": "1"})
    assert not GateBadge.objects.exists()


def test_an_experiment_without_a_gate_has_a_badge_that_says_so(client, project):
    badge = badge_make(experiment=Experiment.objects.create(project=project, slug="new", name="New"), actor=None)
    assert b"not held yet" in client.get(reverse("badges:badge", args=[badge.key])).content


@pytest.mark.parametrize("status", [*COLOURS, "", "<script>"])
def test_a_badge_is_a_picture_with_words(status):
    root = ElementTree.fromstring(badge_svg(status))
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == f"gate: {status or 'not held yet'}"


def _luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", sorted(set(COLOURS.values())))
def test_white_on_a_badge_is_readable(colour):
    assert 1.05 / (_luminance(colour) + 0.05) >= 4.5


def test_names_cannot_become_formulas_in_the_file(browser_of, held, address):
    HeldGate.objects.filter(pk=held.pk).update(branch="=cmd()")
    content = b"".join(browser_of.get(address("gates-csv"))).decode()
    (row,) = csv.DictReader(io.StringIO(content))
    assert row["branch"] == "'=cmd()"
