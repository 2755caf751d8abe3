"""Keep the shop's registry with a source that is a site of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.reports.tool_drift.sources import Site, openapi, site_over_http
from tests.runs.building import TOOLS
from toolevals.registry.models import ToolSource
from toolevals.registry.services import registry_create, registry_publish
from toolevals.registry.sources.services import source_set


@pytest.fixture
def site(settings) -> Iterator[Site]:
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    with site_over_http() as found:
        found.show(TOOLS)
        yield found


@pytest.fixture
def registry(project):
    made = registry_create(project=project, actor=None, slug="shop", name="Shop")
    registry_publish(registry=made, actor=None, document=openapi(TOOLS))
    return made


@pytest.fixture
def source(registry, site) -> ToolSource:
    return source_set(registry=registry, actor=None, kind="openapi", options={"url": site.url})
