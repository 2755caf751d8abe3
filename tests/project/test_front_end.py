"""Pages stay what the Content-Security-Policy promises: what would fail silently in a browser fails here."""

from __future__ import annotations

import re

import pytest

from scripts.dev import template_lines
from scripts.dev.environment import ROOT
from tests.project.files import lines_matching, project_files

TEMPLATES = [path for path in project_files(".html") if path.is_relative_to(ROOT / "templates")]
SCRIPTS = [path for path in project_files(".js", ".mjs") if path.is_relative_to(ROOT / "static")]

FORBIDDEN_IN_TEMPLATES = {
    "inline script": r"<script(?![^>]*\ssrc=)",
    "inline style": r"<style|\sstyle\s*=",
    "event handler attribute": r"\son[a-z]+\s*=\s*[\"']",
    "script address": r"javascript:",
    "hx-on": r"hx-on",
    "js: value": r"(hx-vals|hx-headers|hx-vars|hx-request)\s*=\s*[\"']\s*(js|javascript):|hx-vars",
    "trigger filter": r"hx-trigger\s*=\s*\"[^\"]*\[|hx-trigger\s*=\s*'[^']*\[",
    "unescaped text": r"\|\s*safe\b|autoescape\s+off",
    "address of another host": r"(src|href)\s*=\s*[\"'](https?:)?//",
}
FORBIDDEN_IN_SCRIPTS = {
    "evaluated text": r"\beval\s*\(|new\s+Function\b|set(Timeout|Interval)\s*\(\s*[\"'`]",
    "markup from text": r"\b(inner|outer)HTML\s*\+?=[^=]|insertAdjacentHTML|document\.write",
    "style attribute": r"setAttribute\s*\(\s*[\"']style",
    "address of another host": r"[\"'`]https?://(?!www\.w3\.org/)",
}


def test_there_is_something_to_look_at() -> None:
    assert len(TEMPLATES) > 10
    assert len(SCRIPTS) > 5


@pytest.mark.parametrize("what", FORBIDDEN_IN_TEMPLATES)
def test_templates_are_free_of(what: str) -> None:
    assert lines_matching(TEMPLATES, FORBIDDEN_IN_TEMPLATES[what]) == []


def test_every_button_says_whether_it_submits() -> None:
    untyped = re.compile(r"<button\b(?![^>]*\btype=)[^>]*>")
    assert [path.name for path in TEMPLATES if untyped.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("what", FORBIDDEN_IN_SCRIPTS)
def test_scripts_are_free_of(what: str) -> None:
    assert lines_matching(SCRIPTS, FORBIDDEN_IN_SCRIPTS[what]) == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("inline script", "<script>alert(1)</script>"),
        ("inline script", '<script type="module">import "x"</script>'),
        ("inline style", '<p class="a" style="color: red">'),
        ("event handler attribute", '<button onclick="go()">'),
        ("js: value", """<a hx-vals='js:{now: Date.now()}'>"""),
        ("trigger filter", """<input hx-trigger="keyup[key=='Enter']">"""),
        ("unescaped text", "{{ text|safe }}"),
    ],
)
def test_the_patterns_find_what_they_are_for(what: str, text: str) -> None:

    assert re.search(FORBIDDEN_IN_TEMPLATES[what], text, re.IGNORECASE)


def test_templates_are_short() -> None:
    long = [str(path.relative_to(ROOT)) for path in TEMPLATES if len(path.read_text().splitlines()) >= 100]
    assert long == []


def test_lines_of_templates_are_short() -> None:
    assert template_lines.long_lines() == []


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("<p>" + "word " * 40 + "</p>", "<p>" + ("word " * 31).strip() + "\n  " + "word " * 9 + "</p>"),
        (
            "<ul>" + f"<li>{'x' * 70}</li>" * 3 + "</ul>",
            f"<ul><li>{'x' * 70}</li>\n" + f"<li>{'x' * 70}</li>" * 2 + "\n</ul>",
        ),
        (f'<a title="{"x " * 60}" class="{"y" * 60}">x</a>', f'<a title="{"x " * 60}"\n  class="{"y" * 60}">x</a>'),
        # Space that says something is kept, and so is what has no space to break at.
        (f"<pre>{'a b ' * 60}</pre>", f"<pre\n  >{'a b ' * 60}</pre>"),
        (f"{{% include {'x ' * 100}%}}", f"{{% include {'x ' * 100}%}}"),
    ],
)
def test_long_lines_break_where_space_says_nothing(long: str, short: str) -> None:
    assert template_lines.broken(long) == short


def test_htmx_may_neither_evaluate_nor_inject_styles() -> None:
    base = (ROOT / "templates" / "base.html").read_text()
    assert '"includeIndicatorStyles": false' in base
    assert '"allowEval": false' in base
