"""Ask what is to be done to the examples that someone selected in a list, and do it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from labeling.batches.forms import PersonChoice, reviewers_of
from labeling.batches.services import Choice, batch_create, slots_assign, slots_unassign
from labeling.errors import InvalidAct
from labeling.examples.acts import MOST, Done, examples_reopen, examples_set_aside, examples_tag
from labeling.examples.listing import asked_of, query_of
from labeling.examples.rows import example_rows
from labeling.models import Dataset, Example, LabelAnswer
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import User
from toolevals.workspace.requests import ProjectRequest

NAMED = 5


class ReasonForm(PlainForm):
    """The reason for which examples are labelled again."""

    reason = forms.CharField(max_length=2000, help_text="Who labels them again reads it once they are decided.")


class SetAsideForm(PlainForm):
    """The reason for which examples get no gold."""

    answer = forms.ChoiceField(
        choices=[choice for choice in LabelAnswer.choices if choice[0] != LabelAnswer.EXPECTATION], label="Because"
    )
    rationale = forms.CharField(max_length=2000, label="Reason", help_text="Everyone who labelled them reads it.")


class AssignForm(PlainForm):
    """The person for whom examples are kept."""

    person = PersonChoice(queryset=User.objects.none(), required=False, empty_label="no one: the first who comes")
    due_on = forms.DateField(required=False, label="Due", widget=forms.DateInput(attrs={"type": "date"}))


class BatchForm(PlainForm):
    """A new batch's name."""

    name = forms.CharField(max_length=120)


class TagForm(PlainForm):
    """A stratum and the value that examples get."""

    stratum = forms.ChoiceField(choices=[(name, name.replace("_", " ")) for name in Example.STRATA])
    value = forms.CharField(required=False, max_length=60, help_text="Leave empty to remove the value.")

    def clean(self) -> dict[str, Any] | None:
        """Refuse a value that is longer than its stratum's may be."""
        said = super().clean()
        if said and "stratum" in said and "value" in said:
            limit = getattr(Example._meta.get_field(said["stratum"]), "max_length", 0)
            if len(said["value"]) > limit:
                self.add_error("value", f"At most {limit} characters.")
        return said


@dataclass(frozen=True, slots=True)
class Act:
    """One act: its title on buttons, the sentence of what it does, its form, and what does it.

    `do` takes the request, the dataset, the examples and the form's values, and returns what was done, in words.
    """

    title: str
    words: str
    form: type[PlainForm]
    do: Callable[[ProjectRequest, Dataset, list[Example], dict[str, Any]], str]


def _assign(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> str:
    choice, person = Choice(names=[each.external_id for each in examples]), said["person"]
    if person is None:
        free = slots_unassign(dataset=dataset, actor=request.user, choice=choice)
        return f"{_places(free)} kept for no one any more."
    kept = slots_assign(dataset=dataset, actor=request.user, person=person, choice=choice, due_on=said["due_on"])
    words = f"Kept for {person.name}: {kept:,} of {len(examples):,}."
    return words if kept == len(examples) else f"{words} The others have no place that is free for them."


def _batch(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> str:
    choice = Choice(names=[each.external_id for each in examples])
    made = batch_create(dataset=dataset, actor=request.user, name=said["name"], choice=choice)
    return f"The batch “{made.name}” is made. You find it under Queue, where it can be closed again."


def _reopen(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> str:
    done = examples_reopen(examples=examples, actor=request.user, reason=said["reason"])
    return _words(done, "re-queued", "To undo, restore the earlier gold on the page of each example.")


def _set_aside(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> str:
    done = examples_set_aside(examples=examples, actor=request.user, **said)
    return _words(done, "set aside", "Re-queue them to have them labelled again.")


def _tag(request: ProjectRequest, dataset: Dataset, examples: list[Example], said: dict[str, Any]) -> str:
    done = examples_tag(examples=examples, actor=request.user, **said)
    what = f"{said['stratum'].replace('_', ' ')} “{said['value']}”" if said["value"] else f"no {said['stratum']}"
    same = len(examples) - done.count
    words = f"{done.count:,} of {len(examples):,} examples changed: {what}."
    return f"{words} {same:,} had it already." if same else words


ACTS = {
    "assign": Act("Assign", "Keep a free place of each for one person, or for no one any more.", AssignForm, _assign),
    "reopen": Act("Re-queue", "Start another round of labels. Their current gold is suspended.", ReasonForm, _reopen),
    "set-aside": Act(
        "Set aside", "Decide that there is no gold, where labels wait to be decided.", SetAsideForm, _set_aside
    ),
    "tag": Act("Set a stratum", "Set a value by which lists, quotas and new gradings are divided.", TagForm, _tag),
    "batch": Act("Make a batch", "Make a batch of those that want labels and are in no other.", BatchForm, _batch),
}


@require_http_methods(["GET", "HEAD", "POST"])
def examples_act(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show which examples an act is for, with its form; by POST, do it and go back to the list."""
    dataset_row = get_object_or_404(Dataset.objects.in_project(request.project).select_related("project"), slug=dataset)
    data = request.POST if request.method == "POST" else request.GET
    back = _back(request, dataset_row, data)
    act, examples = ACTS.get(data.get("act", "")), _selected(dataset_row, data.getlist("example"))
    if act is None or not examples or len(examples) > MOST:
        messages.error(request, f"Select 1 to {MOST} examples of the list, then choose what to do with them.")
        return redirect(back)
    form = _form(act, request)
    if request.method == "POST" and form.is_valid():
        try:
            messages.info(request, act.do(request, dataset_row, examples, form.cleaned_data))
            return redirect(back)
        except InvalidAct as error:
            form.add_error(None, str(error))
        except ValidationError as error:
            form.add_error(None, error.messages)
        except InvalidDocument as error:
            form.add_error(None, [str(problem) for problem in error.problems])
    context = {
        "dataset": dataset_row,
        "here": "examples",
        "act": act,
        "name": data["act"],
        "form": form,
        "rows": example_rows(examples),
        "query": query_of(asked_of(QueryDict(data.get("query", "")))),
        "back": back,
    }
    return render(request, "labeling/examples_act.html", context, status=422 if form.errors else 200)


def _form(act: Act, request: ProjectRequest) -> PlainForm:
    form = act.form(request.POST if request.method == "POST" else None)
    if isinstance(form, AssignForm):
        person = form.fields["person"]
        assert isinstance(person, PersonChoice)
        person.queryset = reviewers_of(request.project)
    return form


def _selected(dataset: Dataset, names: list[str]) -> list[Example]:
    """Return the dataset's examples of these ids; what is no id of one counts as none."""
    pks = set()
    for name in names[: MOST + 1]:
        try:
            pks.add(UUID(name))
        except ValueError:
            continue
    return list(Example.objects.of_dataset(dataset).with_content().filter(pk__in=pks).order_by("external_id"))


def _back(request: ProjectRequest, dataset: Dataset, data: QueryDict) -> str:
    query = query_of(asked_of(QueryDict(data.get("query", ""))))
    return f"{reverse('labeling:dataset', args=[request.project.slug, dataset.slug])}{'?' if query else ''}{query}"


def _places(count: int) -> str:
    return f"{count:,} place{' is' if count == 1 else 's are'}"


def _words(done: Done, what: str, undo: str) -> str:
    total = done.count + len(done.refused)
    words = (
        f"{done.count:,} of {total:,} example{'' if total == 1 else 's'} {'is' if done.count == 1 else 'are'} {what}."
    )
    words += f" {undo}" if done.count else ""
    for name, why in done.refused[:NAMED]:
        words += f" {name}: {why}"
    more = len(done.refused) - NAMED
    return f"{words} {more:,} more were passed over." if more > 0 else words
