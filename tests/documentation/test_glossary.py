"""The glossary is the one source of what the "?" on pages say: its words, their links, and the tag."""

from __future__ import annotations

import re

import pytest
from django.template import Context, Engine, TemplateSyntaxError, engines
from django.test import RequestFactory

from scripts.dev.environment import ROOT
from tests.project.files import project_files
from tests.project.test_docs_index import anchors_of
from toolevals.documentation import glossary
from toolevals.documentation.files import page_named, pages
from toolevals.documentation.glossary import anchor_of, words, words_of
from toolevals.documentation.rendering import document
from toolevals.workspace.templatetags import explain

TEMPLATES = ROOT / "templates"
NAMED = re.compile(r"\{% explain \"([^\"]+)\" %\}")
# A popover is read at a glance.
LONGEST = 300


def rendered(text: str, **headers: str) -> str:
    request = RequestFactory().get("/", headers=headers)
    return engines["django"].from_string(text).render({}, request)


def test_a_row_is_a_word_with_its_meaning_and_the_place_that_says_more() -> None:
    gold = "| gold | Right, `by` people. (truth) [More](runs.md#a-b) |"
    text = f"| word | meaning |\n| --- | --- |\n{gold}\n| run | Answers. |\n"
    found = words_of(text)
    assert list(found) == ["gold", "run"]
    assert found["gold"] == glossary.Word("gold", "Right, by people.", "/docs/runs/#a-b")
    assert found["run"].address == "/docs/glossary/#word-run"


def test_the_first_of_two_meanings_stays() -> None:
    assert words_of("| loss | One. |\n| loss | Two. |\n")["loss"].meaning == "One."


def test_more_leads_to_a_place_that_is_there() -> None:
    rows = document(glossary.PAGE).html
    missing = []
    for word in words().values():
        page, _, anchor = word.address.removeprefix("/docs/").partition("#")
        name = page_named(page)
        there = name is not None and (not anchor or anchor in anchors_of(pages()[name]))
        if not there and not (name == glossary.PAGE and f'id="{anchor}"' in rows):
            missing.append(word)
    assert missing == []


def test_every_word_is_short_and_has_a_row_that_a_link_can_name() -> None:
    rows = document(glossary.PAGE).html
    assert [word.name for word in words().values() if len(word.meaning) > LONGEST] == []
    assert [name for name in words() if f'<tr id="{anchor_of(name)}">' not in rows] == []


def test_templates_explain_words_that_the_glossary_holds() -> None:
    """Every template is compiled, which refuses an unknown word, and the words are indeed there."""
    names: set[str] = set()
    for path in project_files(".html"):
        if path.is_relative_to(TEMPLATES):
            engines["django"].get_template(path.relative_to(TEMPLATES).as_posix())
            names |= set(NAMED.findall(path.read_text("utf-8")))
    assert len(names) > 20
    assert names <= words().keys()


@pytest.mark.parametrize("tag", ['explain "golden hammer"', "explain", 'explain "gold" "run"'])
def test_an_unknown_word_is_refused_where_it_is_written(tag: str) -> None:
    with pytest.raises(TemplateSyntaxError, match="explain"):
        engines["django"].from_string(f"{{% {tag} %}}")


def test_the_button_opens_the_meaning_and_leads_on() -> None:
    html = rendered('{% explain "gold label" %}')
    (target,) = re.findall(r'<button [^>]*popovertarget="([\w-]+)"', html)
    assert f'id="{target}" popover' in html
    assert 'aria-label="Meaning of gold label"' in html
    assert words()["gold label"].meaning in html
    assert f'<a href="{words()["gold label"].address}">More</a>' in html


def test_a_word_that_is_given_by_the_view_is_looked_up() -> None:
    engine = engines["django"]
    assert "Meaning of judge" in engine.from_string("{% explain name %}").render({"name": "judge"})
    assert engine.from_string("{% explain name %}").render({"name": "golden hammer"}) == ""


def test_the_same_word_twice_has_two_places_also_in_a_part_of_the_page() -> None:
    twice = '{% explain "judge" %}{% explain "judge" %}'
    places = re.findall(r'id="([\w-]+)"', rendered(twice) + rendered(twice, hx_target='cell"><b>'))
    assert len(set(places)) == len(places) == 4


def test_an_installation_without_documents_explains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "words", lambda *_: {})
    assert (
        Engine(libraries={"explain": explain.__name__})
        .from_string('{% load explain %}{% explain "x" %}')
        .render(Context())
        == ""
    )


def test_what_the_glossary_says_is_text() -> None:
    word = glossary.Word("a<b", "1 < 2 & <script>", '/docs/"x')
    html = explain.explained(word, "1")
    assert "<script>" not in html
    assert "1 &lt; 2 &amp; &lt;script&gt;" in html
    assert '"/docs/&quot;x"' in html
