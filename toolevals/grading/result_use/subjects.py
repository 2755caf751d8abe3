"""The things that a reply names: identifiers, names and codes that a result holds."""

from __future__ import annotations

from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.scanner import identifier_key
from toolevals.grading.result_use.sources import Sources


def subjects_of(reply: Reply, sources: Sources) -> list[tuple[int, int, str]]:
    """Return start, end and key of each thing named in the reply that a result's field holds, in order."""
    if reply.subjects is None:
        reply.subjects = _subjects_in(reply, sources)
    return reply.subjects


def _subjects_in(reply: Reply, sources: Sources) -> list[tuple[int, int, str]]:
    found = [
        (mention.start, mention.end, str(mention.keys[0]))
        for mention in reply.mentions
        if mention.kind == "identifier" and mention.keys[0] in sources.index
    ]
    taken = {start for start, _, _ in found}
    for name in sources.names:
        start = reply.text.find(name)
        while start >= 0:
            end = start + len(name)
            if start not in taken and not _is_part(reply.text, start, end):
                found.append((start, end, identifier_key(name)))
            start = reply.text.find(name, end)
    found.sort()
    return found


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether the place is inside a longer word; the plural of a name is the name."""
    after = end + 1 if text[end : end + 1] == "s" else end
    return text[start - 1 : start].isalnum() or text[after : after + 1].isalnum()
