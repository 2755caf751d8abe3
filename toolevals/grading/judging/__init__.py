"""Prepare rubrics, the judgements that a case needs, and verdicts of the judgements that were handed in.

Nothing here asks anyone. A caller that does takes a `JudgementRequest` and gives a `Judgement` back.
"""

from toolevals.grading.judging.case_judging import Briefing, CaseJudging, Judgements, needed_judgements, not_judged
from toolevals.grading.judging.conditions import GATES, Gate
from toolevals.grading.judging.rubrics import Judgement, JudgementRequest, Rubric, Scale
from toolevals.grading.judging.shipped import SHIPPED, TRACE_SCORES

__all__ = [
    "GATES",
    "SHIPPED",
    "TRACE_SCORES",
    "Briefing",
    "CaseJudging",
    "Gate",
    "Judgement",
    "JudgementRequest",
    "Judgements",
    "Rubric",
    "Scale",
    "needed_judgements",
    "not_judged",
]
