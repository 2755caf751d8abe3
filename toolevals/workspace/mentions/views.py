"""Show a person where they are mentioned, and offer names to write."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_safe

from toolevals.workspace.mentions.models import Mention
from toolevals.workspace.mentions.names import names_offered
from toolevals.workspace.mentions.queries import places
from toolevals.workspace.mentions.services import mention_read
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest

OFFERED = 8


@require_safe
def mentions(request: ProjectRequest) -> HttpResponse:
    """List where the person who asks is mentioned and may read it, the newest first."""
    mine = Mention.objects.filter(person=request.user, project=request.project).select_related("actor")
    page = page_of(mine, request.GET.get("before", ""))
    shown = places(page.rows, request.project, request.user, request.role)
    rows = [(mention, shown[mention.pk]) for mention in page.rows if mention.pk in shown]
    return render(request, "workspace/mentions.html", {"rows": rows, "page": page})


@require_GET
def mention(request: ProjectRequest, mention: UUID) -> HttpResponseRedirect:
    """Go to the text, and note that it is read."""
    found = get_object_or_404(Mention, pk=mention, person=request.user, project=request.project)
    place = places([found], request.project, request.user, request.role).get(found.pk)
    if place is None:
        raise Http404
    mention_read(mention=found)
    return HttpResponseRedirect(place.url)


@require_safe
def names(request: ProjectRequest) -> HttpResponse:
    """Offer the names of members that begin with, or have a word that begins with, what `?q=` says."""
    asked = request.GET.get("q", "")[:80].casefold()
    fitting = [
        name
        for name in names_offered(request.project)
        if name.casefold().startswith(asked) or any(word.startswith(asked) for word in name.casefold().split())
    ]
    return render(request, "workspace/parts/mention_names.html", {"names": fitting[:OFFERED]})
