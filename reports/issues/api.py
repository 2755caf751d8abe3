"""Serve issues in the REST interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.issues import services
from reports.issues.asked import agent_asked, issue_asked, member_asked
from reports.issues.figures import by_agent, touched_by, versions_of
from reports.issues.models import Issue, IssueState
from reports.issues.queries import (
    CASES_A_PAGE,
    CHANGES,
    SORTS,
    IssueFilter,
    case_row,
    issue_cases,
    issue_or_404,
    issue_page,
    issue_traces,
    row_of,
)
from reports.issues.services import LONGEST_NOTE
from reports.issues.table import PAGE, WHOLE
from toolevals.grading.failures import LAYERS, fixes_of
from toolevals.json_types import JsonObject
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.models import Role, User
from toolevals.workspace.tables import serializer_of


class IssuesView(ProjectView):
    """The project's issues, those that came back first."""

    @extend_schema(
        operation_id="projects_issues_list",
        parameters=[
            OpenApiParameter("state", str, enum=IssueState.values),
            OpenApiParameter("layer", str, enum=list(LAYERS)),
            OpenApiParameter("tool", str),
            OpenApiParameter("agent", str, description="The name of an agent in whose runs they are."),
            OpenApiParameter("q", str, description="A part of the name or of the error's text."),
            OpenApiParameter("run", int, description="The number of a run that they are in."),
            OpenApiParameter("change", str, enum=list(CHANGES), description="What they are in that run."),
            OpenApiParameter("baseline", int, description="The run to compare with; default: the previous run."),
            OpenApiParameter("sort", str, enum=list(SORTS)),
            OpenApiParameter("page", int, description="From 1; of 25."),
        ],
        responses=serializer_of(PAGE),
    )
    def get(self, request: Request) -> Response:
        page = issue_page(self.project, IssueFilter.of_address(request.query_params.dict(), self.user))
        document = {"count": page.count, "pages": page.pages, "results": page.rows}
        return Response(serializer_of(PAGE)(document).data)


def _whole(issue: Issue, role: Role) -> Response:
    fixes = fixes_of(issue.failure)
    document = {
        "row": row_of(issue),
        "merged_into": issue.merged_into_id,
        "immediate_fix": fixes.immediate,
        "lasting_fix": fixes.lasting,
        "by_agent": by_agent(issue),
        "newest_cases": [case_row(each) for each in issue_cases(issue)[:CASES_A_PAGE]],
        "touched": touched_by(issue),
        "by_version": [
            {"agent": agent, "version": version, "seen": share.seen, "traces": share.cases}
            for (agent, version), share in versions_of(issue).items()
        ],
        "newest_traces": issue_traces(issue, role)[:CASES_A_PAGE],
        "history": [
            {
                "verb": event.verb,
                "actor": event.actor.name if event.actor else None,
                "at": event.at,
                "detail": event.shown,
            }
            for event in issue.events.select_related("actor").order_by("at", "pk")
        ],
    }
    return Response(serializer_of(WHOLE)(document).data)


class IssueView(ProjectView):
    """One issue with its figures, its newest cases and traces, and its history."""

    @extend_schema(responses=serializer_of(WHOLE))
    def get(self, _request: Request, issue: UUID) -> Response:
        return _whole(issue_or_404(self.project, issue), self.role)


class IssueNothingSerializer(PlainSerializer):
    """An act that takes no field."""


class IssueFixSerializer(PlainSerializer):
    """The agent in which an issue is fixed, from its first graded run on."""

    agent = serializers.UUIDField(help_text="The id of an agent with a graded run.")


class IssueAcceptSerializer(PlainSerializer):
    """The reason to accept an issue."""

    reason = serializers.CharField(max_length=LONGEST_NOTE)


class IssueOwnerSerializer(PlainSerializer):
    """The person who owns an issue."""

    owner = serializers.UUIDField(allow_null=True, help_text="The id of a member; null takes the owner away.")
    due_on = serializers.DateField(allow_null=True, default=None, help_text="Until when; of no meaning without owner.")


class IssueNameSerializer(PlainSerializer):
    """The name of an issue and its kind."""

    name = serializers.CharField(max_length=300)
    kind = serializers.CharField(max_length=40, help_text="One of the thirty kinds.")


class IssueNoteSerializer(PlainSerializer):
    """A note for the history."""

    text = serializers.CharField(max_length=LONGEST_NOTE)


class IssueMergeSerializer(PlainSerializer):
    """The issue to merge with."""

    issue = serializers.UUIDField(help_text="Another issue of the project; the older one of the two stays.")


Act = Callable[[Issue, User, JsonObject], Issue | None]


def _fix(issue: Issue, actor: User, sent: JsonObject) -> None:
    """Say that the issue is fixed in an agent; refused where the runs since say otherwise."""
    services.issue_fix(issue=issue, agent=agent_asked(issue.project, sent["agent"]), actor=actor)


def _accept(issue: Issue, actor: User, sent: JsonObject) -> None:
    """Accept the issue, with a reason."""
    services.issue_accept(issue=issue, actor=actor, **sent)


def _reopen(issue: Issue, actor: User, _sent: JsonObject) -> None:
    """Open the issue again."""
    services.issue_reopen(issue=issue, actor=actor)


def _own(issue: Issue, actor: User, sent: JsonObject) -> None:
    """Give the issue to a member, or to no one."""
    owner = member_asked(issue.project, sent["owner"]) if sent["owner"] else None
    services.issue_own(issue=issue, actor=actor, owner=owner, due_on=sent["due_on"])


def _name(issue: Issue, actor: User, sent: JsonObject) -> None:
    """Give the issue another name and kind."""
    services.issue_name(issue=issue, actor=actor, **sent)


def _note(issue: Issue, actor: User, sent: JsonObject) -> None:
    """Write a note into the issue's history."""
    services.issue_note(issue=issue, actor=actor, **sent)


def _merge(issue: Issue, actor: User, sent: JsonObject) -> Issue:
    """Merge the issue with another one; the answer is the older one, which stays."""
    other = issue_asked(issue.project, sent["issue"])
    return services.issues_merge(issue=issue, other=other, actor=actor)


def _split(issue: Issue, actor: User, _sent: JsonObject) -> None:
    """Take the issue out of the one that it was merged into."""
    services.issue_split(issue=issue, actor=actor)


def _view_of(act: Act, asks: type[PlainSerializer]) -> type[ProjectView]:
    """Return the view that does an act and answers with the issue that holds the cases then."""

    class IssueActView(ProjectView):
        @extend_schema(description=act.__doc__, request=asks, responses=serializer_of(WHOLE))
        @idempotent
        def post(self, request: Request, issue: UUID) -> Response:
            sent = asks(data=request.data)
            sent.is_valid(raise_exception=True)
            row = issue_or_404(self.project, issue)
            shown = act(row, self.user, sent.validated_data) or row
            return _whole(issue_or_404(self.project, shown.pk), self.role)

    return IssueActView


# By the last word of the address, as on the pages.
ISSUE_ACTS: Final[Mapping[str, type[ProjectView]]] = {
    "fix": _view_of(_fix, IssueFixSerializer),
    "accept": _view_of(_accept, IssueAcceptSerializer),
    "reopen": _view_of(_reopen, IssueNothingSerializer),
    "own": _view_of(_own, IssueOwnerSerializer),
    "name": _view_of(_name, IssueNameSerializer),
    "note": _view_of(_note, IssueNoteSerializer),
    "merge": _view_of(_merge, IssueMergeSerializer),
    "split": _view_of(_split, IssueNothingSerializer),
}
