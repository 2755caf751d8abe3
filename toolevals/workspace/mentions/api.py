"""Serve a person's mentions in the REST interface."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.serializers import UserSerializer
from toolevals.workspace.mentions.models import Mention
from toolevals.workspace.mentions.queries import places
from toolevals.workspace.mentions.services import mention_read
from toolevals.workspace.models import User


class MentionSerializer(PlainSerializer):
    """A text that mentions the person who asks: where it stands, not what it says."""

    id = serializers.UUIDField(source="mention.pk")
    place = serializers.CharField(source="place.words", help_text="Such as: a note on a case of run 3.")
    path = serializers.CharField(source="place.url", help_text="The page that shows the text.")
    actor = serializers.SerializerMethodField(help_text="Who wrote it; null while the example is undecided.")
    created_at = serializers.DateTimeField(source="mention.created_at")
    read_at = serializers.DateTimeField(source="mention.read_at", allow_null=True)

    @extend_schema_field(UserSerializer(allow_null=True))
    def get_actor(self, row: dict[str, Any]) -> Any:
        actor: User | None = row["mention"].actor if row["place"].is_named else None
        return None if actor is None else UserSerializer(actor).data


class MentionView(ProjectView):
    """The base of views of one's own mentions."""

    def mine(self) -> QuerySet[Mention]:
        """Return the mentions of the person who asks, whether they may read them or not."""
        return Mention.objects.filter(person=self.user, project=self.project).select_related("actor")

    def placed(self, mentions: list[Mention]) -> list[dict[str, Any]]:
        """Return those that the person may read now, with their places."""
        shown = places(mentions, self.project, self.user, self.role)
        return [{"mention": each, "place": shown[each.pk]} for each in mentions if each.pk in shown]


class Mentions(MentionView, ListAPIView[Mention]):
    """The texts that mention the person who asks and that they may read, the newest first.

    A page may hold fewer than its size: what may not be read yet is left out.
    """

    serializer_class = MentionSerializer
    queryset = Mention.objects.none()

    def get_queryset(self) -> QuerySet[Mention]:
        return self.mine()

    def paginate_queryset(self, queryset: Any) -> Any:
        return self.placed(super().paginate_queryset(queryset) or [])


class MentionRead(MentionView):
    """Note that a mention is read: it waits no more."""

    @extend_schema(request=None, responses=MentionSerializer)
    def post(self, request: Request, mention: UUID) -> Response:
        found = get_object_or_404(self.mine(), pk=mention)
        if not (placed := self.placed([found])):
            raise Http404
        mention_read(mention=found)
        found.refresh_from_db(fields=["read_at"])
        return Response(MentionSerializer(placed[0]).data)
