"""Read what the pages of checks with probes show: what a check takes, its cap, and the probes to list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django import forms

from toolevals.agents.judge import ANSWER_TOKENS, messages_for
from toolevals.agents.prices import Prices
from toolevals.grading.judging import Rubric
from toolevals.grading.judging.probing import EFFECTS, Moved, ProbeSet
from toolevals.runs.judging.forms import ServiceForm
from toolevals.runs.live.estimate import CHARACTERS_PER_TOKEN
from toolevals.runs.models import Judge

# What each effect is called, in the order in which they are offered.
EFFECT_WORDS = {
    "moved": "Moved the judge",
    "held": "Did not move it",
    "full": "Highest value without the probe",
    "unscored": "Unscored",
    "errored": "Errored",
    "unasked": "Not asked",
    "unshown": "Not shown to this rubric",
}


@dataclass(frozen=True, slots=True)
class ProbeEstimate:
    """The size of a check with probes: `probes` are shown to the rubric, of `of`. `cost` is None without prices."""

    probes: int
    of: int
    questions: int
    input_tokens: int
    output_tokens: int
    cost: float | None


def probe_estimate(judge: Judge) -> ProbeEstimate:
    """Return what a check of a judge takes: four characters for a token, 120 tokens for an answer.

    Where a bad answer is asked for a second time, that is not counted.
    """
    probes = ProbeSet.shipped()
    questions = probes.questions(Rubric.from_document(judge.rubric.document))
    characters = sum(len(message.content or "") for each in questions.values() for message in messages_for(each))
    usage = Counter(input_tokens=round(characters / CHARACTERS_PER_TOKEN), output_tokens=len(questions) * ANSWER_TOKENS)
    cost = Prices.from_document(judge.prices).cost(usage) if judge.prices else None
    shown = sum(probe.id in questions for probe in probes.probes)
    return ProbeEstimate(shown, len(probes.probes), len(questions), usage["input_tokens"], usage["output_tokens"], cost)


class ProbesForm(ServiceForm):
    """The most that a check with probes may cost."""

    budget = forms.FloatField(
        min_value=0, required=False, label="Cap", help_text="What the check may cost; empty for none."
    )


@dataclass(frozen=True, slots=True)
class ListedProbes:
    """The probes of a list; each choice is empty for all."""

    effect: str
    by: str
    rows: tuple[Moved, ...]


def listed_probes(found: Sequence[Moved], parameters: Mapping[str, str]) -> ListedProbes:
    """Return the probes that an address asks for: by effect, and by a kind, a place or a language."""
    effect = asked if (asked := parameters.get("effect", "")) in EFFECTS else ""
    names = {name for each in found for name in (each.probe.kind, each.probe.place, each.probe.language)}
    by = said if (said := parameters.get("by", "")) in names else ""
    rows = tuple(
        each
        for each in found
        if effect in ("", each.effect) and by in ("", each.probe.kind, each.probe.place, each.probe.language)
    )
    return ListedProbes(effect, by, rows)
