"""Documents become HTML that is safe, whose links lead on, and that is searched by words."""

from __future__ import annotations

import re

import pytest

from tests.project.test_docs_index import anchors_of
from toolevals.documentation.files import files, page_address, page_named, pages
from toolevals.documentation.rendering import document, render
from toolevals.documentation.searching import MOST, search
from toolevals.settings.help import HELP

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](javascript:alert(1))",
    '## <b onclick=alert(1)>&" title',
    '```"><script>\n</script>\n```',
    '[x](https://example.org/"onclick=alert(1))',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text):
    html = render(text, "page").html
    tags = re.findall(r"<(\w+)([^<>]*)>", html)
    allowed = {"p", "h2", "a", "pre", "code"}
    assert {name for name, _ in tags} <= allowed, html
    attributes = {name for _, inside in tags for name in re.findall(r'([\w-]+)="[^"]*"', inside)}
    assert attributes <= {"id", "class", "href", "aria-label", "tabindex"}, html
    assert not re.search(r'(?:href|src)="(?:javascript|data):', html)


@pytest.mark.parametrize("name", sorted(pages()))
def test_every_page_is_rendered_whole(name):
    shown = document(name)
    assert shown.html.startswith("<h1 id=")
    assert "style=" not in re.sub(r"<code>.*?</code>", "", shown.html, flags=re.DOTALL)
    assert "&lt;!--" not in shown.html
    ids = re.findall(r'<h\d id="([^"]+)"', shown.html)
    assert set(ids) == anchors_of(pages()[name])
    assert len(ids) == len(set(ids))


def test_links_between_pages_are_addresses():
    html = render("[a](b.md#c) [d](../runs.md) [e](https://example.org/) [f](#g)", "decisions/x").html
    assert 'href="/docs/runs/"' in html
    assert 'href="https://example.org/"' in html
    assert 'href="#g"' in html
    # There is no such page: its words stay.
    assert "<p>a <a" in html


def test_every_link_of_a_page_leads_to_a_page_or_a_file():
    for name in pages():
        for target in re.findall(r'(?:href|src)="/docs/([^"#]*)', document(name).html):
            known = files() if target.startswith("files/") else None
            assert target.removeprefix("files/") in known if known is not None else page_named(target), (name, target)


def test_pictures_are_served_and_named_where_they_are_not():
    assert 'src="/docs/files/pictures/matrix-light.png"' in render("![M](pictures/matrix-light.png)", "runs").html
    assert render("![A picture](pictures/none.png)", "runs").html == "<p>A picture</p>\n"


def test_the_alignment_of_a_column_makes_no_inline_style():
    html = render("| a |\n| ---: |\n| 1 |\n", "runs").html
    assert "<td>1</td>" in html
    assert 'role="region"' in html


def test_sections_with_all_words_are_found_and_words_marked():
    hits = search("  backups POSTGRESQL ")
    assert hits
    assert len(hits) <= MOST
    assert any(hit.address.startswith("/docs/operating/#") for hit in hits)
    marked = {piece.text.casefold() for hit in hits for piece in (*hit.title, *hit.excerpt) if piece.hit}
    assert marked <= {"backups", "postgresql"}
    assert marked
    assert "".join(piece.text for piece in hits[0].title)


@pytest.mark.parametrize("words", ["", " ", "\t\n"])
def test_no_words_find_nothing(words):
    assert search(words) == ()


@pytest.mark.parametrize("words", ["(((", "a" * 9_000, "[", "\\", "zzzzqqqq", ".*"])
def test_any_words_may_be_searched(words):
    assert isinstance(search(words), tuple)


def test_titles_come_first():
    assert search("glossary")[0].address == page_address("glossary", "/")


def test_help_leads_to_headings_that_are_there():
    missing = []
    for name, place in HELP.items():
        page, _, anchor = place.partition("#")
        if page not in pages() or (anchor and anchor not in anchors_of(pages()[page])):
            missing.append((name, place))
    assert missing == []
