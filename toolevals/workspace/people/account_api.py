"""Serves owners of the installation its people in the REST interface."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import cast
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.api.serializers import RoleField
from toolevals.workspace.models import User
from toolevals.workspace.people.departure import (
    DepartureError,
    heirs_of,
    projects_owned_alone,
    user_deactivate,
    user_delete,
    user_reactivate,
)


class PersonSerializer(serializers.ModelSerializer[User]):
    """A person of the installation."""

    state = serializers.CharField(help_text="active, deactivated or deleted")

    class Meta:
        model = User
        fields = ("id", "name", "email", "state", "is_installation_owner", "created_at")


class PersonMembershipSerializer(PlainSerializer):
    """A project of a person."""

    project = serializers.SlugField(source="project.slug")
    role = RoleField()


class PersonWholeSerializer(PersonSerializer):
    """A person with their projects."""

    memberships = PersonMembershipSerializer(many=True)
    owned_alone = serializers.SerializerMethodField(help_text="The projects without another owner who can sign in.")

    class Meta(PersonSerializer.Meta):
        fields = (*PersonSerializer.Meta.fields, "memberships", "owned_alone")  # type: ignore[assignment]

    @extend_schema_field(serializers.ListField(child=serializers.SlugField()))
    def get_owned_alone(self, person: User) -> list[str]:
        return [project.slug for project in projects_owned_alone(person)]


class PersonDeleteSerializer(PlainSerializer):
    """That it is meant, and who gets the projects of the person."""

    email = serializers.CharField(max_length=254, help_text="The e-mail address of the person, to confirm.")
    has_export = serializers.BooleanField(help_text="True: the person has an export of their data, or wants none.")
    heir = serializers.UUIDField(
        default=None, allow_null=True, help_text="The id of who will own the projects of `owned_alone`."
    )


class People(ListAPIView[User]):
    """The people of the installation, the newest first. For its owners; by a token, of the owner role."""

    serializer_class = PersonSerializer
    queryset = User.objects.all()


class PersonView(APIView):
    """The base of views of one person."""

    def answer(self, person: UUID, act: Callable[[User], object] = lambda _: None) -> Response:
        """Do something with a person, and return how it is with them then. Raises `Problems` where it is refused."""
        try:
            act(get_object_or_404(User, pk=person))
        except DepartureError as error:
            raise Problems(HTTPStatus.CONFLICT, str(error)) from error
        shown = User.objects.prefetch_related("memberships__project").get(pk=person)
        return Response(PersonWholeSerializer(shown).data)


class Person(PersonView):
    """One person."""

    @extend_schema(responses=PersonWholeSerializer)
    def get(self, request: Request, person: UUID) -> Response:
        return self.answer(person)


class PersonDeactivate(PersonView):
    """Close an account for a while: its sessions and tokens end. Again changes nothing."""

    @extend_schema(request=None, responses=PersonWholeSerializer)
    def post(self, request: Request, person: UUID) -> Response:
        return self.answer(person, lambda found: user_deactivate(person=found, actor=cast("User", request.user)))


class PersonReactivate(PersonView):
    """Open a deactivated account again. Again changes nothing."""

    @extend_schema(request=None, responses=PersonWholeSerializer)
    def post(self, request: Request, person: UUID) -> Response:
        return self.answer(person, lambda found: user_reactivate(person=found, actor=cast("User", request.user)))


class PersonDelete(PersonView):
    """Delete a person for good; what they did stays under the pseudonym of the answer. Nothing brings them back."""

    @extend_schema(request=PersonDeleteSerializer, responses=PersonWholeSerializer)
    def post(self, request: Request, person: UUID) -> Response:
        asked = PersonDeleteSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        sent = asked.validated_data

        def delete(found: User) -> None:
            if sent["email"].strip().lower() != found.email:
                raise ValidationError({"email": ["Is not the address of the person. Nothing was deleted."]})
            if not sent["has_export"]:
                raise ValidationError({"has_export": ["Must be true. Nothing was deleted."]})
            heir = heirs_of(found).filter(pk=sent["heir"]).first() if sent["heir"] else None
            if sent["heir"] and heir is None:
                raise ValidationError({"heir": ["Is no other person who can sign in. Nothing was deleted."]})
            user_delete(person=found, actor=cast("User", request.user), heir=heir)

        return self.answer(person, delete)
