"""Defines the forms of samples of traces, and of the schedules that draw them."""

from __future__ import annotations

from django import forms

from labeling.models import Dataset
from toolevals.runs.models import Agent
from toolevals.traces.models import Period, TraceExample, Turns
from toolevals.traces.promotion.asking_today import live_agents
from toolevals.traces.promotion.sampling import STRATA
from toolevals.traces.promotion.schedules import MOST_EACH_TIME, MOST_WAITING
from toolevals.traces.promotion.services import MOST
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project


class _SampleForm(PlainForm):
    """The form for the target of examples, the turns that become examples, and the properties to draw by in turns."""

    dataset = forms.ModelChoiceField(Dataset.objects.none(), empty_label=None)
    turns = forms.ChoiceField(
        choices=Turns.choices,
        initial=Turns.EVERY,
        help_text="Do not tell labellers if you choose turns that called a tool: it reveals that a call was made.",
    )
    strata = forms.MultipleChoiceField(
        label="Balance the sample by",
        choices=[(name, words) for name, (words, _) in STRATA.items()],
        initial=["calls"],
        required=False,
        widget=forms.CheckboxSelectMultiple({"class": "choices"}),
        help_text="Rare values are sampled first.",
    )

    def __init__(self, *args: object, project: Project, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = Dataset.objects.in_project(project).order_by("name", "pk")  # type: ignore[attr-defined]


class PromotionForm(_SampleForm):
    """A sample that is drawn once; of one trace, `alone`, nothing is drawn."""

    count = forms.IntegerField(label="Traces", min_value=1, max_value=MOST, initial=200)
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, initial=1, help_text="The same seed draws the same traces again."
    )

    field_order = ("dataset", "count", "turns", "strata", "seed")

    def __init__(self, *args: object, project: Project, alone: bool, **kwargs: object) -> None:
        super().__init__(*args, project=project, **kwargs)
        if alone:
            del self.fields["count"], self.fields["seed"], self.fields["strata"]


class TodayForm(PlainForm):
    """Asks which agent is asked now, and the dataset whose examples were made of the traces."""

    agent = forms.ModelChoiceField(Agent.objects.none(), label="Agent", empty_label=None)
    dataset = forms.ModelChoiceField(Dataset.objects.none(), empty_label=None)

    def __init__(self, *args: object, project: Project, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        agents, datasets = self.fields["agent"], self.fields["dataset"]
        agents.queryset = live_agents(project)  # type: ignore[attr-defined]
        found = Dataset.objects.in_project(project)
        datasets.queryset = found.filter(  # type: ignore[attr-defined]
            pk__in=TraceExample.objects.filter(project=project).values("example__dataset")
        ).order_by("name", "pk")


class ScheduleForm(_SampleForm):
    """A sample that is drawn of new traces every hour, day or week."""

    period = forms.ChoiceField(label="When", choices=Period.choices, initial=Period.DAILY)
    count = forms.IntegerField(label="Traces each time, at most", min_value=1, max_value=MOST_EACH_TIME, initial=20)
    most_waiting = forms.IntegerField(
        label="Maximum unlabelled examples",
        min_value=1,
        max_value=MOST_WAITING,
        initial=200,
        help_text="No new examples are created while this many in the dataset wait for labels.",
    )

    field_order = ("period", "dataset", "count", "most_waiting", "turns", "strata")
