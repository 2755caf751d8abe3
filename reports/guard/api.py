"""Serve policies, their versions and error rates in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from reports.guard.analysis import SOURCES
from reports.guard.asked import days_of
from reports.guard.measuring import MOST_TRACES, USUAL_TRACES, rates_start
from reports.guard.queries import newest_rates, refusal_shown, refusals_of, source_of, version_rates
from reports.guard.services import refusal_mark, version_enforce
from reports.guard.table import DAYS, POLICY_RULES, REFUSALS, rule_rows
from reports.models import PolicyRates, PolicyRefusal
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import GuardDay, Policy, PolicyVersion, Registry
from toolevals.registry.policies.services import (
    policy_create,
    policy_deactivate,
    policy_delete,
    policy_set_registry,
    version_publish,
)
from toolevals.workspace.api.base import NewestFirst, ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.models import Job, Project
from toolevals.workspace.tables import serializer_of

_REGISTRY = "The short name of the registry whose newest tools are on offer; null is none."
_DOCUMENT = "A document of policy.v1.json."


class PolicySerializer(serializers.ModelSerializer[Policy]):
    """A policy, its newest version, and the one in force; null where none is."""

    registry = serializers.CharField(source="registry.slug", allow_null=True, default=None, help_text=_REGISTRY)
    active_number = serializers.IntegerField(source="active.number", allow_null=True, default=None)
    newest_number = serializers.IntegerField(read_only=True)
    newest_at = serializers.DateTimeField(read_only=True)

    class Meta:
        model = Policy
        fields = ("id", "slug", "name", "registry", "active_number", "newest_number", "newest_at", "created_at")


class PolicyVersionSerializer(serializers.ModelSerializer[PolicyVersion]):
    """A version of a policy, without its document. `reason` says why it is in force though rates are unknown."""

    name = serializers.CharField(source="__str__")
    is_active = serializers.SerializerMethodField()
    actor_id = serializers.UUIDField(source="created_by_id", allow_null=True)
    actor = serializers.CharField(source="created_by.name", allow_null=True, default=None)

    class Meta:
        model = PolicyVersion
        fields = (
            "id",
            "name",
            "number",
            "note",
            "actor_id",
            "actor",
            "is_active",
            "activated_at",
            "reason",
            "created_at",
        )

    def get_is_active(self, version: PolicyVersion) -> bool:
        return bool(version.policy.active_id == version.pk)


class PolicyVersionDetailSerializer(PolicyVersionSerializer):
    """A version of a policy with its document."""

    document = serializers.DictField(help_text=_DOCUMENT)

    class Meta(PolicyVersionSerializer.Meta):
        fields = (*PolicyVersionSerializer.Meta.fields, "document")  # type: ignore[assignment]


class NewPolicySerializer(PlainSerializer):
    """A policy to make, with its first version, which is not in force."""

    slug = serializers.SlugField(max_length=60)
    name = serializers.CharField(max_length=120)
    registry = serializers.SlugField(max_length=60, allow_null=True, default=None, help_text=_REGISTRY)
    document = serializers.JSONField(help_text=_DOCUMENT)
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class PolicyChangeSerializer(PlainSerializer):
    """The part of a policy that is not in its versions."""

    registry = serializers.SlugField(max_length=60, allow_null=True, help_text=_REGISTRY)


class NewPolicyVersionSerializer(PlainSerializer):
    """Rules to publish as the next version."""

    document = serializers.JSONField(help_text=_DOCUMENT)
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class ActivationSerializer(PlainSerializer):
    """The version to put in force; without `number` none is from now on."""

    number = serializers.IntegerField(min_value=1, max_value=999_999_999, allow_null=True)
    reason = serializers.CharField(
        max_length=300,
        allow_blank=True,
        default="",
        help_text="Needed where a rule is enforced whose error rates are not known, or not measured over traces.",
    )


class MeasureSerializer(PlainSerializer):
    """The traces that are measured in addition to runs and gold."""

    traces = serializers.IntegerField(
        min_value=0, max_value=MOST_TRACES, default=USUAL_TRACES, help_text="Number of newest traces to read."
    )


class RefusalMarkSerializer(PlainSerializer):
    """A mark: true where a refused call should have been allowed; null takes it back."""

    is_false = serializers.BooleanField(allow_null=True)


class MeasuredTracesSerializer(PlainSerializer):
    """The numbers of traces asked for, read, and left out as they came cut or tell no conversation."""

    asked = serializers.IntegerField()
    read = serializers.IntegerField()
    unread = serializers.IntegerField()


class PolicyRatesSerializer(PlainSerializer):
    """The rules of a version with their error rates; null where a rule was not measured, or not in this form."""

    measured_at = serializers.DateTimeField(allow_null=True)
    runs = serializers.ListField(child=serializers.DictField())
    datasets = serializers.ListField(child=serializers.DictField())
    left_out = serializers.IntegerField(help_text="Conversations that were not read, because there were too many.")
    traces = MeasuredTracesSerializer()
    rules = serializers.SerializerMethodField()

    @extend_schema_field(serializer_of(POLICY_RULES)(many=True))
    def get_rules(self, document: dict[str, Any]) -> Any:
        return serializer_of(POLICY_RULES)(document["rules"], many=True).data


class PolicyView(ProjectView):
    """Finds the policy that the address names."""

    def policy(self) -> Policy:
        """Return the policy, with its newest version's number. Raises Http404."""
        policies = Policy.objects.in_project(self.project).with_newest()
        found: Policy = get_object_or_404(policies, slug=self.kwargs["policy"])
        found.project = self.project
        return found

    def version(self) -> PolicyVersion:
        """Return the version that the address names. Raises Http404."""
        policy = self.policy()
        found: PolicyVersion = get_object_or_404(policy.versions, number=self.kwargs["number"])
        found.policy = policy
        return found


class PoliciesView(ProjectView, ListAPIView[Policy]):
    """The project's policies, the newest first; by POST, a new one."""

    serializer_class = PolicySerializer
    pagination_class = NewestFirst
    queryset = Policy.objects.none()

    def get_queryset(self) -> QuerySet[Policy]:
        return Policy.objects.in_project(self.project).with_newest()

    @extend_schema(request=NewPolicySerializer, responses={201: PolicyVersionDetailSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        asked = NewPolicySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = dict(asked.validated_data)
        data["registry"] = _registry(self.project, data["registry"])
        made = policy_create(project=self.project, actor=self.user, **data)
        return Response(PolicyVersionDetailSerializer(made).data, HTTPStatus.CREATED)


class PolicyDetail(PolicyView):
    """One policy. PATCH says whose tools are on offer. DELETE, by owners, deletes it with its versions."""

    @extend_schema(responses=PolicySerializer)
    def get(self, request: Request, policy: str) -> Response:
        return Response(PolicySerializer(self.policy()).data)

    @extend_schema(request=PolicyChangeSerializer, responses=PolicySerializer)
    def patch(self, request: Request, policy: str) -> Response:
        asked = PolicyChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        registry = _registry(self.project, asked.validated_data["registry"])
        policy_set_registry(policy=self.policy(), actor=self.user, registry=registry)
        return Response(PolicySerializer(self.policy()).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, policy: str) -> Response:
        policy_delete(policy=self.policy(), actor=self.user)
        return Response(status=HTTPStatus.NO_CONTENT)


class PolicyVersionsView(PolicyView, ListAPIView[PolicyVersion]):
    """A policy's versions, the newest first; by POST, the next one. The same rules make none: the newest is answered.

    A new version is not in force.
    """

    serializer_class = PolicyVersionSerializer
    pagination_class = NewestFirst
    queryset = PolicyVersion.objects.none()

    def get_queryset(self) -> QuerySet[PolicyVersion]:
        return self.policy().versions.defer("document").select_related("policy", "created_by")

    @extend_schema(request=NewPolicyVersionSerializer, responses={201: PolicyVersionDetailSerializer})
    @idempotent
    def post(self, request: Request, policy: str) -> Response:
        found, asked = self.policy(), NewPolicyVersionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = version_publish(policy=found, actor=self.user, **asked.validated_data)
        return Response(PolicyVersionDetailSerializer(made).data, HTTPStatus.CREATED)


class PolicyVersionDetail(PolicyView):
    """One version with its document."""

    @extend_schema(responses=PolicyVersionDetailSerializer)
    def get(self, request: Request, policy: str, number: int) -> Response:
        return Response(PolicyVersionDetailSerializer(self.version()).data)


class PolicyActiveView(PolicyView):
    """Put a version in force by PUT, or take the policy out of force."""

    @extend_schema(request=ActivationSerializer, responses=PolicySerializer)
    def put(self, request: Request, policy: str) -> Response:
        found, asked = self.policy(), ActivationSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        number = asked.validated_data["number"]
        if number is None:
            policy_deactivate(policy=found, actor=self.user)
        else:
            version = found.versions.filter(number=number).first()
            if version is None:
                raise InvalidDocument.at("/number", f"is the number of no version of this policy: {number}")
            version.policy = found
            version_enforce(version=version, actor=self.user, reason=asked.validated_data["reason"])
        return Response(PolicySerializer(self.policy()).data)


class PolicyRatesView(PolicyView):
    """The error rates of a version's rules, as far as they are known; by POST, a job measures them."""

    @extend_schema(responses=PolicyRatesSerializer)
    def get(self, request: Request, policy: str, number: int) -> Response:
        version = self.version()
        rates = newest_rates(version.policy)
        nothing = {"runs": [], "datasets": [], "left_out": 0, "traces": {"asked": 0, "read": 0, "unread": 0}}
        sources = {**nothing, **((rates.sources or {}) if rates else {})}
        rules = rule_rows(version_rates(version, rates))
        document = {"measured_at": rates.finished_at if rates else None, **sources, "rules": rules}
        return Response(PolicyRatesSerializer(document).data)

    @extend_schema(request=MeasureSerializer, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request, policy: str, number: int) -> Response:
        asked = MeasureSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        rates = rates_start(version=self.version(), actor=self.user, traces=asked.validated_data["traces"])
        job = Job.objects.with_progress().get(pk=rates.job_id)
        return Response(JobSerializer(job).data, HTTPStatus.ACCEPTED)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("rule", str, required=True, description="The rule's id."),
            OpenApiParameter(
                "of", str, enum=SOURCES, description="Calls in runs (the default), of gold, or in traces."
            ),
        ]
    )
)
class PolicyRefusalsView(PolicyView, ListAPIView[PolicyRefusal]):
    """The calls that a rule would refuse by the newest measurement of the policy; at most 1,000 a rule are kept."""

    serializer_class = serializer_of(REFUSALS)
    pagination_class = NewestFirst
    queryset = PolicyRefusal.objects.none()

    def get_queryset(self) -> QuerySet[PolicyRefusal]:
        rates: PolicyRates | None = newest_rates(self.policy())
        if rates is None:
            raise NotFound("This policy was not measured yet.")
        asked = self.request.query_params
        return refusals_of(rates, asked.get("rule", ""), source_of(asked.get("of", "")), self.role)


class RefusalMarkView(PolicyView):
    """Keep by PUT what the caller says of a refused call. It holds in every measurement, and is no gold."""

    @extend_schema(request=RefusalMarkSerializer, responses=serializer_of(REFUSALS))
    def put(self, request: Request, policy: str, refusal: UUID) -> Response:
        found, asked = self.policy(), RefusalMarkSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        row = refusal_shown(found, refusal, self.role)
        if row is None:
            raise NotFound("This policy has no such refusal.")
        refusal_mark(refusal=row, actor=self.user, is_false=asked.validated_data["is_false"])
        return Response(serializer_of(REFUSALS)(refusal_shown(found, refusal, self.role)).data)


class PolicyDaysView(PolicyView, ListAPIView[GuardDay]):
    """The decisions of the policy by REST in the last 90 days, by day, key and rule, the newest first."""

    serializer_class = serializer_of(DAYS)
    pagination_class = NewestFirst
    queryset = GuardDay.objects.none()

    def get_queryset(self) -> QuerySet[GuardDay]:
        return days_of(self.policy())


def _registry(project: Project, slug: str | None) -> Registry | None:
    """Return the registry of that short name. Raises InvalidDocument where there is none."""
    if slug is None:
        return None
    found = Registry.objects.in_project(project).filter(slug=slug).first()
    if found is None:
        raise InvalidDocument.at("/registry", f"is the short name of no registry of this project: {slug}")
    return found
