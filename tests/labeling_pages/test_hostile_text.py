"""Text from datasets and tools is never HTML."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.models import Example
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import Project, User

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7|add:7 }}"
TOOL = {
    "name": "evil_tool",
    "description": EVIL,
    "input_schema": {
        "type": "object",
        "properties": {
            EVIL: {"type": "string", "description": EVIL, "default": EVIL},
            "choice": {"enum": [EVIL, "</option>"]},
            "list": {"type": "array", "items": {"enum": [EVIL]}},
        },
        "required": [EVIL],
    },
}


@pytest.fixture
def evil(project: Project) -> Example:
    dataset = dataset_create(
        project=project,
        actor=None,
        slug="core",
        name=EVIL[:60],
        description=EVIL,
        guideline=f"# {EVIL}\n- `{EVIL}`\n{EVIL}",
    )
    call = {"id": "c", "function": {"name": EVIL, "arguments": f'{{"{"a"}": "<b>"}}'}}
    document = {
        "id": EVIL,
        "input": {
            "messages": [
                {"role": EVIL, "content": EVIL},
                {"role": "system", "content": EVIL},
                {"role": "user", "content": f"{EVIL} A-1<b>"},
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "name": EVIL, "content": EVIL},
            ],
            "context": {EVIL: EVIL},
        },
        "tools": [TOOL],
        "strata": {"bucket": "<i>"},
    }
    examples_import(dataset=dataset, actor=None, rows=[read_example(document)])
    return dataset.examples.get()


def inert(client: Client, address: str, data: dict[str, str] | None = None) -> None:
    response = client.get(address, follow=True) if data is None else client.post(address, data)
    assert response.status_code in (200, 422)
    page = response.content.decode()
    assert "alert(1)" in page
    for mark in ("<script>alert", "<img src=x", "\"'>", "<b>", "<i>", '</option>"'):
        assert mark not in page, (address, mark)


def test_every_page_shows_it_as_text(evil: Example, adjudicator: User, as_user: Callable[[User], Client]):
    client = as_user(adjudicator)
    dataset = ["shop", "core"]
    inert(client, reverse("labeling:datasets", args=["shop"]))
    inert(client, reverse("labeling:dataset", args=dataset))
    inert(client, reverse("labeling:dataset-settings", args=dataset))
    inert(client, reverse("labeling:example", args=[*dataset, evil.pk]))
    inert(client, reverse("labeling:label", args=["shop"]))
    slot = evil.current.slots.get(reviewer=adjudicator)  # type: ignore[union-attr]
    panel = reverse("labeling:label-panel", args=["shop", slot.pk])
    inert(client, panel, {"tool": "0"})
    inert(client, panel, {"tool": "0", f"c1.v/{EVIL}": EVIL, "c1.m/choice": "one_of", "c1.v/list": EVIL})
    inert(client, panel, {"mode": "json", "json": EVIL, "to": "form"})
    draft = reverse("labeling:label-draft", args=["shop", slot.pk])
    assert client.post(draft, {"tool": "0", "rationale": EVIL}).headers["Content-Type"] == "application/json"
    inert(client, reverse("labeling:label-slot", args=["shop", slot.pk]))
