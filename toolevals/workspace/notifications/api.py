"""Serve webhooks and their log in the REST interface: addresses and secrets can only be set."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.middleware import shows_secret
from toolevals.workspace.models import WEBHOOK_KINDS, Delivery, Webhook, WebhookForm
from toolevals.workspace.notifications import services
from toolevals.workspace.notifications.table import DELIVERY, WEBHOOK
from toolevals.workspace.tables import serializer_of

WebhookSerializer = serializer_of(WEBHOOK, Webhook)
DeliverySerializer = serializer_of(DELIVERY, Delivery)


class NewWebhookSerializer(PlainSerializer):
    """A webhook to add."""

    name = serializers.CharField(max_length=80)
    url = serializers.CharField(max_length=2_000, write_only=True, help_text="It is not given back.")
    form = serializers.ChoiceField(choices=WebhookForm.values, default=WebhookForm.JSON)
    events = serializers.ListField(
        source="kinds", child=serializers.ChoiceField(choices=[kind.value for kind in WEBHOOK_KINDS]), allow_empty=False
    )


class WebhookChangeSerializer(PlainSerializer):
    """The changes of a webhook; what is left out stays."""

    name = serializers.CharField(max_length=80, required=False)
    url = serializers.CharField(max_length=2_000, required=False, write_only=True)
    form = serializers.ChoiceField(choices=WebhookForm.values, required=False)
    events = serializers.ListField(
        source="kinds",
        child=serializers.ChoiceField(choices=[kind.value for kind in WEBHOOK_KINDS]),
        allow_empty=False,
        required=False,
    )
    is_on = serializers.BooleanField(required=False)


class MadeWebhookSerializer(PlainSerializer):
    """A webhook and the secret that signs what it sends, which is shown here only."""

    webhook = WebhookSerializer()
    secret = serializers.CharField()


class Webhooks(ProjectView, ListAPIView[Webhook]):
    """The webhooks of the project; by POST, one more. The answer holds its secret, this once."""

    serializer_class = WebhookSerializer
    queryset = Webhook.objects.none()

    def get_queryset(self) -> QuerySet[Webhook]:
        return Webhook.objects.filter(project=self.project)

    @extend_schema(request=NewWebhookSerializer, responses={201: MadeWebhookSerializer})
    def post(self, request: Request) -> Response:
        asked = NewWebhookSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made, secret = services.webhook_save(project=self.project, actor=self.user, **asked.validated_data)
        answer = MadeWebhookSerializer({"webhook": made, "secret": secret}).data
        return shows_secret(Response(answer, status=HTTPStatus.CREATED))


class WebhookView(ProjectView):
    """A view of one webhook."""

    def webhook(self, pk: UUID) -> Webhook:
        return get_object_or_404(Webhook.objects.select_related("project"), project=self.project, pk=pk)


class WebhookDetail(WebhookView):
    """One webhook: read, changed, deleted with its log."""

    @extend_schema(responses=WebhookSerializer)
    def get(self, request: Request, webhook: UUID) -> Response:
        return Response(WebhookSerializer(self.webhook(webhook)).data)

    @extend_schema(request=WebhookChangeSerializer, responses=WebhookSerializer)
    def patch(self, request: Request, webhook: UUID) -> Response:
        asked = WebhookChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        found, said = self.webhook(webhook), dict(asked.validated_data)
        is_on = said.pop("is_on", found.is_on)
        if said:
            kept = {"name": found.name, "form": found.form, "kinds": found.kinds}
            services.webhook_save(project=self.project, actor=self.user, webhook=found, **{**kept, **said})
        if is_on != found.is_on:
            services.webhook_switch(webhook=found, actor=self.user, is_on=is_on)
        return Response(WebhookSerializer(found).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, webhook: UUID) -> Response:
        services.webhook_delete(webhook=self.webhook(webhook), actor=self.user)
        return Response(status=HTTPStatus.NO_CONTENT)


class WebhookSecret(WebhookView):
    """The secret of a webhook: by POST, another one."""

    @extend_schema(request=None, responses=MadeWebhookSerializer)
    def post(self, request: Request, webhook: UUID) -> Response:
        found = self.webhook(webhook)
        secret = services.webhook_renew(webhook=found, actor=self.user)
        return shows_secret(Response(MadeWebhookSerializer({"webhook": found, "secret": secret}).data))


class WebhookTest(WebhookView):
    """A test of a webhook: by POST, one is sent; the log of deliveries shows how it goes."""

    @extend_schema(request=None, responses={202: None})
    def post(self, request: Request, webhook: UUID) -> Response:
        services.webhook_test(webhook=self.webhook(webhook), actor=self.user)
        return Response(status=HTTPStatus.ACCEPTED)


class Deliveries(ProjectView, ListAPIView[Delivery]):
    """The messages that the project's webhooks sent, or are to send; of one where `webhook` names it."""

    serializer_class = DeliverySerializer
    queryset = Delivery.objects.none()

    def get_queryset(self) -> QuerySet[Delivery]:
        return Delivery.objects.of_webhooks(self.project, self.request.query_params.get("webhook", ""))

    @extend_schema(parameters=[OpenApiParameter("webhook", str, description="The id of a webhook.")])
    def get(self, request: Request) -> Response:
        return super().get(request)
