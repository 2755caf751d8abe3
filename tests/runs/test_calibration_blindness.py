"""Nobody is told what the judge or another rater said before a calibration is closed."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from tests.access.addresses import addresses
from tests.access.arguments import argument
from tests.access.world import World
from tests.reports.reading import csv_rows, text
from tests.runs.calibrated import MARK, SIZE, rate_all
from tests.runs.rated import *  # noqa: F403 (its fixtures)
from tests.runs.rated import NOTE
from toolevals.runs.models import JudgeCalibration
from toolevals.workspace.models import Role

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]
# The other apps know nothing of judges.
APPS = ("runs", "runs-api", "reports", "reports-api", "workspace", "workspace-api")
EVERY = [each for each in addresses() if "project" in each.arguments and each.name.partition(":")[0] in APPS]


def body_of(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


# Addresses that tell it once the calibration is closed: the walk reaches them.
REACHED = {
    "reports:case",
    "reports:judged-csv",
    "runs-api:case",
    "runs:calibration",
    "runs:calibration-csv",
    "runs-api:calibration-results",
}


def every_answer(world: World, who: Any, names: set[str] | None = None) -> dict[str, bytes]:
    """Ask for every address of the project as somebody, or for those that are named."""
    project = world.project
    client = Client(raise_request_exception=False)
    client.force_login(who)
    found = {}
    for address in (each for each in EVERY if names is None or each.name in names):
        with transaction.atomic():
            values = {}
            for name in address.arguments:
                maker = argument(address.name, name) if name != "project" else None
                values[name] = maker(world, who) if maker else project.slug
            found[address.name] = body_of(client.get(reverse(address.name, kwargs=values)))
            transaction.set_rollback(True)
    return found


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.OWNER])
def test_no_address_says_what_the_judge_or_another_rater_said_before_it_is_closed(
    project, people, outsider, calibration, raters, role
):
    world = World(project, people, outsider)
    rate_all(calibration, raters[0], NOTE)
    assert telling(every_answer(world, people[role])) == set()
    # The walk reaches what would tell it.
    JudgeCalibration.objects.filter(pk=calibration.pk).update(closed_at=calibration.created_at, table=TABLE)
    assert telling(every_answer(world, people[role], REACHED)) == REACHED


def telling(answers: dict[str, bytes]) -> set[str]:
    """Return the addresses that say what the judge or another rater said."""
    return {name for name, body in answers.items() if MARK.encode() in body or NOTE.encode() in body}


TABLE = {"both_passed": 10, "only_judge": 2, "only_human": 2, "both_failed": 6}


def test_cases_are_not_listed_by_what_the_judge_says_of_them(get, people, calibration):
    run = calibration.grading.run.number
    query = {"column": "judged:argument_semantics", "status": "failed"}
    html = text(get(people[Role.OWNER], "reports:cases", run, **query))
    assert '<span class="num">0</span> cases' in html
    assert "20</span> cases being rated by people are hidden" in html
    rows = csv_rows(get(people[Role.OWNER], "reports:judged-csv", run))
    assert {(row["status"], row["value"]) for row in rows} == {("hidden", "")}
    assert len(rows) == SIZE
    # The counts stay.
    assert "column=judged:argument_semantics&amp;status=failed" in text(
        get(people[Role.OWNER], "reports:dialects", run)
    )
