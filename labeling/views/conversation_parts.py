"""Send parts of a conversation that its page left out."""

from __future__ import annotations

import re
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.template.loader import render_to_string

from labeling.conversation import read_conversation
from labeling.conversation.folding import folded, rest_of

# A turn, or the rest of one of its blocks.
_NAME = re.compile(r"([0-9]{1,6})(?:\.([0-9]{1,6}))?")
MOST_PARTS = 200


def parts_asked(
    request: HttpRequest, document: Any, *, pickable: bool = False, findable: bool = False
) -> JsonResponse | None:
    """Return the parts `?part=` asks for as HTML by name, those that there are; None where none is asked for.

    `document` is the input that the page itself shows: the caller has asked whether this person may see it.
    """
    names = request.GET.getlist("part")[:MOST_PARTS]
    if not names:
        return None
    turns = folded(read_conversation(document)).turns
    how = {"pickable": pickable, "findable": findable}
    parts = {}
    for name in names:
        asked = _NAME.fullmatch(name)
        if asked is None or int(asked[1]) >= len(turns):
            continue
        turn = turns[int(asked[1])]
        if asked[2] is None:
            context = {"turn": turn, "number": asked[1]}
        elif (rest := rest_of(turn, int(asked[2]))) is not None:
            context = {"texts": rest[0], "lines": rest[1]}
        else:
            continue
        template = "turn_blocks" if asked[2] is None else "rest_of_block"
        parts[name] = render_to_string(f"labeling/parts/{template}.html", how | context)
    return JsonResponse({"parts": parts})
