"""Shows the documents as pages of the application: the index, each page, search, pictures and examples."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import get_script_prefix
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from toolevals.documentation.files import INDEX, SERVED, files, page_named, pages
from toolevals.documentation.rendering import document
from toolevals.documentation.searching import LONGEST, search
from toolevals.packed import read_bytes, read_text

_MARKDOWN: Final = "text/markdown; charset=utf-8"
_LISTED: Final = re.compile(r"\]\(([\w./-]+\.md)\)")
_SUMMARY: Final = (
    "A self-hosted application in which a team labels tool-call examples, grades its agents' tool calls and reads the "
    "confusion matrices. Agents ask it by MCP: see the document on it."
)


@require_GET
def docs(request: HttpRequest, page: str = INDEX) -> HttpResponse:
    """Show a document, the index by default."""
    if not pages():
        return render(request, "workspace/docs.html", {"missing": True}, status=HTTPStatus.NOT_FOUND)
    name = page_named(page)
    if name is None:
        raise Http404
    shown = document(name, get_script_prefix())
    # Rendered without any HTML of the file's own: toolevals.documentation.rendering.
    context = {"document": shown, "html": SafeString(shown.html), "is_index": name == INDEX}
    return render(request, "workspace/docs.html", context)


@require_GET
def docs_markdown(request: HttpRequest, page: str) -> HttpResponse:
    """Send a document as it is written, in Markdown."""
    name = page_named(page)
    if name is None:
        raise Http404
    return HttpResponse(read_bytes(pages()[name]), content_type=_MARKDOWN)


@require_GET
def llms(request: HttpRequest) -> HttpResponse:
    """Send the index of the documents for language models, as https://llmstxt.org describes it."""
    if INDEX not in pages():
        raise Http404
    _, _, listed = read_text(pages()[INDEX]).partition("\n## ")
    root = request.build_absolute_uri(get_script_prefix())
    listed = _LISTED.sub(lambda link: f"]({root}docs/{link[1]})", f"## {listed}")
    return HttpResponse(f"# toolevals\n\n> {_SUMMARY}\n\n{listed}", content_type=_MARKDOWN)


@require_GET
def docs_search(request: HttpRequest) -> HttpResponse:
    """Show the sections that hold the words of `?q=`."""
    words = request.GET.get("q", "").strip()[:LONGEST]
    return render(request, "workspace/docs_search.html", {"words": words, "hits": search(words, get_script_prefix())})


@require_GET
def docs_file(request: HttpRequest, file: str) -> HttpResponse:
    """Send a picture, or an example as plain text."""
    path = files().get(file)
    if path is None:
        raise Http404
    return HttpResponse(path.read_bytes(), content_type=SERVED[path.suffix])
