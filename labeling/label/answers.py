"""Answer from the work pages: a page, the part of it that a script swaps, a conflict, parts of a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string

from labeling.conversation import read_conversation
from labeling.conversation.turns import folded, rest_of
from toolevals.grading.values.problems import Problem
from toolevals.json_types import JsonObject

# A turn, or the rest of one of its blocks.
_NAME = re.compile(r"([0-9]{1,6})(?:\.([0-9]{1,6}))?")
MOST_PARTS = 200


def page_or_fragment(
    request: HttpRequest, *, page: str, fragment: str, context: JsonObject, url: str = ""
) -> HttpResponse:
    """Return the whole page, or for a script that swaps only what changes, that, with the address it belongs to."""
    if not request.headers.get("HX-Request"):
        return redirect(url) if url and request.method == "POST" else render(request, page, context)
    response = render(request, fragment, context)
    if url:
        response.headers["HX-Push-Url"] = url
    return response


def go_to(request: HttpRequest, url: str) -> HttpResponse:
    """Return the answer that leads to another page; a script is named it, and goes there by itself."""
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Push-Url": url})
    return redirect(url)


def conflict(message: str, *, url: str) -> JsonResponse:
    """Return the answer to an act that does not fit the state of things any more; `url` leads on."""
    return JsonResponse({"message": message, "url": url}, status=409)


def sentences(problems: Iterable[Problem]) -> list[str]:
    """Return problems for people, each with its place where it has one."""
    return [f"{problem.pointer}: {problem.message}" if problem.pointer else problem.message for problem in problems]


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
