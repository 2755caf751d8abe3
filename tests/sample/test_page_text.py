"""The ten main pages of the sample hold little explanatory text: what a word means is behind its "?"."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from labeling.models import Revision
from scripts.dev.page_text import characters, explanations
from tests.fixtures.people import member
from toolevals.runs.models import CaseGrade
from toolevals.workspace.models import Project, Role

pytestmark = pytest.mark.django_db

PROJECT = "/p/shop-support/"
DATASET = f"{PROJECT}datasets/support-messages/"
# Characters of the ten pages. They held 7,253 before meanings went behind "?".
MOST = 3600


def main_pages() -> list[str]:
    """Return the addresses of the ten main pages."""
    revision = Revision.objects.filter(resolution="disagreed").order_by("pk")[0]
    case = CaseGrade.objects.filter(grading__run__number=2, outcome="failed").order_by("pk")[0]
    return [
        PROJECT,
        f"{PROJECT}label/",
        f"{PROJECT}adjudicate/{revision.pk}/",
        f"{DATASET}agreement/",
        f"{DATASET}coverage/",
        f"{PROJECT}runs/2/",
        f"{PROJECT}runs/2/matrix/",
        f"{PROJECT}runs/2/arguments/",
        f"{PROJECT}runs/1/compare/2/",
        f"{PROJECT}runs/2/cases/{case.pk}/",
    ]


def test_the_ten_main_pages_explain_behind_their_question_marks(client: Client, run_jobs: Callable[[], int]) -> None:
    call_command("load_sample", stdout=StringIO())
    run_jobs()
    client.force_login(member(Project.objects.get(slug="shop-support"), Role.OWNER))
    addresses = main_pages()
    for address in addresses:
        # What a page counts in the background is there when it is asked again.
        assert client.get(address, follow=True).status_code == 200, address
    run_jobs()
    # Pairs of labels count when they can no longer be changed, and some numbers are kept for a minute: now it is later.
    Project.objects.update(undo_seconds=0)
    cache.clear()
    shown = {address: client.get(address, follow=True).content.decode() for address in addresses}
    counts = {address: characters(html) for address, html in shown.items()}
    assert sum(counts.values()) <= MOST, counts
    # Figures that are kept for a while say of when they are.
    for address in (PROJECT, f"{PROJECT}runs/2/"):
        assert re.search(r"pairs.{1,1500}counted <time datetime=", shown[address], re.DOTALL), address
    # What a person needs in order not to be misled stays.
    run = " ".join(explanations(shown[f"{PROJECT}runs/2/"]))
    for words in ("Not counted in the rates", "too few for a conclusion", "It is a lower limit"):
        assert words in run


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<p>Read <b>this</b>, <span class='num'>3</span> times.</p>", ["Read times."]),
        ("<p class='soft'>One <br>two</p><div>data</div><p>three</p>", ["One two", "three"]),
        ("<details><summary>Open</summary><p>hidden</p></details>", []),
        ("<details open><p>seen</p></details>", ["seen"]),
        ("<p>a<span popover>b</span></p><p hidden>c</p><p class='visually-hidden'>d</p>", ["a"]),
        ("<p><button>Go</button> <a href='x'>there</a></p><td class='faint'>of 12 kinds</td>", ["of 12 kinds"]),
    ],
)
def test_explanatory_text_is_what_a_person_reads(html: str, texts: list[str]) -> None:
    assert explanations(html) == texts
