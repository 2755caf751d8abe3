"""Begin and end the second looks of a dataset, in the REST interface."""

from __future__ import annotations

from django.db.models import Count, Q
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.models import Dataset, LookPlan
from labeling.second_looks.services import MOST_PLANTED, second_looks_end
from toolevals.runs.models import Run
from toolevals.runs.second_looks.services import second_looks_propose
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent

MOST_SEED = 2**31 - 1


class LookPlanSerializer(serializers.ModelSerializer[LookPlan]):
    """The run whose proposals are shown in a dataset."""

    proposals = serializers.IntegerField(source="proposed")
    planted = serializers.IntegerField(help_text="Those that are wrong on purpose.")

    class Meta:
        model = LookPlan
        fields = ("id", "run", "agent", "planted_share", "seed", "proposals", "planted", "created_at", "ended_at")


class LookPlansSerializer(PlainSerializer):
    """The second looks that are at work in a dataset; null where there are none."""

    plan = LookPlanSerializer(allow_null=True)


class NewLookPlanSerializer(PlainSerializer):
    """The run that proposes, and the share of it that is wrong on purpose."""

    run = serializers.IntegerField(min_value=1, max_value=MOST_SEED, help_text="The number of an earlier run.")
    planted_share = serializers.FloatField(min_value=0, max_value=MOST_PLANTED, default=0)
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, default=0)


class DatasetSecondLooks(ProjectView):
    """The second looks of a dataset, for owners: by POST, begin them, which ends those at work; by DELETE, end them."""

    @extend_schema(responses=LookPlansSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        return self._shown(self._dataset(dataset))

    @extend_schema(request=NewLookPlanSerializer, responses=LookPlansSerializer)
    @idempotent
    def post(self, request: Request, dataset: str) -> Response:
        found, asked = self._dataset(dataset), NewLookPlanSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = dict(asked.validated_data)
        run = Run.objects.in_project(self.project).of_people().filter(number=data.pop("run")).first()
        if run is None:
            raise serializers.ValidationError({"run": ["There is no such run in this project."]})
        second_looks_propose(dataset=found, actor=self.user, run=run, **data)
        return self._shown(found)

    @extend_schema(responses={200: LookPlansSerializer})
    @idempotent
    def delete(self, request: Request, dataset: str) -> Response:
        row = self._dataset(dataset)
        second_looks_end(dataset=row, actor=self.user)
        return self._shown(row)

    def _dataset(self, slug: str) -> Dataset:
        return get_object_or_404(Dataset.objects.in_project(self.project).select_related("project"), slug=slug)

    def _shown(self, dataset: Dataset) -> Response:
        counted = Count("proposals"), Count("proposals", filter=Q(proposals__is_planted=True))
        plans = LookPlan.objects.filter(dataset=dataset, ended_at=None)
        plan = plans.annotate(proposed=counted[0], planted=counted[1]).order_by("-id").first()
        return Response(LookPlansSerializer({"plan": plan}).data)
