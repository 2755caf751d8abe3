"""Judges' keys: without one, or with one that may not be sent there, a judge is not asked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.chat_server import chat_server
from tests.agents.judges import MODEL, judging
from tests.runs.judged import judged_run, verdicts_of
from toolevals.agents.secret_binding import Origin
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.judging.services import JudgeRequest, judge_add, judge_change, rubric_use
from toolevals.workspace.models import AuditEntry
from toolevals.workspace.secrets.services import secret_set

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nearby(settings: Any) -> None:
    """Judges are on loopback."""
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]


def half(_: Any) -> Any:
    return {"score": 0.5}


def test_a_judge_whose_key_is_gone_is_errored(project, run_jobs):
    with chat_server(judging(half)) as server:
        secret = secret_set(
            project=project, actor=None, name="judge-host", value="key-0815", addresses=[str(Origin.of(server.url))]
        )
        request = JudgeRequest("J", MODEL, {"base_url": server.url, "secret": "judge-host"})
        rubric = rubric_use(project=project, actor=None, name="argument_semantics")
        judge = judge_add(project=project, actor=None, rubric=rubric, request=request)
        judge_change(judge=judge, actor=None, is_on=True)
        secret.delete()
        run = judged_run(project)
        run_jobs()
    assert server.requests == []
    assert verdicts_of(run, "argument_semantics")["differs"] == ("errored", None)


def test_a_judges_key_is_sent_to_no_address_that_its_owner_has_not_named(project, run_jobs):
    with chat_server(judging(half)) as server:
        said = {"project": project, "actor": None, "name": "judge-host"}
        secret_set(**said, value="key-0815", addresses=["https://judges.example.org"])
        request = JudgeRequest("J", MODEL, {"base_url": server.url, "secret": "judge-host"})
        rubric = rubric_use(project=project, actor=None, name="argument_semantics")
        with pytest.raises(InvalidDocument, match="may not be sent to"):
            judge_add(project=project, actor=None, rubric=rubric, request=request)
        secret_set(**said, value="key-0815", addresses=[str(Origin.of(server.url))])
        judge = judge_add(project=project, actor=None, rubric=rubric, request=request)
        judge_change(judge=judge, actor=None, is_on=True)
        secret_set(**said, value="key-0815", addresses=[])
        run = judged_run(project)
        run_jobs()
    assert server.requests == []
    assert verdicts_of(run, "argument_semantics")["differs"] == ("errored", None)


def test_a_refused_key_is_audited_though_the_request_is_rolled_back(client, project, adjudicator):
    secret_set(
        project=project, actor=None, name="judge-host", value="key-0815", addresses=["https://judges.example.org"]
    )
    client.force_login(adjudicator)
    asked = {
        "rubric": "argument_semantics",
        "name": "J",
        "model": MODEL,
        "options": {"base_url": "https://elsewhere.example.org/v1", "secret": "judge-host"},
    }
    answer = client.post("/api/v1/projects/shop/judges/", asked, content_type="application/json")
    assert answer.status_code == 422
    assert "may not be sent to" in str(answer.json())
    assert [entry.actor for entry in AuditEntry.objects.filter(verb="secret_refuse")] == [adjudicator]
