"""The datasheet's page and its Markdown: links, hostile text, what is not recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from labeling.datasheet.views import escaped
from labeling.imports.services import examples_import
from labeling.models import Dataset, Example
from labeling.versions.services import version_describe, version_freeze
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import User

AsUser = Callable[[User], Client]
HOSTILE = "<script>alert(1)</script> | [x](javascript:alert(2))\n# Heading\u202e"


@pytest.fixture
def frozen(dataset: Dataset, adjudicator: User) -> Dataset:
    """The dataset with one gold example and a version, described by somebody hostile."""
    rows = [read_example(row(7, strata={"bucket": "selection", "category": "a|b"}, expected_tool=None))]
    examples_import(dataset=dataset, actor=None, rows=rows)
    version = version_freeze(dataset=dataset, actor=adjudicator)
    version_describe(version=version, actor=adjudicator, note="`x` **y**", tags=["first"])
    Dataset.objects.update(description=HOSTILE)
    return dataset


def url(name: str, version: str) -> str:
    return reverse(f"labeling:{name}", args=["shop", "core", version])


def test_numbers_lead_to_the_examples_behind_them(frozen: Dataset, viewer: User, as_user: AsUser):
    client = as_user(viewer)
    page = body(client.get(url("datasheet", "now")))
    for query in (
        "status=resolved",
        "status=open",
        "bucket=selection",
        "category=a%7Cb",
        "covers=expected&amp;tool=%28none%29",
    ):
        assert f'/datasets/core/?{query}"' in page
    listed = client.get(reverse("labeling:dataset", args=["shop", "core"]), {"covers": "expected", "tool": "(none)"})
    assert [one.external_id for one in listed.context["page"].rows] == [
        Example.objects.get(bucket="selection").external_id
    ]


def test_a_version_says_what_it_is_and_what_is_not_recorded(frozen: Dataset, viewer: User, as_user: AsUser):
    page = body(as_user(viewer).get(url("datasheet", "first")))
    assert "Datasheet of Core, version 1" in page
    assert url("datasheet-markdown", "1") in page
    assert '<dt>Licence</dt><dd class="faint">not recorded</dd>' in page
    assert "<script>alert" not in page
    assert "not linted yet" in page
    assert as_user(viewer).get(url("datasheet", "9")).status_code == 404
    assert url("datasheet", "1") in body(as_user(viewer).get(reverse("labeling:versions", args=["shop", "core"])))


def test_only_who_may_open_a_page_is_led_there(frozen: Dataset, viewer: User, adjudicator: User, as_user: AsUser):
    Dataset.objects.update(description="")
    queue = reverse("labeling:adjudicate", args=["shop"])
    revision = Example.objects.get(bucket="selection").current
    assert revision is not None
    revision.disputes.create(reason="A doubt")
    sheet = f'<a class="num" href="{queue}">1</a> open, 0 settled'
    assert sheet in body(as_user(adjudicator).get(url("datasheet", "1")))
    assert sheet not in body(as_user(viewer).get(url("datasheet", "1")))


def test_markdown_takes_no_markup_from_people(frozen: Dataset, viewer: User, as_user: AsUser):
    answer = as_user(viewer).get(url("datasheet-markdown", "1"))
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    text = answer.content.decode()
    assert text.startswith("# Datasheet of Core, version 1\n\n## Motivation\n")
    assert (
        r"- **Purpose**: \<script\>alert(1)\</script\> \| \[x\](javascript\:alert(2)) \# Heading" in text.splitlines()
    )
    assert r"- **Note**: \`x\` \*\*y\*\*" in text
    address = "http://testserver/p/shop/datasets/core/versions/1/examples/?category=a%7Cb"
    assert rf"| a\|b | [1](<{address}>) | 100.0 |" in text
    assert "[1](<http://testserver/p/shop/datasets/core/versions/" in text
    assert "- **Licence**: not recorded" in text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("- one", r"\- one"),
        ("1. one", r"1\. one"),
        ("12) two", r"12\) two"),
        ("1,234", "1,234"),
        ("a\tb\r\n c\u2028d", "a b c d"),
        ("www.example.org a@b.c https://x", r"www\.example.org a\@b.c https\://x"),
        ("&amp; ~x~ a\x00\x1b[b", r"\&amp; \~x\~ a\[b"),
    ],
    ids=range(7),
)
def test_text_is_escaped(text: str, safe: str):
    assert escaped(text) == safe
