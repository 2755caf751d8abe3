"""Puts the meaning of a word of the glossary behind a small "?" next to a heading or a figure."""

from __future__ import annotations

import re
from typing import Any, Final

from django import template
from django.template.base import FilterExpression, Node, Parser, Token
from django.template.context import Context
from django.urls import get_script_prefix
from django.utils.html import format_html
from django.utils.safestring import SafeString

from toolevals.documentation.glossary import Word, anchor_of, words

register = template.Library()

# The text lies on top of the page and belongs to its button by its id. A browser that knows no popovers shows the link.
EXPLAINED: Final = (
    '<span class="explain"><button class="explain-btn" type="button" popovertarget="{0}" '
    'aria-label="Meaning of {1}">?</button>'
    '<span class="explain-box" id="{0}" popover role="note"><span class="explain-text"><strong>{1}</strong> {2}</span> '
    '<a href="{3}">More</a></span></span>'
)
_NOT_IN_IDS: Final = re.compile(r"[^\w-]+")


class ExplainNode(Node):
    """Renders the button and the text of a word that the glossary holds."""

    def __init__(self, word: str | FilterExpression) -> None:
        self.word = word

    def render(self, context: Context) -> SafeString:
        """Return the button with its text; nothing where this installation has no documents."""
        name = self.word if isinstance(self.word, str) else str(self.word.resolve(context))
        word = words(get_script_prefix()).get(name)
        return explained(word, _place(context)) if word else SafeString("")


@register.tag
def explain(parser: Parser, token: Token) -> ExplainNode:
    """Explain a word of the glossary: `{% explain "gold label" %}`. Raises TemplateSyntaxError for an unknown one."""
    try:
        _, argument = token.split_contents()
    except ValueError:
        message = f"{token.contents}: name one word of the glossary, in quotes"
        raise template.TemplateSyntaxError(message) from None
    if argument[0] != argument[-1] or argument[0] not in "\"'":
        return ExplainNode(parser.compile_filter(argument))
    known, name = words(), argument[1:-1]
    if known and name not in known:
        message = f"{token.contents}: docs/glossary.md has no such word"
        raise template.TemplateSyntaxError(message)
    return ExplainNode(name)


def explained(word: Word, place: str) -> SafeString:
    """Return the button and the text of a word; `place` tells it from the same word elsewhere on the page."""
    return format_html(EXPLAINED, f"{anchor_of(word.name)}-{place}", word.name, word.meaning, word.address)


def _place(context: Context) -> str:
    """Return what no other place of the page has: a number, and the part of the page that is asked for alone."""
    request: Any = context.get("request")
    if request is None:
        return "0"
    request.explained = getattr(request, "explained", 0) + 1
    part = _NOT_IN_IDS.sub("", request.headers.get("HX-Target", ""))[:40]
    return f"{part}{request.explained}"
