"""Find calls where any call will do: no aligned pair names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from toolevals.grading.values import MalformedCall, Transcript
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import CaseGrade, Grading
from toolevals.runs.queries import tools_offered

# The view under which they are counted, beside those of the matrices.
FREE = "free"
READ_AT_ONCE = 100


def free_calls(grading: Grading) -> Mapping[str, int]:
    """Return how often each offered tool is called in the cases that expect some call, whichever it is."""
    counts: Counter[str] = Counter()
    # Outside the matrix and yet judged by their calls: only some_call is.
    cases = CaseGrade.objects.filter(grading=grading, expected="", selection__in=("passed", "failed"))
    rows = cases.select_related("transcript__entry__revision__tools").defer(
        "detail", "transcript__entry__revision__input"
    )
    for case in rows.order_by("pk").iterator(chunk_size=READ_AT_ONCE):
        tools = tools_offered(tools_in(case.transcript.entry.revision.tools), grading.run.agent)
        offered = {tool.name for tool in tools}
        calls = Transcript.from_document(case.transcript.document).calls
        counts.update(call.name for call in calls if not isinstance(call, MalformedCall) and call.name in offered)
    return counts
