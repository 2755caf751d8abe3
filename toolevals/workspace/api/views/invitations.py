"""Serves the invitations to a project in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.api.serializers import (
    InvitationSerializer,
    MadeInvitationSerializer,
    NewInvitationSerializer,
)
from toolevals.workspace.compression import shows_secret
from toolevals.workspace.models import Invitation
from toolevals.workspace.requests import invitation_link
from toolevals.workspace.services.invitations import (
    InvitationEndedError,
    invitation_create,
    invitation_renew,
    invitation_revoke,
)


class Invitations(ProjectView, ListAPIView[Invitation]):
    """Every invitation to the project, answered ones too; by POST, one more, with its link."""

    serializer_class = InvitationSerializer
    queryset = Invitation.objects.none()

    def get_queryset(self) -> QuerySet[Invitation]:
        return self.project.invitations.select_related("actor")

    @extend_schema(request=NewInvitationSerializer, responses={201: MadeInvitationSerializer})
    def post(self, request: Request) -> Response:
        asked = NewInvitationSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        if asked.validated_data["role"] > self.role:
            raise PermissionDenied(f"You invite people with the role {self.role.label} at most: it is yours.")
        invitation, secret = invitation_create(project=self.project, actor=self.user, **asked.validated_data)
        return _made(self, invitation, secret)


class InvitationDetail(ProjectView):
    """One invitation: read, revoked."""

    @extend_schema(responses=InvitationSerializer)
    def get(self, request: Request, invitation: UUID) -> Response:
        return Response(InvitationSerializer(_found(self, invitation)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, invitation: UUID) -> Response:
        invitation_revoke(invitation=_found(self, invitation), actor=self.user)
        return Response(status=204)


class InvitationRenewal(ProjectView):
    """A new link of a pending invitation; the old one ends."""

    @extend_schema(request=None, responses={201: MadeInvitationSerializer})
    def post(self, request: Request, invitation: UUID) -> Response:
        found = _found(self, invitation)
        if found.role > self.role:
            raise PermissionDenied(f"You invite people with the role {self.role.label} at most: it is yours.")
        try:
            made, secret = invitation_renew(invitation=found, actor=self.user)
        except InvitationEndedError as error:
            raise Problems(HTTPStatus.CONFLICT, str(error)) from error
        return _made(self, made, secret)


def _found(view: ProjectView, pk: UUID) -> Invitation:
    return get_object_or_404(view.project.invitations.select_related("project", "actor"), pk=pk)


def _made(view: ProjectView, invitation: Invitation, secret: str) -> Response:
    made = {"invitation": invitation, "link": invitation_link(view.access, secret)}
    return shows_secret(Response(MadeInvitationSerializer(made).data, status=HTTPStatus.CREATED))
