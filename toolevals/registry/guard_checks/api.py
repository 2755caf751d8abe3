"""Serves the guard in the REST interface: decisions, signed policy files, their public keys, and counts."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

from django.db.models import QuerySet
from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from toolevals.grading.guard import Request, State
from toolevals.grading.values.problems import Problem
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.guard_checks.services import guard_check, policy_file, public_keys
from toolevals.registry.models import GuardCount
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.parsers import StrictJsonParser
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.models import ApiToken
from toolevals.workspace.requests import client_address

MOST_TOKENS = 1_000_000_000
# What the server knows of a token that asks for itself.
KNOWN_HERE = (
    ("/request/address", "is that of the connection: leave it out"),
    ("/state/requests_last_minute", "is counted by the server: leave it out"),
    ("/state/tokens_last_minute", "is counted by the server: leave it out"),
    ("/state/tool_calls_last_minute", "is counted by the server: leave it out"),
)


@extend_schema_field({"type": "object", "additionalProperties": {}})
class DocumentPartField(serializers.DictField):
    """An object whose schema is the core's."""


class GuardQuestionSerializer(PlainSerializer):
    """A question to the guard: `request` and `state` as in the schema `guard_question.v1.json`."""

    request = DocumentPartField(help_text="The call; with `result`, what it gave.")
    state = DocumentPartField(required=False, help_text="What came before it, as far as the caller knows.")
    policy = serializers.SlugField(
        max_length=60, required=False, help_text="The policy's slug; needed if several are active."
    )
    tokens = serializers.IntegerField(
        min_value=0, max_value=MOST_TOKENS, default=0, help_text="Tokens that count for this request."
    )


class GuardReasonSerializer(PlainSerializer):
    """A reason of a rule to refuse, or for which it cannot tell."""

    rule = serializers.CharField(help_text="The rule's id in the policy.")
    pointer = serializers.CharField(allow_blank=True, help_text="A JSON pointer into the request.")
    sentence = serializers.CharField(help_text="For a model, too.")


class GuardDecisionSerializer(PlainSerializer):
    """A decision, and the policy and version that decided."""

    allowed = serializers.BooleanField()
    reasons = GuardReasonSerializer(many=True)
    would_refuse = GuardReasonSerializer(many=True)
    unanswered = GuardReasonSerializer(many=True)
    policy = serializers.CharField()
    version = serializers.IntegerField()


class GuardSignatureSerializer(PlainSerializer):
    """A signature of the payload's bytes."""

    key = serializers.CharField(help_text="The public key, in Base64.")
    signature = serializers.CharField(help_text="Ed25519, in Base64.")


class PolicyFileSerializer(PlainSerializer):
    """A policy file: what programs decide by, signed."""

    payload = serializers.CharField(help_text="Canonical JSON as text.")
    signatures = GuardSignatureSerializer(many=True)


class PublicKeysSerializer(PlainSerializer):
    """The installation's public keys, the newest first."""

    keys = serializers.ListField(child=serializers.CharField())


class GuardCountSerializer(serializers.ModelSerializer[GuardCount]):
    """The counts of a key in a minute; of all its calls where `tool` is empty."""

    class Meta:
        model = GuardCount
        fields = ("id", "minute", "key", "tool", "requests", "tokens", "refused")


class GuardCheck(ProjectView):
    """Decide by POST if a call may be made or, with a result, if the result may be read.

    A token of the scope `guard` asks for itself: its name is the key. Others ask for the keys that they state.
    """

    parser_classes = (StrictJsonParser,)

    @extend_schema(request=GuardQuestionSerializer, responses=GuardDecisionSerializer)
    def post(self, request: HttpRequest) -> Response:
        asked = GuardQuestionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        token, question, state = self.access.token, said["request"], said.get("state", {})
        if token is not None and token.does_one_thing and (problems := list(_claims(token, question, state))):
            raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, "This token asks for itself alone.", problems)
        known = {"key": token.name if token else "", "address": client_address(self.access)} | question
        checked = guard_check(
            project=self.project,
            policy=said.get("policy"),
            request=Request.from_document(known),
            state=State.from_document(state),
            tokens=said["tokens"],
        )
        if checked is None:
            raise _none_in_force(said.get("policy"))
        decided_by = {"policy": checked.policy.slug, "version": checked.policy.number}
        return Response(checked.decision.to_document() | decided_by)


def _none_in_force(policy: str | None) -> Exception:
    if policy is not None:
        return NotFound(f"The project has no active version of a policy {policy!r}.")
    return Problems(HTTPStatus.CONFLICT, "The project has no active policy. An adjudicator can activate one.")


def _claims(token: ApiToken, question: JsonMapping, state: JsonMapping) -> Iterator[Problem]:
    """Yield what a token that asks for itself may not state: by it, it would be outside of its limits."""
    if question.get("key", token.name) != token.name:
        yield Problem("/request/key", f"is the token's name, {token.name!r}: leave it out")
    stated: JsonObject = {"request": question, "state": state}
    for pointer, words in KNOWN_HERE:
        _, part, name = pointer.split("/")
        if name in stated[part]:
            yield Problem(pointer, words)


class SignedPolicy(ProjectView):
    """The signed file of a policy in force: the one there is, or one by its slug."""

    @extend_schema(responses=PolicyFileSerializer)
    def get(self, request: HttpRequest, policy: str | None = None) -> Response:
        file = policy_file(project=self.project, policy=policy)
        if file is None:
            raise _none_in_force(policy)
        return Response(file)


class PublicKeys(ProjectView):
    """The public keys by which programs check a policy file. A program trusts a key that a person gave it."""

    @extend_schema(responses=PublicKeysSerializer)
    def get(self, request: HttpRequest) -> Response:
        return Response({"keys": public_keys()})


class Counts(ProjectView, ListAPIView[GuardCount]):
    """The counts of the last day by key, tool and minute, newest first."""

    serializer_class = GuardCountSerializer
    queryset = GuardCount.objects.none()

    def get_queryset(self) -> QuerySet[GuardCount]:
        return GuardCount.objects.filter(project=self.project)


urlpatterns = [
    path("guard/check/", GuardCheck.as_view(), name="guard-check"),
    path("guard/signed/", SignedPolicy.as_view(), name="guard-signed"),
    path("guard/policies/<slug:policy>/signed/", SignedPolicy.as_view(), name="guard-policy-signed"),
    path("guard/keys/", PublicKeys.as_view(), name="guard-keys"),
    path("guard/counts/", Counts.as_view(), name="guard-counts"),
]
