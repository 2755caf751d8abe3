"""Deleting, what was deleted, and restoring it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, cast
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.idempotency import idempotent
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.api.serializers_trash import DestroySerializer, TrashedSerializer
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.querysets.trash import deleted_projects
from toolevals.workspace.requests import SignedInRequest
from toolevals.workspace.services.trash import TrashError, trash_destroy, trash_put, trash_restore
from toolevals.workspace.trash.kinds import kind_of, trash_kinds


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
        raise ValidationError({"name": [f"Is not {key}, the name of what is to be destroyed. Nothing was destroyed."]})
    try:
        return Response(TrashedSerializer(trash_destroy(row=row, actor=actor, typed=key)).data)
    except TrashError as error:
        raise Problems(HTTPStatus.CONFLICT, str(error)) from error


class Trash(ProjectView):
    """What was deleted in the project and can be restored, the last deleted first."""

    @extend_schema(operation_id="projects_trash_list", responses=TrashedSerializer(many=True))
    def get(self, request: Request) -> Response:
        kinds = (kind for kind in trash_kinds().values() if kind.model is not Project)
        rows = [row for kind in kinds for row in kind.rows(self.project).exclude(deleted_at=None)]
        rows.sort(key=lambda row: (row.deleted_at, row.pk), reverse=True)
        return Response(TrashedSerializer([row for row in rows if not row.is_destroyed], many=True).data)


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

    @extend_schema(operation_id="deleted_projects_list", responses=TrashedSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(TrashedSerializer(_deleted(request), many=True).data)


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


def _typed(request: Request) -> str:
    """Return the name that was sent. Raises `ValidationError`, whether or not there is anything of that name."""
    asked = DestroySerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    return str(asked.validated_data["name"])


def _deleted(request: Request) -> Any:
    """Return the deleted projects that may be restored by whoever asks."""
    asking = cast("SignedInRequest", request._request)
    rows = deleted_projects(asking.user)
    if asking.token is None:
        return rows
    if asking.token.role < Role.OWNER:
        raise PermissionDenied("A token restores its project only as an owner of it.")
    return rows.filter(pk=asking.token.project_id)
