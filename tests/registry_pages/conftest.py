"""A registry of two versions, and browsers of people."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.labeling_pages.shop import TOOLS
from toolevals.registry.models import Registry
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import Project, User


def changed_tools() -> list[dict[str, Any]]:
    """Return the tools with other words, an argument more and one less, another annotation, and one tool more."""
    tools: list[dict[str, Any]] = json.loads(json.dumps(TOOLS))
    tools[0]["description"] = "State and total of one order whose id is known"
    tools[0]["annotations"] = {"read_only": True, "idempotent": True}
    properties = tools[1]["input_schema"]["properties"]
    properties["reason"] = {"type": "string", "description": "In the customer’s words"}
    del properties["express"]
    tools.append({"name": "search_kb", "description": "Articles", "input_schema": {"type": "object"}})
    return tools


@pytest.fixture
def registry(project: Project) -> Registry:
    """The shop's tools in two versions."""
    made = registry_create(project=project, actor=None, slug="tools", name="Shop tools")
    registry_publish(registry=made, actor=None, document=TOOLS, note="first")
    registry_publish(registry=made, actor=None, document=changed_tools(), note="clearer words")
    return made


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    """Return a function that gives the browser of a person who is signed in."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in
