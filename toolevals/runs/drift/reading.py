"""Say what the pages of checks for drift ask for: what can be asked again, what that takes, and which cases to list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms

from toolevals.agents.judge import ANSWER_TOKENS, messages_for
from toolevals.agents.prices import Prices
from toolevals.grading.judging import JudgementRequest, Rubric
from toolevals.runs.drift.results import AgainCase
from toolevals.runs.judge_calibrations.reading import CASES_A_PAGE
from toolevals.runs.judging.estimate import MOST_READ
from toolevals.runs.judging.forms import ServiceForm
from toolevals.runs.live.estimate import CHARACTERS_PER_TOKEN
from toolevals.runs.models import Judge, JudgeCalibration
from toolevals.workspace.requests import page_number

# The kinds of cases of a check, in the order in which they are offered.
KINDS = ("changed", "same", "unscored", "errored", "unasked")
# Closed calibrations that are offered: the newest ones.
MOST_OFFERED = 10


@dataclass(frozen=True, slots=True)
class DriftOffer:
    """A closed calibration whose cases can be asked again, and what that takes; no cost without prices."""

    calibration: JudgeCalibration
    cases: int
    questions: int
    input_tokens: int
    cost: float | None


def drift_offers(judge: Judge) -> list[DriftOffer]:
    """Return the newest closed calibrations of a judge's rubric version and model that hold cases.

    Up to 60 cases of each are looked at; four characters count as a token, and 120 tokens are taken for an answer.
    Where a bad answer is asked for a second time, that is not counted.
    """
    same = JudgeCalibration.objects.filter(judge__rubric=judge.rubric_id, judge__model=judge.model)
    rows = same.filter(closed_at__isnull=False).select_related("grading__run").with_progress()
    calibrations = rows.filter(size__gt=0).order_by("-closed_at")[:MOST_OFFERED]
    return [_offer(judge, row) for row in calibrations]


def _offer(judge: Judge, calibration: Any) -> DriftOffer:
    rubric = Rubric.from_document(judge.rubric.document)
    read = list(calibration.cases.drawn().values_list("questions", flat=True)[:MOST_READ])
    requests = [JudgementRequest(rubric, inputs) for questions in read for inputs in questions]
    times = calibration.size / len(read)
    characters = sum(len(message.content or "") for request in requests for message in messages_for(request))
    questions = round(times * len(requests))
    usage = Counter(
        input_tokens=round(times * characters / CHARACTERS_PER_TOKEN), output_tokens=questions * ANSWER_TOKENS
    )
    cost = Prices.from_document(judge.prices).cost(usage) if judge.prices else None
    return DriftOffer(calibration, calibration.size, questions, usage["input_tokens"], cost)


class DriftForm(ServiceForm):
    """The form for the cases that a judge is asked again, and for what that may cost."""

    calibration = forms.ChoiceField(label="Cases of", help_text="A closed calibration: the newest says most.")
    budget = forms.FloatField(
        min_value=0, required=False, label="Cap", help_text="What the check may cost; empty for none."
    )

    def __init__(self, offers: Sequence[DriftOffer], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.calibrations = {str(offer.calibration.pk): offer.calibration for offer in offers}
        self.fields["calibration"].choices = [  # type: ignore[attr-defined]
            (str(offer.calibration.pk), f"{offer.calibration.closed_at:%d %b %Y}, {offer.cases:,} cases")
            for offer in offers
        ]

    @property
    def chosen(self) -> JudgeCalibration:
        """The calibration that was chosen; the form is valid."""
        return self.calibrations[self.cleaned_data["calibration"]]


@dataclass(frozen=True, slots=True)
class AgainPage:
    """Some of the cases of one kind; `hidden` are shown to no one now. `following` is the next page, 0 at the end."""

    kind: str
    rows: Sequence[AgainCase]
    count: int
    hidden: int
    number: int
    following: int

    @property
    def query(self) -> str:
        """The kind as the query of an address."""
        return urlencode({"show": self.kind})


def again_page(cases: Sequence[AgainCase], parameters: Mapping[str, str]) -> AgainPage:
    """Return the page of cases that an address asks for: those that changed, unless it names another kind."""
    kind = asked if (asked := parameters.get("show", "")) in KINDS else KINDS[0]
    shown = [case for case in cases if case.kind == kind and not case.is_hidden]
    page = parameters.get("page", "")
    number = page_number(page)
    end = number * CASES_A_PAGE
    hidden = sum(case.is_hidden for case in cases)
    return AgainPage(
        kind, shown[end - CASES_A_PAGE : end], len(shown), hidden, number, number + 1 if len(shown) > end else 0
    )
