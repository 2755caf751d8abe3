"""Jobs of every kind while they last, over a slow line: REST, the command line, and how they end."""

from __future__ import annotations

import json

import pytest

from tests.slow_lane.conftest import HELD_SECONDS, SlowApp, at_a_pace
from tests.slow_lane.kinds import kinds
from toolevals.cli.output import Exit

pytestmark = [pytest.mark.slow_lane, pytest.mark.servers]
WAITING = ("import", "run", "gate", "again")


@pytest.mark.parametrize("kind", kinds())
def test_a_job_of_each_kind_is_shown_while_it_lasts_and_ends_well(watched: SlowApp, kind: str):
    answers = watched.seen[kind]
    assert [answer.text for answer in answers if answer.status_code != 200] == []
    states = [answer.json() for answer in answers]
    assert states[0]["kind"] == kind
    assert at_a_pace(answers)
    assert all((state["seconds_left"] is None) == (state["rate"] is None) for state in states)
    assert (states[-1]["state"], states[-1]["report"].get("errors", [])) == ("succeeded", []), str(states[-1])
    assert states[-1]["done"] == states[-1]["total"]


@pytest.mark.parametrize("verb", WAITING)
def test_a_command_that_waits_for_slow_work_ends_well(watched: SlowApp, verb: str):
    done = watched.said[verb]
    assert (done.returncode, "Traceback" in done.stderr) == (Exit.OK, False), done.stdout + done.stderr
    assert "look again" not in done.stderr
    assert f"{watched.url}/p/shop/jobs/" in done.stderr


def test_an_export_comes_whole_over_a_slow_line(watched: SlowApp):
    done = watched.said["export"]
    assert done.returncode == Exit.OK, done.stderr
    assert len([json.loads(line) for line in done.stdout.splitlines()]) == 21


def test_jobs_at_work_are_listed(watched: SlowApp):
    done = watched.said["jobs"]
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert " s left in this step" in done.stdout
    done = watched.said["jobs --json"]
    assert done.returncode == Exit.OK, done.stderr
    assert any(job["rate"] for job in json.loads(done.stdout))


def test_the_line_was_slow(watched: SlowApp):
    answers = [answer for answers in watched.seen.values() for answer in answers]
    assert min(answer.elapsed.total_seconds() for answer in answers) >= watched.proxy.seconds
    assert watched.proxy.held > HELD_SECONDS
