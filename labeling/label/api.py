"""Serve one's own labelling by REST: claim, label, take back; take what models suggest as labels."""

from __future__ import annotations

from http import HTTPStatus
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

from labeling.api.base import LabelingView
from labeling.label.claims import draft_save, skip_undo, slot_claim, slot_reclaim, slot_release, slot_renew, slot_skip
from labeling.label.queries import project_slot
from labeling.label.services import MAX_SUGGESTIONS, SuggestionRow, label_hand_in, label_withdraw, suggestions_store
from labeling.models import Draft, Label, LabelAnswer, LabelBatch, LabelSlot, Skip, SpareLabel
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.serializers import shown, valid_data
from toolevals.workspace.models import within


class ClaimSerializer(serializers.ModelSerializer[LabelSlot]):
    """A slot that one holds, with what is to be labelled."""

    dataset = serializers.CharField(source="dataset.slug")
    example = serializers.UUIDField(source="revision.example_id")
    external_id = serializers.CharField(source="revision.example.external_id")
    guideline = serializers.CharField(source="dataset.guideline")
    input = serializers.JSONField(source="revision.input")
    tools = serializers.SerializerMethodField()

    class Meta:
        model = LabelSlot
        fields = (
            "id",
            "dataset",
            "example",
            "external_id",
            "revision",
            "claimed_at",
            "lease_until",
            "guideline",
            "input",
            "tools",
        )

    @extend_schema_field({"type": "array", "items": {"type": "object"}})
    def get_tools(self, slot: LabelSlot) -> list[dict[str, Any]]:
        return [spec.to_document() for spec in tools_in(slot.revision.tools)]


class NewClaimSerializer(PlainSerializer):
    """The place to claim from: one batch, one dataset, or the whole project."""

    dataset = serializers.SlugField(default=None, allow_null=True)
    batch = serializers.UUIDField(default=None, allow_null=True)


class NewLabelSerializer(PlainSerializer):
    """A label: the expectation in the form of `expectation.v1.json`, or an answer that says why there is none."""

    answer = serializers.ChoiceField(choices=LabelAnswer.choices, default=LabelAnswer.EXPECTATION)
    expectation = serializers.JSONField(default=None, allow_null=True)
    rationale = serializers.CharField(allow_blank=True, default="")
    flagged = serializers.BooleanField(default=False)
    seconds = serializers.FloatField(default=0, min_value=0, max_value=86_400)


class LabelSerializer(serializers.ModelSerializer[Label]):
    """A label that may be seen with its author: one's own, or anyone's of an example that is resolved."""

    expectation = serializers.JSONField(allow_null=True)
    round = serializers.IntegerField(source="slot.round")
    reviewer = serializers.CharField(source="reviewer.name", default=None, allow_null=True)
    external_author = serializers.CharField(help_text="Who gave it elsewhere, as the file named them; else empty.")
    blindness = serializers.CharField(
        allow_null=True, help_text="unknown where it was given elsewhere; null where it was given here."
    )
    example = serializers.UUIDField(source="revision.example_id")

    class Meta:
        model = Label
        fields = (
            "id",
            "example",
            "revision",
            "round",
            "reviewer",
            "external_author",
            "blindness",
            "answer",
            "expectation",
            "rationale",
            "flagged",
            "guideline",
            "is_first",
            "seconds",
            "created_at",
            "withdrawn_at",
        )


class SpareLabelSerializer(serializers.ModelSerializer[SpareLabel]):
    """A label that came when no place was left for it; it counts in no figure."""

    expectation = serializers.JSONField(allow_null=True)
    reviewer = serializers.CharField(source="reviewer.name", default=None, allow_null=True)
    example = serializers.UUIDField(source="revision.example_id")

    class Meta:
        model = SpareLabel
        fields = (
            "id",
            "example",
            "revision",
            "round",
            "reviewer",
            "answer",
            "expectation",
            "rationale",
            "flagged",
            "guideline",
            "seconds",
            "created_at",
        )


class NewSkipSerializer(PlainSerializer):
    """The reason why an example is passed on."""

    reason = serializers.CharField(max_length=300, allow_blank=True, default="")


class SkipSerializer(serializers.ModelSerializer[Skip]):
    """An example that one has passed on."""

    class Meta:
        model = Skip
        fields = ("id", "revision", "reason", "created_at", "undone_at")


class DraftSerializer(serializers.ModelSerializer[Draft]):
    """The part of a label that is entered and not submitted."""

    document = serializers.JSONField()

    class Meta:
        model = Draft
        fields = ("document", "saved_at")
        read_only_fields = ("saved_at",)


class Claims(LabelingView, ListAPIView[LabelSlot]):
    """One's claimed examples that are not submitted; by POST, the next example to label (204 if there is none)."""

    serializer_class = ClaimSerializer
    queryset = LabelSlot.objects.none()

    def get_queryset(self) -> QuerySet[LabelSlot]:
        return LabelSlot.objects.in_project(self.project).held_by(self.user).with_content()

    @extend_schema(request=NewClaimSerializer, responses={200: ClaimSerializer, 204: None})
    def post(self, request: Request) -> Response:
        said = valid_data(NewClaimSerializer, request.data)
        slug, pk = said["dataset"], said["batch"]
        batch = get_object_or_404(LabelBatch.objects.in_project(self.project), pk=pk) if pk else None
        scope = self.find_dataset(slug) if slug else self.project
        slot = slot_claim(dataset_or_project=scope, actor=self.user, batch=batch)
        return Response(shown(ClaimSerializer, slot)) if slot else Response(status=HTTPStatus.NO_CONTENT)


class SlotView(LabelingView):
    """The base of the views of one slot."""

    def find_slot(self, pk: UUID) -> LabelSlot:
        """Return the project's slot. Raises Http404."""
        found = project_slot(self.project, pk)
        if found is None:
            raise Http404
        return found

    def own_slot(self, pk: UUID) -> LabelSlot:
        """Return the slot if it is this person's. Raises Http404."""
        slot = self.find_slot(pk)
        if slot.reviewer_id != self.user.pk:
            raise Http404
        return slot


class Claim(SlotView):
    """One's own claim: read, renewed by POST (or claimed again, if it ran out and is free), given back by DELETE."""

    @extend_schema(responses=ClaimSerializer)
    def get(self, request: Request, slot: UUID) -> Response:
        return Response(ClaimSerializer(self.own_slot(slot)).data)

    @extend_schema(operation_id="projects_claims_renew", request=None, responses=ClaimSerializer)
    def post(self, request: Request, slot: UUID) -> Response:
        own = self.find_slot(slot)
        if not slot_renew(slot=own, actor=self.user):
            found = slot_reclaim(slot=own, actor=self.user)
            if found is None:
                raise Http404
            own = found
        return Response(ClaimSerializer(own).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slot: UUID) -> Response:
        slot_release(slot=self.own_slot(slot), actor=self.user)
        return Response(status=HTTPStatus.NO_CONTENT)


class ClaimDraft(SlotView):
    """The draft of a claimed example that is not submitted; 204 if there is none."""

    @extend_schema(responses={200: DraftSerializer, 204: None})
    def get(self, request: Request, slot: UUID) -> Response:
        draft = Draft.objects.filter(revision=self.own_slot(slot).revision, user=self.user).first()
        return Response(DraftSerializer(draft).data) if draft else Response(status=HTTPStatus.NO_CONTENT)

    @extend_schema(request=DraftSerializer, responses=DraftSerializer)
    def put(self, request: Request, slot: UUID) -> Response:
        own = self.own_slot(slot)
        serializer = DraftSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        draft = draft_save(revision=own.revision, actor=self.user, **serializer.validated_data)
        return Response(DraftSerializer(draft).data)


class ClaimLabel(SlotView):
    """Hand in the label of a claimed example. Sent twice, it is stored once.

    202: the claim had ended and no place is left, so it is kept as a spare label, which counts in no figure.
    """

    @extend_schema(request=NewLabelSerializer, responses={201: LabelSerializer, 202: SpareLabelSerializer})
    def post(self, request: Request, slot: UUID) -> Response:
        found = self.find_slot(slot)
        said = valid_data(NewLabelSerializer, request.data)
        label = label_hand_in(slot=found, actor=self.user, **said)
        if isinstance(label, SpareLabel):
            return Response(SpareLabelSerializer(label).data, status=HTTPStatus.ACCEPTED)
        return Response(shown(LabelSerializer, label), status=HTTPStatus.CREATED)


class ClaimSkip(SlotView):
    """Pass a claimed example on."""

    @extend_schema(request=NewSkipSerializer, responses={201: SkipSerializer})
    def post(self, request: Request, slot: UUID) -> Response:
        own = self.own_slot(slot)
        serializer = NewSkipSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        skip = slot_skip(slot=own, actor=self.user, **serializer.validated_data)
        return Response(SkipSerializer(skip).data, status=HTTPStatus.CREATED)


class SkipDetail(LabelingView):
    """Take a skip of one's own back: answers with the claim, or 204 where others have labelled it meanwhile."""

    @extend_schema(responses={200: ClaimSerializer, 204: None})
    def delete(self, request: Request, skip: UUID) -> Response:
        own = Skip.objects.filter(within(self.project, "revision__example__dataset"), reviewer=self.user)
        slot = skip_undo(skip=get_object_or_404(own, pk=skip), actor=self.user)
        return Response(ClaimSerializer(slot).data) if slot else Response(status=HTTPStatus.NO_CONTENT)


class Labels(LabelingView, ListAPIView[Label]):
    """One's own labels, and everyone's of examples that are resolved; what was taken back included."""

    serializer_class = LabelSerializer
    queryset = Label.objects.none()

    def get_queryset(self) -> QuerySet[Label]:
        labels = Label.objects.in_project(self.project).visible_to(self.user, self.role)
        return labels.select_related("reviewer", "revision", "slot")


class SpareLabels(LabelingView, ListAPIView[SpareLabel]):
    """One's own spare labels, and everyone's of examples that are resolved."""

    serializer_class = SpareLabelSerializer
    queryset = SpareLabel.objects.none()

    def get_queryset(self) -> QuerySet[SpareLabel]:
        spares = SpareLabel.objects.in_project(self.project).visible_to(self.user, self.role)
        return spares.select_related("reviewer", "revision")


class LabelDetail(LabelingView):
    """One label; by DELETE, taken back by its author while there is time."""

    def _find(self, pk: UUID) -> Label:
        labels = Label.objects.in_project(self.project).visible_to(self.user, self.role)
        return get_object_or_404(labels.select_related("reviewer", "revision", "slot"), pk=pk)

    @extend_schema(responses=LabelSerializer)
    def get(self, request: Request, label: UUID) -> Response:
        return Response(LabelSerializer(self._find(label)).data)

    @extend_schema(responses={200: ClaimSerializer})
    def delete(self, request: Request, label: UUID) -> Response:
        slot = label_withdraw(label=self._find(label), actor=self.user)
        return Response(ClaimSerializer(slot).data)


class SuggestionSerializer(PlainSerializer):
    """One example's external id, and the expectation in the form of `expectation.v1.json`."""

    id = serializers.CharField(max_length=200)
    expectation = serializers.JSONField()


class NewSuggestionsSerializer(PlainSerializer):
    """Holds what one source suggests: all of it is stored, or nothing."""

    by = serializers.CharField(max_length=200, help_text="Who suggests it, such as a model and its prompt's version.")
    suggestions = serializers.ListField(child=SuggestionSerializer(), max_length=MAX_SUGGESTIONS)


class StoredSuggestionsSerializer(PlainSerializer):
    """Counts the suggestions that were stored."""

    stored = serializers.IntegerField()


class Suggestions(LabelingView):
    """Suggestions for a dataset's examples; reviewers see them only where the project allows it."""

    @extend_schema(request=NewSuggestionsSerializer, responses={201: StoredSuggestionsSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        serializer = NewSuggestionsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        source = serializer.validated_data["by"]
        rows = [
            SuggestionRow(row["id"], row["expectation"], source) for row in serializer.validated_data["suggestions"]
        ]
        stored = suggestions_store(dataset=dataset_row, actor=self.user, rows=rows)
        return Response({"stored": stored}, status=HTTPStatus.CREATED)
