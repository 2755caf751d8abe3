"""Write the texts of strangers into a grading: in requests, arguments, answers, reasons and differences."""

from __future__ import annotations

from labeling.models import Revision
from toolevals.grading.values import Message, ToolCall
from toolevals.grading.values import Transcript as TranscriptValue
from toolevals.runs.models import CaseGrade, Grading, Transcript

HOSTILE = (
    "</script><script>alert(1)</script><!-- \u2028 \u2029 \u202egnp <img src=x onerror=alert(2)> javascript:alert(3)"
)


def write_texts(grading: Grading, text: str) -> None:
    """Put a text wherever strangers write."""
    for case in CaseGrade.objects.filter(grading=grading).select_related("transcript__entry__revision"):
        call = ToolCall("refund", {text: {"deep": [text, 4_711_4711]}})
        did = TranscriptValue((Message("assistant", text, (call,)), Message("tool", text)), answer=text)
        Transcript.objects.filter(pk=case.transcript_id).update(document=did.to_document())
        asked = {
            "messages": [{"role": "system", "content": text}, {"role": text, "content": text}],
            "context": {"k": text},
        }
        Revision.objects.filter(pk=case.transcript.entry.revision_id).update(input=asked)
        detail = case.detail
        for verdict in detail["verdicts"].values():
            verdict["reason"] = text
        detail["differences"] = [
            {"pair": 0, "path": f"/{text}", "kind": "changed", "expected": {"exact": text}, "actual": text}
        ]
        CaseGrade.objects.filter(pk=case.pk).update(detail=detail)
