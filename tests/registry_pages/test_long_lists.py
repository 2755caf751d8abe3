"""The lists of datasets and of registries come in pages: each thing is on one of them, the newest first."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.datasets.services import dataset_create
from toolevals.registry.services import registry_create
from toolevals.workspace.models import Project
from toolevals.workspace.paging import PAGE_SIZE

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("page", "create"), [("labeling:datasets", dataset_create), ("registry:registries", registry_create)]
)
def test_a_long_list_comes_in_pages(client: Client, project: Project, viewer: Any, page: str, create: Any):
    for number in range(PAGE_SIZE + 3):
        create(project=project, actor=None, slug=f"thing-{number:03}", name=f"Thing {number}")
    client.force_login(viewer)
    address = reverse(page, args=[project.slug])
    first = " ".join(client.get(address).content.decode().split()).replace(" >", ">")
    (older,) = re.findall(r'href="(\?before=[^"]+)">Older', first)
    second = " ".join(client.get(address + older).content.decode().split()).replace(" >", ">")
    assert ">Older<" not in second
    found = [number for text in (first, second) for number in re.findall(r">Thing (\d+)</a>", text)]
    assert found == [str(number) for number in reversed(range(PAGE_SIZE + 3))]
    assert "No older" in client.get(f"{address}?before=00000000-0000-0000-0000-000000000000").content.decode()
