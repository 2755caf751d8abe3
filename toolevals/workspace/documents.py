"""Shows the documents as pages of the application: the index, each page, search, pictures and examples."""

from __future__ import annotations

from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import get_script_prefix
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from toolevals.documentation.files import INDEX, SERVED, files, page_named, pages
from toolevals.documentation.rendering import document
from toolevals.documentation.searching import LONGEST, search


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
