from typing import Any

from labeling.conversation.turns import content_text, last_request, snippet


def said(*contents: tuple[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content} for role, content in contents]}


def test_the_last_words_of_the_user_stand_on_one_line():
    asked = said(("user", "First"), ("user", "Where is\n my  order?"), ("assistant", "Which one?"))
    assert last_request(asked) == "Where is my order?"
    for nothing in (None, {}, {"messages": None}, {"messages": ["x"]}, said(("assistant", "Hello"))):
        assert last_request(nothing) == ""


def test_a_message_of_parts_says_what_its_parts_say():
    parts = [{"type": "text", "text": "Where is"}, {"type": "image_url"}, {"type": "text", "text": "my order?"}]
    assert last_request(said(("user", "First"), ("user", parts))) == content_text(parts) == "Where is my order?"
    assert content_text(None) == content_text(7) == content_text([None, {"text": 7}]) == ""


def test_a_snippet_is_cut():
    assert snippet(said(("user", "a" * 140))) == "a" * 140
    assert snippet(said(("user", "a" * 141))) == "a" * 139 + "…"
    assert snippet(said(("user", "Hello there")), 6) == "Hello…"
