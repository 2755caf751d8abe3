"""Serve tags and notes on cases in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.api.views import GRADING, RunReportView
from reports.cases.remarks import remark_page
from reports.queries.grading import case_or_404
from reports.tables.cases import REMARKS
from toolevals.runs.remarks.services import note_add, tag_add, tag_remove
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.requests import whole_number
from toolevals.workspace.tables import serializer_of

REMARK_KINDS = ("tag", "note")


class RemarkPageSerializer(serializers.Serializer[Any]):
    """A page of remarks, tags before notes; `next` goes on after it, null at the end."""

    next = serializers.CharField(allow_null=True)
    results = serializer_of(REMARKS)(many=True)


class CaseRemarkSerializer(serializers.Serializer[Any]):
    """A tag or a note on a case."""

    id = serializers.UUIDField(source="pk")
    kind = serializers.ChoiceField(REMARK_KINDS)
    text = serializers.CharField()
    person = serializers.CharField(source="actor.name", default="")
    created_at = serializers.DateTimeField()


class CaseRemarksSerializer(serializers.Serializer[Any]):
    """Everything that people say of a case."""

    tags = CaseRemarkSerializer(many=True)
    notes = CaseRemarkSerializer(many=True)


class RemarkRequestSerializer(serializers.Serializer[Any]):
    """A remark on a case: `text` is a tag's word or a note."""

    kind = serializers.ChoiceField(REMARK_KINDS)
    text = serializers.CharField()


class RemarksView(RunReportView):
    """Every tag and note on the cases of a run, in pages."""

    @extend_schema(
        parameters=[GRADING, OpenApiParameter("after", str, description="Where the page before says to go on.")],
        responses=RemarkPageSerializer,
    )
    def get(self, request: Request, number: int) -> Response:
        page = remark_page(self.grading(number), request.query_params.get("after", ""))
        rows = [dict(zip(REMARKS.head, row, strict=True)) for row in page.rows]
        more = None
        if page.after:
            grading = request.query_params.get("grading", "")
            query = f"after={page.after}" + (f"&grading={grading}" if whole_number(grading) is not None else "")
            more = f"{request.build_absolute_uri(request.path)}?{query}"
        return Response(RemarkPageSerializer({"next": more, "results": rows}).data)


class CaseRemarksView(ProjectView):
    """The tags and notes of one case, and the way to add one or take a tag off."""

    @extend_schema(responses=CaseRemarksSerializer)
    def get(self, request: Request, number: int, case_id: UUID) -> Response:
        transcript = case_or_404(self.project, number, case_id).transcript
        tags = [_said(each, "tag", each.tag) for each in transcript.tags.select_related("actor")]
        notes = [_said(each, "note", each.text) for each in transcript.notes.select_related("actor")]
        return Response(CaseRemarksSerializer({"tags": tags, "notes": notes}).data)

    @extend_schema(request=RemarkRequestSerializer, responses={201: CaseRemarkSerializer})
    def post(self, request: Request, number: int, case_id: UUID) -> Response:
        transcript = case_or_404(self.project, number, case_id).transcript
        serializer = RemarkRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        kind, text = (serializer.validated_data[name] for name in ("kind", "text"))
        if kind == "tag":
            tag = tag_add(transcript=transcript, actor=self.user, tag=text)
            said = _said(tag, kind, tag.tag)
        else:
            note = note_add(transcript=transcript, actor=self.user, text=text)
            said = _said(note, kind, note.text)
        return Response(CaseRemarkSerializer(said).data, status=HTTPStatus.CREATED)

    @extend_schema(
        parameters=[OpenApiParameter("tag", str, required=True, description="The word to take off.")],
        responses={204: None},
    )
    def delete(self, request: Request, number: int, case_id: UUID) -> Response:
        transcript = case_or_404(self.project, number, case_id).transcript
        tag_remove(transcript=transcript, actor=self.user, tag=request.query_params.get("tag", ""))
        return Response(status=HTTPStatus.NO_CONTENT)


def _said(remark: Any, kind: str, text: str) -> dict[str, Any]:
    return {"pk": remark.pk, "kind": kind, "text": text, "actor": remark.actor, "created_at": remark.created_at}
