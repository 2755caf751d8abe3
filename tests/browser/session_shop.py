"""A project for the tests of ended sessions: something to do on each work page, and a person for each test."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, expect

from tests.fixtures.application import LiveApp
from tests.fixtures.people import PASSWORD

# Prints the addresses of the pages, and for each person the key of a session.
SEED = """
import json
import time
from datetime import timedelta
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import transaction
from django.urls import reverse
from toolevals.workspace.clock import database_now
from labeling.exports import Selection
from labeling.models import Revision
from labeling.calibration_rounds.services import calibration_open
from labeling.datasets.services import dataset_create
from labeling.exports.services import export_start
from labeling.imports.services import examples_import
from labeling.label.services import label_submit
from labeling.adjudicate.resolution import settle_due
from labeling.label.claims import slot_claim
from tests.fixtures.people import PASSWORD, second_step_of
from tests.labeling_pages.shop import TOOLS, returned, row
from tests.reports.building import Builder, Case
from toolevals.grading.reading.examples import read_example
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.models import CalibratedCase, CaseGrade, JudgeCalibration
from toolevals.runs.judging.services import JudgeRequest, judge_add, rubric_use
from toolevals.runs.rereading.services import RereadingRequest, rereading_begin
from toolevals.workspace.jobs.services import job_pause
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.accounts.services import user_create

project = project_create(actor=None, slug="sessions", name="Sessions")
people = {}
ADJUDICATORS = ["Ada", "Jo"]
REVIEWERS = ["Rea", "Reb", "Lea", "Quin", "Cal", "Ray", "Rey", "Tab", "Ann", "Other", "Out", "Way", "Form", "Gone"]
REVIEWERS += ["Off", "Back", "Step"]
for name in ADJUDICATORS + REVIEWERS:
    user = user_create(actor=None, email=f"{name.lower()}@sessions.example.org", name=name, password=PASSWORD)
    member_set(project=project, actor=None, user=user, role=Role.ADJUDICATOR if name in ADJUDICATORS else Role.REVIEWER)
    people[name] = user
second_step_of(people["Step"])
registry = registry_create(project=project, actor=None, slug="tools", name="Tools")
tools = registry_publish(registry=registry, actor=None, document=TOOLS)
dataset = dataset_create(project=project, actor=None, slug="core", name="Core", default_tools=tools)
examples_import(dataset=dataset, actor=None, rows=[read_example(row(number)) for number in range(4)])
for name, said in (("Rea", returned()), ("Reb", returned(express={"exact": True}))):
    for _ in range(4):
        slot = slot_claim(dataset_or_project=dataset, actor=people[name])
        label_submit(slot=slot, actor=people[name], expectation=said)
settle_due(database_now() + timedelta(minutes=5))
gold = {"expected_tool": "get_order", "expected_args": {"order_id": "A-1"}}
rows = [read_example(row(number, **gold)) for number in range(10, 14)]
rows += [read_example(row(number)) for number in range(20, 60)]
examples_import(dataset=dataset, actor=None, rows=rows)
opened = calibration_open(dataset=dataset, actor=None, name="Week one", names=["ex-10", "ex-11", "ex-12", "ex-13"])
rubric = rubric_use(project=project, actor=None, name="task_completion")
request = JudgeRequest("Judge", "judge-2026-01-31", {"base_url": "https://judges.example/v1"})
judge = judge_add(project=project, actor=None, rubric=rubric, request=request)
deadline = time.monotonic() + 120
while CaseGrade.objects.count() < 4 and time.monotonic() < deadline:
    time.sleep(0.2)
cases = CaseGrade.objects.order_by("pk")[:4]
rated = JudgeCalibration.objects.create(
    judge=judge, grading=cases[0].grading, raters=1, seed="s", drawn_from={"passed": 4, "failed": 0}
)
for position, case in enumerate(cases):
    CalibratedCase.objects.create(
        calibration=rated, position=position, case=case, is_held_out=True, passed=True, value=1,
        questions=[{"conversation": {"messages": []}, "done": []}],
    )
graded = Builder(project).grading([Case("pay", "pay")] * 4)
reread = rereading_begin(request=RereadingRequest(graded), actor=people["Jo"])
with transaction.atomic():
    job = export_start(selection=Selection(dataset), actor=people["Jo"], format="jsonl")
    job_pause(job=job, actor=people["Jo"])
sessions = {}
for name, user in people.items():
    session = SessionStore()
    session[SESSION_KEY] = user._meta.pk.value_to_string(user)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    sessions[name] = session.session_key
asked = Revision.objects.get(example__dataset=dataset, example__external_id="ex-59")
pages = {
    "label": "/p/sessions/label/",
    "adjudicate": "/p/sessions/adjudicate/",
    "question": reverse("labeling:thread", args=["sessions", asked.pk]),
    "calibration": reverse("labeling:calibrate", args=["sessions", "core", opened.pk]),
    "rating": reverse("runs:rate", args=["sessions", rated.pk]),
    "reading": reverse("runs:reread", args=["sessions", reread.pk]),
    "jobs": reverse("workspace:jobs", args=["sessions"]),
    "job": reverse("workspace:job", args=["sessions", job.pk]),
}
print(json.dumps({"pages": pages, "sessions": sessions}))
"""


@dataclass(frozen=True)
class Shop:
    """The application with the project in it."""

    app: LiveApp
    pages: dict[str, str]
    sessions: dict[str, str]

    @classmethod
    def seeded(cls, app: LiveApp) -> Shop:
        """Return the shop, made anew in an application."""
        return cls(app, **json.loads(app.python(SEED)))

    def url(self, page: str) -> str:
        """Return the address of one of the work pages."""
        return self.app.url + self.pages[page]

    def sign_in(self, page: Page, name: str) -> None:
        """Give a browser the session of a person."""
        page.context.add_cookies([{"name": "sessionid", "value": self.sessions[name], "url": self.app.url}])

    def query(self, text: str, *values: Any) -> list[Any]:
        """Return what the database holds."""
        return self._run(text, values)

    def awaited(self, text: str, *values: Any, rows: list[Any], seconds: float = 15) -> bool:
        """Tell whether the database comes to hold this in time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.query(text, *values) == rows:
                return True
            time.sleep(0.1)
        return False

    def flush(self, page: Page) -> None:
        """End a browser's session on the server, as a new key or a sign-out elsewhere does."""
        for cookie in page.context.cookies():
            if cookie.get("name") == "sessionid":
                self._run("DELETE FROM django_session WHERE session_key = ?", (cookie.get("value"),))

    def _run(self, text: str, values: tuple[Any, ...]) -> list[Any]:
        with sqlite3.connect(self.app.application.data / "toolevals.sqlite3", timeout=30) as database:
            found = database.execute(text, values).fetchall()
        database.close()
        return found


def clear_cookies(shop: Shop, page: Page) -> None:
    page.context.clear_cookies()


def flush(shop: Shop, page: Page) -> None:
    shop.flush(page)


def rotate(shop: Shop, page: Page) -> None:
    """Change the CSRF token, as signing in again does."""
    page.context.add_cookies([{"name": "csrftoken", "value": "r" * 32, "url": shop.app.url}])


# What happens to a session -> whether one has to sign in again.
ENDINGS: list[tuple[Callable[[Shop, Page], None], bool]] = [(clear_cookies, True), (flush, True), (rotate, False)]


def dialog_sign_in(page: Page, name: str) -> None:
    """Sign in on the page, in its dialog."""
    dialog = page.locator("dialog[data-session]")
    expect(dialog).to_be_visible()
    dialog.get_by_label("E-mail").fill(f"{name.lower()}@sessions.example.org")
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in", exact=True).click()


def kept_keys(page: Page) -> list[str]:
    """Return what the browser keeps of the work of people."""
    keys: list[str] = page.evaluate("Object.keys(localStorage)")
    return sorted(key for key in keys if key.split(":")[0] in ("outbox", "draft", "question"))
