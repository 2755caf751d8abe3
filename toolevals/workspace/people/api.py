"""Serves members and invitations in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.api.serializers import RoleField, UserSerializer
from toolevals.workspace.middleware import shows_secret
from toolevals.workspace.models import (
    Invitation,
    InvitationState,
    Membership,
)
from toolevals.workspace.people.services import (
    InvitationEndedError,
    invitation_create,
    invitation_renew,
    invitation_revoke,
)
from toolevals.workspace.projects.services import LastOwnerError, member_remove, member_set
from toolevals.workspace.requests import invitation_link


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """A person's role in the project."""

    user = UserSerializer()
    role = RoleField()

    class Meta:
        model = Membership
        fields = ("id", "user", "role", "created_at")


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An invitation, without its link."""

    role = RoleField()
    actor = UserSerializer(allow_null=True)
    state = serializers.ChoiceField(choices=InvitationState.choices)
    is_expired = serializers.BooleanField(help_text="Pending, but its time is over.")

    class Meta:
        model = Invitation
        fields = ("id", "email", "role", "state", "is_expired", "actor", "created_at", "expires_at", "ended_at")


class NewInvitationSerializer(PlainSerializer):
    """Whom to invite, as what."""

    email = serializers.EmailField(max_length=254)
    role = RoleField()


class MadeInvitationSerializer(PlainSerializer):
    """An invitation and its link, which is not kept and shown here only."""

    invitation = InvitationSerializer()
    link = serializers.URLField()


class MemberRoleSerializer(PlainSerializer):
    """Another role."""

    role = RoleField()


class Members(ProjectView, ListAPIView[Membership]):
    """The members of the project. People become one by an invitation."""

    serializer_class = MemberSerializer
    queryset = Membership.objects.none()

    def get_queryset(self) -> QuerySet[Membership]:
        return self.project.memberships.select_related("user")


class Member(ProjectView):
    """One member: read, another role, an end."""

    def _member(self, pk: UUID) -> Membership:
        return get_object_or_404(self.project.memberships.select_related("user", "project"), pk=pk)

    @extend_schema(responses=MemberSerializer)
    def get(self, request: Request, member: UUID) -> Response:
        return Response(MemberSerializer(self._member(member)).data)

    @extend_schema(request=MemberRoleSerializer, responses=MemberSerializer)
    def put(self, request: Request, member: UUID) -> Response:
        asked = MemberRoleSerializer(data=request.data)
        found = self._member(member)
        asked.is_valid(raise_exception=True)
        if asked.validated_data["role"] > self.role:
            raise PermissionDenied(f"You give the role {self.role.label} at most: it is yours.")
        try:
            changed = member_set(project=self.project, actor=self.user, user=found.user, **asked.validated_data)
        except LastOwnerError as error:
            raise Problems(HTTPStatus.CONFLICT, str(error)) from error
        return Response(MemberSerializer(changed).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, member: UUID) -> Response:
        try:
            member_remove(membership=self._member(member), actor=self.user)
        except LastOwnerError as error:
            raise Problems(HTTPStatus.CONFLICT, str(error)) from error
        return Response(status=204)


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
