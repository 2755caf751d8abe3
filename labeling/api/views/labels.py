"""Serve one's own labelling by REST: claim, label, take back."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.labels import (
    ClaimSerializer,
    DraftSerializer,
    LabelSerializer,
    NewClaimSerializer,
    NewLabelSerializer,
    NewSkipSerializer,
    SkipSerializer,
    SpareLabelSerializer,
)
from labeling.models import Draft, Label, LabelBatch, LabelSlot, Skip, SpareLabel
from labeling.queue.label_page_queries import project_slot
from toolevals.workspace.api.serializers import shown, valid_data
from toolevals.workspace.models import within


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
        slot = services.slot_claim(dataset_or_project=scope, actor=self.user, batch=batch)
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
        if not services.slot_renew(slot=own, actor=self.user):
            found = services.slot_reclaim(slot=own, actor=self.user)
            if found is None:
                raise Http404
            own = found
        return Response(ClaimSerializer(own).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slot: UUID) -> Response:
        services.slot_release(slot=self.own_slot(slot), actor=self.user)
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
        draft = services.draft_save(revision=own.revision, actor=self.user, **serializer.validated_data)
        return Response(DraftSerializer(draft).data)


class ClaimLabel(SlotView):
    """Hand in the label of a claimed example. Sent twice, it is stored once.

    202: the claim had ended and no place is left, so it is kept as a spare label, which counts in no figure.
    """

    @extend_schema(request=NewLabelSerializer, responses={201: LabelSerializer, 202: SpareLabelSerializer})
    def post(self, request: Request, slot: UUID) -> Response:
        found = self.find_slot(slot)
        said = valid_data(NewLabelSerializer, request.data)
        label = services.label_hand_in(slot=found, actor=self.user, **said)
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
        skip = services.slot_skip(slot=own, actor=self.user, **serializer.validated_data)
        return Response(SkipSerializer(skip).data, status=HTTPStatus.CREATED)


class SkipDetail(LabelingView):
    """Take a skip of one's own back: answers with the claim, or 204 where others have labelled it meanwhile."""

    @extend_schema(responses={200: ClaimSerializer, 204: None})
    def delete(self, request: Request, skip: UUID) -> Response:
        own = Skip.objects.filter(within(self.project, "revision__example__dataset"), reviewer=self.user)
        slot = services.skip_undo(skip=get_object_or_404(own, pk=skip), actor=self.user)
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
        slot = services.label_withdraw(label=self._find(label), actor=self.user)
        return Response(ClaimSerializer(slot).data)
