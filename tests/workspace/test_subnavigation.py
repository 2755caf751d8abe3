"""Sub-navigations come from one table: who sees which tab, which one is marked, and that each leads somewhere."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.template import engines

from scripts.dev.environment import ROOT
from tests.fixtures.people import member
from tests.project.files import project_files
from toolevals.workspace.models import Project, Role

pytestmark = pytest.mark.django_db

LINK = re.compile(r'<a href="([^"]+)"( aria-current="page")?>([^<]+)</a>')
USED = re.compile(r'\{% subnav "(\w+)" "(\w+)" %\}')


def shown(part: str, project: Project, role: Role, here: str = "", **context: Any) -> list[tuple[str, str, str]]:
    """Return address, mark and title of each tab."""
    template = engines["django"].from_string(f'{{% subnav "{part}" "{here}" %}}')
    return LINK.findall(template.render({"project": project, "role": role, **context}))


@pytest.mark.parametrize("part", [name for name in settings.SUBNAVIGATION if name != "dataset"])
def test_each_tab_is_seen_from_its_role_on_and_answers(part: str, project: Project, client: Any) -> None:
    tabs = settings.SUBNAVIGATION[part].tabs
    for role in Role:
        links = shown(part, project, role)
        assert [title for _, _, title in links] == [
            tab.title for tab in tabs if role >= Role[tab.role] and not tab.when_waiting
        ]
        client.force_login(member(project, role))
        assert {address: client.get(address).status_code for address, _, _ in links} == {
            address: 200 for address, _, _ in links
        }


def test_the_top_bar_holds_eight_links_at_most(project: Project, client: Any) -> None:
    assert len(settings.NAVIGATION) <= 8
    client.force_login(member(project, Role.OWNER))
    for name in ("label/mine", "questions", "feedback"):
        bar = (
            client.get(f"/p/shop/{name}/").content.decode().partition('aria-label="Project">')[2].partition("</nav>")[0]
        )
        assert re.search(r'aria-current="page">\s*(\w+)', bar)[1] == "Label", name  # type: ignore[index]


def test_the_page_that_is_shown_is_marked_alone(project: Project) -> None:
    links = shown("traces", project, Role.OWNER, "rules")
    assert [title for _, mark, title in links if mark] == ["Rules in production"]


def test_pages_name_themselves_as_the_table_does() -> None:
    used = {
        (part, here)
        for path in project_files(".html")
        for part, here in USED.findall(path.read_text("utf-8"))
        if path.is_relative_to(ROOT / "templates")
    }
    known = {(part, tab.here) for part, each in settings.SUBNAVIGATION.items() for tab in each.tabs}
    assert len(used) > 8
    assert used <= known
