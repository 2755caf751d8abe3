"""Serve adjudication by REST: examples that wait for a decision, decisions, disputes."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.adjudicate.services import (
    adjudication_decide,
    adjudication_set_aside,
    adjudication_withdraw,
    dispute_assign,
    dispute_open,
    dispute_settle,
    gold_restore,
    revision_reopen,
)
from labeling.api.base import LabelingView
from labeling.blindness import sides_of, skip_reasons_of
from labeling.models import Adjudication, Dispute, Feedback, Gold, LabelAnswer, Revision
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.models import within

WITHOUT_GOLD = [LabelAnswer.AMBIGUOUS.value, LabelAnswer.MISSING_TOOL.value]


class GoldSerializer(serializers.ModelSerializer[Gold]):
    """An expectation that is or was in force."""

    expectation = serializers.JSONField()
    after_agents = serializers.ListField(
        child=serializers.CharField(), source="agents_seen", help_text="Agents whose proposals it rests on."
    )

    class Meta:
        model = Gold
        fields = ("id", "revision", "expectation", "rationale", "source", "after_agents", "created_at")


class GoldHistorySerializer(GoldSerializer):
    """The same with who decided; null is the system, or two who agreed."""

    actor = serializers.CharField(source="actor.name", default=None, allow_null=True)
    in_force = serializers.BooleanField()

    class Meta(GoldSerializer.Meta):
        fields = (*GoldSerializer.Meta.fields, "actor", "in_force")  # type: ignore[assignment]


class DisputeSerializer(serializers.ModelSerializer[Dispute]):
    """Someone's, or an import's, doubt."""

    actor = serializers.CharField(source="actor.name", default=None, allow_null=True)
    assignee = serializers.CharField(source="assignee.name", default=None, allow_null=True)
    expectation = serializers.JSONField(allow_null=True)

    class Meta:
        model = Dispute
        fields = ("id", "revision", "actor", "reason", "expectation", "assignee", "due_on", "created_at", "settled_at")


class DisputeAssignmentSerializer(PlainSerializer):
    """The adjudicator who should decide a dispute, and the day until when."""

    person = serializers.UUIDField(allow_null=True, help_text="The id of an adjudicator; null is no one.")
    due_on = serializers.DateField(allow_null=True, default=None)


class NewDisputeSerializer(PlainSerializer):
    """The reason why the gold is wrong, and the right expectation where it is known."""

    reason = serializers.CharField()
    expectation = serializers.JSONField(default=None, allow_null=True)


class ToAdjudicateSerializer(serializers.ModelSerializer[Revision]):
    """A revision that waits for a decision."""

    example = serializers.UUIDField(source="example_id")
    external_id = serializers.CharField(source="example.external_id")
    dataset = serializers.CharField(source="example.dataset.slug")

    class Meta:
        model = Revision
        fields = ("id", "example", "external_id", "dataset", "resolution")


class FirstLabelSerializer(PlainSerializer):
    """A label as one person first submitted it, without their name."""

    answer = serializers.CharField()
    expectation = serializers.JSONField(allow_null=True)
    rationale = serializers.CharField()


class SideSerializer(FirstLabelSerializer):
    """A label without its author, when it was made or how long it took."""

    flagged = serializers.BooleanField()
    first = FirstLabelSerializer(
        allow_null=True, help_text="What was said first, where that was changed; null otherwise."
    )


class ComparisonSerializer(PlainSerializer):
    """A decision to make: labels side by side, reasons of skips, the gold in force, its disputes."""

    revision = ToAdjudicateSerializer()
    input = serializers.JSONField(source="revision.input")
    sides = SideSerializer(many=True)
    skips = serializers.ListField(child=serializers.CharField())
    gold = GoldSerializer(source="revision.gold", allow_null=True)
    disputes = DisputeSerializer(many=True)


class DecisionSerializer(PlainSerializer):
    """An adjudicator's decision."""

    expectation = serializers.JSONField()
    rationale = serializers.CharField(allow_blank=True)
    seconds = serializers.FloatField(default=0, min_value=0, max_value=86_400)


class SetAsideSerializer(PlainSerializer):
    """The reason why there is no gold, on purpose."""

    answer = serializers.ChoiceField(choices=WITHOUT_GOLD)
    rationale = serializers.CharField(allow_blank=True)
    seconds = serializers.FloatField(default=0, min_value=0, max_value=86_400)


class AdjudicationSerializer(serializers.ModelSerializer[Adjudication]):
    """A decision that was made; `gold` is what it put in force, null where it set the example aside."""

    expectation = serializers.JSONField(allow_null=True)
    gold = serializers.SerializerMethodField()

    class Meta:
        model = Adjudication
        fields = (
            "id",
            "revision",
            "answer",
            "expectation",
            "rationale",
            "seconds",
            "gold",
            "created_at",
            "withdrawn_at",
        )

    @extend_schema_field({"type": ["string", "null"], "format": "uuid"})
    def get_gold(self, adjudication: Adjudication) -> str | None:
        pk = Gold.objects.filter(adjudication=adjudication).values_list("pk", flat=True).first()
        return str(pk) if pk else None


class ReasonSerializer(PlainSerializer):
    """The reason for an action."""

    reason = serializers.CharField(max_length=4000)


class FeedbackSerializer(serializers.ModelSerializer[Feedback]):
    """The decision about one's own label."""

    example = serializers.UUIDField(source="label.revision.example_id")
    external_id = serializers.CharField(source="label.revision.example.external_id")
    answer = serializers.SerializerMethodField()
    expectation = serializers.JSONField(source="gold.expectation", default=None, allow_null=True)
    rationale = serializers.SerializerMethodField()

    class Meta:
        model = Feedback
        fields = (
            "id",
            "label",
            "example",
            "external_id",
            "differs",
            "answer",
            "expectation",
            "rationale",
            "seen_at",
            "created_at",
        )

    def get_answer(self, feedback: Feedback) -> str:
        return LabelAnswer.EXPECTATION.value if feedback.gold_id else feedback.label.revision.set_aside_as

    def get_rationale(self, feedback: Feedback) -> str:
        said = feedback.gold or feedback.adjudication
        return said.rationale if said else ""


class Adjudications(LabelingView, ListAPIView[Revision]):
    """The examples that wait for one's decision: labels that differ and disputed gold, none that one has labelled."""

    serializer_class = ToAdjudicateSerializer
    queryset = Revision.objects.none()

    def get_queryset(self) -> QuerySet[Revision]:
        return Revision.objects.to_adjudicate(self.project, self.user)


class AdjudicationDetail(LabelingView):
    """The labels of one revision side by side, unnamed; by POST, the decision.

    By DELETE, one's own decision is taken back while there is time.
    """

    @extend_schema(responses=ComparisonSerializer)
    def get(self, request: Request, revision: UUID) -> Response:
        waiting = Revision.objects.to_adjudicate(self.project, self.user)
        found = get_object_or_404(waiting, pk=revision)
        sides = sides_of(found, self.user, self.role)
        disputes = Dispute.objects.filter(revision=found).visible_to(self.user, self.role).open().order_by("-pk")
        skips = skip_reasons_of(found, self.user, self.role)
        disputes = disputes.select_related("actor", "assignee")
        whole = {"revision": found, "sides": sides, "skips": skips, "disputes": disputes}
        return Response(ComparisonSerializer(whole).data)

    @extend_schema(request=DecisionSerializer, responses={201: GoldSerializer})
    def post(self, request: Request, revision: UUID) -> Response:
        found = get_object_or_404(Revision.objects.in_project(self.project).with_content(), pk=revision)
        serializer = DecisionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        gold = adjudication_decide(revision=found, actor=self.user, **serializer.validated_data)
        return Response(GoldSerializer(gold).data, status=HTTPStatus.CREATED)

    @extend_schema(responses=AdjudicationSerializer)
    def delete(self, request: Request, revision: UUID) -> Response:
        revision_row = get_object_or_404(Revision.objects.in_project(self.project), pk=revision)
        own = Adjudication.objects.filter(revision=revision_row, adjudicator=self.user).order_by("-id").first()
        if own is None:
            raise Http404
        adjudication_withdraw(adjudication=own, actor=self.user)
        own.refresh_from_db()
        return Response(AdjudicationSerializer(own).data)


class SetAside(LabelingView):
    """Decide that an example has no gold: it is ambiguous, or the right tool is missing."""

    @extend_schema(request=SetAsideSerializer, responses={201: AdjudicationSerializer})
    def post(self, request: Request, revision: UUID) -> Response:
        found = get_object_or_404(Revision.objects.in_project(self.project).with_content(), pk=revision)
        serializer = SetAsideSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        made = adjudication_set_aside(revision=found, actor=self.user, **serializer.validated_data)
        return Response(AdjudicationSerializer(made).data, status=HTTPStatus.CREATED)


class Reopen(LabelingView):
    """Have an example labelled again: its gold is in force no longer, another round of labels begins."""

    @extend_schema(request=ReasonSerializer, responses=ToAdjudicateSerializer)
    def post(self, request: Request, example: UUID) -> Response:
        found = get_object_or_404(Revision.objects.with_content(), pk=self.find_example(example).current_id)
        serializer = ReasonSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        reopened = revision_reopen(revision=found, actor=self.user, **serializer.validated_data)
        return Response(ToAdjudicateSerializer(reopened).data)


class GoldRestore(LabelingView):
    """Put earlier gold in force again, as new gold."""

    @extend_schema(request=ReasonSerializer, responses={201: GoldSerializer})
    def post(self, request: Request, gold: UUID) -> Response:
        golds = Gold.objects.in_project(self.project).visible_to(self.user, self.role)
        found = get_object_or_404(golds, pk=gold)
        serializer = ReasonSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        restored = gold_restore(gold=found, actor=self.user, **serializer.validated_data)
        return Response(GoldSerializer(restored).data, status=HTTPStatus.CREATED)


class FeedbackList(LabelingView, ListAPIView[Feedback]):
    """The decisions about one's own labels, the newest first."""

    serializer_class = FeedbackSerializer
    queryset = Feedback.objects.none()

    def get_queryset(self) -> QuerySet[Feedback]:
        return Feedback.objects.for_reviewer(self.project, self.user).with_content()


class Disputes(LabelingView, ListAPIView[Dispute]):
    """The disputes about an example, newest first; by POST, one more."""

    serializer_class = DisputeSerializer
    queryset = Dispute.objects.none()

    def get_queryset(self) -> QuerySet[Dispute]:
        example = self.find_example(self.kwargs["example"])
        disputes = Dispute.objects.filter(revision__example=example).visible_to(self.user, self.role)
        return disputes.select_related("actor", "assignee")

    @extend_schema(request=NewDisputeSerializer, responses={201: DisputeSerializer})
    def post(self, request: Request, example: UUID) -> Response:
        found = self.find_example(example)
        serializer = NewDisputeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        revision = get_object_or_404(Revision.objects.with_content(), pk=found.current_id)
        dispute = dispute_open(revision=revision, actor=self.user, **serializer.validated_data)
        return Response(DisputeSerializer(dispute).data, status=HTTPStatus.CREATED)


class DisputeSettle(LabelingView):
    """Close a dispute and leave the gold as it is."""

    @extend_schema(request=None, responses=DisputeSerializer)
    def post(self, request: Request, dispute: UUID) -> Response:
        found = get_object_or_404(
            Dispute.objects.filter(within(self.project, "revision__example__dataset")).visible_to(self.user, self.role),
            pk=dispute,
        )
        settled = dispute_settle(dispute=found, actor=self.user)
        return Response(DisputeSerializer(settled).data)


class DisputeAssignment(LabelingView):
    """Say who should decide an open dispute, and until when."""

    @extend_schema(request=DisputeAssignmentSerializer, responses=DisputeSerializer)
    def put(self, request: Request, dispute: UUID) -> Response:
        disputes = Dispute.objects.filter(within(self.project, "revision__example__dataset"))
        found = get_object_or_404(disputes.visible_to(self.user, self.role), pk=dispute)
        serializer = DisputeAssignmentSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        pk = serializer.validated_data["person"]
        person = get_object_or_404(self.project.members, pk=pk) if pk else None
        due_on = serializer.validated_data["due_on"]
        assigned = dispute_assign(dispute=found, actor=self.user, person=person, due_on=due_on)
        return Response(DisputeSerializer(assigned).data)
