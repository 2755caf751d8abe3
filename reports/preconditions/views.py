"""Show the preconditions that gold and traces suggest for a policy, and the conversations behind each."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from reports.preconditions.queries import PairConversation, SourceName, conversations_of, suggestions
from reports.preconditions.services import precondition_add
from reports.preconditions.table import PAIR_CONVERSATIONS, SUGGESTIONS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import Policy
from toolevals.workspace.paging import PAGE_SIZE
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file


@require_http_methods(["GET", "HEAD", "POST"])
def preconditions(request: ProjectRequest, policy: str) -> HttpResponse:
    """List the suggestions; by POST, add one to the policy as a new version in which it is in audit."""
    found, problem = _policy(request, policy), ""
    if request.method == "POST":
        pair = request.POST.get("tool", ""), request.POST.get("after", "")
        try:
            made = precondition_add(policy=found, actor=request.user, role=request.role, tool=pair[0], after=pair[1])
        except InvalidDocument as error:
            problem = f"{pair[0]} {error.problems[0].message}."
        else:
            messages.success(request, f"Version {made.number} has it in audit mode. The version is not active.")
            return redirect("reports:policy-version", request.project.slug, found.slug, made.number)
    context = {"policy": found, "suggestions": suggestions(found, request.role), "problem": problem}
    return render(request, "reports/preconditions.html", context, status=422 if problem else 200)


@require_safe
def preconditions_csv(request: ProjectRequest, policy: str) -> StreamingHttpResponse:
    """Send the suggestions."""
    found = _policy(request, policy)
    return table_file(f"{found.slug}-preconditions", SUGGESTIONS, suggestions(found, request.role))


@require_safe
def precondition_conversations(request: ProjectRequest, policy: str) -> HttpResponse:
    """List the conversations of gold or of traces (`of`) in which a tool was called."""
    found, rows = _policy(request, policy), _conversations(request, policy)
    before = request.GET.get("before", "")
    rest = [each for each in rows if not before or str(each.seen.pk) < before]
    context = {
        "policy": found,
        "tool": request.GET.get("tool", ""),
        "after": request.GET.get("after", ""),
        "of_gold": _source(request) == "gold",
        "held": sum(each.is_before for each in rows),
        "count": len(rows),
        "rows": rest[:PAGE_SIZE],
        "older": rest[PAGE_SIZE - 1].seen.pk if len(rest) > PAGE_SIZE else "",
    }
    return render(request, "reports/precondition_conversations.html", context)


@require_safe
def precondition_conversations_csv(request: ProjectRequest, policy: str) -> StreamingHttpResponse:
    """Send these conversations."""
    return table_file(f"{policy}-precondition", PAIR_CONVERSATIONS, _conversations(request, policy))


def _conversations(request: ProjectRequest, policy: str) -> list[PairConversation]:
    pair = request.GET.get("tool", ""), request.GET.get("after", "")
    return conversations_of(_policy(request, policy), request.role, _source(request), *pair)


def _source(request: ProjectRequest) -> SourceName:
    return "gold" if request.GET.get("of") == "gold" else "traces"


def _policy(request: ProjectRequest, slug: str) -> Policy:
    found: Policy = get_object_or_404(Policy.objects.in_project(request.project), slug=slug)
    found.project = request.project
    return found
