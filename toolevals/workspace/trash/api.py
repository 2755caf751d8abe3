"""Deletes, lists what was deleted, restores it and destroys it, in the REST interface."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final, cast
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.http import urlencode
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from toolevals.workspace.api.base import NewestFirst, ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.api.serializers import UserSerializer
from toolevals.workspace.clock import database_now
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.requests import SignedInRequest, whole_number
from toolevals.workspace.trash.kinds import TrashKind, kind_of, trash_kinds
from toolevals.workspace.trash.lists import deleted_projects, is_cursor, project_trash, trash_page
from toolevals.workspace.trash.services import TrashError, jobs_destroying, trash_destroy, trash_put, trash_restore


class TakenSerializer(PlainSerializer):
    """The number of rows that go with a deleted object."""

    count = serializers.IntegerField()
    words = serializers.CharField()


class DestroySerializer(PlainSerializer):
    """That it is meant: the name of what is to be destroyed."""

    name = serializers.CharField(max_length=200, help_text="Its short name; of a run its number.")


class TrashedSerializer(PlainSerializer):
    """A deleted thing; of one that was just restored the dates are null."""

    id = serializers.UUIDField(source="pk")
    kind = serializers.SerializerMethodField(help_text="dataset, run, registry or project")
    name = serializers.SerializerMethodField(help_text="The short name; of a run its number.")
    title = serializers.SerializerMethodField()
    deleted_at = serializers.DateTimeField(allow_null=True)
    deleted_by = UserSerializer(allow_null=True)
    destroy_at = serializers.DateTimeField(allow_null=True, help_text="When it is deleted permanently.")
    job = serializers.SerializerMethodField(
        help_text="The job that deletes it permanently; null before, and for a project, whose jobs are gone."
    )
    takes = serializers.SerializerMethodField(help_text="What goes with it, counted when it was deleted.")
    rests = serializers.SerializerMethodField(help_text="Sentences on what rests on it and stays.")

    @extend_schema_field(serializers.CharField())
    def get_kind(self, row: Any) -> str:
        return kind_of(row).name

    @extend_schema_field(serializers.CharField())
    def get_name(self, row: Any) -> str:
        return kind_of(row).key(row)

    @extend_schema_field(serializers.CharField())
    def get_title(self, row: Any) -> str:
        return kind_of(row).title(row)

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_job(self, row: Any) -> Any:
        if isinstance(row, Project) or row.destroy_at is None or row.destroy_at > database_now():
            return None
        job = jobs_destroying([row]).get(row.pk)
        return None if job is None else job.pk

    @extend_schema_field(TakenSerializer(many=True))
    def get_takes(self, row: Any) -> Any:
        return (row.deletion or {}).get("takes", [])

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_rests(self, row: Any) -> Any:
        return (row.deletion or {}).get("rests", [])


class TrashPageSerializer(PlainSerializer):
    """Some deleted things, and the address of those deleted before them; null at the end."""

    next = serializers.URLField(allow_null=True)
    results = TrashedSerializer(many=True)


_PAGE: Final = [
    OpenApiParameter("before", str, description="The cursor of a page, from `next` of the page before."),
    OpenApiParameter("limit", int, description="How many, 1 to 1,000; 100 without it."),
]


def deleted_answer(row: Any, actor: User) -> Response:
    """Delete what a view has found and return the answer. Raises `Problems` where it cannot be deleted."""
    try:
        return Response(TrashedSerializer(trash_put(row=row, actor=actor)).data)
    except TrashError as error:
        raise Problems(HTTPStatus.CONFLICT, str(error)) from error


def restored_answer(row: Any, actor: User) -> Response:
    """Restore what a view has found and return the answer. Raises `Problems` where it cannot be restored."""
    try:
        return Response(TrashedSerializer(trash_restore(row=row, actor=actor)).data)
    except TrashError as error:
        raise Problems(HTTPStatus.CONFLICT, str(error)) from error


def destroyed_answer(row: Any, actor: User, typed: str) -> Response:
    """Have what a view has found destroyed, where its name was sent, and return the answer. Raises `Problems`."""
    key = kind_of(row).key(row)
    if typed != key:
        raise ValidationError({"name": [f"Is not {key}, the name of the item to delete. Nothing was deleted."]})
    try:
        return Response(TrashedSerializer(trash_destroy(row=row, actor=actor, typed=key)).data)
    except TrashError as error:
        raise Problems(HTTPStatus.CONFLICT, str(error)) from error


class Trash(ProjectView):
    """The deleted objects of the project that can be restored, the last deleted first."""

    @extend_schema(operation_id="projects_trash_list", parameters=_PAGE, responses=TrashPageSerializer)
    def get(self, request: Request) -> Response:
        return _page(request, project_trash(self.project))


class TrashRestore(ProjectView):
    """Take a dataset, a run or a registry out of the trash."""

    @extend_schema(request=None, responses=TrashedSerializer)
    @idempotent
    def post(self, request: Request, item: UUID) -> Response:
        for kind in trash_kinds().values():
            row = None if kind.model is Project else kind.rows(self.project).filter(pk=item).first()
            if row is not None:
                return restored_answer(row, self.user)
        raise Http404


class TrashDestroy(ProjectView):
    """Have a dataset, a run or a registry in the trash destroyed now. Nothing brings it back."""

    @extend_schema(request=DestroySerializer, responses=TrashedSerializer)
    @idempotent
    def post(self, request: Request, item: UUID) -> Response:
        typed = _typed(request)
        for kind in trash_kinds().values():
            row = None if kind.model is Project else kind.rows(self.project).filter(pk=item).first()
            if row is not None:
                return destroyed_answer(row, self.user, typed)
        raise Http404


class DeletedProjects(APIView):
    """The deleted projects that the person who asks owns; with a token, the token's."""

    @extend_schema(operation_id="deleted_projects_list", parameters=_PAGE, responses=TrashPageSerializer)
    def get(self, request: Request) -> Response:
        return _page(request, [(trash_kinds()["project"], _deleted(request))])


class DeletedProjectRestore(APIView):
    """Take a project out of the trash."""

    @extend_schema(request=None, responses=TrashedSerializer)
    def post(self, request: Request, gone: UUID) -> Response:
        row = _deleted(request).filter(pk=gone).first()
        if row is None:
            raise Http404
        return restored_answer(row, cast("User", request.user))


class DeletedProjectDestroy(APIView):
    """Have a project in the trash destroyed now. Nothing brings it back."""

    @extend_schema(request=DestroySerializer, responses=TrashedSerializer)
    def post(self, request: Request, gone: UUID) -> Response:
        typed, row = _typed(request), _deleted(request).filter(pk=gone).first()
        if row is None:
            raise Http404
        return destroyed_answer(row, cast("User", request.user), typed)


def _page(request: Request, things: Iterable[tuple[TrashKind, Any]]) -> Response:
    """Return a page as lists have it, by the cursor `before`. Raises NotFound where that is none."""
    asked = request.query_params
    before = asked.get("before", "")
    if before and not is_cursor(before):
        raise NotFound(NewestFirst.invalid_cursor_message)
    size = min(max(whole_number(asked.get("limit", "")) or NewestFirst.page_size, 1), NewestFirst.max_page_size)
    page = trash_page(things, before, size=size)
    following = urlencode({"before": page.older, "limit": str(size)})
    answer = {
        "next": request.build_absolute_uri(f"{request.path}?{following}") if page.older else None,
        "results": [row for _, row in page.rows],
    }
    return Response(TrashPageSerializer(answer).data)


def _typed(request: Request) -> str:
    """Return the name that was sent. Raises `ValidationError`, whether or not there is anything of that name."""
    asked = DestroySerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    return str(asked.validated_data["name"])


def _deleted(request: Request) -> Any:
    """Return the deleted projects that may be restored by the person who asks."""
    asking = cast("SignedInRequest", request)
    rows = deleted_projects(asking.user)
    if asking.token is None:
        return rows
    if asking.token.role < Role.OWNER:
        raise PermissionDenied("A token restores its project only as an owner of it.")
    return rows.filter(pk=asking.token.project_id)
