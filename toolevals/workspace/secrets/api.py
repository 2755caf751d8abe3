"""Serves secrets in the REST interface: names can be listed, values can only be set."""

from __future__ import annotations

from django.core.exceptions import ValidationError as Invalid
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.serializers import UserSerializer
from toolevals.workspace.models import (
    Secret,
)
from toolevals.workspace.secrets.services import secret_forget, secret_set


class SecretSerializer(serializers.ModelSerializer[Secret]):
    """A secret's name, where it may be sent, and who set it when."""

    addresses = serializers.ListField(child=serializers.CharField())
    actor = UserSerializer(allow_null=True)

    class Meta:
        model = Secret
        fields = ("id", "name", "addresses", "actor", "changed_at")


class SecretValueSerializer(PlainSerializer):
    """The value of a secret, and where it may be sent. A new one, and other addresses, need a value.

    Addresses that are left out stay as they are.
    """

    value = serializers.CharField(max_length=10_000, required=False, write_only=True, style={"input_type": "password"})
    addresses = serializers.ListField(
        child=serializers.CharField(max_length=300),
        required=False,
        help_text="Scheme, host and port, such as https://models.example.org. The secret is sent to no other address.",
    )


class Secrets(ProjectView, ListAPIView[Secret]):
    """The names of the project's secrets."""

    serializer_class = SecretSerializer
    queryset = Secret.objects.none()

    def get_queryset(self) -> QuerySet[Secret]:
        return self.project.secrets.select_related("actor")


class SecretDetail(ProjectView):
    """One secret: set under its name, deleted. Its value is never given back."""

    @extend_schema(request=SecretValueSerializer, responses=SecretSerializer)
    def put(self, request: Request, name: str) -> Response:
        asked = SecretValueSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            secret = secret_set(project=self.project, actor=self.user, name=name, **asked.validated_data)
        except Invalid as error:
            raise ValidationError(error.message_dict) from error
        return Response(SecretSerializer(secret).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        secret_forget(
            secret=get_object_or_404(self.project.secrets.select_related("project"), name=name), actor=self.user
        )
        return Response(status=204)
