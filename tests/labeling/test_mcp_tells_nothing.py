"""The MCP server is no oracle: no answer to a reviewer tells of another's label of an example that is not decided."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client

from labeling.adjudicate.resolution import settle_due
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import Dataset, Revision
from tests.labeling.changing_minds import clock, slow
from tests.labeling.rows import NO_CALL, call
from toolevals.mcp_server.tools import TOOLS
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.tokens.services import token_create

__all__ = ["clock", "slow"]

pytestmark = pytest.mark.django_db
# What another has said of the example: nothing, what Ann says, or something else.
WORLDS: tuple[Any, ...] = (None, NO_CALL, call(order="other"))
ASKED: dict[str, dict[str, Any]] = {
    "show_project": {},
    "list_runs": {},
    "find_confusions": {"run": 1},
    "read_confusion": {"run": 1, "expected": "get_order", "called": "(none)"},
    "list_cases": {"run": 1},
    "show_case": {"run": 1, "case": "01a2285b-94d4-7653-b687-5f29d103cd04"},
    "show_tool": {"registry": "shop", "tool": "get_order"},
    "pair_history": {"expected": "get_order", "called": "(none)"},
    "compare_runs": {"baseline": 1, "candidate": 2},
    "wait_for_job": {"job": "01a2285b-94d4-7653-b687-5f29d103cd04"},
    "estimate_run": {"like_run": 1},
    "suggest_labels": {"dataset": "support"},
    "search_docs": {"words": "kappa"},
}


def answers(secret: str) -> list[str]:
    said = []
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json, text/event-stream"}
    for name, arguments in ASKED.items():
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        answer = Client().post("/mcp", json.dumps(message), content_type="application/json", headers=headers)
        assert answer.status_code == 200
        said.append(answer.content.decode())
    return said


def test_every_tool_that_reads_is_asked():
    assert {tool.spec.name for tool in TOOLS if tool.reads} == ASKED.keys()


def test_no_tool_tells_of_anothers_label(
    project: Project, dataset: Dataset, examples: list[Revision], ann: User, ben: User
):
    _, secret = token_create(project=project, actor=None, user=ann, name="agent", role=Role.REVIEWER)
    told = []
    for other in WORLDS:
        with transaction.atomic():
            cache.clear()
            for person, says in ((ben, other), (ann, NO_CALL)):
                if says is None:
                    continue
                slot = slot_claim(dataset_or_project=dataset, actor=person)
                assert slot is not None
                label_submit(slot=slot, actor=person, expectation=says)
            settle_due()
            told.append(answers(secret))
            transaction.set_rollback(True)
    assert told[1] == told[0]
    assert told[2] == told[0]
