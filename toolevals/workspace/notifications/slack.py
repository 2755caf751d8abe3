"""Write an event as the text of a message that Slack, and what reads the same, takes."""

from __future__ import annotations

from toolevals.json_types import JsonMapping


def slack_text(document: JsonMapping) -> str:
    """Return an event's sentence with a link to its page.

    Anyone may have written the names: `&`, `<` and `>` are the marks of links and mentions, and escaped as Slack says.
    """
    data = document["data"]
    assert isinstance(data, dict)
    words = f"{escaped(str(data['project_name']))}: {escaped(str(data['summary']))}"
    url = str(data["url"])
    return f"{words} <{escaped(url)}|Open>" if "://" in url else words


def escaped(text: str) -> str:
    """Return a text in which nothing is a link or a mention."""
    plain = "".join(mark if mark.isprintable() else " " for mark in text)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
